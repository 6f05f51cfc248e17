"""Where code of one model cannot be had, generic code does its work, and says so once; threads and copies have the same
bits."""

from __future__ import annotations

import copy
import ctypes
import os
import subprocess
import sys
import threading

import cases
import inside
import numpy as np
import pytest

import rbdae

LACKING = """
import sys, warnings, numpy as np
import rbdae
names = ("machine.module", "machine.entries_on_disk", "initial.formulate")
module, entries, code = (sys.modules["rbdae." + name] for name in names)
{lacking}
system = rbdae.models.heavy_top()
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    problem = rbdae.formulate(system, "index-2", code="traced")
    found = [problem.residual(0.1, problem.y0, problem.yd0 + 1.0), problem.jacobian(0.1, problem.y0, problem.yd0, 2.0)]
generic = rbdae.formulate(system, "index-2", code="generic")
y, yd = problem.y0, problem.yd0
wanted = [generic.residual(0.1, y, yd + 1.0), generic.jacobian(0.1, y, yd, 2.0)]
size = max(np.abs(y).max(), np.abs(wanted[1]).max())  # of terms that cancel: the multipliers' forces
for one, other in zip(found, wanted):
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-13 * size)
print(len([w for w in said if issubclass(w.category, RuntimeWarning)]), problem.callbacks.code("residual"))
"""

NO_TARGET = """
def none():
    raise module.NoMachineCode("no target")
module._llvm = none
"""

OTHER_PYTHON = "code.supported = lambda: False"

NO_CACHE = """
import pathlib
entries.folder = lambda: pathlib.Path("/proc/no-such-folder")
"""


def _said(lacking: str, tmp_path) -> tuple[int, str]:
    environment = {**os.environ, "RBDAE_CODE": "auto", "PYTHONPATH": os.pathsep.join(sys.path)}
    script = LACKING.format(lacking=lacking)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    count, code = done.stdout.split()
    return int(count), code


@pytest.mark.parametrize(
    ("lacking", "code"),
    [(NO_TARGET, "generic"), (NO_CACHE, "traced"), (OTHER_PYTHON, "generic")],
    ids=["target", "cache", "python"],
)
def test_what_lacks_is_said_once(lacking, code, tmp_path):
    assert _said(lacking, tmp_path) == (1, code)


def _run(problem: rbdae.Problem) -> bytes:
    solution = rbdae.solve(problem, (0.0, 0.05), solver="rbdae:dopri5", rtol=1e-8, atol=1e-8)
    assert solution.success
    return solution.y.tobytes()


def test_threads_have_the_same_bits_while_others_compile():
    problem = rbdae.formulate(cases.linked_bodies(), "index-0", code="traced")
    wanted = _run(problem)
    found: list[bytes] = []

    def run(own: rbdae.Problem) -> None:
        found.extend(_run(own) for _ in range(5))

    def compile_others(n: int) -> None:
        other = rbdae.formulate(rbdae.models.chain(n), "index-0", code="traced")
        assert other.callbacks.code("rhs") == "traced"

    threads = [threading.Thread(target=run, args=(copy.copy(problem),)) for _ in range(6)]
    threads += [threading.Thread(target=compile_others, args=(n,)) for n in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 30


CALLBACKS = {
    "index-0": ("residual", "jacobian", "jacobian_data", "rhs", "rhs_jacobian"),
    "index-2": ("residual", "jacobian", "jacobian_data"),
}


@pytest.mark.parametrize("code", ["traced", "generic"])
@pytest.mark.parametrize("form", CALLBACKS)
def test_c_functions_give_what_the_callbacks_give(form, code, rng):
    """Matrices row by row. Of generic code they are the kernels themselves, with the lengths in the context."""
    problem = rbdae.formulate(cases.linked_bodies(), form, code=code)
    given = ctypes.c_void_p, ctypes.c_double, *[ctypes.c_void_p] * 2, ctypes.c_double, ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, *given)
    y, yd = problem.y0 + 0.01 * rng.standard_normal(problem.n), rng.standard_normal(problem.n)
    for name in CALLBACKS[form]:
        shape = {"jacobian_data": (problem.sparsity.nnz,), "residual": (problem.n,), "rhs": (problem.n,)}
        wanted, out = (np.empty(shape.get(name, (problem.n, problem.n))) for _ in range(2))
        rates = () if name.startswith("rhs") else (yd,)
        scale = (2.0,) if name in ("jacobian", "jacobian_data") else ()
        getattr(problem.callbacks, name)(0.1, y, *rates, *scale, wanted)
        function = problem.callbacks.machine(name)
        addresses = (function.context, 0.1, y.ctypes.data, yd.ctypes.data, 2.0, out.ctypes.data)
        assert kind(function.address)(*addresses) == 0
        np.testing.assert_array_equal(out, wanted, err_msg=name)


@pytest.fixture
def too_long(monkeypatch):
    """Code that is longer than the residual of linked bodies, and its sparse Jacobian, is not to be had."""
    monkeypatch.setenv("RBDAE_CODE", "auto")
    inside.no_longer_code(monkeypatch, 500)


def test_statistics_are_of_all_callbacks_that_ran(too_long):
    """With "auto" the residual is code of the model, and the Jacobian is not; nothing is said of it."""
    problem = rbdae.formulate(cases.linked_bodies(), "index-2", code="auto")
    assert problem.code == problem.callbacks.code("residual")
    names = ("residual", "jacobian_data")
    assert tuple(map(problem.callbacks.code, names)) == ("traced", "generic")
    assert inside.code_of_callbacks(problem, names) == "mixed"
    assert rbdae.solve(problem, (0.0, 1e-3), solver="sksundae:ida").stats.code == "mixed"
    assert rbdae.solve(problem, (0.0, 1e-3), solver="assimulo:ODASSL").stats.code == "traced"  # asks for no Jacobian


def test_code_of_the_model_that_cannot_be_had_is_said(too_long):
    problem = rbdae.formulate(cases.linked_bodies(), "index-0", code="traced")
    with pytest.warns(
        RuntimeWarning, match=r"of index-0, a model of 2 bodies \('[^']+', \.\.\.\): .* at most 500"
    ) as said:
        assert problem.code == "generic"
    twin = rbdae.formulate(cases.linked_bodies(), "index-0", code="traced")
    assert len(said) == 1 and twin.code == "generic"  # once
    solution = rbdae.solve(problem, (0.0, 1e-3), solver="rbdae:dop853")
    assert solution.stats.code == "generic"
    generic = rbdae.formulate(cases.linked_bodies(), "index-0", code="generic")
    np.testing.assert_array_equal(problem.rhs(0.0, problem.y0), generic.rhs(0.0, generic.y0))

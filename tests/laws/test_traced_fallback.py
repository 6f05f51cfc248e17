"""Where machine code cannot be had, plain Python does its work, and says so once."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import cases
import inside
import numpy as np
import pytest

import rbdae

LACKING = """
import os, sys, warnings, numpy as np
import rbdae
names = ("machine.module", "machine.cache", "initial.formulate")
module, entries, code = (sys.modules["rbdae." + name] for name in names)
{lacking}
system = rbdae.models.heavy_top()
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    problem = rbdae.formulate(system, "index-2")
    found = [problem.residual(0.1, problem.y0, problem.yd0 + 1.0), problem.jacobian(0.1, problem.y0, problem.yd0, 2.0)]
os.environ["RBDAE_LLVM"] = "none"
plain = rbdae.formulate(system, "index-2")
y, yd = problem.y0, problem.yd0
wanted = [plain.residual(0.1, y, yd + 1.0), plain.jacobian(0.1, y, yd, 2.0)]
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
    [(NO_TARGET, "plain"), (NO_CACHE, "machine"), (OTHER_PYTHON, "plain")],
    ids=["target", "cache", "python"],
)
def test_what_lacks_is_said_once(lacking, code, tmp_path):
    assert _said(lacking, tmp_path) == (1, code)


def _run(problem: rbdae.Problem) -> bytes:
    solution = rbdae.solve(problem, (0.0, 0.05), solver="rbdae:dopri5", rtol=1e-8, atol=1e-8)
    assert solution.success
    return solution.y.tobytes()


def test_statistics_say_which_code_ran():
    for asked, code in (("auto", "machine"), ("plain", "plain")):
        problem = cases.formulated(cases.heavy_top(), "index-0", code=asked)
        assert problem.code == problem.callbacks.code("rhs") == code
        stats = rbdae.solve(problem, (0.0, 0.01), solver="scipy:DOP853").stats
        assert (stats.code, stats.fallbacks) == (code, 0)
        assert np.isfinite(stats.seconds)


def test_code_has_two_words(monkeypatch):
    system = cases.heavy_top()
    with pytest.raises(ValueError, match=r"value of code 'plain'; there are auto, folded$"):
        rbdae.formulate(system, code="plain")
    monkeypatch.setenv("RBDAE_CODE", "plain")
    with pytest.raises(ValueError, match=r"value of RBDAE_CODE in the environment 'plain'; there are auto, folded$"):
        rbdae.formulate(system)
    monkeypatch.setenv("RBDAE_CODE", "folded")
    assert rbdae.formulate(system, "index-0").code == "folded"


def test_what_runs_is_fixed_when_a_problem_is_made():
    """Also for other numbers, and in copies."""
    problem = cases.formulated(rbdae.models.chain(3), "index-0", code="plain")
    name = next(iter(problem.parameters))
    other = problem.with_parameters({name: 1.1 * problem.parameters[name]})
    assert (problem.code, other.code, pickle.loads(pickle.dumps(problem)).code) == 3 * ("plain",)


@pytest.fixture
def too_long(monkeypatch):
    """Code that is longer than the residual of linked bodies, and its sparse Jacobian, is not to be had."""
    monkeypatch.setenv("RBDAE_CODE", "auto")
    inside.no_longer_code(monkeypatch, 500)


def test_code_of_the_model_that_cannot_be_had_is_said(too_long):
    problem = rbdae.formulate(cases.linked_bodies(), "index-0")
    with pytest.warns(
        RuntimeWarning, match=r"of index-0, a model of 2 bodies \('[^']+', \.\.\.\): .* at most 500"
    ) as said:
        assert problem.code == "plain"
    twin = rbdae.formulate(cases.linked_bodies(), "index-0")
    assert len(said) == 1 and twin.code == "plain"  # once
    solution = rbdae.solve(problem, (0.0, 1e-3), solver="rbdae:dop853")
    assert solution.stats.code == "plain"
    wanted = cases.formulated(cases.linked_bodies(), "index-0", code="plain")
    # what is recorded is evaluated in another order than the kernel on floats
    np.testing.assert_allclose(problem.rhs(0.0, problem.y0), wanted.rhs(0.0, wanted.y0), rtol=3e-14)

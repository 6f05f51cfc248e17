"""Stages are compiled only if a problem needs them, a call of one that is needed and missing is an error, and no change
of a source leaves stale machine code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import cases
import numpy as np
import pytest
from by_numba import needs_numba, njit
from inside import (
    JIT,
    add_member,
    address,
    entry,
    family,
    fingerprint,
    plain,
    vector_at,
    with_stages_of_all,
)

compiled_only = pytest.mark.skipif(not JIT, reason="nothing is compiled without the JIT")

CODE = """
import json
import inside
import rbdae
problem = rbdae.formulate(rbdae.models.{model}(), {formulation!r}, rotation={rotation!r}, velocity={velocity!r})
problem.residual(0.0, problem.y0, problem.yd0)
problem.sparse_jacobian(0.0, problem.y0, problem.yd0, 1.0)
if problem.kind == "ode":
    problem.rhs_jacobian(0.0, problem.y0)
problem.project(0.0, problem.y0)
stages = [(s.name, sorted(s.when), s.compiled) for s in inside.stages()]
print(json.dumps([sorted(inside.features(problem)), stages]))
"""


def _stages(model: str, formulation: str, rotation: str, velocity: str) -> tuple[set[str], list[Any]]:
    """The features of a problem, and (name, when, compiled) of all stages, in a process that has made only it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "RBDAE_CODE": "generic"}
    code = CODE.format(model=model, formulation=formulation, rotation=rotation, velocity=velocity)
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    features, stages = json.loads(run.stdout)
    return set(features), stages


# the start is made consistent in quaternions with angular velocities, whatever the problem's own unknowns are
ALWAYS = {"quaternion", "angular"}


@compiled_only
@pytest.mark.parametrize(
    "model, formulation, rotation, velocity",
    [
        ("heavy_top", "ggl", "quaternion", "angular"),
        ("linked_bodies", "index-1", "directors", "coordinate"),
    ],
)
def test_a_problem_compiles_what_it_needs(model, formulation, rotation, velocity):
    features, stages = _stages(model, formulation, rotation, velocity)
    may = features | ALWAYS
    assert len(stages) > 80
    for name, when, compiled in stages:
        assert not (compiled and not set(when) <= may), f"{name} is for {when}, and this problem has {features}"
    done = {name for name, _, compiled in stages if compiled}
    wanted = {name for name, when, _ in stages if rotation in when and set(when) <= features}
    assert wanted & done
    kinds = {kind for _, when, compiled in stages if compiled for kind in when}
    if rotation == "quaternion":
        assert not kinds & {"directors", "euler-313", "director-rate", "quaternion-rate", "momenta", "spherical-tree"}
    assert ("corrected" in kinds) == (formulation == "ggl")
    assert not kinds & {"baumgarte", "rheonomic", "redundant"}


# ---------------------------------------------------------------- stages that are not there


def _with_roses(x_at):
    x = vector_at(x_at)
    x[0] += 1.0


def _with_tulips(x_at):
    x = vector_at(x_at)
    x[0] += 10.0


@family("i")
def _in_a_vase(number, x_at):
    """Adds a hundred times the number."""


def _vase_of_roses(x_at):
    vector_at(x_at)[0] += 100.0


add_member(_in_a_vase, 1, _vase_of_roses, "roses")


def _both(x):
    _with_roses(address(x))
    _with_tulips(address(x))


@entry("o")
def _flowers(x):
    _both(x)


@entry("io")
def _arrange(number, x):
    _in_a_vase(number, address(x))


def _kernels(kernel, features):
    return kernel.compiled(features), plain(kernel, features)


def test_a_stage_that_is_needed_and_missing_is_an_error():
    """What is optional may be missing. (What is compiled once stays, so the order of the problems counts.)"""
    for kernel in _kernels(_flowers, frozenset({"tulips"})):
        with pytest.raises(RuntimeError, match=r"test_stages:_with_roses was called for a problem without roses"):
            kernel(np.zeros(1))
    x = np.zeros(1)
    plain(_flowers, frozenset({"roses"}))(x)
    assert x == [1.0]
    for features in (frozenset({"roses", "tulips"}), None):
        for kernel in _kernels(_flowers, features):
            x = np.zeros(1)
            assert kernel(x) is None
            assert x == [11.0]


def test_members_of_a_family_are_found_by_number():
    for kernel in _kernels(_arrange, frozenset({"tulips"})):
        with pytest.raises(RuntimeError, match=r"test_stages:_in_a_vase was called with a number"):
            kernel(1, np.zeros(1))
    for kernel in _kernels(_arrange, frozenset({"roses"})):
        with pytest.raises(RuntimeError, match=r"_in_a_vase was called with a number"):
            kernel(7, np.zeros(1))
        x = np.zeros(1)
        kernel(1, x)
        assert x == [100.0]


@compiled_only
@needs_numba
def test_a_function_that_the_user_compiled_by_numba_becomes_part_of_a_kernel():
    @njit
    def twice(x):
        return 2.0 * x

    @entry("tyo")
    def kernel(t, y, out):
        out[0] = twice(y[0]) + t

    out = np.zeros(2)
    kernel.compiled()(1.0, np.array([3.0]), out[:1])
    plain(kernel)(1.0, np.array([3.0]), out[1:])
    assert list(out) == [7.0, 7.0]


@pytest.mark.parametrize(
    "system, pairing", [(s, p) for k, s in enumerate(("A", "loop")) for p in cases.turns(k)], ids=str
)
def test_stages_of_other_problems_do_nothing_here(system, pairing):
    """The process shares its stages: once another problem has them linked, an optional one is called where there is
    nothing for it to do. (Baumgarte's terms and redundant rows wrote beyond the patterns of problems without them.)"""
    problem = cases.problem(system, pairing)
    calls = {"residual": (problem.n_equations,)} | ({"rhs": (problem.n,)} if problem.kind == "ode" else {})
    for callback, shape in calls.items():
        found = []
        for all_features in (False, True):
            out = np.full(shape, -3.0)
            rates = (problem.yd0,) if callback == "residual" else ()
            with_stages_of_all(problem, callback, all_features=all_features)(0.1, problem.y0, *rates, out)
            found.append(out)
        assert np.array_equal(*found), callback


# ---------------------------------------------------------------- sources that change

GARDEN = {
    "soil.py": "DEPTH = {depth}\n",
    "roots.py": """
from inside import jit, stage, vector_at

def root():
    return {root}

def leaf(x_at):
    vector_at(x_at)[1] = {leaf}
""",
    "garden.py": """
import numpy as np
import roots
from soil import DEPTH
from inside import address, entry, files_of_code

@entry("o")
def flower(x):
    x[0] = roots.root() + DEPTH
    roots.leaf(address(x))

x = np.zeros(2)
before = set(files_of_code())
flower.compiled()(x)
print([*x.tolist(), len(files_of_code() - before)])
""",
}


@compiled_only
def test_changed_sources_leave_no_stale_code(tmp_path):
    """Also outside of rbdae: a constant in a third file, a kernel that is inlined, a stage."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(tmp_path), *filter(None, sys.path))),
        "RBDAE_CACHE_DIR": str(tmp_path),
    }

    def grow(**values: Any) -> Any:
        for name, text in GARDEN.items():
            path = tmp_path / name
            new = text.format(**values) if "{" in text else text
            if not path.exists() or path.read_text() != new:
                path.write_text(new)
        run = subprocess.run(
            [sys.executable, "-B", str(tmp_path / "garden.py")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert run.returncode == 0, run.stderr[-3000:]
        return json.loads(run.stdout)

    values = {"depth": 0.25, "root": 1.0, "leaf": 5.0}
    assert grow(**values) == [1.25, 5.0, 2]
    for name, wanted in (("depth", [1.75, 5.0, 1]), ("root", [2.75, 5.0, 1]), ("leaf", [2.75, 6.0, 1])):
        values[name] += {"depth": 0.5}.get(name, 1.0)
        assert grow(**values) == wanted
    assert grow(**values)[2] == 0


def test_globals_that_cannot_be_compared_are_refused():
    table = {"a": 1.0}

    def look():
        return table

    with pytest.raises(TypeError, match="names table, a dict"):
        fingerprint(look, "")

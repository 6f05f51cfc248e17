"""Stages are compiled only where a problem needs them: a first use costs no more than it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from inside import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled without the JIT")

CODE = """
import json, sys
import rbdae
from rbdae.compiler import jit as _jit
problem = rbdae.formulate(rbdae.models.{model}(), {formulation!r}, rotation={rotation!r}, velocity={velocity!r})
problem.residual(0.0, problem.y0, problem.yd0)
problem.sparse_jacobian(0.0, problem.y0, problem.yd0, 1.0)
if problem.kind == "ode":
    problem.rhs_jacobian(0.0, problem.y0)
problem.project(0.0, problem.y0)
stages = [(s.symbol, sorted(s.when), s.compiled is not None) for s in _jit._STAGES.values()]
print(json.dumps([sorted(problem._workspace.features), stages]))
"""


def _stages(model: str, formulation: str, rotation: str, velocity: str) -> tuple[set[str], list[Any]]:
    """The features of a problem, and (symbol, when, compiled) of all stages, in a process that has made only it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    code = CODE.format(model=model, formulation=formulation, rotation=rotation, velocity=velocity)
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    features, stages = json.loads(run.stdout)
    return set(features), stages


# the start is made consistent in quaternions with angular velocities, whatever the problem's own unknowns are
ALWAYS = {"quaternion", "angular"}


@pytest.mark.parametrize(
    "model, formulation, rotation, velocity",
    [
        ("linked_bodies", "index-2", "quaternion", "angular"),
        ("heavy_top", "index-0", "quaternion", "angular"),
        ("linked_bodies", "ggl", "quaternion", "angular"),
        ("linked_bodies", "index-1", "directors", "coordinate"),
    ],
)
def test_a_problem_compiles_what_it_needs(model, formulation, rotation, velocity):
    features, stages = _stages(model, formulation, rotation, velocity)
    may = features | ALWAYS
    assert len(stages) > 80
    for symbol, when, compiled in stages:
        assert not (compiled and not set(when) <= may), f"{symbol} is for {when}, and this problem has {features}"
    done = {symbol for symbol, _, compiled in stages if compiled}
    wanted = {symbol for symbol, when, _ in stages if rotation in when and set(when) <= features}
    assert wanted & done
    kinds = {kind for _, when, compiled in stages if compiled for kind in when}
    if rotation == "quaternion":
        assert not kinds & {"directors", "euler-313", "director-rate", "quaternion-rate", "momenta", "tree"}
    assert ("corrected" in kinds) == (formulation == "ggl")
    assert not kinds & {"baumgarte", "rheonomic", "redundant"}

"""The papers' examples in all charts: one motion, whatever describes the rotations.

Charts are centred at the start where it is singular, and again on the way where the motion comes near a singular set.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from cases import NIGHTLY

import rbdae
from rbdae import models
from rbdae.rotations import CHARTS

EXAMPLES = {
    "A": (models.heavy_top, 2.0),
    "B": (lambda: models.tennis_racket(disturbance=1.0), 1.0),
    "C": (models.linked_bodies, 0.25),
    "top 1": (lambda: models.rotations_top(case=1), 1.0),
    "top 2": (lambda: models.rotations_top(case=2), 1.0),
}
SOLVERS = {
    "index-0": ("scipy:DOP853", 1e-11),
    "null-space": ("scipy:DOP853", 1e-11),
    "index-1": ("sksundae:ida", 1e-12),
    "index-2": ("solve_dae:Radau", 1e-9),
}
CASES = [(e, f, c) for e in EXAMPLES for f in SOLVERS for c in CHARTS if c != "quaternion"]


def _sampled() -> list[tuple[str, str, str]]:
    """The explicit forms, and some of the others."""
    implicit = [k for k, (_, formulation, _) in enumerate(CASES) if formulation in ("index-1", "index-2")]
    left = np.random.default_rng(11).permutation(implicit)[8:]
    return CASES if NIGHTLY else [case for k, case in enumerate(CASES) if k not in left]


def _run(example: str, formulation: str, chart: str, **arguments: Any) -> rbdae.Solution:
    build, t_end = EXAMPLES[example]
    solver, tol = SOLVERS[formulation]
    origin = "start" if CHARTS[chart].centre else "space"
    problem = rbdae.formulate(build(), formulation, rotation=chart, reference=origin, consistent="project")
    given = {"rtol": tol, "atol": tol, "on_singularity": "switch"} | arguments
    return rbdae.solve(problem, (0.0, t_end), solver=solver, t_eval=np.linspace(0.0, t_end, 9), **given)


@cache
def _reference(example: str) -> rbdae.Solution:
    return _run(example, "null-space", "quaternion", rtol=1e-13, atol=1e-13)


@pytest.mark.sampled
@pytest.mark.parametrize(("example", "formulation", "chart"), _sampled())
def test_the_motion_is_that_in_quaternions(example, formulation, chart):
    run, wanted = _run(example, formulation, chart), _reference(example)
    assert run.success, run.message
    size = max(1.0, max(np.abs(s.position).max() for s in wanted.states.values()))
    for name, state in wanted.states.items():
        found = run.states[name]
        assert (found.orientation * state.orientation.inv()).magnitude().max() < 1e-7
        assert np.abs(found.position - state.position).max() < 1e-7 * size

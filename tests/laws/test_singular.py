"""Singular positions along a motion: found where they are passed, and nowhere else."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, partial

import cases
import inside
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_loops import spherical_four_bar
from test_null_space import four_bar, triple_rocker

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae.models import andrews, bricard, n_four_bar

RUNS = [
    ("index-0", "angular", "scipy:DOP853", 1e-8),
    ("index-0", "angular", "scipy:RK45", 1e-6),
    ("index-1", "angular", "sksundae:ida", 1e-8),
    ("index-2", "coordinate", "solve_dae:Radau", 1e-5),
    ("null-space", "angular", "scipy:DOP853", 1e-8),
    ("hamiltonian-eliminated", "momentum", "scipy:DOP853", 1e-8),
]


@cache
def bars(n: int, formulation: str, velocity: str) -> rbdae.Problem:
    return rbdae.formulate(n_four_bar(n), formulation, velocity=velocity, consistent="project")


def run(system: rbdae.System | int, t_end: float, form: tuple[str, str, str, float]) -> rbdae.Solution:
    """Of a system, or of so many windows of bars."""
    formulation, velocity, solver, tolerance = form
    if isinstance(system, int):
        problem = bars(system, formulation, velocity)
    else:
        problem = rbdae.formulate(system, formulation, velocity=velocity, consistent="project")
    return rbdae.solve(problem, (0.0, t_end), solver=solver, rtol=tolerance, atol=tolerance)


@cache
def in_a_line(n: int) -> float:
    """When the bars of `n_four_bar` come to lie in a line first, from its one equation."""

    def down(t, y):
        return y[0]

    down.terminal = True
    size, pull = (n + 1) / 3.0 + n, (n + 1) / 2.0 + n
    fall = solve_ivp(
        lambda t, y: (y[1], -pull / size * 9.81 * math.cos(y[0])),
        (0.0, 2.0),
        (0.5 * math.pi, -1.0),
        events=down,
        rtol=1e-12,
        atol=1e-12,
    )
    return float(fall.t_events[0][0])


@pytest.mark.parametrize("form", RUNS, ids=lambda run: "-".join(map(str, run)))
def test_a_passage_is_found_and_told(form):
    n = 1 + RUNS.index(form) // 2 % 3
    solution = run(n, 0.85, form)
    assert solution.singular_times == pytest.approx([in_a_line(n)], abs=1e-3)
    assert f"singular near t = {solution.singular_times[0]:.6g}: the motion beyond is one of" in solution.message
    # until shortly before there is nothing to tell
    before = run(n, 0.69, form)
    assert not len(before.singular_times)
    assert before.message.endswith("end of the interval")


@cache
def _passing() -> rbdae.Solution:
    out = run(1, 0.85, RUNS[0])
    assert out.success
    return out


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_passage_is_found_in_the_unknowns_of_every_form(formulation):
    """One motion in all of them, whether a solver could follow it in that form or not."""
    motion = _passing()
    velocity = FORMULATIONS[formulation].velocities[0]
    problem = rbdae.formulate(n_four_bar(1), formulation, rotation="quaternion", velocity=velocity)
    y = np.array(
        [inside.unknowns_of(problem, motion.problem, t, row) for t, row in zip(motion.t, motion.y, strict=True)]
    )
    here = replace(motion, problem=problem, y=y)
    assert np.abs(problem.natural(motion.t[0], y[0]) - motion.problem.natural(motion.t[0], motion.y[0])).max() < 1e-12
    assert here.singular_times == pytest.approx([in_a_line(1)], abs=1e-3)


REGULAR = {
    "crank and rocker": (four_bar, 10.0),
    "three rockers": (triple_rocker, 10.0),
    "on a sphere": (spherical_four_bar, 10.0),
    "spatial loop": (cases.loop, 10.0),
    "Bricard": (partial(bricard, redundant=False), 10.0),
    "Andrews": (andrews, 0.03),  # no farther than 3e-3 from it
}


@pytest.mark.parametrize("name", REGULAR)
def test_regular_motions_are_not_accused(name):
    build, t_end = REGULAR[name]
    form = RUNS[2 if name in ("crank and rocker", "Andrews") else 0]
    solution = run(build(), t_end, form)
    assert inside.singular.closeness(solution.problem, solution.t, solution.y).min() > 2e-3
    assert not len(solution.singular_times)
    assert "singular" not in solution.message

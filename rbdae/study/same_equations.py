"""Forms whose equations are one and the same, found by their numbers.

Without joints, velocities that are angular leave no constraint: `index-3` to `index-1`, `ggl`, `hiller-anantharaman`,
`baumgarte` and the null-space form then have one residual, and the ODE forms one right-hand side. Only there it can
happen: other forms differ by the level of a constraint, or by their unknowns. Which forms it happens to is decided by
values at random states off the constraints, equal to rounding; for solvers that take right-hand sides alone by these,
for all others by the residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rbdae._arrays import Vec
from rbdae.formulations import Formulation
from rbdae.problem.problem import Problem
from rbdae.solving.registry import find_method
from rbdae.study.case import Case
from rbdae.study.one_run import formulated
from rbdae.system import System

_FIRST = ("null-space", "index-1")
"""Which one of several is run: errors of the null-space form are measured against other equations."""

_Values = dict[str | Formulation, dict[str, Vec]]
"""Residuals, and right-hand sides of ODEs, at some states, by the form."""


def representatives(system: System, chosen: Sequence[Case]) -> dict[Case, Case]:
    """For each case the one that has the same equations, solver, tolerance and options, and is run for it."""
    out = {case: case for case in chosen}
    able = [case for case in out if case.velocity == "angular"]
    if system.joints or len({case.formulation for case in able}) < 2:
        return out
    # in quaternions: the chart does not matter
    each = {case.formulation: replace(case, rotation="quaternion") for case in able}
    values = {formulation: _at_random_states(formulated(system, case)) for formulation, case in each.items()}
    leaders: list[Case] = []
    for case in sorted(able, key=lambda case: [*_FIRST, case.formulation].index(case.formulation)):
        for leader in leaders:
            if replace(case, formulation=leader.formulation) == leader and _same(case, leader, values):
                out[case] = leader
                break
        else:
            leaders.append(case)
    return out


def _at_random_states(problem: Problem) -> dict[str, Vec]:
    rng = np.random.default_rng(0)
    found: dict[str, list[Vec]] = {"residual": [], "rhs": []}
    for _ in range(2):
        y = problem.y0 * (1.0 + 0.01 * rng.standard_normal(problem.n)) + 0.01 * rng.standard_normal(problem.n)
        found["residual"].append(problem.residual(problem.t0, y, rng.standard_normal(problem.n)))
        if problem.kind == "ode":
            found["rhs"].append(problem.rhs(problem.t0, y))
    return {name: np.concatenate(values) for name, values in found.items() if values}


def _same(case: Case, leader: Case, values: _Values) -> bool:
    what = "rhs" if find_method(case.solver)[1].kinds == {"ode"} else "residual"
    a, b = (values[each.formulation].get(what) for each in (case, leader))
    if a is None or b is None or a.shape != b.shape:
        return False
    return bool(np.abs(a - b).max() <= 1e-12 * np.abs(a).max())

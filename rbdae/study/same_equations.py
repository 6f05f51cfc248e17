"""Forms whose equations are one and the same, found by their numbers.

Without joints, velocities that are angular leave no constraint: `index-3` to `index-1`, `ggl`, `hiller-anantharaman`,
`baumgarte` and the null-space form then have one residual, and the ODE forms one right-hand side. Only there it can
happen: other forms differ by the level of a constraint, or by their unknowns. Which forms it happens to is decided by
values at random states off the constraints, equal to rounding; for solvers that take right-hand sides alone by these,
for all others by the residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from rbdae._arrays import Vec
from rbdae.formulations import Formulation
from rbdae.problem.problem import Problem
from rbdae.solving.registry import find_method
from rbdae.study.case import Case
from rbdae.study.one_run import formulated
from rbdae.system import System

_STATES = 2
_ROUNDING = 1e-12

_FIRST = ("null-space", "index-1")
"""Which one of several is run: errors of the null-space form are measured against other equations."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """Residuals and right-hand sides of one form at some states."""

    residual: Vec
    rates: Vec | None


def representatives(system: System, chosen: Sequence[Case]) -> dict[Case, Case]:
    """For each case the one that has the same equations, solver, tolerance and options, and is run for it."""
    out = {case: case for case in chosen}
    able = [case for case in out if case.velocity == "angular"]
    if system.joints or len({case.formulation for case in able}) < 2:
        return out
    values = _values(system, able)
    first = {name: k for k, name in enumerate(_FIRST)}
    leaders: list[Case] = []
    for case in sorted(able, key=lambda case: first.get(str(case.formulation), len(first))):
        for leader in leaders:
            if replace(case, formulation=leader.formulation) == leader and _same(case, leader, values):
                out[case] = leader
                break
        else:
            leaders.append(case)
    return out


def _values(system: System, able: Sequence[Case]) -> dict[str | Formulation, _Values]:
    """The values by formulation, in quaternions: the chart does not matter."""
    each = {case.formulation: replace(case, rotation="quaternion") for case in able}
    return {formulation: _at_random_states(formulated(system, case)) for formulation, case in each.items()}


def _at_random_states(problem: Problem) -> _Values:
    rng = np.random.default_rng(0)
    residuals, rates = [], []
    for _ in range(_STATES):
        y = problem.y0 * (1.0 + 0.01 * rng.standard_normal(problem.n)) + 0.01 * rng.standard_normal(problem.n)
        residuals.append(problem.residual(problem.t0, y, rng.standard_normal(problem.n)))
        if problem.kind == "ode":
            rates.append(problem.rhs(problem.t0, y))
    return _Values(np.concatenate(residuals), np.concatenate(rates) if rates else None)


def _same(case: Case, leader: Case, values: dict[str | Formulation, _Values]) -> bool:
    mine, theirs = values[case.formulation], values[leader.formulation]
    if find_method(case.solver)[1].kinds == {"ode"}:
        return _equal(mine.rates, theirs.rates)
    return _equal(mine.residual, theirs.residual)


def _equal(a: Vec | None, b: Vec | None) -> bool:
    if a is None or b is None or a.shape != b.shape:
        return False
    return bool(np.abs(a - b).max() <= _ROUNDING * np.abs(a).max())


__all__ = ["representatives"]

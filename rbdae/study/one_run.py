"""One run of a study: a case in, a row of the table out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from rbdae.adapter import Stats
from rbdae.initial.formulate import formulate
from rbdae.problem.problem import Problem
from rbdae.problem.projection import ProjectionError
from rbdae.solving import solve
from rbdae.solving.solution import Solution
from rbdae.study.case import Case
from rbdae.study.references import Errors, Reference, errors, final_state
from rbdae.system import System

_SHORT = 0.03
"""Runs shorter than this are timed three times, s."""


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The result of one run.

    Attributes
    ----------
    case : what was run
    errors : at the end; None if the run did not reach it
    position_drift, velocity_drift : largest violation of the constraints over the run, SI units
    energy_error : largest `EnergyOfRun.balance`, relative to the largest kinetic energy
    stats : counts and seconds (of short runs, the shortest of three)
    failure : why there is no result, or empty
    """

    case: Case
    errors: Errors | None
    position_drift: float
    velocity_drift: float
    energy_error: float
    stats: Stats
    failure: str = ""


class Rows(Protocol):
    """What a table or a picture is made from: rows and their reference, for example a `Comparison`."""

    @property
    def reference(self) -> Reference:
        """The reference of all rows."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows in the order of their cases."""


class _OutOfTime(Exception):
    """Raised from within a run that takes longer than its limit."""


def run(system: System, case: Case, exact: Reference, limit: float = 60.0) -> Row:
    """One run; what goes wrong becomes the row's `failure`. Runs longer than `limit` seconds are given up."""
    watch = _deadline(limit)
    try:
        problem = formulate(system, case.formulation, rotation=case.rotation, velocity=case.velocity)
        solution = _timed(problem, case, exact.t_end, watch)
    except (ValueError, ProjectionError, _OutOfTime) as error:
        return Row(case, None, np.nan, np.nan, np.nan, Stats(), str(error))
    drift, energy = solution.drift, solution.energy
    scale = float(np.max(energy.kinetic)) or 1.0
    reached = None
    if solution.success:
        reached = errors(
            final_state(solution.problem_at(exact.t_end), exact.t_end, solution.y[-1]), exact.against(case.formulation)
        )
    return Row(
        case,
        reached,
        float(np.max(drift.position)),
        float(np.max(drift.velocity)),
        float(np.max(np.abs(energy.balance))) / scale,
        solution.stats,
        "" if solution.success else solution.message,
    )


def _deadline(limit: float) -> Callable[[float], None]:
    """A function of time for `solve` that raises `_OutOfTime` from `limit` seconds on after this call."""
    stop = time.perf_counter() + limit

    def watch(t: float) -> None:
        if time.perf_counter() > stop:
            raise _OutOfTime(f"given up at t = {t:.3g} after {limit:g} s")

    return watch


def _timed(problem: Problem, case: Case, t_end: float, watch: Callable[[float], None]) -> Solution:
    """The run; the fastest of three if it is short."""

    def once() -> Solution:
        tolerance = case.tolerance
        return solve(problem, (0.0, t_end), solver=case.solver, rtol=tolerance, atol=tolerance, progress=watch)

    solution = once()
    if solution.stats.seconds >= _SHORT:
        return solution
    # the first run may have loaded kernels, or the solver's package
    return min((solution, once(), once()), key=lambda s: s.stats.seconds)


__all__ = ["Row", "Rows", "run"]

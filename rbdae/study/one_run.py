"""One run of a study, from a case to a row of the table."""

from __future__ import annotations

import contextlib
import math
import statistics
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from rbdae.adapter import Stats
from rbdae.formulations.table import named
from rbdae.initial.formulate import formulate
from rbdae.problem.contract import ProjectionError
from rbdae.problem.problem import Problem
from rbdae.solving import solve
from rbdae.solving.solution import Solution
from rbdae.study.case import Case
from rbdae.study.references import Errors, OutOfTimeError, Reference, deadline, errors, state_at_end
from rbdae.system import System

LIMIT = 60.0
"""Seconds after which a run is given up by default."""

REPEATS = 9
"""The largest number of timed runs of a short case by default."""

_SHORT = 0.2
"""Runs shorter than this are repeated, until their times add up to it, s."""

_AT_LEAST = 3
"""Least number of timed runs of a short case."""

_WARM_UP = 20
"""Steps of the run that loads kernels and packages."""


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The result of one run.

    Attributes
    ----------
    case : the case
    errors : errors at the end; None if the run did not reach it
    position_drift, velocity_drift : largest violation of the constraints over the run, SI units
    energy_error : largest `EnergyOfRun.balance`, relative to the largest kinetic energy
    stats : counts and seconds of the solver, without loading; medians if a case was timed several times. `seconds` is
        processor time, `wall_seconds` elapsed time
    failure : why there is no result, or empty
    reason : the failure without times and numbers, equal for all runs that failed for the same reason
    timed : number of timed runs
    given_up_after : the limit of a run that took too long, s of elapsed time; None for all others
    singular : number of singular positions of loops that the run passed; -1 if it has no states
    """

    case: Case
    errors: Errors | None
    position_drift: float
    velocity_drift: float
    energy_error: float
    stats: Stats
    failure: str = ""
    reason: str = ""
    timed: int = 1
    given_up_after: float | None = None
    singular: int = -1


class _Warm(Exception):
    """Ends a run that only loads kernels and packages."""


def run(system: System, case: Case, exact: Reference, limit: float = LIMIT, repeats: int = REPEATS) -> Row:
    """Run a case; an error becomes the row's `failure`, and `limit` seconds of elapsed time end it.

    Every run formulates its own problem. Some uncounted steps come first, so that no time contains the loading of
    kernels and packages. Times are the thread's processor time, which other processes hardly change. Runs shorter than
    0.2 s are repeated until their times add up to that, at least three and at most `repeats` times; the median counts.
    """
    nothing = (None, math.nan, math.nan, math.nan, Stats())
    try:
        return _row(system, case, exact, limit, repeats)
    except OutOfTimeError as error:
        return Row(case, *nothing, str(error), f"given up after its limit of {limit:g} s", given_up_after=limit)
    except Exception as error:  # from a user's force or a package: the other cases go on
        plain = isinstance(error, (ValueError, ProjectionError)) and str(error)
        said = str(error) if plain else f"{type(error).__name__}: {error}"
        return Row(case, *nothing, said, said)


def _row(system: System, case: Case, exact: Reference, limit: float, repeats: int) -> Row:
    solution, timed = _timed(system, case, exact.t_end, limit, repeats)
    drift, energy = solution.drift, solution.energy
    reached = None
    if solution.success:
        reached = errors(state_at_end(solution), exact.against(named(case.formulation).name))
        if not math.isfinite(reached.largest):
            raise ValueError(f"the errors at the end are not finite: {reached}")
    return Row(
        case,
        reached,
        float(np.max(drift.position)),
        float(np.max(drift.velocity)),
        float(np.max(np.abs(energy.balance)) / (np.max(energy.kinetic) or 1.0)),
        solution.stats,
        "" if solution.success else solution.message,
        "" if solution.success else solution.reason.value,
        timed,
        singular=len(solution.singular_times),
    )


def _timed(system: System, case: Case, t_end: float, limit: float, repeats: int) -> tuple[Solution, int]:
    """A run with the medians of its times, and their number."""
    warm_up(system, case, t_end)
    times: list[float] = []
    walls: list[float] = []
    while True:
        solution = solve_case(formulated(system, case), case, t_end, deadline(limit))
        times.append(solution.stats.seconds)
        walls.append(solution.stats.wall_seconds)
        enough = min(times) >= _SHORT or (len(times) >= _AT_LEAST and sum(times) >= _SHORT)
        if not solution.success or len(times) >= repeats or enough or sum(walls) >= limit:
            break
    median = replace(solution.stats, seconds=statistics.median(times), wall_seconds=statistics.median(walls))
    return replace(solution, stats=median), len(times)


def warm_up(system: System, case: Case, t_end: float, steps: int = _WARM_UP) -> None:
    """Take the first steps of a run, which load kernels and packages and check its options."""
    left = steps

    def count(t: float) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            raise _Warm

    with contextlib.suppress(_Warm):
        solve_case(formulated(system, case), case, t_end, count)


def formulated(system: System, case: Case, *, silent: bool = True) -> Problem:
    """A new problem for one run; a study warns about its start once, not in every run."""
    names: Any = {"rotation": case.rotation, "velocity": case.velocity}  # checked by formulate
    form: Any = case.formulation
    with warnings.catch_warnings():
        if silent:
            warnings.simplefilter("ignore")
        return formulate(system, form, **names, redundant=case.redundant, hold=case.hold, reference=case.reference)


def solve_case(problem: Problem, case: Case, t_end: float, progress: Callable[[float], None]) -> Solution:
    return solve(
        problem,
        (0.0, t_end),
        solver=case.solver,
        rtol=case.tolerance,
        atol=case.tolerance,
        projection=case.projection,
        on_singularity=case.on_singularity,
        step=case.step,
        progress=progress,
        **dict(case.options),
    )

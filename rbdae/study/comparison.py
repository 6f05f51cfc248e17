"""Comparing formulations, rotations and solvers on one system: final errors, work, drift.

Every row is one run to the same end time. Its error is measured against a reference that another formulation
computed at 1e-13; two formulations compute one, and their difference says how far the errors can be trusted.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from rbdae.adapter import Stats
from rbdae.formulations import FORMULATIONS, SPELLINGS
from rbdae.initial.formulate import formulate, pairings
from rbdae.problem.projection import ProjectionError
from rbdae.rotations import CHARTS
from rbdae.solving.run import find_method, solve, solvers
from rbdae.study.executor import compile_kernels as compile_kernels
from rbdae.study.executor import run_all
from rbdae.study.references import Errors as Errors
from rbdae.study.references import Reference as Reference
from rbdae.study.references import errors as errors
from rbdae.study.references import final_state as final_state
from rbdae.study.references import reference as reference
from rbdae.system import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rbdae.solving.solution import Solution

_new_reference = reference  # a keyword of `compare` has the name, too

_SHORT = 0.03
"""Runs shorter than this are timed three times, s."""


@final
@dataclass(frozen=True, slots=True)
class Case:
    """What one run consists of; rtol = atol = `tolerance`."""

    formulation: str
    rotation: str
    velocity: str
    solver: str
    tolerance: float

    @property
    def form(self) -> str:
        """Formulation, rotation and velocity in one string."""
        return f"{self.formulation}, {self.rotation}, {self.velocity}"


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The result of one run.

    Attributes
    ----------
    case : what was run
    errors : at the end; None where the run did not get there
    position_drift, velocity_drift : largest violation of the constraints over the run, SI units
    energy_error : largest change of the total energy, relative to the largest kinetic energy
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


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows in the order of their cases; prints as a table."""

    reference: Reference
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        from rbdae.study.table import table

        return table(self)

    def plot(self) -> Figure:
        """Work-precision picture: error over evaluations and over seconds, one curve for each form and solver."""
        from rbdae.study.table import work_precision

        return work_precision(self)


def cases(
    formulations: Iterable[str] | None = None,
    rotations: Iterable[str] | None = None,
    velocities: Iterable[str] | None = None,
    solvers: Iterable[str] | None = None,
    tolerances: Iterable[float] = (1e-8,),
) -> list[Case]:
    """All cases that make sense; None takes everything that there is (of the solvers: installed, with step control).

    Raises
    ------
    ValueError
        for names that do not exist, with the nearest ones
    rbdae.adapter.MissingSolver
        for a solver whose package is not installed
    """
    known = pairings()
    spelt = None if formulations is None else [SPELLINGS.get(f, f) for f in formulations]
    wanted_forms = _check_names("formulation", spelt, FORMULATIONS)
    wanted_charts = _check_names("rotation", rotations, CHARTS)
    wanted_speeds = _check_names("velocity", velocities, {v for _, _, v in known})
    methods = {name: find_method(name)[1] for name in (installed_solvers() if solvers is None else solvers)}
    chosen = [
        (f, r, v)
        for f, r, v in known
        if (wanted_forms is None or f in wanted_forms)
        and (wanted_charts is None or r in wanted_charts)
        and (wanted_speeds is None or v in wanted_speeds)
    ]
    return [
        Case(f, r, v, name, tolerance)
        for f, r, v in chosen
        for name, method in methods.items()
        if method.accepts(FORMULATIONS[f].kind, FORMULATIONS[f].index)
        for tolerance in tolerances
    ]


def _check_names(what: str, names: Iterable[str] | None, known: Iterable[str]) -> list[str] | None:
    if names is None:
        return None
    chosen, known = list(names), sorted(known)
    for name in chosen:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4)
            hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
            raise ValueError(f"unknown {what} {name!r}; {hint}There are {', '.join(known)}")
    return chosen


def installed_solvers() -> list[str]:
    """Solvers whose packages are there and that choose their own steps."""
    return [s.name for s in solvers() if s.available and not find_method(s.name)[1].fixed_step]


class _OutOfTime(Exception):
    pass


def run(system: System, case: Case, exact: Reference, limit: float = 60.0) -> Row:
    """One run; what goes wrong becomes the row's `failure`. Longer runs than `limit` seconds are given up."""
    end = exact.t_end
    stop = time.perf_counter() + limit

    def watch(t: float) -> None:
        if time.perf_counter() > stop:
            raise _OutOfTime(f"given up at t = {t:.3g} after {limit:g} s")

    def once() -> Solution:
        tolerance = case.tolerance
        return solve(problem, (0.0, end), solver=case.solver, rtol=tolerance, atol=tolerance, progress=watch)

    try:
        problem = formulate(system, case.formulation, rotation=case.rotation, velocity=case.velocity)
        solution = once()
        if solution.stats.seconds < _SHORT:  # the first one may have loaded kernels, or the solver's package
            again = min((once() for _ in range(2)), key=lambda s: s.stats.seconds)
            solution = min(solution, again, key=lambda s: s.stats.seconds)
    except (ValueError, ProjectionError, _OutOfTime) as error:
        return Row(case, None, np.nan, np.nan, np.nan, Stats(), str(error))
    drift, energy = solution.drift, solution.energy
    scale = float(np.max(energy.kinetic)) or 1.0
    return Row(
        case,
        errors(final_state(problem, end, solution.y[-1]), exact.against(case.formulation))
        if solution.success
        else None,
        float(np.max(drift.position)),
        float(np.max(drift.velocity)),
        float(np.max(np.abs(energy.total - energy.total[0]))) / scale,
        solution.stats,
        "" if solution.success else solution.message,
    )


def compare(
    system: System,
    t_end: float,
    *,
    formulations: Iterable[str] | None = None,
    rotations: Iterable[str] | None = None,
    velocities: Iterable[str] | None = None,
    solvers: Iterable[str] | None = None,
    tolerances: Iterable[float] = (1e-8,),
    reference: Reference | None = None,
    executor: Executor | None = None,
    progress: bool = False,
    limit: float = 60.0,
) -> Comparison:
    """Run a system through formulations, rotations and solvers.

    Parameters
    ----------
    system : System
    t_end : end of all runs, s
    formulations, rotations, velocities, solvers, tolerances : what to combine, see `cases`
    reference : from `reference`; computed where it is not given
    executor : any `concurrent.futures.Executor` of processes; None for this process
    progress : a bar on standard error, where tqdm is installed
    limit : seconds after which one run is given up

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        for unknown names
    """
    return compare_cases(
        system,
        t_end,
        cases(formulations, rotations, velocities, solvers, tolerances),
        reference=reference,
        executor=executor,
        progress=progress,
        limit=limit,
    )


def compare_cases(
    system: System,
    t_end: float,
    chosen: Sequence[Case],
    *,
    reference: Reference | None = None,
    executor: Executor | None = None,
    progress: bool = False,
    limit: float = 60.0,
) -> Comparison:
    """`compare` with a list of cases of one's own."""
    exact = _new_reference(system, t_end) if reference is None else reference
    if exact.t_end != t_end:
        raise ValueError(f"the reference belongs to t = {exact.t_end:g}, the runs end at {t_end:g}; make a new one")
    tasks = [(run, (system, case, exact, limit)) for case in chosen]
    return Comparison(exact, tuple(run_all(tasks, executor, "runs" if progress else "")))


__all__ = [
    "Case",
    "Comparison",
    "Errors",
    "Reference",
    "Row",
    "cases",
    "compare",
    "compare_cases",
    "compile_kernels",
    "errors",
    "final_state",
    "installed_solvers",
    "reference",
    "run",
]

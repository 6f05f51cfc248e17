"""Comparing formulations, rotations and solvers on one system: final errors, work, drift.

Every row is one run to the same end time. Its error is measured against a reference that another formulation
computed at 1e-13; two formulations compute one, and their difference says how far the errors can be trusted.
"""

from __future__ import annotations

import contextlib
import difflib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from scipy.spatial.transform import Rotation

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Stats
from rbdae.formulate import formulate, pairings
from rbdae.formulations import FORMULATIONS, SPELLINGS
from rbdae.kernels import outputs
from rbdae.kernels._jit import Entry
from rbdae.kernels.project import project
from rbdae.projection import ProjectionError
from rbdae.rotations import CHARTS
from rbdae.solving import find_method, solve, solvers
from rbdae.system import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rbdae.problem import Problem
    from rbdae.solution import Solution

T = TypeVar("T")

REFERENCES = (("null-space", "quaternion"), ("hamiltonian-eliminated", "quaternion"))
"""Formulation and rotation of the two references; a row is measured against the one that it does not share."""

_REFERENCE_SOLVER = "scipy:DOP853"
_REFERENCE_TOLERANCE = 1e-13

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
class FinalState:
    """Motion at the end; rows are bodies in the order of addition.

    Attributes
    ----------
    position, velocity : (n, 3), of the centres of mass in space, m and m/s
    orientation : (n, 4) unit quaternions, scalar first
    angular_velocity : (n, 3), in the body frames, rad/s
    """

    position: Mat
    orientation: Mat
    velocity: Mat
    angular_velocity: Mat


@final
@dataclass(frozen=True, slots=True)
class Errors:
    """Errors at the end, relative to the size of what is measured; `orientation` is the largest angle, rad.

    `velocity` is the larger one of the errors of velocities and of angular velocities.
    """

    position: float
    orientation: float
    velocity: float

    @property
    def largest(self) -> float:
        """The worst of the three."""
        return max(self.position, self.orientation, self.velocity)


@final
@dataclass(frozen=True, slots=True)
class Reference:
    """The final states by the two formulations of `REFERENCES`, and what lies between them."""

    t_end: float
    states: tuple[FinalState, FinalState]
    agreement: Errors

    def against(self, formulation: str) -> FinalState:
        """The state that another formulation than this one computed."""
        return self.states[1 if formulation == REFERENCES[0][0] else 0]


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
        from rbdae.report import table

        return table(self)

    def plot(self) -> Figure:
        """Work-precision picture: error over evaluations and over seconds, one curve for each form and solver."""
        from rbdae.report import work_precision

        return work_precision(self)


def final_state(problem: Problem, t: float, y: Vec) -> FinalState:
    """What a state means, as arrays."""
    states = problem.states(t, y).values()
    turns = [np.roll(s.orientation.as_quat(), 1) for s in states]
    speeds = problem.natural(t, y)
    return FinalState(
        np.array([s.center_of_mass for s in states]),
        np.array(turns),
        speeds[:, 12:15],
        np.array([s.angular_velocity for s in states]),
    )


def errors(state: FinalState, exact: FinalState) -> Errors:
    """How far `state` is from `exact`."""
    turns = [Rotation.from_quat(np.roll(s.orientation, -1, axis=1)) for s in (state, exact)]
    return Errors(
        _relative(state.position, exact.position),
        float(np.max((turns[1].inv() * turns[0]).magnitude())),
        max(
            _relative(state.velocity, exact.velocity),
            _relative(state.angular_velocity, exact.angular_velocity),
        ),
    )


def _relative(value: Mat, exact: Mat) -> float:
    size = float(np.linalg.norm(exact))
    return float(np.linalg.norm(value - exact)) / (size if size > 0.0 else 1.0)


def reference(system: System, t_end: float) -> Reference:
    """Final states at `t_end` by the two formulations of `REFERENCES`, at tolerances of 1e-13.

    Raises
    ------
    RuntimeError
        where one of them did not get there
    """
    first, second = (_reference_state(system, t_end, *form) for form in REFERENCES)
    return Reference(t_end, (first, second), errors(first, second))


def _reference_state(system: System, t_end: float, formulation: str, rotation: str) -> FinalState:
    problem = formulate(system, formulation, rotation=rotation)
    solution = solve(
        problem,
        (0.0, t_end),
        solver=_REFERENCE_SOLVER,
        rtol=_REFERENCE_TOLERANCE,
        atol=_REFERENCE_TOLERANCE,
    )
    if not solution.success:
        raise RuntimeError(f"no reference: {formulation} by {solution.message}")
    return final_state(problem, t_end, solution.y[-1])


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
    return Comparison(exact, tuple(_all(tasks, executor, "runs" if progress else "")))


_new_reference = reference  # `reference` is also the name of a keyword


def compile_kernels(executor: Executor | None = None, *, progress: bool = False) -> None:
    """Compile, or load from the cache, every kernel; worth it before a study by several processes."""
    tasks = [(_compile, (k,)) for k in range(len(_entries()))]
    for _ in _all(tasks, executor, "kernels" if progress else ""):
        pass


def _entries() -> list[Entry]:
    """All kernels that Python calls. The longest one first: others can be compiled beside it."""
    table = [f for f in FORMULATIONS.values() if f.kind == "dae"]
    table += [f for f in FORMULATIONS.values() if f.kind != "dae"]
    found = [f.jacobian for f in table[:1]]
    found += [project, outputs.natural, outputs.constraints, *(f.rhs for f in table)]
    found += [f.residual for f in table]
    found += [f.jacobian for f in table]
    found += [f.rhs_jacobian for f in table if f.rhs_jacobian is not None]
    return list(dict.fromkeys(found))


def _compile(k: int) -> None:
    _entries()[k].compiled()


def _all(
    tasks: Sequence[tuple[Callable[..., T], tuple[Any, ...]]], executor: Executor | None, title: str
) -> Iterator[T]:
    """Results of all tasks, in their order; a bar where there is a title and tqdm."""
    with _bar(len(tasks), title) as advance:
        if executor is None:
            for function, arguments in tasks:
                yield function(*arguments)
                advance()
            return
        futures = [executor.submit(function, *arguments) for function, arguments in tasks]
        for _ in as_completed(futures):
            advance()
        for future in futures:
            yield future.result()


@contextlib.contextmanager
def _bar(total: int, title: str) -> Iterator[Callable[[], object]]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        title = ""
    if not title:
        yield lambda: None
        return
    with tqdm(total=total, desc=title, mininterval=1.0) as bar:
        yield bar.update


__all__ = [
    "REFERENCES",
    "Case",
    "Comparison",
    "Errors",
    "FinalState",
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

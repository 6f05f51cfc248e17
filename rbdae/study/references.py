"""Motions at the end of runs, their differences, and the reference of a study.

A computed reference is the final states of two formulations at 1e-13, and their difference.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.formulations.table import FormulationName
from rbdae.initial.formulate import formulate
from rbdae.initial.given import Hold
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection
from rbdae.rotations.chart import RotationName
from rbdae.rotations.checks import to_rotation
from rbdae.solving import solve
from rbdae.solving.solution import Solution
from rbdae.study.case import Redundant
from rbdae.system import System

REFERENCES: tuple[tuple[FormulationName, RotationName], ...] = (
    ("null-space", "quaternion"),
    ("hamiltonian-eliminated", "quaternion"),
)
"""Formulation and rotation of the two references; a row is measured against one by another formulation."""

_COMPUTED = f"{' and '.join(f'{formulation} ({rotation})' for formulation, rotation in REFERENCES)} at 1e-13"

_REMEDY = (
    "shorten t_end, or pass reference=rbdae.study.Reference.from_solutions(...) with runs of your own that you trust, "
    "for example of an implicit solver"
)
_REST = 1e-3
"""Bodies that move by less than this part of the model's length, or of a radian, during the run count as resting: their
errors are relative to this amount, since they would otherwise be rounding over rounding."""


@final
@dataclass(frozen=True, slots=True)
class FinalState:
    """Motion at the end; each row is a body, in the order of addition.

    Attributes
    ----------
    position, velocity : (n, 3), of the centres of mass in space, m and m/s
    orientation : (n, 4) unit quaternions, scalar first
    angular_velocity : (n, 3), in the body frames, rad/s
    sizes : largest norms of positions, velocities and angular velocities over the run, to which errors are relative (a
        pendulum's velocity vanishes at its turning point), limited from below for bodies that hardly move; None for the
        norms of this state
    """

    position: Mat
    orientation: Mat
    velocity: Mat
    angular_velocity: Mat
    sizes: tuple[float, float, float] | None = None


@final
@dataclass(frozen=True, slots=True)
class Errors:
    """Errors at the end, relative to the largest size over the run. `orientation` is the largest angle, rad; `velocity`
    the larger error of velocities and angular velocities."""

    position: float
    orientation: float
    velocity: float

    @property
    def largest(self) -> float:
        """The worst of the three."""
        return max(self.position, self.orientation, self.velocity)


def final_state(problem: Problem, t: float, y: Vec) -> FinalState:
    """The motion of all bodies for unknowns y at time t."""
    states = problem.states(t, y).values()
    return FinalState(
        np.array([s.center_of_mass for s in states]),
        np.array([np.roll(s.orientation.as_quat(), 1) for s in states]),
        problem.natural(t, y)[:, 12:15],
        np.array([s.angular_velocity for s in states]),
    )


def state_at_end(solution: Solution) -> FinalState:
    t_end = float(solution.t[-1])
    return final_state(solution.problem_at(t_end), t_end, solution.y[-1])


def _exact(solution: Solution) -> FinalState:
    """The last state of a run, with the sizes over the run."""
    problem, states, t = solution._problem, solution.states.values(), solution.t
    velocities = problem.natural(t, solution.y)[..., 12:15]  # of the centres, as in the last state
    moving = ([s.center_of_mass for s in states], velocities.swapaxes(0, 1), [s.angular_velocity for s in states])
    x, v, Om = (float(np.sqrt(np.max(np.sum(np.square(values), axis=(0, -1))))) for values in moving)
    duration, length = abs(float(t[-1] - t[0])), solution.problem_at(float(t[-1])).model.scales.length
    sizes = (max(x, _REST * length), max(v, _REST * length / duration), max(Om, _REST / duration))
    return replace(state_at_end(solution), sizes=sizes)


def errors(state: FinalState, exact: FinalState) -> Errors:
    """Differences of `state` from `exact`, relative to the sizes of `exact`."""
    found, right = (to_rotation(s.orientation) for s in (state, exact))
    moving = (exact.position, exact.velocity, exact.angular_velocity)
    x, v, Om = exact.sizes or map(float, map(np.linalg.norm, moving))
    return Errors(
        _relative(state.position, exact.position, x),
        float(np.max((right.inv() * found).magnitude())),
        max(
            _relative(state.velocity, exact.velocity, v), _relative(state.angular_velocity, exact.angular_velocity, Om)
        ),
    )


def _relative(value: Mat, exact: Mat, size: float) -> float:
    return float(np.linalg.norm(value - exact)) / (size or 1.0)


@final
@dataclass(frozen=True, slots=True)
class Reference:
    """The reference states of a study.

    Attributes
    ----------
    t_end : the time of the states, s
    states : by the two formulations of `REFERENCES`, or from the user's own runs
    agreement : their difference; errors below it mean nothing. NaN if there is only one state
    about : the origin of the states, in words
    """

    t_end: float
    states: tuple[FinalState, FinalState]
    agreement: Errors
    about: str = _COMPUTED

    @property
    def axis(self) -> str:
        return f"largest relative error at t = {self.t_end:g} s"

    @property
    def floor(self) -> float:
        """Errors below it mean nothing."""
        return float(np.nan_to_num(self.agreement.largest))

    def against(self, formulation: str) -> FinalState:
        """The state computed by another formulation than this."""
        return self.states[1 if formulation == REFERENCES[0][0] else 0]

    @classmethod
    def from_solutions(cls, first: Solution, second: Solution | None = None) -> Self:
        """Make a reference from runs that you trust, by other formulations or solvers at tight tolerances; with a
        second run the agreement is known. Raises TypeError for values that are not solutions, and ValueError for runs
        that failed, end at different times, or have other bodies."""
        solutions = [solution for solution in (first, second) if solution is not None]
        for solution in solutions:
            if not isinstance(solution, Solution):
                raise TypeError(f"a reference is made of rbdae.Solutions, got {_check.show(solution)}")
            if not solution.success:
                raise ValueError(f"a reference must have reached its end, but {solution.message}; give another run")
        times = [float(solution.t[-1]) for solution in solutions]
        states = [_exact(solution) for solution in solutions]
        sizes = [len(state.position) for state in states]
        if times[0] != times[-1] or sizes[0] != sizes[-1]:
            raise ValueError(f"runs of a reference end at {times} s with {sizes} bodies; give runs of one system")
        agreement = errors(*states) if len(states) == 2 else Errors(math.nan, math.nan, math.nan)
        ends = [(solution.problem_at(times[0]), solution) for solution in solutions]
        about = " and ".join(f"{p.formulation} ({p.rotation}) by {s.solver} at {s.rtol:.0e}" for p, s in ends)
        return cls(times[0], (states[0], states[-1]), agreement, about)


def reference(
    system: System,
    t_end: float,
    *,
    redundant: Redundant = "error",
    hold: Hold = (),
    projection: Projection | bool | None = None,
    limit: float = 600.0,
) -> Reference:
    """Compute final states at `t_end` by the two formulations of `REFERENCES`, at tolerances of 1e-13.

    Raises RuntimeError if a run does not reach the end.

    Parameters
    ----------
    system : System
    t_end : s; runs begin at 0, and go back in time if it is negative
    redundant, hold : as for `rbdae.formulate`
    projection : as for `rbdae.solve`
    limit : seconds after which a run is given up
    """
    end = _check.number("reference", "t_end", t_end)
    seconds = _check.positive("reference", "limit", limit, "give seconds")
    options: dict[str, Any] = {"solver": "scipy:DOP853", "rtol": 1e-13, "atol": 1e-13, "projection": projection}
    solutions = []
    for formulation, rotation in REFERENCES:
        problem = formulate(system, formulation, rotation=rotation, redundant=redundant, hold=hold)
        try:
            solution = solve(problem, (0.0, end), progress=deadline(seconds), **options)
        except OutOfTimeError as error:
            raise RuntimeError(f"no reference: {formulation} was {error}; {_REMEDY}") from None
        if not solution.success:
            raise RuntimeError(f"no reference: {formulation} by {solution.message}; {_REMEDY}")
        solutions.append(solution)
    return replace(Reference.from_solutions(*solutions), about=_COMPUTED)


def refuse_disagreement(found: Reference, tightest: float) -> None:
    """Refuse a reference that is no more accurate than the runs of the study: they have errors of some tens of their
    tolerance, so the two formulations may differ by a hundred times the tightest tolerance, within limits of rounding
    and 1e-3. Raises ValueError with both numbers and the remedy."""
    limit = min(max(100.0 * tightest, 1e-10), 1e-3)
    if not found.agreement.largest <= limit:
        names = " and ".join(name for name, _ in REFERENCES)
        raise ValueError(
            f"the references by {names} at 1e-13 differ by {found.agreement.largest:.1e} at t = {found.t_end:g}, more "
            f"than the {limit:.0e} with which runs at {tightest:.0e} can be compared: the motion is chaotic, or errors "
            "grow fast; shorten t_end, loosen the tolerances, or pass a reference= of your own"
        )


class OutOfTimeError(Exception):
    """Raised within a run that exceeds its limit."""


def deadline(limit: float) -> Callable[[float], None]:
    """A function of time for `solve` that raises `OutOfTimeError` when `limit` seconds have passed."""
    stop = time.perf_counter() + limit

    def watch(t: float) -> None:
        if time.perf_counter() > stop:
            raise OutOfTimeError(f"given up at t = {t:.3g} after {limit:g} s")

    watch.now_and_then = True  # type: ignore[attr-defined]  # runs stay in machine code
    return watch

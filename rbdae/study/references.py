"""Final states that runs are measured against: those of two formulations at 1e-13, and their difference."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, final

from rbdae import _check
from rbdae._names import FormulationName, RotationName
from rbdae.initial.formulate import formulate
from rbdae.initial.given import Hold
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection
from rbdae.solving import solve
from rbdae.solving.solution import Solution
from rbdae.study.case import Redundant
from rbdae.study.final_states import Errors, FinalState, end_of, errors, final_state, quantity_at_end
from rbdae.system import System

REFERENCES: tuple[tuple[FormulationName, RotationName], ...] = (
    ("null-space", "quaternion"),
    ("hamiltonian-eliminated", "quaternion"),
)
"""Formulation and rotation of the two references; a row is measured against one of another formulation."""

COMPUTED = f"{' and '.join(f'{formulation} ({rotation})' for formulation, rotation in REFERENCES)} at 1e-13"
"""Where the states of a computed reference are from."""

_REFERENCE_SOLVER = "scipy:DOP853"
_REFERENCE_TOLERANCE = 1e-13


@final
@dataclass(frozen=True, slots=True)
class Reference:
    """The states that the runs of a study are measured against.

    Attributes
    ----------
    t_end : the time of the states, s
    states : of the two formulations of `REFERENCES`, or of runs of the user's own
    agreement : the difference of the two; errors below it mean nothing. Not a number if there is one state alone
    about : where the states are from, in words
    quantity : the label of the quantity whose error counts, such as "pin.angle"; "" for the motion of all bodies
    """

    t_end: float
    states: tuple[FinalState, FinalState]
    agreement: Errors
    about: str = COMPUTED
    quantity: str = ""

    @property
    def axis(self) -> str:
        """The error that counts, in words."""
        what = f"error of {self.quantity}, relative," if self.quantity else "largest relative error"
        return f"{what} at t = {self.t_end:g} s"

    def against(self, formulation: str) -> FinalState:
        """The state that a formulation other than this one computed."""
        return self.states[1 if formulation == REFERENCES[0][0] else 0]

    @classmethod
    def from_solutions(cls, first: Solution, second: Solution | None = None, *, quantity: str = "") -> Self:
        """A reference made of runs that one trusts, by other formulations or solvers at tight tolerances; with a second
        one it is known how far they agree. `quantity` is the label of that whose error counts, if it is not the motion.

        Raises
        ------
        ValueError
            for runs that failed, end at different times, or have other bodies
        """
        given = [_finished(solution) for solution in (first, second) if solution is not None]
        times = [float(solution.t[-1]) for solution in given]
        if times[0] != times[-1]:
            raise ValueError(f"runs of a reference end at {times[0]:g} and {times[-1]:g}; give runs to one end time")
        states = [end_of(solution, quantity) for solution in given]
        if states[0].position.shape != states[-1].position.shape:
            bodies = f"{len(states[0].position)} and {len(states[-1].position)} bodies"
            raise ValueError(f"the runs of a reference have {bodies}; give runs of one system")
        agreement = errors(*states) if len(states) == 2 else Errors(float("nan"), float("nan"), float("nan"))
        ends = [(solution.problem_at(times[0]), solution) for solution in given]
        about = " and ".join(f"{p.formulation} ({p.rotation}) by {s.solver} at {s.rtol:.0e}" for p, s in ends)
        return cls(times[0], (states[0], states[-1]), agreement, about, quantity)


def _finished(solution: Solution) -> Solution:
    if not isinstance(solution, Solution):
        raise TypeError(
            f"a reference is made of rbdae.Solutions, got {_check.show(solution)}; pass what solve returned"
        )
    if not solution.success:
        raise ValueError(f"a reference must have reached its end, but {solution.message}; give another run")
    return solution


def reference(
    system: System,
    t_end: float,
    *,
    redundant: Redundant = "error",
    hold: Hold = (),
    projection: Projection | bool | None = None,
    limit: float = 600.0,
    quantity: str = "",
) -> Reference:
    """Final states at `t_end` by the two formulations of `REFERENCES`, at tolerances of 1e-13.

    Parameters
    ----------
    system : System
    t_end : s; runs begin at 0, and go back in time where it is negative
    redundant, hold : as `rbdae.formulate` takes them
    projection : as `rbdae.solve` takes it
    limit : seconds after which a run is given up
    quantity : the label of that whose error counts, such as "pin.angle"

    Raises
    ------
    RuntimeError
        if one of them did not reach the end
    """
    if not isinstance(system, System):
        raise TypeError(f"reference needs a rbdae.System, got {_check.show(system)}; make one with rbdae.System()")
    end = checked_end("reference", t_end)
    seconds = _check.positive("reference", "limit", limit, "give seconds")
    problems = [formulate(system, f, rotation=r, redundant=redundant, hold=hold) for f, r in REFERENCES]
    first, second = (_reference_state(problem, end, projection, seconds, quantity) for problem in problems)
    return Reference(end, (first, second), errors(first, second), quantity=quantity)


def _reference_state(
    problem: Problem, t_end: float, projection: Projection | bool | None, limit: float, quantity: str
) -> FinalState:
    try:
        solution = solve(
            problem,
            (0.0, t_end),
            solver=_REFERENCE_SOLVER,
            rtol=_REFERENCE_TOLERANCE,
            atol=_REFERENCE_TOLERANCE,
            projection=projection,
            progress=deadline(limit),
        )
    except OutOfTimeError as error:
        raise RuntimeError(f"no reference: {problem.formulation} by {_REFERENCE_SOLVER} was {error}; {_OWN}") from None
    if not solution.success:
        raise RuntimeError(f"no reference: {problem.formulation} by {solution.message}; {_OWN}")
    return end_of(solution, quantity)


_OWN = (
    "shorten t_end, or pass reference=rbdae.study.Reference.from_solutions(...) with runs of your own that you trust, "
    "for example of an implicit solver"
)

_LOOSE, _TIGHT = 1e-3, 1e-10
_SHARE = 100.0
"""A reference is refused if its two formulations differ by more than this multiple of the tightest tolerance: runs have
errors of some tens of their tolerance, so no digit could be compared beyond. Within bounds: the last ones are those of
rounding."""


def refuse_disagreement(found: Reference, tightest: float) -> None:
    """Refuse a reference that is no better than the runs that would be measured against it.

    Raises
    ------
    ValueError
        with both numbers and the remedy
    """
    limit = min(max(_SHARE * tightest, _TIGHT), _LOOSE)
    if not found.agreement.largest <= limit:
        names = " and ".join(name for name, _ in REFERENCES)
        raise ValueError(
            f"the references by {names} at 1e-13 differ by {found.agreement.largest:.1e} at t = {found.t_end:g}, more "
            f"than the {limit:.0e} with which runs at {tightest:.0e} can be compared: the motion is chaotic, or errors "
            "grow fast; shorten t_end, loosen the tolerances, or pass a reference= of your own"
        )


def checked_end(owner: str, t_end: float) -> float:
    """The end of all runs, s. They begin at 0, and go back in time where it is negative."""
    end = _check.number(owner, "t_end", t_end)
    if end == 0.0:
        raise ValueError(
            f"{owner}: t_end must not be zero, got {_check.show(t_end)}; runs begin at 0; give another end, in seconds"
        )
    return end


class OutOfTimeError(Exception):
    """Raised from within a run that takes longer than its limit."""


def deadline(limit: float) -> Callable[[float], None]:
    """A function of time for `solve` that raises `OutOfTimeError` from `limit` seconds on after this call."""
    stop = time.perf_counter() + limit

    def watch(t: float) -> None:
        if time.perf_counter() > stop:
            raise OutOfTimeError(f"given up at t = {t:.3g} after {limit:g} s")

    watch.now_and_then = True  # type: ignore[attr-defined]  # runs stay in machine code
    return watch


__all__ = [
    "COMPUTED",
    "REFERENCES",
    "Errors",
    "FinalState",
    "OutOfTimeError",
    "Reference",
    "checked_end",
    "deadline",
    "errors",
    "final_state",
    "quantity_at_end",
    "reference",
    "refuse_disagreement",
]

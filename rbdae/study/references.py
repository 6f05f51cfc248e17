"""Final states that runs are measured against: those of two formulations at 1e-13, and their difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.spatial.transform import Rotation

from rbdae._arrays import Mat, Vec
from rbdae.initial.formulate import formulate
from rbdae.problem.problem import Problem
from rbdae.solving import solve
from rbdae.system import System

REFERENCES = (("null-space", "quaternion"), ("hamiltonian-eliminated", "quaternion"))
"""Formulation and rotation of the two references; a row is measured against one of another formulation."""

_REFERENCE_SOLVER = "scipy:DOP853"
_REFERENCE_TOLERANCE = 1e-13


@final
@dataclass(frozen=True, slots=True)
class FinalState:
    """Motion at the end; each row is a body, in the order of addition.

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
    """The final states by the two formulations of `REFERENCES`; `agreement` is their difference."""

    t_end: float
    states: tuple[FinalState, FinalState]
    agreement: Errors

    def against(self, formulation: str) -> FinalState:
        """The state that a formulation other than this one computed."""
        return self.states[1 if formulation == REFERENCES[0][0] else 0]


def final_state(problem: Problem, t: float, y: Vec) -> FinalState:
    """The motion of all bodies that belongs to the unknowns y at time t."""
    states = problem.states(t, y).values()
    natural = problem.natural(t, y)
    return FinalState(
        np.array([s.center_of_mass for s in states]),
        np.array([np.roll(s.orientation.as_quat(), 1) for s in states]),
        natural[:, 12:15],
        np.array([s.angular_velocity for s in states]),
    )


def errors(state: FinalState, exact: FinalState) -> Errors:
    """How far `state` is from `exact`."""
    rotations = [Rotation.from_quat(np.roll(s.orientation, -1, axis=1)) for s in (state, exact)]
    return Errors(
        _relative(state.position, exact.position),
        float(np.max((rotations[1].inv() * rotations[0]).magnitude())),
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
        if one of them did not reach the end
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
    return final_state(solution.problem_at(t_end), t_end, solution.y[-1])


__all__ = ["REFERENCES", "Errors", "FinalState", "Reference", "errors", "final_state", "reference"]

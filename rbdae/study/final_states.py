"""The motion at the end of a run, and how far one is from another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._stacks import to_rotation
from rbdae.problem.problem import Problem
from rbdae.solving.solution import Solution

_REST = 1e-3
"""What moves by less than this part of the model's length, or of a radian, in the time of the run counts as resting:
its errors are relative to that motion, as they are rounding over rounding else."""


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
        pendulum at its turning point has no velocity to relate to), but not less than those of a body that hardly
        moves; None for the norms of this state
    quantity : that whose error counts, such as an angle with its turns, and its largest magnitude over the run
    """

    position: Mat
    orientation: Mat
    velocity: Mat
    angular_velocity: Mat
    sizes: tuple[float, float, float] | None = None
    quantity: tuple[float, float] | None = None


@final
@dataclass(frozen=True, slots=True)
class Errors:
    """Errors at the end, relative to the largest size over the run of what is measured; `orientation` is the largest
    angle, rad.

    `velocity` is the larger one of the errors of velocities and of angular velocities, `quantity` that of the quantity
    which a study is about, if it is about one.
    """

    position: float
    orientation: float
    velocity: float
    quantity: float | None = None

    @property
    def largest(self) -> float:
        """The error that counts: that of the quantity, or else the worst of the three."""
        return max(self.position, self.orientation, self.velocity) if self.quantity is None else self.quantity


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
    """How far `state` is from `exact`, relative to the sizes of this one."""
    found, right = (to_rotation(s.orientation) for s in (state, exact))
    position, velocity, angular_velocity = exact.sizes or _sizes(exact)
    return Errors(
        _relative(state.position, exact.position, position),
        float(np.max((right.inv() * found).magnitude())),
        max(
            _relative(state.velocity, exact.velocity, velocity),
            _relative(state.angular_velocity, exact.angular_velocity, angular_velocity),
        ),
        _of_quantity(state, exact),
    )


def _of_quantity(state: FinalState, exact: FinalState) -> float | None:
    if state.quantity is None or exact.quantity is None:
        return None
    size = exact.quantity[1]
    return abs(state.quantity[0] - exact.quantity[0]) / (size if size > 0.0 else 1.0)


def _sizes(state: FinalState) -> tuple[float, float, float]:
    position, velocity, angular = map(np.linalg.norm, (state.position, state.velocity, state.angular_velocity))
    return float(position), float(velocity), float(angular)


def _relative(value: Mat, exact: Mat, size: float) -> float:
    return float(np.linalg.norm(value - exact)) / (size if size > 0.0 else 1.0)


def quantity_at_end(solution: Solution, label: str) -> tuple[float, float] | None:
    """A quantity at the end of a run, and its largest magnitude; None without a label."""
    if not label:
        return None
    values = np.asarray(solution.quantity(label), dtype=float)
    return float(values[-1]), float(np.max(np.abs(values)))


def end_of(solution: Solution, quantity: str) -> FinalState:
    """The last state of a run, with the sizes over the run."""
    t_end = float(solution.t[-1])
    last = final_state(solution.problem_at(t_end), t_end, solution.y[-1])
    problem, states = solution.problem, list(solution.states.values())
    assert problem is not None
    velocities = problem.natural(solution.t, solution.y)[..., 12:15]  # of the centres, as in the last state
    squares = (
        sum(np.sum(np.square(values), axis=-1) for values in quantity)
        for quantity in (
            [s.center_of_mass for s in states],
            np.moveaxis(velocities, -2, 0),
            [s.angular_velocity for s in states],
        )
    )
    x, v, Om = (float(np.sqrt(np.max(square))) for square in squares)
    time, length = abs(t_end - float(solution.t[0])), solution.problem_at(t_end).model.scales.length
    sizes = (max(x, _REST * length), max(v, _REST * length / time), max(Om, _REST / time))
    return replace(last, sizes=sizes, quantity=quantity_at_end(solution, quantity))


__all__ = ["Errors", "FinalState", "end_of", "errors", "final_state", "quantity_at_end"]

"""The places of the bodies of a run at given times."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from rbdae._arrays import ArrayLike, Mat, Vec, sense
from rbdae.body import Body
from rbdae.plotting.shapes import Moving
from rbdae.plotting.skeleton import attachments
from rbdae.problem.problem import Problem
from rbdae.system import System

if TYPE_CHECKING:
    from rbdae.problem.quantities import BodyState


class Motion(Protocol):
    """A run that can be asked for y at any time, for example a `rbdae.Solution`."""

    @property
    def problem(self) -> Problem | None:
        """The problem that was solved."""

    @property
    def t(self) -> Vec:
        """Times, (m,)."""

    @property
    def y(self) -> Mat:
        """Unknowns at these times, (m, n)."""

    def __call__(self, t: ArrayLike) -> Mat:
        """y at times."""


@final
class Placed:
    """Positions and orientations of all bodies and the ground at m times.

    Parameters
    ----------
    system : of the bodies
    states : by the names of the bodies, at m times
    m : how many
    """

    def __init__(self, system: System, states: dict[str, BodyState], m: int) -> None:
        self.system = system
        self.states = states
        self.m = m
        self._x = {name: np.asarray(state.position).reshape(m, 3) for name, state in states.items()}
        self._R = {name: state.orientation.as_matrix().reshape(m, 3, 3) for name, state in states.items()}
        self._x[system.ground.name] = np.zeros((m, 3))
        self._R[system.ground.name] = np.broadcast_to(np.eye(3), (m, 3, 3))

    @cached_property
    def points(self) -> dict[str, Mat]:
        """The points where joints and forces act on the bodies, by name (`rbdae.plotting.skeleton.attachments`)."""
        return attachments(self.system)

    def at(self, body: Body, point: ArrayLike) -> Moving:
        """A point of a body, (3,) in its frame, in space (m, 3); points (k, 3) give (m, k, 3)."""
        x = self._x[body.name]
        arm = self.along(body, point)
        return arm + (x if arm.ndim == 2 else x[:, None, :])

    def along(self, body: Body, direction: ArrayLike) -> Moving:
        """A direction of a body, (3,) in its frame, in space (m, 3); directions (k, 3) give (m, k, 3)."""
        return np.einsum("mij,...j->m...i", self._R[body.name], np.asarray(direction, dtype=float))


def placed(problem: Problem, t: Vec, y: Mat) -> Placed:
    """The places of the bodies at times (m,) and states (m, n)."""
    return Placed(problem.system, dict(problem.states(t, y)), len(t))


def placed_at(motion: Motion, t: Vec) -> Placed:
    """The places of the bodies at any times of a run.

    Raises
    ------
    ValueError
        outside of the run, for a solution without its problem, and between the times of one that kept no steps
    """
    problem = motion.problem
    if problem is None:
        raise ValueError("this solution was loaded without its problem: use rbdae.load(path, problem)")
    rising = slice(None, None, sense(motion.t))
    times, states = motion.t[rising], motion.y[rising]
    rows = np.searchsorted(times, t)
    there = rows < len(times)
    if there.all() and np.array_equal(times[rows], t):
        return placed(problem, t, states[rows])
    return placed(problem, t, motion(t))


__all__ = ["Motion", "Placed", "placed", "placed_at"]

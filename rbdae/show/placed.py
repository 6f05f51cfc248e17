"""The places of the bodies of a run at given times."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from rbdae._arrays import ArrayLike, Mat, Vec, sense
from rbdae.body import Body
from rbdae.problem.problem import Problem
from rbdae.system import System

if TYPE_CHECKING:
    from rbdae.problem.quantities import BodyState

Moving: TypeAlias = Any
"""Points or directions at m times, (m, 3), or polylines of k points, (m, k, 3)."""

_SAME = 1e-6  # of the extent of a body's points: closer ones are one


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
        self._x = {name: np.asarray(state.position).reshape(m, 3) for name, state in states.items()}
        self._R = {name: state.orientation.as_matrix().reshape(m, 3, 3) for name, state in states.items()}
        self._x[system.ground.name] = np.zeros((m, 3))
        self._R[system.ground.name] = np.broadcast_to(np.eye(3), (m, 3, 3))

    @cached_property
    def points(self) -> dict[str, Mat]:
        """The points where joints and forces act on a body, the ground included, by its name, (k, 3) in its frame, each
        once; a pivot is the origin."""
        system = self.system
        out: dict[str, list[Vec]] = {body.name: [] for body in (*system.bodies, system.ground)}
        for body in system.bodies:
            if body.pivot is not None:
                out[body.name].append(np.zeros(3))
                out[system.ground.name].append(body.pivot)
        for joint in system.joints:
            out[joint.a.name].append(joint.at_a)
            out[joint.b.name].append(joint.at_b)
        for force in system.forces:
            for body, point in () if force.symbol is None else force.symbol.points:
                out[body.name].append(point)
        return {name: _distinct(np.array(points).reshape(-1, 3)) for name, points in out.items()}

    def at(self, body: Body, point: ArrayLike) -> Moving:
        """A point of a body, (3,) in its frame, in space (m, 3); points (k, 3) give (m, k, 3)."""
        x = self._x[body.name]
        arm = self.along(body, point)
        return arm + (x if arm.ndim == 2 else x[:, None, :])

    def along(self, body: Body, direction: ArrayLike) -> Moving:
        """A direction of a body, (3,) in its frame, in space (m, 3); directions (k, 3) give (m, k, 3)."""
        return np.einsum("mij,...j->m...i", self._R[body.name], np.asarray(direction, dtype=float))


def _distinct(points: Mat) -> Mat:
    size = float(np.ptp(points, axis=0).max(initial=0.0)) if len(points) else 0.0
    out: list[Vec] = []
    for point in points:
        if all(np.linalg.norm(point - other) > _SAME * size for other in out):
            out.append(point)
    return np.array(out).reshape(-1, 3)


def placed(problem: Problem, t: Vec, y: Mat) -> Placed:
    """The places of the bodies at times (m,) and states (m, n)."""
    return Placed(problem.system, dict(problem.states(t, y)), len(t))


def placed_at(run: Any, t: Vec) -> Placed:
    """The places of the bodies at any times of a run, such as a `rbdae.Solution`.

    Raises
    ------
    ValueError
        outside of the run, for a solution without its problem, and between the times of one that kept no steps
    """
    problem = run.problem
    if problem is None:
        raise ValueError("this solution was loaded without its problem: use rbdae.load(path, problem)")
    rising = slice(None, None, sense(run.t))
    times, states = run.t[rising], run.y[rising]
    rows = np.searchsorted(times, t)
    if (rows < len(times)).all() and np.array_equal(times[rows], t):
        return placed(problem, t, states[rows])
    return placed(problem, t, run(t))

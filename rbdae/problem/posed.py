"""A problem from other coordinates of its joints: the bodies on one side of a joint move as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec, cross
from rbdae.joints.base import AbstractJoint
from rbdae.multibody.layout import BodyMotion, write
from rbdae.problem.problem import Problem
from rbdae.quantities.coordinate import Coordinate
from rbdae.system import System


@final
@dataclass(frozen=True, slots=True, eq=False)
class SpatialMotion:
    """Reference points, rotations, velocities and angular velocities in space of all bodies; the ground is the last."""

    x: Mat
    R: Any
    v: Mat
    w: Mat

    @classmethod
    def of(cls, problem: Problem, t: float, y: Vec) -> SpatialMotion:
        """That of a state."""
        Z = problem.natural(t, y)
        n = len(Z)
        x, v, w = np.zeros((3, n + 1, 3))
        R = np.tile(np.eye(3), (n + 1, 1, 1))
        x[:n], v[:n] = Z[:, :3], Z[:, 12:15]
        R[:n] = np.swapaxes(Z[:, 3:12].reshape(n, 3, 3), 1, 2)
        spin = np.swapaxes(Z[:, 15:24].reshape(n, 3, 3), 1, 2) @ np.swapaxes(R[:n], 1, 2)
        w[:n] = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
        return cls(x, R, v, w)

    def written(self, problem: Problem) -> Vec:
        """y of the same motion in the unknowns of a problem."""
        from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

        n = problem.model.n
        p = np.roll(Rotation.from_matrix(self.R[:n]).as_quat(), 1, axis=1)
        bodies = BodyMotion(self.x[:n], p, self.v[:n], np.einsum("bji,bj->bi", self.R[:n], self.w[:n]))
        workspace = problem.workspace
        return write(workspace.model, workspace.settings, workspace.layout, bodies, problem.selection, problem.t0)

    def coordinate(self, system: System, coordinate: Coordinate, a: int, b: int) -> tuple[float, float]:
        """A coordinate of two bodies by their numbers, and its rate."""
        Z, rates = np.zeros((2, 24))
        for side, k in enumerate((a, b)):
            reference = system.bodies[k].reference if k < len(system.bodies) else np.zeros(3)
            first = 12 * side
            Z[first : first + 3] = self.x[k] - self.R[k] @ reference
            rates[first : first + 3] = self.v[k] - cross(self.w[k], self.R[k] @ reference)
            Z[first + 3 : first + 12] = self.R[k].T.ravel()
            rates[first + 3 : first + 12] = np.array([cross(self.w[k], d) for d in self.R[k].T]).ravel()
        value, rate = coordinate.values(Z, rates)
        return float(value), float(rate)


def posed(problem: Problem, joints: Mapping[str, Any]) -> Problem:
    """The problem from its start with other coordinates of some joints; those of other joints stay.

    Parameters
    ----------
    joints : by name a value, or (value, rate), in SI units; of joints with several coordinates a mapping by their names

    Raises
    ------
    TypeError, ValueError
        for names that there are not, joints without such coordinates, and joints in closed loops
    """
    if not isinstance(joints, Mapping):
        raise TypeError(f'joints must be a mapping by name, got {_check.show(joints)}; give {{"pin": 0.3}}')
    known = {joint.name or "": joint for joint in problem.system.joints}
    motion = SpatialMotion.of(problem, problem.t0, problem.y0)
    for name, given in joints.items():
        if name not in known:
            raise _check.unknown("joint", name, known)
        for coordinate, value in _wanted(known[name], given):
            _move(problem, motion, known[name], coordinate, value)
    return problem.at(problem.t0, motion.written(problem))


def _wanted(joint: AbstractJoint, given: Any) -> list[tuple[Coordinate, Any]]:
    """Coordinates of a joint with what is given for them."""
    own = {each.name: each for each in joint.coordinates() if each.side == 0 and each.shape != "root"}
    owner = f"joint {joint.name!r}"
    if not own:
        raise ValueError(f"{owner}: a {type(joint).__name__} has no coordinate that can be given alone; give t= and y=")
    if not isinstance(given, Mapping):
        if len(own) > 1:
            raise ValueError(
                f"{owner}: it has {len(own)} coordinates; give a mapping with some of {', '.join(own)}, got "
                f"{_check.show(given)}"
            )
        given = {next(iter(own)): given}
    for name in given:
        if name not in own:
            raise _check.unknown(f"coordinate of {owner}", name, own)
    return [(own[name], value) for name, value in given.items()]


def _move(problem: Problem, at: SpatialMotion, joint: AbstractJoint, coordinate: Coordinate, given: Any) -> None:
    """Move the bodies on one side of a joint, in place. Raises ValueError for a joint in a closed loop."""
    system = problem.system
    number = {id(body): k for k, body in enumerate((*system.bodies, system.ground))}
    a, b = (number[id(body)] for body in (joint.a, joint.b))
    owner = f"joint {joint.name!r}"
    present, rate = at.coordinate(system, coordinate, a, b)
    value = given[0] if isinstance(given, (tuple, list)) and len(given) == 2 else given
    change = _check.number(owner, coordinate.name, value) - present
    faster = _check.number(owner, "rate", given[1]) - rate if value is not given else 0.0
    pairs = [(number[id(j.a)], number[id(j.b)]) for j in system.joints if j is not joint]
    moving = _reached(pairs, b)
    if a in moving:
        raise ValueError(f"{owner} is in a closed loop, where others would have to follow; give t= and y=")
    still = a
    if len(system.bodies) in moving:  # the ground stays
        moving, still, change, faster = _reached(pairs, a), b, -change, -faster
    assert coordinate.axis is not None
    axis = at.R[a] @ coordinate.axis
    reference = system.bodies[a].reference if a < len(system.bodies) else np.zeros(3)
    center = at.x[a] + at.R[a] @ (coordinate.at_a - reference)
    turns = coordinate.shape == "angle"
    Q = _rotation(axis, change) if turns else np.eye(3)
    for k in moving:
        v = at.v[k] - at.v[still] - cross(at.w[still], at.x[k] - at.x[still])
        w = Q @ (at.w[k] - at.w[still])
        v = Q @ v
        at.x[k] = center + Q @ (at.x[k] - center) if turns else at.x[k] + change * axis
        at.R[k] = Q @ at.R[k]
        v += faster * (cross(axis, at.x[k] - center) if turns else axis)
        at.v[k] = v + at.v[still] + cross(at.w[still], at.x[k] - at.x[still])
        at.w[k] = w + at.w[still] + (faster * axis if turns else 0.0)


def _rotation(axis: Vec, angle: float) -> Mat:
    """Rodrigues' formula about a unit axis."""
    K = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K))


def _reached(pairs: Sequence[tuple[int, int]], first: int) -> set[int]:
    """The bodies that hang together with one."""
    found, open_ = {first}, [first]
    while open_:
        k = open_.pop()
        for pair in pairs:
            if k in pair:
                other = pair[1] if pair[0] == k else pair[0]
                if other not in found:
                    found.add(other)
                    open_.append(other)
    return found

"""Coordinates of joints in closed loops: drives take them to where they are wanted, in steps, and the others follow.

The system gets drives of these coordinates and no forces. Each step is the nearest state on its joints and drives, so
that a loop stays in the branch in which it is. Bodies that hang from a loop keep their places in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec, cross
from rbdae.drives import PrescribedAngle, PrescribedDisplacement
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint
from rbdae.multibody.layout import BodyMotion, write
from rbdae.multibody.other_fields import with_fields, without_forces
from rbdae.problem.contract import ProjectionError
from rbdae.problem.problem import Problem
from rbdae.quantities.coordinate import Coordinate
from rbdae.system import System

_STEP = 0.1
"""Radians of a step, or its length over that of the model."""

_SAME = 1e-8


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

    def carry(self, k: int, on: int, before: SpatialMotion) -> None:
        """Give a body the place and velocity on another one that it had before."""
        Q = self.R[on] @ before.R[on].T
        arm = before.x[k] - before.x[on]
        self.x[k] = self.x[on] + Q @ arm
        self.R[k] = Q @ before.R[k]
        own = before.v[k] - before.v[on] - cross(before.w[on], arm)
        self.v[k] = self.v[on] + cross(self.w[on], self.x[k] - self.x[on]) + Q @ own
        self.w[k] = self.w[on] + Q @ (before.w[k] - before.w[on])


@final
@dataclass(frozen=True, slots=True, eq=False)
class WantedCoordinate:
    """A value of a coordinate of a joint, its rate, None for the present one, and the numbers of its bodies."""

    joint: AbstractJoint
    coordinate: Coordinate
    bodies: tuple[int, int]
    value: float
    rate: float | None

    @property
    def key(self) -> tuple[str, str]:
        """Its names."""
        return self.joint.name or "", self.coordinate.name

    @property
    def shown(self) -> str:
        """It in messages."""
        return f"joint {self.joint.name!r}: its {self.coordinate.name}"


def followed(problem: Problem, motion: SpatialMotion, wanted: Sequence[WantedCoordinate]) -> SpatialMotion:
    """The motion with these coordinates, and with all others as the loops have them then.

    Raises
    ------
    ValueError
        for coordinates without a drive, those that contradict each other, and loops that do not close there
    """
    held, driving = _driving(problem, motion, wanted)
    out = motion if driving is None else _moved(problem, driving, motion, held)
    for each in wanted:
        found, rate = out.coordinate(problem.system, each.coordinate, *each.bodies)
        size = 1.0 if each.coordinate.unit == "rad" else problem.model.scales.length
        off = found - each.value
        if each.coordinate.shape == "angle":
            off -= 2.0 * math.pi * round(off / (2.0 * math.pi))
        wanted_rate = rate if each.rate is None else each.rate
        faster = problem.model.scales.rate + abs(wanted_rate)
        if abs(off) > _SAME * size or abs(rate - wanted_rate) > _SAME * size * faster:
            others = ", ".join(repr(other.joint.name) for other in held if other is not each) or "drives"
            raise ValueError(
                f"{each.shown} follows from the joints and {others}: it is {found:.9g} with the rate {rate:.9g}, and "
                f"{each.value:.9g} with {wanted_rate:.9g} contradicts that, or the loop is in a dead point of it; "
                "leave one out"
            )
    return _with_hangers(problem, motion, out)


def _driving(
    problem: Problem, motion: SpatialMotion, wanted: Sequence[WantedCoordinate]
) -> tuple[list[WantedCoordinate], Problem | None]:
    """The problem with drives of as many of these coordinates as are independent, in their order, and these."""
    found = _driven(problem, motion, wanted)
    if found is not None:
        return list(wanted), found
    held: list[WantedCoordinate] = []
    for each in wanted:
        more = _driven(problem, motion, [*held, each])
        if more is not None:
            held, found = [*held, each], more
    return held, found


def _driven(problem: Problem, motion: SpatialMotion, wanted: Sequence[WantedCoordinate]) -> Problem | None:
    """The problem with drives, made once; None where they are not independent."""
    known: dict[Any, Any] = problem.workspace.memory.recorded
    key = ("posed", *(each.key for each in wanted))
    if key not in known:
        system = _system(problem, motion, wanted)
        try:
            made = problem.again(problem, system)
        except (ValueError, ProjectionError):
            made = None
        more = made is not None and len(made.selection.rows.dropped) > len(problem.selection.rows.dropped)
        known[key] = None if more else made
    out: Problem | None = known[key]
    return out


def _system(problem: Problem, motion: SpatialMotion, wanted: Sequence[WantedCoordinate]) -> System:
    """The system as it is now, without forces and with drives."""
    from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

    fields = {}
    for k, body in enumerate(problem.system.bodies):
        R = motion.R[k]
        arm = R @ body.reference
        given = ("orientation", "angular_velocity") if body.pivot is not None else _ALL
        fields[id(body)] = {
            "position": _check.frozen(motion.x[k] - arm),
            "orientation": _check.frozen(np.roll(Rotation.from_matrix(R).as_quat(), 1)),
            "velocity": _check.frozen(motion.v[k] - cross(motion.w[k], arm)),
            "angular_velocity": _check.frozen(R.T @ motion.w[k]),
            "given": given,
        }
    out = without_forces(with_fields(problem.system, fields))
    joints = {joint.name: joint for joint in out.joints}
    t0 = problem.t0

    def ahead(t: Any, u: Any) -> Any:
        return u.s + u.v * (t - t0)

    for k, each in enumerate(wanted):
        value, rate = motion.coordinate(problem.system, each.coordinate, *each.bodies)
        read = {"s": out.add_input(f"posed value {k}", value), "v": out.add_input(f"posed rate {k}", rate)}
        joint = joints[each.joint.name]
        drives: Any = PrescribedAngle if each.coordinate.unit == "rad" else PrescribedDisplacement
        if not isinstance(joint, AbstractAxialJoint) or each.coordinate.name not in ("angle", "displacement"):
            raise ValueError(
                f"{each.shown} is in a closed loop, and no drive has it; give the angle or displacement of another "
                "joint, or t= and y="
            )
        out.add_joint(drives(joint, ahead, inputs=read, name=f"posed {k}"))
    return out


_ALL = ("position", "orientation", "velocity", "angular_velocity")


def _moved(
    problem: Problem, driving: Problem, motion: SpatialMotion, held: Sequence[WantedCoordinate]
) -> SpatialMotion:
    """The motion with these coordinates, in steps."""
    size = [1.0 if each.coordinate.unit == "rad" else problem.model.scales.length for each in held]
    present = [motion.coordinate(problem.system, each.coordinate, *each.bodies) for each in held]
    first = np.array([value for value, _ in present])
    last = np.array([each.value for each in held])
    n = max(1, math.ceil(float(np.max(np.abs(last - first) / size)) / _STEP))
    y, here = motion.written(driving), driving
    names = [(f"posed value {k}", f"posed rate {k}") for k in range(len(held))]
    for k in range(1, n + 1):
        at = first + (last - first) * k / n
        values = {}
        for (value, rate), s, each, (_, own) in zip(names, at, held, present, strict=True):
            values[value], values[rate] = float(s), own if each.rate is None else each.rate
        inputs = np.array([values.get(name, number) for name, number in driving.inputs.items()])
        here = driving.with_selection(driving.selection.with_inputs(inputs))
        try:
            y = here.project(problem.t0, y)
        except ProjectionError:
            raise ValueError(
                f"{held[0].shown} cannot be {held[0].value:.6g}: the loop does not close beyond about "
                f"{first[0] + (last[0] - first[0]) * (k - 1) / n:.4g}; give a value that it can have"
            ) from None
    return SpatialMotion.of(here, problem.t0, y)


def _with_hangers(problem: Problem, before: SpatialMotion, solved: SpatialMotion) -> SpatialMotion:
    """The solved motion, in which what hangs by a joint outside of all loops keeps the coordinates of that joint."""
    system = problem.system
    number = {id(body): k for k, body in enumerate((*system.bodies, system.ground))}
    pairs = [(number[id(joint.a)], number[id(joint.b)]) for joint in system.joints]
    hanging = [i for i, (a, b) in enumerate(pairs) if b not in reached(pairs[:i] + pairs[i + 1 :], a)]
    closed = [pair for i, pair in enumerate(pairs) if i not in hanging]
    out = SpatialMotion(solved.x.copy(), solved.R.copy(), solved.v.copy(), solved.w.copy())
    done = reached(closed, len(system.bodies))
    left = [pair for i in hanging for pair in (pairs[i], pairs[i][::-1])]
    while following := [(one, other) for one, other in left if one in done and other not in done]:
        one, other = following[0]
        out.carry(other, one, before)
        together = reached(closed, other)
        for k in together - {other}:
            out.carry(k, other, solved)
        done |= together
    return out


def reached(pairs: Sequence[tuple[int, int]], first: int) -> set[int]:
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

"""Drives: joints whose right-hand side is a prescribed function of time (rheonomic constraints).

They are added with `System.add_joint`, and their reactions are the forces and torques that the drive needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae._frozen import fill
from rbdae.body import Body
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import ALL_TURNS, AbstractJoint, Rheonomic, title
from rbdae.joints.primitives import Coincidence, Distance, Dot1, Dot2
from rbdae.kernels.constraints.drives import ANGLE, LENGTH, OFFSET
from rbdae.motion import Law, Motion


def _of_joint(kind: str, joint: object, name: str | None) -> str:
    if not isinstance(joint, AbstractAxialJoint):
        raise TypeError(
            f"drive {kind}: it drives a joint that has an axis, such as rbdae.joints.Revolute(...), "
            f"got {_check.show(joint)}"
        )
    return title(kind, joint.a, joint.b, name)


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Angle(AbstractJoint):
    """Prescribed angle of a joint: the turn from its normal_a to its normal_b about its axis is angle(t), rad.

    (R_a (n cos s + (u x n) sin s)) . (R_b (u_b x n_b)) = 0 with the axes u, u_b and the normals n, n_b: one equation,
    regular at every angle.

    Parameters
    ----------
    joint : a joint with an axis
        Revolute or cylindrical; add it to the system, too.
    angle : (s, s', s''), spline or numba function
        See `rbdae.motion.Law`.
    name : str, optional
    """

    a: Body
    b: Body
    at_a: Vec
    at_b: Vec
    axis_a: Vec
    axis_b: Vec
    normal_a: Vec
    normal_b: Vec
    motion: Motion
    name: str | None

    def __init__(self, joint: AbstractAxialJoint, angle: Law, name: str | None = None) -> None:
        owner = _of_joint("Angle", joint, name)
        fill(
            self,
            a=joint.a,
            b=joint.b,
            at_a=joint.at_a,
            at_b=joint.at_b,
            motion=Motion(owner, angle, 1),
            axis_a=joint.axis_a,
            axis_b=joint.axis_b,
            normal_a=joint.normal_a,
            normal_b=joint.normal_b,
            name=name,
        )

    def primitives(self) -> tuple[Dot1]:
        """One product of directions, of which the first turns."""
        return (Dot1(self.normal_a, np.cross(self.axis_b, self.normal_b)),)

    def rheonomic(self) -> Rheonomic:
        """The turning direction."""
        return Rheonomic(ANGLE, self.motion, self.normal_a, np.cross(self.axis_a, self.normal_a))


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Displacement(AbstractJoint):
    """Prescribed displacement along the axis of a joint: (R_a u) . (P_b - P_a) = displacement(t), m.

    Parameters
    ----------
    joint : a joint with an axis
        Prismatic or cylindrical; add it to the system, too.
    displacement : (s, s', s''), spline or numba function
        See `rbdae.motion.Law`.
    name : str, optional
    """

    a: Body
    b: Body
    at_a: Vec
    at_b: Vec
    axis_a: Vec
    motion: Motion
    name: str | None

    def __init__(self, joint: AbstractAxialJoint, displacement: Law, name: str | None = None) -> None:
        owner = _of_joint("Displacement", joint, name)
        fill(
            self,
            a=joint.a,
            b=joint.b,
            at_a=joint.at_a,
            at_b=joint.at_b,
            axis_a=joint.axis_a,
            motion=Motion(owner, displacement, 1),
            name=name,
        )

    def primitives(self) -> tuple[Dot2]:
        """One product of the axis and the vector between the points."""
        return (Dot2(self.axis_a, self.at_a, self.at_b),)

    def rheonomic(self) -> Rheonomic:
        """The right-hand side."""
        return Rheonomic(OFFSET, self.motion)


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class PointMotion(AbstractJoint):
    """Prescribed vector between two points, in space: (x_a + R_a at_a) - (x_b + R_b at_b) = vector(t), m.

    With the ground as `b` it moves a point of `a` along a curve.

    Parameters
    ----------
    a, b : Body
    vector : (s, s', s''), spline or numba function, (3,)
        See `rbdae.motion.Law`.
    at_a, at_b : (3,) array_like
        The points in the bodies' frames.
    name : str, optional
    """

    a: Body
    b: Body
    at_a: Vec
    at_b: Vec
    motion: Motion
    name: str | None

    def __init__(
        self,
        a: Body,
        b: Body,
        vector: Law,
        at_a: ArrayLike = (0.0, 0.0, 0.0),
        at_b: ArrayLike = (0.0, 0.0, 0.0),
        name: str | None = None,
    ) -> None:
        owner = title("PointMotion", a, b, name)
        points = {"at_a": _check.vector(owner, "at_a", at_a), "at_b": _check.vector(owner, "at_b", at_b)}
        fill(self, a=a, b=b, motion=Motion(owner, vector, 3), name=name, **points)

    def freedoms(self) -> tuple[Mat, Mat]:
        """All turns."""
        return ALL_TURNS, ALL_TURNS

    def primitives(self) -> tuple[Coincidence]:
        """One coincidence with an offset."""
        return (Coincidence(self.at_a, self.at_b),)

    def rheonomic(self) -> Rheonomic:
        """The right-hand side."""
        return Rheonomic(OFFSET, self.motion)


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class DrivenRod(AbstractJoint):
    """Prescribed distance of two points: |P_b - P_a| = length(t) > 0, m.

    Parameters
    ----------
    a, b : Body
    length : (s, s', s''), spline or numba function
        See `rbdae.motion.Law`.
    at_a, at_b : (3,) array_like
        The points in the bodies' frames.
    name : str, optional
    """

    a: Body
    b: Body
    at_a: Vec
    at_b: Vec
    motion: Motion
    name: str | None

    def __init__(
        self,
        a: Body,
        b: Body,
        length: Law,
        at_a: ArrayLike = (0.0, 0.0, 0.0),
        at_b: ArrayLike = (0.0, 0.0, 0.0),
        name: str | None = None,
    ) -> None:
        owner = title("DrivenRod", a, b, name)
        points = {"at_a": _check.vector(owner, "at_a", at_a), "at_b": _check.vector(owner, "at_b", at_b)}
        fill(self, a=a, b=b, motion=Motion(owner, length, 1), name=name, **points)

    def primitives(self) -> tuple[Distance]:
        """One distance."""
        return (Distance(self.at_a, self.at_b, 1.0),)

    def rheonomic(self) -> Rheonomic:
        """Half the square of the length."""
        return Rheonomic(LENGTH, self.motion)


__all__ = ["Angle", "Displacement", "DrivenRod", "PointMotion"]

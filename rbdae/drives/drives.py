"""Drives of the angle or displacement of a joint with an axis, and of the distance or vector between two points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs

from rbdae import _check
from rbdae._arrays import Mat, Vec, cross
from rbdae.body import describe
from rbdae.inputs import Input
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import ALL_ROTATIONS, AbstractJoint, Rheonomic
from rbdae.joints.primitives import Coincidence, Distance, Dot1, Dot2
from rbdae.kernels.constraints.drives import ANGLE, LENGTH, OFFSET
from rbdae.motion import Law, Motion, motion_of
from rbdae.quantities.coordinate import Coordinate, angle, displacement, distance
from rbdae.quantities.quantity import Quantity


@attrs.frozen(eq=False, init=False, kw_only=True)
class AbstractJointDrive(AbstractJoint):
    """A drive that shares the fields of a joint with an axis."""

    axis_a: Vec
    axis_b: Vec
    normal_a: Vec
    normal_b: Vec
    motion: Motion

    def _drive(
        self, joint: AbstractAxialJoint, law: Law, name: str | None, inputs: Mapping[str, Input] | None
    ) -> dict[str, Any]:
        kind = type(self).__name__
        if not isinstance(joint, AbstractAxialJoint):
            raise TypeError(
                f"drive {kind}: it drives a joint with an axis, such as rbdae.joints.Revolute(...), "
                f"got {_check.show(joint)}"
            )
        motion = motion_of(describe("joint", kind, joint.a, joint.b, name), law, 1, inputs)
        shared = ("a", "b", "at_a", "at_b", "axis_a", "axis_b", "normal_a", "normal_b")
        return {"motion": motion, "name": name, **{field: getattr(joint, field) for field in shared}}

    def velocity_rows(self) -> tuple[None, None]:
        """None: the driven joint has them, and the drive removes one."""
        return None, None


@final
class PrescribedAngle(AbstractJointDrive):
    """Prescribed angle of a joint: the rotation from its normal_a to its normal_b about its axis is angle(t), rad.

    (R_a (n cos s + (u x n) sin s)) . (R_b (u_b x n_b)) = 0 with the axes u, u_b and the normals n, n_b: one equation,
    regular at every angle. Quantities: angle, rate, acceleration, torque on b, power.

    Parameters
    ----------
    joint : a joint with an axis
        Revolute or cylindrical; add it to the system, too.
    angle : function (t), (s, s', s'') or spline
        See `rbdae.drives`.
    """

    default_name: ClassVar = "angle"

    __slots__ = ()

    def __init__(
        self, joint: AbstractAxialJoint, angle: Law, name: str | None = None, inputs: Mapping[str, Input] | None = None
    ) -> None:
        self.__attrs_init__(**self._drive(joint, angle, name, inputs))

    def prescribed(self) -> Coordinate:
        return angle("angle", self.axis_a, self.normal_a, self.normal_b)

    def primitives(self) -> tuple[Dot1]:
        """One product of directions; the first direction turns."""
        return (Dot1(self.normal_a, cross(self.axis_b, self.normal_b)),)

    def rheonomic(self) -> Rheonomic:
        return Rheonomic(ANGLE, self.motion, self.normal_a, cross(self.axis_a, self.normal_a))


@final
class PrescribedDisplacement(AbstractJointDrive):
    """Prescribed displacement along the axis of a joint: (R_a u) . (P_b - P_a) = displacement(t), m.

    Quantities: displacement, rate, acceleration, force on b, power.

    Parameters
    ----------
    joint : a joint with an axis
        Prismatic or cylindrical; add it to the system, too.
    displacement : function (t), (s, s', s'') or spline
        See `rbdae.drives`.
    """

    default_name: ClassVar = "displacement"

    __slots__ = ()

    def __init__(
        self,
        joint: AbstractAxialJoint,
        displacement: Law,
        name: str | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> None:
        self.__attrs_init__(**self._drive(joint, displacement, name, inputs))

    def prescribed(self) -> Coordinate:
        return displacement("displacement", self.axis_a, self.at_a, self.at_b)

    def primitives(self) -> tuple[Dot2]:
        """One product of the axis and the vector between the points."""
        return (Dot2(self.axis_a, self.at_a, self.at_b),)

    def rheonomic(self) -> Rheonomic:
        return Rheonomic(OFFSET, self.motion)


def _motion(law: Law, drive: Any = None, field: Any = None) -> Motion:
    """A scalar motion, or the vector of a `PointMotion`; the field `inputs` of a drive is set before it."""
    return motion_of(drive._owner, law, 3 if isinstance(drive, PointMotion) else 1, drive.inputs)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class DrivenRod(AbstractJoint):
    """Prescribed distance between two points: |P_b - P_a| = length(t) > 0, m.

    Quantities: length, rate, acceleration, force (tension), power.

    Parameters
    ----------
    length : function (t), (s, s', s'') or spline
        See `rbdae.drives`.
    at_a, at_b : (3,) array_like
        The points in the bodies' frames.
    """

    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)
    motion: Motion = attrs.field(converter=_motion, alias="length")
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)

    def prescribed(self) -> Coordinate:
        return distance("length", self.at_a, self.at_b)

    def velocity_rows(self) -> tuple[None, None]:
        """None: the rod's direction turns in both bodies."""
        return None, None

    def primitives(self) -> tuple[Distance]:
        return (Distance(self.at_a, self.at_b, 1.0),)

    def rheonomic(self) -> Rheonomic:
        """Half the square of the length."""
        return Rheonomic(LENGTH, self.motion)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class PointMotion(AbstractJoint):
    """Prescribed vector between two points, in space: (x_a + R_a at_a) - (x_b + R_b at_b) = vector(t), m.

    With the ground as `b` it moves a point of `a` along a curve. Quantities: force on a, in space, and power.

    Parameters
    ----------
    vector : function (t), (s, s', s'') or spline, (3,)
        See `rbdae.drives`.
    at_a, at_b : (3,) array_like
        The points in the bodies' frames.
    """

    ball: ClassVar[bool] = True

    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)
    motion: Motion = attrs.field(converter=_motion, alias="vector")
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)

    @property
    def quantities(self) -> dict[str, Quantity]:
        rows = (
            Quantity(self, "force", "N", aspect="pull", components="xyz"),
            Quantity(self, "power", "W", aspect="work"),
        )
        return {each.name: each for each in rows}

    def velocity_rows(self) -> tuple[Mat, Mat]:
        """All rotations."""
        return ALL_ROTATIONS, ALL_ROTATIONS

    def primitives(self) -> tuple[Coincidence]:
        return (Coincidence(self.at_a, self.at_b),)

    def rheonomic(self) -> Rheonomic:
        return Rheonomic(OFFSET, self.motion)

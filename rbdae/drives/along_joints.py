"""Drives of the angle or displacement of a joint with an axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs

from rbdae import _check
from rbdae._arrays import Vec, cross
from rbdae.body import describe
from rbdae.inputs import Input
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint, Rheonomic
from rbdae.joints.primitives import Dot1, Dot2
from rbdae.kernels.constraints.drives import ANGLE, OFFSET
from rbdae.motion import Law, Motion, motion_of
from rbdae.quantities.coordinate import Coordinate, angle, displacement


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
        """Fields for the constructor."""
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

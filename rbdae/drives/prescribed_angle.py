"""The prescribed angle of a joint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from rbdae._arrays import cross
from rbdae.drives.base import AbstractJointDrive
from rbdae.inputs import Input
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import Rheonomic
from rbdae.joints.primitives import Dot1
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.motion import Law
from rbdae.quantities.coordinate import Coordinate, angle
from rbdae.quantities.quantity import Named


@final
class PrescribedAngle(AbstractJointDrive):
    """Prescribed angle of a joint: the rotation from its normal_a to its normal_b about its axis is angle(t), rad.

    (R_a (n cos s + (u x n) sin s)) . (R_b (u_b x n_b)) = 0 with the axes u, u_b and the normals n, n_b: one equation,
    regular at every angle.

    Parameters
    ----------
    joint : a joint with an axis
        Revolute or cylindrical; add it to the system, too.
    angle : (s, s', s''), spline or numba function
        See `rbdae.motion.Law`; an input of the system, or three for s, s', s''; a law (t, u) of `inputs`.
    name : str, optional
        Unique among the joints of the system; without it the system chooses "angle-1" and so on.
    inputs : mapping, optional
        Names and inputs of the system that a law (t, u) reads as u.name; its derivatives by t are exact.
    """

    __slots__ = ()

    angle = Named("Angle from normal_a to normal_b about axis_a, rad; 0 at the start unless they are given.")
    torque = Named("What the drive exerts about the axis on b, N m.")
    rate = Named("Rate of the angle, rad/s.")
    acceleration = Named("Its second derivative, rad/s^2.")
    power = Named("Power of the torque, W.")

    def __init__(
        self,
        joint: AbstractAxialJoint,
        angle: Law,
        name: str | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> None:
        self.__attrs_init__(**self._drive(joint, angle, name, inputs))

    @property
    def default_name(self) -> str:
        """The name before the number, as it is in labels."""
        return "angle"

    def prescribed(self) -> Coordinate:
        """The angle."""
        return angle("angle", self.axis_a, self.normal_a, self.normal_b)

    def primitives(self) -> tuple[Dot1]:
        """One product of directions, of which the first turns."""
        return (Dot1(self.normal_a, cross(self.axis_b, self.normal_b)),)

    def rheonomic(self) -> Rheonomic:
        """The turning direction."""
        return Rheonomic(ANGLE, self.motion, self.normal_a, cross(self.axis_a, self.normal_a))

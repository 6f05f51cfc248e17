"""The prescribed displacement of a joint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from rbdae.drives.base import AbstractJointDrive
from rbdae.inputs import Input
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import Rheonomic
from rbdae.joints.primitives import Dot2
from rbdae.kernels.constraints.drives import OFFSET
from rbdae.motion import Law
from rbdae.quantities.coordinate import Coordinate, displacement
from rbdae.quantities.quantity import Named


@final
class PrescribedDisplacement(AbstractJointDrive):
    """Prescribed displacement along the axis of a joint: (R_a u) . (P_b - P_a) = displacement(t), m.

    Parameters
    ----------
    joint : a joint with an axis
        Prismatic or cylindrical; add it to the system, too.
    displacement : (s, s', s''), spline or numba function
        See `rbdae.motion.Law`; an input of the system, or three for s, s', s''; a law (t, u) of `inputs`.
    name : str, optional
        Unique among the joints of the system; without it the system chooses "displacement-1" and so on.
    inputs : mapping, optional
        Names and inputs of the system that a law (t, u) reads as u.name; its derivatives by t are exact.
    """

    __slots__ = ()

    displacement = Named("How far at_b is from at_a along axis_a, m.")
    force = Named("What the drive exerts along the axis on b, N.")
    rate = Named("Rate of the displacement, m/s.")
    acceleration = Named("Its second derivative, m/s^2.")
    power = Named("Power of the force, W.")

    def __init__(
        self,
        joint: AbstractAxialJoint,
        displacement: Law,
        name: str | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> None:
        self.__attrs_init__(**self._drive(joint, displacement, name, inputs))

    @property
    def default_name(self) -> str:
        """The name before the number, as it is in labels."""
        return "displacement"

    def prescribed(self) -> Coordinate:
        """The displacement."""
        return displacement("displacement", self.axis_a, self.at_a, self.at_b)

    def primitives(self) -> tuple[Dot2]:
        """One product of the axis and the vector between the points."""
        return (Dot2(self.axis_a, self.at_a, self.at_b),)

    def rheonomic(self) -> Rheonomic:
        """The right-hand side."""
        return Rheonomic(OFFSET, self.motion)

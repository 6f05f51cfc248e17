"""The cylindrical joint: bodies turn about and slide along a common axis."""

from __future__ import annotations

from typing import final

from rbdae._arrays import Mat, cross
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.primitives import Dot1, Dot2
from rbdae.quantities.coordinate import Coordinate


@final
class Cylindrical(AbstractAxialJoint):
    """A common axis, about which and along which the bodies move; four equations.

    Quantities: angle, displacement, their rates, accelerations and powers (angle_rate, ...), torque, force.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    at_a, at_b : (3,) array_like
        A point of the axis in each body's frame.
    axis_a, axis_b : (3,) array_like
        The axis; in each body's frame, of any length. By default axis_b has the direction of axis_a at the start.
    name : str, by default "cylindrical-1" and so on
    normal_a, normal_b : (3,) array_like, optional
        Perpendicular to the axes; the angle of the joint is measured from normal_a to normal_b about axis_a. By
        default any perpendicular of axis_a, and its direction at the start: the angle begins at 0.

    Opposite axes also satisfy the joint: a body placed that way stays mounted the other way round.
    """

    __slots__ = ()

    def coordinates(self) -> tuple[Coordinate, Coordinate]:
        return self.angle_about_axis(), self.displacement_along_axis()

    def velocity_rows(self) -> tuple[Mat, Mat]:
        """The slide along and the turn about the axis."""
        return self._rows(0, "u", "u"), self._rows(1, "u", "u")

    def primitives(self) -> tuple[Dot1, Dot1, Dot2, Dot2]:
        """The axis of `b` and its point stay on the axis of `a`."""
        across = cross(self.axis_a, self.normal_a)
        return (
            Dot1(self.normal_a, self.axis_b),
            Dot1(across, self.axis_b),
            Dot2(self.normal_a, self.at_a, self.at_b),
            Dot2(across, self.at_a, self.at_b),
        )

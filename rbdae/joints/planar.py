"""The planar joint: a plane of one body slides on a plane of the other."""

from __future__ import annotations

from typing import final

from rbdae._arrays import Mat, cross
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.primitives import Dot1, Dot2
from rbdae.quantities.coordinate import Coordinate


@final
class Planar(AbstractAxialJoint):
    """Two planes slide on each other in two directions and turn about their normal; three equations.

    Quantities: angle, torque; the displacements x along normal_a and y along axis_a x normal_a, x_force, y_force;
    rates, accelerations and powers (angle_rate, x_power, ...).

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    at_a, at_b : (3,) array_like
        A point of the plane in each body's frame.
    axis_a, axis_b : (3,) array_like
        The plane's normal; in each body's frame, of any length. By default axis_b has the direction of axis_a at
        the start.
    name : str, by default "planar-1" and so on
    normal_a, normal_b : (3,) array_like, optional
        Perpendicular to the axes; the angle of the joint is measured from normal_a to normal_b about axis_a. By
        default any perpendicular of axis_a, and its direction at the start: the angle begins at 0.

    Opposite axes also satisfy the joint: a body placed that way stays mounted the other way round.
    """

    __slots__ = ()

    def coordinates(self) -> tuple[Coordinate, Coordinate, Coordinate]:
        """The angle, and the displacements x along normal_a and y along axis_a x normal_a."""
        return (self.angle_about_axis(), *self.displacements_across_axis())

    def velocity_rows(self) -> tuple[Mat, Mat]:
        """Two slides in the plane, and the turn."""
        return self._rows(0, "nm", "u"), self._rows(1, "nm", "u")

    def primitives(self) -> tuple[Dot1, Dot1, Dot2]:
        """The axis of `b` stays parallel to the axis of `a`, and its point in the plane of `a`."""
        return (
            Dot1(self.normal_a, self.axis_b),
            Dot1(cross(self.axis_a, self.normal_a), self.axis_b),
            Dot2(self.axis_a, self.at_a, self.at_b),
        )

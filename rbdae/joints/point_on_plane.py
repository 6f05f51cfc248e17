"""A point of one body stays in a plane of the other."""

from __future__ import annotations

from typing import final

from rbdae._arrays import Mat
from rbdae.joints.axial import AbstractPointJoint
from rbdae.joints.primitives import Dot2
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Named


@final
class PointOnPlane(AbstractPointJoint):
    """The point at_b of `b` stays in the plane of `a` through at_a with the normal axis_a; one equation.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    at_a, at_b : (3,) array_like
        A point of the plane in the frame of `a`, and the point that stays in it in that of `b`.
    axis_a : (3,) array_like
        The plane's normal; in the frame of `a`, of any length.
    name : str, optional
        Unique among the joints of the system; without it the system chooses "pointonplane-1" and so on.
    normal_a : (3,) array_like, optional
        Perpendicular to axis_a, by default any. The attributes axis_b and normal_b are their directions at the start.
    """

    __slots__ = ()

    x = Named("How far at_b is from at_a along normal_a, m.")
    y = Named("How far at_b is from at_a along axis_a x normal_a, m.")
    x_rate = Named("Its rate, m/s.")
    x_acceleration = Named("Its second derivative, m/s^2.")
    y_rate = Named("Its rate, m/s.")
    y_acceleration = Named("Its second derivative, m/s^2.")

    def coordinates(self) -> tuple[Coordinate, Coordinate]:
        """The displacements x along normal_a and y along axis_a x normal_a."""
        return self.displacements_across_axis()

    def velocity_rows(self) -> tuple[Mat, None]:
        """The rows of the body with the plane: two slides in it, and all turns."""
        return self._rows(0, "nm", "nmu"), None

    def primitives(self) -> tuple[Dot2]:
        """The distance from the plane."""
        return (Dot2(self.axis_a, self.at_a, self.at_b),)

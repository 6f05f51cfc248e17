"""A point of one body stays on a line of the other."""

from __future__ import annotations

from typing import final

from rbdae._arrays import Mat, cross
from rbdae.joints.axial import AbstractPointJoint
from rbdae.joints.primitives import Dot2
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Named


@final
class PointOnLine(AbstractPointJoint):
    """The point at_b of `b` stays on the line of `a` through at_a along axis_a; two equations.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    at_a, at_b : (3,) array_like
        A point of the line in the frame of `a`, and the point that stays on it in that of `b`.
    axis_a : (3,) array_like
        The line; in the frame of `a`, of any length.
    name : str, optional
        Unique among the joints of the system; without it the system chooses "pointonline-1" and so on.
    normal_a : (3,) array_like, optional
        Perpendicular to axis_a, by default any. The attributes axis_b and normal_b are their directions at the start.
    """

    __slots__ = ()

    displacement = Named("How far at_b is from at_a along axis_a, m.")
    rate = Named("Its rate, m/s.")
    acceleration = Named("Its second derivative, m/s^2.")
    force = Named("What drives exert along the axis on b, N.")
    power = Named("Power of the force, W.")

    def coordinates(self) -> tuple[Coordinate]:
        """The displacement along the line."""
        return (self.displacement_along_axis(),)

    def velocity_rows(self) -> tuple[Mat, None]:
        """The rows of the body with the line: the slide along it, and all turns."""
        return self._rows(0, "u", "nmu"), None

    def primitives(self) -> tuple[Dot2, Dot2]:
        """Two distances from planes through the line."""
        across = cross(self.axis_a, self.normal_a)
        return Dot2(self.normal_a, self.at_a, self.at_b), Dot2(across, self.at_a, self.at_b)

"""The prismatic joint: bodies slide along a common axis."""

from __future__ import annotations

from typing import final

from rbdae._arrays import Mat, cross
from rbdae.joints.axial import AbstractAlignedJoint
from rbdae.joints.primitives import Dot1, Dot2
from rbdae.quantities.coordinate import Coordinate


@final
class Prismatic(AbstractAlignedJoint):
    """Slider: the bodies move along a common axis without relative rotation; five equations.

    Quantities: displacement, rate, acceleration, force, power.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    at_a, at_b : (3,) array_like
        A point of the axis in each body's frame.
    axis_a, axis_b : (3,) array_like
        The axis; in each body's frame, of any length. By default axis_b has the direction of axis_a at the start.
    name : str, by default "prismatic-1" and so on
    normal_a, normal_b : (3,) array_like, optional
        Perpendicular to the axes. Axes and normals agree in the rotation that is kept, by default the rotation at the
        start. The equations also hold half a turn away: bodies placed nearer to that position are turned.
    """

    __slots__ = ()

    def coordinates(self) -> tuple[Coordinate]:
        return (self.displacement_along_axis(),)

    def velocity_rows(self) -> tuple[Mat, Mat]:
        """The slide along the axis."""
        return self._rows(0, "u", ""), self._rows(1, "u", "")

    def primitives(self) -> tuple[Dot1, Dot1, Dot1, Dot2, Dot2]:
        """A fixed rotation; the point of `b` stays on the axis of `a`."""
        across = cross(self.axis_a, self.normal_a)
        return (
            Dot1(self.normal_a, self.axis_b),
            Dot1(across, self.axis_b),
            Dot1(self.normal_a, cross(self.axis_b, self.normal_b)),
            Dot2(self.normal_a, self.at_a, self.at_b),
            Dot2(across, self.at_a, self.at_b),
        )

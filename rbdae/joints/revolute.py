"""The revolute joint: bodies turn about a common axis."""

from __future__ import annotations

from typing import final

from rbdae._arrays import Mat, cross
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.primitives import Coincidence, Dot1
from rbdae.quantities.coordinate import Coordinate


@final
class Revolute(AbstractAxialJoint):
    """Hinge: a common point and a common axis through it; five equations.

    Quantities: angle, rate, acceleration, torque, power.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    at_a, at_b : (3,) array_like
        A point of the axis in each body's frame; the two points coincide.
    axis_a, axis_b : (3,) array_like
        The axis of rotation; in each body's frame, of any length. By default axis_b has the direction of
        axis_a at the start.
    name : str, by default "revolute-1" and so on
    normal_a, normal_b : (3,) array_like, optional
        Perpendicular to the axes; the angle of the joint is measured from normal_a to normal_b about axis_a. By
        default any perpendicular of axis_a, and its direction at the start: the angle begins at 0.

    Opposite axes also satisfy the joint: a body placed that way stays mounted the other way round.
    """

    __slots__ = ()

    def coordinates(self) -> tuple[Coordinate]:
        return (self.angle_about_axis(),)

    def velocity_rows(self) -> tuple[Mat, Mat]:
        """The turn about the axis."""
        return self._rows(0, "", "u"), self._rows(1, "", "u")

    def primitives(self) -> tuple[Coincidence, Dot1, Dot1]:
        """One coincidence; the axis of `b` stays perpendicular to two directions of `a`."""
        across = cross(self.axis_a, self.normal_a)
        return (
            Coincidence(self.at_a, self.at_b),
            Dot1(self.normal_a, self.axis_b),
            Dot1(across, self.axis_b),
        )

"""The universal joint: a cross between two shafts."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import Vec, cross
from rbdae.joints import frames
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.primitives import Coincidence, Dot1
from rbdae.quantities.coordinate import Coordinate, angle, turned

_X_AXIS = _check.frozen(np.array((1.0, 0.0, 0.0)))


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Universal(AbstractAxialJoint):
    """Cardan joint: a common point, and one axis of each body at right angles; four equations.

    Quantities: angle_a, the turn of the cross about axis_a, and angle_b, of `b` about axis_b, both 0 at the start
    unless normals are given; angle_a_rate, angle_a_acceleration, angle_a_torque, angle_a_power, ...

    Parameters
    ----------
    at_a, at_b : (3,) array_like
        The centre of the cross in each body's frame.
    axis_a, axis_b : (3,) array_like
        The arms of the cross, at right angles to each other; in each body's frame, of any length. By default z of `a`
        and x of `b`: axis_a does not determine axis_b.
    normal_a, normal_b : (3,) array_like, optional
        Perpendicular to the axes of their bodies, by default along the normal of the cross at the start.
    """

    ball: ClassVar[bool] = True

    axis_b: Vec = attrs.field(default=_X_AXIS, converter=frames.axis_b)
    normal_a: Vec = attrs.field(default=None, converter=frames.normal_of_cross, kw_only=True)
    normal_b: Vec = attrs.field(default=None, converter=frames.normal_b, kw_only=True)

    def coordinates(self) -> tuple[Coordinate, Coordinate]:
        """The turn of the cross about axis_a, from normal_a x axis_a to axis_b, and the turn of `b` about axis_b, from
        axis_a to axis_b x normal_b. With default normals both begin at 0."""
        return (
            angle("angle_a", self.axis_a, cross(self.normal_a, self.axis_a), self.axis_b),
            turned("angle_b", self.axis_a, self.axis_b, cross(self.axis_b, self.normal_b)),
        )

    def velocity_rows(self) -> tuple[None, None]:
        """None: the normal of the cross turns in both bodies."""
        return None, None

    def primitives(self) -> tuple[Coincidence, Dot1]:
        """One coincidence, and one right angle."""
        return Coincidence(self.at_a, self.at_b), Dot1(self.axis_a, self.axis_b)

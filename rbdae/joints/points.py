"""A point of one body stays on a line, or in a plane, of the other."""

from __future__ import annotations

from typing import final

import attrs

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.joints import frames
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.primitives import Dot2


@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class AbstractPointJoint(AbstractAxialJoint):
    """A point of `b` stays on a line or plane of `a`; `axis_b` and `normal_b` are the directions of `axis_a` and
    `normal_a` at the start."""

    axis_b: Vec = attrs.field(default=None, converter=frames.axis_b, init=False)
    normal_a: Vec = attrs.field(default=None, converter=frames.normal_a, kw_only=True)
    normal_b: Vec = attrs.field(default=None, converter=frames.normal_b, init=False)


@final
class PointOnLine(AbstractPointJoint):
    """The point at_b of `b` stays on the line of `a` through at_a along axis_a; two equations.

    Quantities: displacement, rate, acceleration, force, power.

    Parameters
    ----------
    at_a, at_b : (3,) array_like
        A point of the line in the frame of `a`, and the point that stays on it in the frame of `b`.
    axis_a : (3,) array_like
        The line; in the frame of `a`, of any length.
    normal_a : (3,) array_like, optional
        Perpendicular to axis_a, by default any. The attributes axis_b and normal_b are their directions at the start.
    """

    __slots__ = ()

    slides, turns = "u", "nmu"

    def velocity_rows(self) -> tuple[Mat, None]:
        """Rows of the body with the line: the slide along it, and all rotations."""
        return self._rows(0), None

    def primitives(self) -> tuple[Dot2, Dot2]:
        """Two distances from planes through the line."""
        return self.point_on_axis()


@final
class PointOnPlane(AbstractPointJoint):
    """The point at_b of `b` stays in the plane of `a` through at_a with the normal axis_a; one equation.

    Quantities: the displacements x along normal_a and y along axis_a x normal_a, x_rate, x_acceleration, ...

    Parameters
    ----------
    at_a, at_b : (3,) array_like
        A point of the plane in the frame of `a`, and the point that stays in it in the frame of `b`.
    axis_a : (3,) array_like
        The plane's normal; in the frame of `a`, of any length.
    normal_a : (3,) array_like, optional
        Perpendicular to axis_a, by default any. The attributes axis_b and normal_b are their directions at the start.
    """

    __slots__ = ()

    slides, turns = "nm", "nmu"

    def velocity_rows(self) -> tuple[Mat, None]:
        """Rows of the body with the plane: two slides in it, and all rotations."""
        return self._rows(0), None

    def primitives(self) -> tuple[Dot2]:
        """The distance from the plane."""
        return (Dot2(self.axis_a, self.at_a, self.at_b),)

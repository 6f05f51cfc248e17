"""Joints of points: two keep their distance, or one stays on a line, or in a plane, of the other body."""

from __future__ import annotations

import math
from typing import Any, final

import attrs

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.joints import frames
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint
from rbdae.joints.primitives import Distance, Dot2
from rbdae.quantities.coordinate import Coordinate, distance
from rbdae.quantities.quantity import Quantity, of_coordinates


@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class AbstractPointJoint(AbstractAxialJoint):
    """A point of `b` stays on a line or plane of `a`.

    Parameters
    ----------
    at_a, at_b : (3,) array_like
        A point of the line or plane in the frame of `a`, and the point that stays in it in the frame of `b`.
    axis_a : (3,) array_like
        The line, or the plane's normal; in the frame of `a`, of any length.
    normal_a : (3,) array_like, optional
        Perpendicular to axis_a, by default any. The attributes axis_b and normal_b are their directions at the start.
    """

    axis_b: Vec = attrs.field(default=None, converter=frames.axis_b, init=False)
    normal_a: Vec = attrs.field(default=None, converter=frames.normal_a, kw_only=True)
    normal_b: Vec = attrs.field(default=None, converter=frames.normal_b, init=False)


@final
class PointOnLine(AbstractPointJoint):
    """The point at_b of `b` stays on the line of `a` through at_a along axis_a; two equations.

    Quantities: displacement, rate, acceleration, force, power.

    Parameters are those of `rbdae.joints.points.AbstractPointJoint`.
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

    Parameters are those of `rbdae.joints.points.AbstractPointJoint`.
    """

    __slots__ = ()

    slides, turns = "nm", "nmu"

    def velocity_rows(self) -> tuple[Mat, None]:
        """Rows of the body with the plane: two slides in it, and all rotations."""
        return self._rows(0), None

    def primitives(self) -> tuple[Dot2]:
        """The distance from the plane."""
        return (Dot2(self.axis_a, self.at_a, self.at_b),)


def _length(value: float | None, rod: Any = None, field: Any = None) -> float:
    """A length with a positive square, by default the distance between the ends as placed."""
    a, b, remedy = rod.a, rod.b, "use Spherical for points that stay together"
    if value is None:
        placed = math.hypot(*(b.position + b.rotation @ rod.at_b - a.position - a.rotation @ rod.at_a))
        what = "length (of the bodies as placed)"
        l = _check.positive(rod._owner, what, placed, f"place them apart, or {remedy}")
    else:
        l = _check.positive(rod._owner, "length", value, remedy)
    if not 0.0 < 0.5 * l * l < math.inf:
        raise ValueError(f"{rod._owner}: length {l:g} has no square among the floats; use SI units, or {remedy}")
    return l


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Rod(AbstractJoint):
    """A massless rod with a ball joint at each end; one equation. Its quantity is the tension, force.

    Parameters
    ----------
    at_a, at_b : (3,) array_like
        The rod's ends in each body's frame.
    length : float, optional
        m; by default the distance between the ends at the start.
    """

    length: float = attrs.field(default=None, converter=_length)

    def prescribed(self) -> Coordinate:
        return distance("length", self.at_a, self.at_b)

    def velocity_rows(self) -> tuple[None, None]:
        """None: the rod's direction turns in both bodies."""
        return None, None

    @property
    def quantities(self) -> dict[str, Quantity]:
        """Only the tension: the length is constant."""
        return {name: each for name, each in of_coordinates(self, [self.prescribed()]).items() if name == "force"}

    def primitives(self) -> tuple[Distance]:
        return (Distance(self.at_a, self.at_b, self.length),)

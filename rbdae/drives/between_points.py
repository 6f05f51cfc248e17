"""Drives between two points: their distance, or the vector from one to the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.inputs import Input
from rbdae.joints.base import ALL_ROTATIONS, AbstractJoint, Rheonomic
from rbdae.joints.primitives import Coincidence, Distance
from rbdae.kernels.constraints.drives import LENGTH, OFFSET
from rbdae.motion import Law, Motion, motion_of
from rbdae.quantities.coordinate import Coordinate, distance
from rbdae.quantities.quantity import Quantity


def _motion(law: Law, drive: Any = None, field: Any = None) -> Motion:
    """A scalar motion, or the vector of a `PointMotion`; the field `inputs` of a drive is set before it."""
    return motion_of(drive._owner, law, 3 if isinstance(drive, PointMotion) else 1, drive.inputs)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class DrivenRod(AbstractJoint):
    """Prescribed distance between two points: |P_b - P_a| = length(t) > 0, m.

    Quantities: length, rate, acceleration, force (tension), power.

    Parameters
    ----------
    length : function (t), (s, s', s'') or spline
        See `rbdae.drives`.
    at_a, at_b : (3,) array_like
        The points in the bodies' frames.
    """

    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)
    motion: Motion = attrs.field(converter=_motion, alias="length")
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)

    def prescribed(self) -> Coordinate:
        return distance("length", self.at_a, self.at_b)

    def velocity_rows(self) -> tuple[None, None]:
        """None: the rod's direction turns in both bodies."""
        return None, None

    def primitives(self) -> tuple[Distance]:
        return (Distance(self.at_a, self.at_b, 1.0),)

    def rheonomic(self) -> Rheonomic:
        """Half the square of the length."""
        return Rheonomic(LENGTH, self.motion)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class PointMotion(AbstractJoint):
    """Prescribed vector between two points, in space: (x_a + R_a at_a) - (x_b + R_b at_b) = vector(t), m.

    With the ground as `b` it moves a point of `a` along a curve. Quantities: force on a, in space, and power.

    Parameters
    ----------
    vector : function (t), (s, s', s'') or spline, (3,)
        See `rbdae.drives`.
    at_a, at_b : (3,) array_like
        The points in the bodies' frames.
    """

    ball: ClassVar[bool] = True

    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)
    motion: Motion = attrs.field(converter=_motion, alias="vector")
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)

    @property
    def quantities(self) -> dict[str, Quantity]:
        rows = (
            Quantity(self, "force", "N", aspect="pull", components="xyz"),
            Quantity(self, "power", "W", aspect="work"),
        )
        return {each.name: each for each in rows}

    def velocity_rows(self) -> tuple[Mat, Mat]:
        """All rotations."""
        return ALL_ROTATIONS, ALL_ROTATIONS

    def primitives(self) -> tuple[Coincidence]:
        return (Coincidence(self.at_a, self.at_b),)

    def rheonomic(self) -> Rheonomic:
        return Rheonomic(OFFSET, self.motion)

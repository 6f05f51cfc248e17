"""Joints with an axis: points, axes and normals on both bodies.

`axis_b` defaults to the direction of `axis_a` at the start, so that the joint fits the bodies as placed. The joints of
`rbdae.joints.points` have no such parameter, and `Universal` takes an axis across `axis_a`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec, cross
from rbdae.joints import frames
from rbdae.joints.base import AbstractJoint
from rbdae.joints.primitives import Dot1, Dot2
from rbdae.quantities.coordinate import Coordinate, angle, displacement

_Z_AXIS = _check.frozen(np.array((0.0, 0.0, 1.0)))


@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class AbstractAxialJoint(AbstractJoint):
    """A joint with an axis on each body, through the points at_a and at_b.

    Opposite axes also satisfy the equations: a body placed that way stays mounted the other way round.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    at_a, at_b : (3,) array_like
        A point of the axis in each body's frame.
    axis_a, axis_b : (3,) array_like
        The axis; in each body's frame, of any length. By default axis_b has the direction of axis_a at the start.
    name : str, by default "revolute-1" and so on
    normal_a, normal_b : (3,) array_like, optional
        Perpendicular to the axes; the angle of the joint is measured from normal_a to normal_b about axis_a. By
        default any perpendicular of axis_a, and its direction at the start: the angle begins at 0.
    """

    axis_a: Vec = attrs.field(default=_Z_AXIS, converter=frames.axis_a)
    axis_b: Vec = attrs.field(default=None, converter=frames.axis_b)
    normal_a: Vec = attrs.field(default=None, converter=frames.normal_a, kw_only=True)
    normal_b: Vec = attrs.field(default=None, converter=frames.normal_b, kw_only=True)

    slides: ClassVar[str]
    turns: ClassVar[str]
    """Directions along and about which the bodies are free to move, by letters: "n" (normal), "m" (axis x normal), "u"
    (axis)."""

    def coordinates(self) -> tuple[Coordinate, ...]:
        """The angle from `normal_a` to `normal_b` about `axis_a`, and the displacements from `at_a` to `at_b` along
        `axis_a`, or x along `normal_a` and y along axis_a x normal_a."""
        names = {"u": "displacement", "n": "x", "m": "y"}
        along = [displacement(names[k], v, self.at_a, self.at_b) for k, v in self._directions(0, self.slides)]
        if self.turns != "u":
            return (*along,)
        about = angle("angle", self.axis_a, self.normal_a, self.normal_b)
        return replace(about, at_a=self.at_a, at_b=self.at_b), *along

    def velocity_rows(self) -> tuple[Mat | None, Mat | None]:
        """The free slides and turns."""
        return self._rows(0), self._rows(1)

    @property
    def across(self) -> Vec:
        """axis_a x normal_a."""
        return cross(self.axis_a, self.normal_a)

    def parallel_axes(self) -> tuple[Dot1, Dot1]:
        """The axis of `b` stays across two directions of `a`."""
        return Dot1(self.normal_a, self.axis_b), Dot1(self.across, self.axis_b)

    def point_on_axis(self) -> tuple[Dot2, Dot2]:
        """The point of `b` stays in two planes through the axis of `a`."""
        return Dot2(self.normal_a, self.at_a, self.at_b), Dot2(self.across, self.at_a, self.at_b)

    def _rows(self, side: int) -> Mat:
        """Rows on the twist of a body: slides on its velocity, then turns on its angular velocity."""
        rows = [np.concatenate([v, np.zeros(3)]) for _, v in self._directions(side, self.slides)]
        rows += [np.concatenate([np.zeros(3), v]) for _, v in self._directions(side, self.turns)]
        return np.array(rows).reshape(-1, 6)

    def _directions(self, side: int, letters: str) -> list[tuple[str, Vec]]:
        axis, normal = (self.axis_a, self.normal_a) if side == 0 else (self.axis_b, self.normal_b)
        along = {"n": normal, "m": cross(axis, normal), "u": axis}
        return [(letter, along[letter]) for letter in letters]


class AbstractAlignedJoint(AbstractAxialJoint):
    """A joint that keeps the relative rotation in which axes and normals agree, by default the rotation at the start.

    The equations also hold half a turn away: bodies placed nearer to that position are turned.
    """

    __slots__ = ()

    def kept_rotation(self) -> tuple[Dot1, Dot1, Dot1]:
        """Parallel axes, and normals that agree."""
        return (*self.parallel_axes(), Dot1(self.normal_a, cross(self.axis_b, self.normal_b)))

    def agreements(self) -> tuple[tuple[Vec, Vec], ...]:
        """The axes, and the normals."""
        return (self.axis_a, self.axis_b), (self.normal_a, self.normal_b)

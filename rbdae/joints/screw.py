"""The screw joint: bodies turn about and slide along a common axis, a pitch for a turn."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec, cross, varied
from rbdae.joints import frames
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.primitives import Combination, Dot1, Dot2, Primitive
from rbdae.quantities.coordinate import Coordinate, displacement


def _pitch(value: float, screw: Any = None, field: Any = None) -> float:
    pitch = _check.number(screw._owner, "pitch", value)
    if pitch == 0.0:
        raise ValueError(f"{screw._owner}: pitch must not be zero; use Revolute for a thread that does not rise")
    return pitch


def _normal_b(value: ArrayLike | None, screw: Any = None, field: Any = None) -> Vec:
    """A perpendicular of `axis_b`, by default one with which the thread fits the placement of the bodies."""
    if value is not None:
        return frames.normal_b(value, screw)
    a, b, axis, normal = screw.a, screw.b, screw.axis_a, screw.normal_a
    apart = b.position + b.rotation @ screw.at_b - a.position - a.rotation @ screw.at_a
    phi = 2.0 * np.pi / screw.pitch * (a.rotation @ axis @ apart)
    return frames.normal_as_placed(screw, np.cos(phi) * normal + np.sin(phi) * cross(axis, normal))


def _thread(q: Any) -> Any:
    """sin(angle - phi) of the angle at which both bodies are, by its sine and cosine, and phi of the displacement."""
    phi, c, s = q
    return s * np.cos(phi) - c * np.sin(phi)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Screw(AbstractAxialJoint):
    """A nut `b` on a thread of `a`: five equations, of a cylindrical joint and of the thread.

    With the displacement u from at_a to at_b along the axis, and the angle from normal_a to normal_b about it,

        sin(angle - 2 pi u / pitch) = 0.

    Turns need no counting. The equation also holds half a turn away: a body placed there stays there.
    Quantities: angle, displacement, their rates, accelerations and powers (angle_rate, ...), torque, force.

    Parameters are those of `rbdae.joints.AbstractAxialJoint`, and

    pitch : float
        The displacement in a turn, m; positive for a right-handed thread. By default normal_b fits it to the placement
        of the bodies at the start.
    """

    pitch: float = attrs.field(converter=_pitch, kw_only=True)
    normal_b: Vec = attrs.field(default=None, converter=_normal_b, kw_only=True)

    slides, turns = "", "u"

    def coordinates(self) -> tuple[Coordinate, ...]:
        """The angle, and the displacement that belongs to it."""
        return (*super().coordinates(), displacement("displacement", self.axis_a, self.at_a, self.at_b))

    def primitives(self) -> tuple[Primitive, ...]:
        """The equations of a cylindrical joint; the thread."""
        phi = Dot2(varied(self.axis_a * (2.0 * np.pi / self.pitch)), self.at_a, self.at_b)
        angle = Dot1(self.normal_a, self.normal_b), Dot1(self.across, self.normal_b)
        return *self.parallel_axes(), *self.point_on_axis(), Combination(_thread, phi, *angle)

"""The massless rod: two points keep their distance."""

from __future__ import annotations

import math
from typing import Any, final

import attrs

from rbdae import _check
from rbdae.joints.base import AbstractJoint
from rbdae.joints.primitives import Distance
from rbdae.quantities.coordinate import Coordinate, distance
from rbdae.quantities.quantity import Quantity, of_coordinates


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

    @property
    def quantities(self) -> dict[str, Quantity]:
        """Only the tension: the length is constant."""
        return {name: each for name, each in of_coordinates(self, [self.prescribed()]).items() if name == "force"}

    def velocity_rows(self) -> tuple[None, None]:
        """None: the rod's direction turns in both bodies."""
        return None, None

    def primitives(self) -> tuple[Distance]:
        return (Distance(self.at_a, self.at_b, self.length),)

"""The massless rod: two points keep their distance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae._frozen import fill
from rbdae.body import Body
from rbdae.joints.base import AbstractJoint, place
from rbdae.joints.primitives import Distance
from rbdae.quantities.coordinate import Coordinate, distance
from rbdae.quantities.quantity import Named, Quantity, of_coordinates


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Rod(AbstractJoint):
    """A massless rod with a ball joint at each end; one equation.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    at_a, at_b : (3,) array_like
        The rod's ends in each body's frame.
    length : float, optional
        m; without it, the distance of the ends as the bodies are placed at the start.
    name : str, optional
        Unique among the joints of the system; without it the system chooses "rod-1" and so on.
    """

    force = Named("Tension, which pulls its ends together, N.")

    a: Body
    b: Body
    at_a: Vec
    at_b: Vec
    length: float
    name: str | None

    def __init__(
        self,
        a: Body,
        b: Body,
        at_a: ArrayLike = (0.0, 0.0, 0.0),
        at_b: ArrayLike = (0.0, 0.0, 0.0),
        length: float | None = None,
        name: str | None = None,
    ) -> None:
        owner = place(self, a, b, at_a, at_b, name)
        remedy = "use Spherical for points that stay together"
        if length is None:
            placed = math.hypot(*(b.position + b.rotation @ self.at_b - a.position - a.rotation @ self.at_a))
            l = _check.positive(owner, "length (of the bodies as placed)", placed, f"place them apart, or {remedy}")
        else:
            l = _check.positive(owner, "length", length, remedy)
        if not 0.0 < 0.5 * l * l < math.inf:
            raise ValueError(f"{owner}: length {l:g} has no square among the floats; use SI units, or {remedy}")
        fill(self, length=l)

    def prescribed(self) -> Coordinate:
        """The distance of its ends."""
        return distance("length", self.at_a, self.at_b)

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The tension: its length is constant."""
        return {name: each for name, each in of_coordinates(self, [self.prescribed()]).items() if name == "force"}

    def velocity_rows(self) -> tuple[None, None]:
        """None: the direction of the rod turns in either body."""
        return None, None

    def primitives(self) -> tuple[Distance]:
        """One distance."""
        return (Distance(self.at_a, self.at_b, self.length),)


__all__ = ["Rod"]

"""The prescribed distance of two points."""

from __future__ import annotations

from typing import final

import attrs

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.drives.base import AbstractPointDrive, of_one
from rbdae.joints.base import Rheonomic
from rbdae.joints.primitives import Distance
from rbdae.kernels.constraints.drives import LENGTH
from rbdae.motion import Motion
from rbdae.quantities.coordinate import Coordinate, distance
from rbdae.quantities.quantity import Named


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class DrivenRod(AbstractPointDrive):
    """Prescribed distance of two points: |P_b - P_a| = length(t) > 0, m.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    length : (s, s', s''), spline or numba function
        See `rbdae.motion.Law`; an input of the system, or three for s, s', s''; a law (t, u) of `inputs`.
    at_a, at_b : (3,) array_like
        The points in the bodies' frames.
    name : str, optional
        Unique among the joints of the system; without it the system chooses "drivenrod-1" and so on.
    inputs : mapping, optional
        Names and inputs of the system that a law (t, u) reads as u.name; its derivatives by t are exact.
    """

    length = Named("Distance of the points, m.")
    force = Named("Tension, which pulls the points together, N.")
    rate = Named("Rate of the distance, m/s.")
    acceleration = Named("Its second derivative, m/s^2.")
    power = Named("Power of the force, W.")

    motion: Motion = attrs.field(converter=of_one, alias="length")
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)

    def prescribed(self) -> Coordinate:
        """The distance."""
        return distance("length", self.at_a, self.at_b)

    def velocity_rows(self) -> tuple[None, None]:
        """None: the direction of the rod turns in either body."""
        return None, None

    def primitives(self) -> tuple[Distance]:
        """One distance."""
        return (Distance(self.at_a, self.at_b, 1.0),)

    def rheonomic(self) -> Rheonomic:
        """Half the square of the length."""
        return Rheonomic(LENGTH, self.motion)

"""The prescribed vector between two points."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.drives.base import AbstractPointDrive, of_three
from rbdae.joints.base import ALL_ROTATIONS, FreeMotion, Rheonomic
from rbdae.joints.primitives import Coincidence
from rbdae.kernels.constraints.drives import OFFSET
from rbdae.motion import Motion
from rbdae.quantities.quantity import Named, Quantity


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class PointMotion(AbstractPointDrive):
    """Prescribed vector between two points, in space: (x_a + R_a at_a) - (x_b + R_b at_b) = vector(t), m.

    With the ground as `b` it moves a point of `a` along a curve.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    vector : (s, s', s''), spline or numba function, (3,)
        See `rbdae.motion.Law`; an input of the system, or three for s, s', s''; a law (t, u) of `inputs`.
    at_a, at_b : (3,) array_like
        The points in the bodies' frames.
    name : str, optional
        Unique among the joints of the system; without it the system chooses "pointmotion-1" and so on.
    inputs : mapping, optional
        Names and inputs of the system that a law (t, u) reads as u.name; its derivatives by t are exact.
    """

    free_motions: ClassVar[frozenset[FreeMotion]] = frozenset({"ball"})

    force = Named("What the drive exerts on a, in space, N.")
    power = Named("Power of the force, W.")

    motion: Motion = attrs.field(converter=of_three, alias="vector")
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The force and its power."""
        known = (
            Quantity(self, "force", "N", aspect="pull", components="xyz"),
            Quantity(self, "power", "W", aspect="work"),
        )
        return {each.name: each for each in known}

    def velocity_rows(self) -> tuple[Mat, Mat]:
        """All rotations."""
        return ALL_ROTATIONS, ALL_ROTATIONS

    def primitives(self) -> tuple[Coincidence]:
        """One coincidence with an offset."""
        return (Coincidence(self.at_a, self.at_b),)

    def rheonomic(self) -> Rheonomic:
        """The right-hand side."""
        return Rheonomic(OFFSET, self.motion)

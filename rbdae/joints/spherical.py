"""The spherical joint: two points coincide, rotations are free."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from rbdae._arrays import Mat
from rbdae.joints.base import ALL_ROTATIONS, AbstractJoint
from rbdae.joints.primitives import Coincidence
from rbdae.quantities.quantity import Quantity, of_rotation


@final
@attrs.frozen(eq=False)
class Spherical(AbstractJoint):
    """Ball joint ([NS], equation (67)): x_a + R_a at_a = x_b + R_b at_b, three equations.

    Quantities: angle of the rotation of b relative to a, in [0, pi], its axis (zero at angle 0), angular_velocity and
    torque of friction on b (in the frame of a), power.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    at_a, at_b : (3,) array_like
        The joint's centre in each body's frame.
    name : str, by default "spherical-1" and so on
    """

    ball: ClassVar[bool] = True

    @property
    def quantities(self) -> dict[str, Quantity]:
        return of_rotation(self)

    def velocity_rows(self) -> tuple[Mat, Mat]:
        """All rotations."""
        return ALL_ROTATIONS, ALL_ROTATIONS

    def primitives(self) -> tuple[Coincidence]:
        return (Coincidence(self.at_a, self.at_b),)

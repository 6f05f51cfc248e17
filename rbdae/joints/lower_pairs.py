"""The lower pairs of [NS], Table 2: spherical, revolute, prismatic, cylindrical and planar; and the weld."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from rbdae._arrays import Mat
from rbdae.joints.axial import AbstractAlignedJoint, AbstractAxialJoint
from rbdae.joints.base import ALL_ROTATIONS, AbstractJoint
from rbdae.joints.primitives import Coincidence, Dot2, Primitive
from rbdae.quantities.quantity import Quantity, of_rotation


@final
@attrs.frozen(eq=False)
class Spherical(AbstractJoint):
    """Ball joint ([NS], equation (67)): x_a + R_a at_a = x_b + R_b at_b, three equations.

    Quantities: angle of the rotation of b relative to a, in [0, pi], its axis (zero at angle 0), angular_velocity and
    torque of friction on b (in the frame of a), power.

    Parameters
    ----------
    at_a, at_b : (3,) array_like
        The joint's centre in each body's frame.
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


@final
class Revolute(AbstractAxialJoint):
    """Hinge: a common point and a common axis through it; five equations.

    Quantities: angle, rate, acceleration, torque, power.

    Parameters are those of `rbdae.joints.AbstractAxialJoint`; the points at_a and at_b coincide.
    """

    __slots__ = ()

    slides, turns = "", "u"

    def primitives(self) -> tuple[Primitive, ...]:
        return Coincidence(self.at_a, self.at_b), *self.parallel_axes()


@final
class Prismatic(AbstractAlignedJoint):
    """Slider: the bodies move along a common axis without relative rotation; five equations.

    Quantities: displacement, rate, acceleration, force, power.

    Parameters are those of `rbdae.joints.AbstractAxialJoint`.
    """

    __slots__ = ()

    slides, turns = "u", ""

    def primitives(self) -> tuple[Primitive, ...]:
        return *self.kept_rotation(), *self.point_on_axis()


@final
class Cylindrical(AbstractAxialJoint):
    """A common axis, about which and along which the bodies move; four equations.

    Quantities: angle, displacement, their rates, accelerations and powers (angle_rate, ...), torque, force.

    Parameters are those of `rbdae.joints.AbstractAxialJoint`.
    """

    __slots__ = ()

    slides, turns = "u", "u"

    def primitives(self) -> tuple[Primitive, ...]:
        return *self.parallel_axes(), *self.point_on_axis()


@final
class Planar(AbstractAxialJoint):
    """Two planes slide on each other in two directions and turn about their normal; three equations.

    Quantities: angle, torque; the displacements x along normal_a and y along axis_a x normal_a, x_force, y_force;
    rates, accelerations and powers (angle_rate, x_power, ...).

    Parameters are those of `rbdae.joints.AbstractAxialJoint`; the axes are normals of the planes, and
    at_a and at_b points in them.
    """

    __slots__ = ()

    slides, turns = "nm", "u"

    def primitives(self) -> tuple[Primitive, ...]:
        return *self.parallel_axes(), Dot2(self.axis_a, self.at_a, self.at_b)


@final
class Fixed(AbstractAlignedJoint):
    """Weld: a common point and no relative rotation; six equations.

    Parameters are those of `rbdae.joints.AbstractAxialJoint`; the points at_a and at_b stay together.
    """

    __slots__ = ()

    slides, turns = "", ""

    def primitives(self) -> tuple[Primitive, ...]:
        return Coincidence(self.at_a, self.at_b), *self.kept_rotation()

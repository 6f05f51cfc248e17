"""The lower pairs of [NS], Table 2: spherical, revolute, prismatic, cylindrical and planar; the weld; the cross."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec, cross
from rbdae.joints import frames
from rbdae.joints.axial import AbstractAlignedJoint, AbstractAxialJoint
from rbdae.joints.base import ALL_ROTATIONS, AbstractJoint
from rbdae.joints.primitives import Coincidence, Dot1, Dot2, Primitive
from rbdae.quantities.coordinate import Coordinate, angle, turned
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


_X_AXIS = _check.frozen(np.array((1.0, 0.0, 0.0)))


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Universal(AbstractAxialJoint):
    """Cardan joint: a common point, and one axis of each body at right angles; four equations.

    Quantities: angle_a, the turn of the cross about axis_a, and angle_b, of `b` about axis_b, both 0 at the start
    unless normals are given; angle_a_rate, angle_a_acceleration, angle_a_torque, angle_a_power, ...

    Parameters
    ----------
    at_a, at_b : (3,) array_like
        The centre of the cross in each body's frame.
    axis_a, axis_b : (3,) array_like
        The arms of the cross, at right angles to each other; in each body's frame, of any length. By default z of `a`
        and x of `b`: axis_a does not determine axis_b.
    normal_a, normal_b : (3,) array_like, optional
        Perpendicular to the axes of their bodies, by default along the normal of the cross at the start.
    """

    ball: ClassVar[bool] = True

    axis_b: Vec = attrs.field(default=_X_AXIS, converter=frames.axis_b)
    normal_a: Vec = attrs.field(default=None, converter=frames.normal_of_cross, kw_only=True)
    normal_b: Vec = attrs.field(default=None, converter=frames.normal_b, kw_only=True)

    def coordinates(self) -> tuple[Coordinate, Coordinate]:
        """The turn of the cross about axis_a, from normal_a x axis_a to axis_b, and the turn of `b` about axis_b, from
        axis_a to axis_b x normal_b. With default normals both begin at 0."""
        return (
            angle("angle_a", self.axis_a, cross(self.normal_a, self.axis_a), self.axis_b),
            turned("angle_b", self.axis_a, self.axis_b, cross(self.axis_b, self.normal_b)),
        )

    def velocity_rows(self) -> tuple[None, None]:
        """None: the normal of the cross turns in both bodies."""
        return None, None

    def primitives(self) -> tuple[Coincidence, Dot1]:
        """One coincidence, and one right angle."""
        return Coincidence(self.at_a, self.at_b), Dot1(self.axis_a, self.axis_b)

"""Springs with dampers and loads: between two points, about the axis of a joint, along it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.forces.base import AbstractPairForce, law_along
from rbdae.forces.element import NONE, AnyElement, TimeFunction, along
from rbdae.forces.joint_force import AbstractJointForce, describe_force, with_motion
from rbdae.forces.motion_law import MotionLaw
from rbdae.forces.symbol import Symbol
from rbdae.inputs import Input
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import FreeMotion
from rbdae.quantities.coordinate import Coordinate, distance


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class SpringDamper(AbstractPairForce):
    """Spring, damper and actuator along the line between two points.

    With l the distance of the points, the tension (which pulls them together) is

        f = stiffness (l - length) + damping ldot + force(t).

    The potential is stiffness (l - length)^2 / 2, plus force l if that is constant. The points must not meet: the line
    would have no direction (`rbdae.forces.Bushing` has no such limit).

    Parameters
    ----------
    a : Body
    b : Body, optional
        Without it, the ground of the system to which the spring is added.
    stiffness, damping : float
        N/m and N s/m.
    length : float
        Free length, m.
    force : float, Input or callable, optional
        Tension of an actuator, N: a number, a function (t), or a law (t, length, rate) of the distance of the points
        (m) and its rate (m/s), as that of `rbdae.forces.Motor`.
    inputs : mapping, optional
        Names and inputs of the system that the law reads, as those of `rbdae.forces.Motor`.
    at_a, at_b : (3,) array_like
        The points in the body frames.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "springdamper-1" and so on.
    """

    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)
    stiffness: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    damping: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    length: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point, kw_only=True)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point, kw_only=True)
    force: TimeFunction | MotionLaw = attrs.field(default=NONE, converter=law_along, kw_only=True)

    def acts_along(self) -> tuple[Coordinate]:
        """The distance of the points; ``quantity("force")`` is the tension."""
        return (distance("length", self.at_a, self.at_b),)

    @property
    def symbol(self) -> Symbol:
        """A spring between the points."""
        return Symbol("spring", tuple(zip(self.bodies, (self.at_a, self.at_b), strict=False)))

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        return (along(*self.acts_along(), self.stiffness, self.damping, self.length, self.force, -1.0),)


def _joint_with_motion(joint: AbstractAxialJoint, force: Any = None, field: Any = None) -> AbstractAxialJoint:
    """The joint, which has an axis and leaves the motion free."""
    owner = describe_force(type(force).__name__, joint, force.name)
    return with_motion(owner, joint, force.motion)


@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class AbstractAxisSpring(AbstractJointForce):
    """A spring, a damper and a load along a free motion of a joint about or along its axis."""

    motion: ClassVar[FreeMotion]

    joint: AbstractAxialJoint = attrs.field(converter=_joint_with_motion)
    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)
    stiffness: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    damping: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)

    def acts_along(self) -> tuple[Coordinate]:
        """The angle about the axis, or the displacement along it."""
        joint = self.joint
        return (joint.angle_about_axis() if self.motion == "rotation" else joint.displacement_along_axis(),)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class TorsionalSpringDamper(AbstractAxisSpring):
    """Torsional spring and damper about the axis of a joint.

    With phi the angle from the joint's `normal_a` to its `normal_b` about its axis, the torque on `b` about the axis is

        -stiffness (phi - angle) - damping phidot + torque(t),

    and the opposite one acts on `a`. The potential is stiffness (phi - angle)^2 / 2. With a stiffness full turns count.

    Parameters
    ----------
    joint : AbstractAxialJoint
        With a free rotation about an axis: revolute, cylindrical, planar.
    stiffness, damping : float
        N m/rad and N m s/rad.
    angle : float
        Of rest, rad.
    torque : float, Input or callable, optional
        N m: a number, a function (t), or a law (t, angle, rate) as that of `rbdae.forces.Motor`.
    inputs : mapping, optional
        Names and inputs of the system that the law reads, as those of `rbdae.forces.Motor`.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "torsion-1" and so on.

    Notes
    -----
    If the stiffness is not zero, or the law depends on the angle, the force has an internal state, the winding, an
    unknown of the problem by the name "torsion-1.phi". Its rate is that of the angle: the relative angular velocity
    about the axis. It selects the branch alone: the angle in the torque is that of the position, plus the full turns
    that bring it next to the winding. So the torque has no drift, and a state is everything that the next steps depend
    on.

    The winding starts as the angle in (-pi, pi]. For a spring that has been wound up by n turns at the start, lower
    `angle` by 2 pi n.
    """

    motion: ClassVar[FreeMotion] = "rotation"

    angle: float = attrs.field(default=0.0, converter=_check.quantity, kw_only=True)
    torque: TimeFunction | MotionLaw = attrs.field(default=NONE, converter=law_along, kw_only=True)

    @property
    def default_name(self) -> str:
        """The name before the number, as it is in labels."""
        return "torsion"

    @property
    def symbol(self) -> Symbol:
        """A coil about the axis."""
        return Symbol("coil", ((self.joint.a, self.joint.at_a),), axis=self.joint.axis_a)

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        return (along(*self.acts_along(), self.stiffness, self.damping, self.angle, self.torque),)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class TranslationalSpringDamper(AbstractAxisSpring):
    """Spring and damper along the axis of a joint.

    With u = axis . (P_b - P_a), the displacement of the joint's point on `b` from that on `a`, the force on `b` along
    the axis is

        -stiffness (u - displacement) - damping udot + force(t),

    and the opposite one acts on `a`. The potential is stiffness (u - displacement)^2 / 2, minus force u if that is
    constant.

    Parameters
    ----------
    joint : AbstractAxialJoint
        With a free translation along an axis: prismatic, cylindrical.
    stiffness, damping : float
        N/m and N s/m.
    displacement : float
        Of rest, m.
    force : float, Input or callable, optional
        N: a number, a function (t), or a law (t, displacement, rate) as that of `rbdae.forces.Motor`.
    inputs : mapping, optional
        Names and inputs of the system that the law reads, as those of `rbdae.forces.Motor`.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "slide-1" and so on.
    """

    motion: ClassVar[FreeMotion] = "translation"

    displacement: float = attrs.field(default=0.0, converter=_check.quantity, kw_only=True)
    force: TimeFunction | MotionLaw = attrs.field(default=NONE, converter=law_along, kw_only=True)

    @property
    def default_name(self) -> str:
        """The name before the number, as it is in labels."""
        return "slide"

    @property
    def symbol(self) -> Symbol:
        """A spring between the points of the joint."""
        return Symbol("spring", ((self.joint.a, self.joint.at_a), (self.joint.b, self.joint.at_b)))

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        return (along(*self.acts_along(), self.stiffness, self.damping, self.displacement, self.force),)

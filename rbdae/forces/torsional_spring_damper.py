"""A torsional spring and damper about the axis of a joint."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from rbdae import _check
from rbdae.forces.base import law_along
from rbdae.forces.element import NONE, AnyElement, TimeFunction
from rbdae.forces.forms import along
from rbdae.forces.joint_force import AbstractAxisSpring
from rbdae.forces.motion_law import MotionLaw
from rbdae.forces.symbol import Symbol
from rbdae.joints.base import FreeMotion


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


__all__ = ["TorsionalSpringDamper"]

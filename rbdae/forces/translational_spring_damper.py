"""A spring and damper along the axis of a joint."""

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


__all__ = ["TranslationalSpringDamper"]

"""A spring and damper along the axis of a joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from rbdae.forces.element import AnyElement, Load, TimeFunction
from rbdae.forces.joint_force import AbstractJointForce, along_axis, fill_spring_damper
from rbdae.forces.motion_law import MotionLaw
from rbdae.forces.symbol import Symbol
from rbdae.inputs import Input
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.quantities.coordinate import Coordinate


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class TranslationalSpringDamper(AbstractJointForce):
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

    joint: AbstractAxialJoint
    stiffness: float
    damping: float
    displacement: float
    force: TimeFunction | MotionLaw
    name: str | None

    def __init__(
        self,
        joint: AbstractAxialJoint,
        *,
        stiffness: float = 0.0,
        damping: float = 0.0,
        displacement: float = 0.0,
        force: Load = 0.0,
        inputs: Mapping[str, Input] | None = None,
        name: str | None = None,
    ) -> None:
        rest, actuator = ("displacement", displacement), ("force", force)
        fill_spring_damper(self, "translation", joint, name, stiffness, damping, rest, actuator, inputs)

    @property
    def default_name(self) -> str:
        """The name before the number, as it is in labels."""
        return "slide"

    def acts_along(self) -> tuple[Coordinate]:
        """The displacement of the joint."""
        return (self.joint.displacement_along_axis(),)

    @property
    def symbol(self) -> Symbol:
        """A spring between the points of the joint."""
        return Symbol("spring", ((self.joint.a, self.joint.at_a), (self.joint.b, self.joint.at_b)))

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        return (along_axis(self.joint, self.stiffness, self.damping, self.displacement, self.force),)


__all__ = ["TranslationalSpringDamper"]

"""A spring and damper along the axis of a joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

from rbdae import _check
from rbdae._frozen import fill, twin
from rbdae.body import Body
from rbdae.forces._joint import moving, on_slide, owner_of
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import Law, Piece, law, not_negative
from rbdae.joints.axial import AbstractAxialJoint


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Slide(AbstractForce):
    """Spring and damper along the axis of a joint.

    With u = axis . (P_b - P_a), the displacement of the joint's point on `b` from that on `a`, the force on `b` along
    the axis is

        -stiffness (u - displacement) - damping udot + force(t),

    and the opposite one acts on `a`. The potential is stiffness (u - displacement)^2 / 2, minus force u where that is
    constant.

    Parameters
    ----------
    joint : AbstractAxialJoint
        With a free translation along an axis: prismatic, cylindrical.
    stiffness, damping : float
        N/m and N s/m.
    displacement : float
        Of rest, m.
    force : float or callable, optional
        N: a number, or a function of the time, plain Python or compiled by numba.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "slide-1" and so on.
    """

    joint: AbstractAxialJoint
    stiffness: float
    damping: float
    displacement: float
    force: Law
    name: str | None

    def __init__(
        self,
        joint: AbstractAxialJoint,
        *,
        stiffness: float = 0.0,
        damping: float = 0.0,
        displacement: float = 0.0,
        force: float | Callable[[float], Any] = 0.0,
        name: str | None = None,
    ) -> None:
        owner = owner_of("Slide", joint, name)
        fill(
            self,
            joint=moving(owner, joint, "translation"),
            stiffness=not_negative(owner, "stiffness", stiffness),
            damping=not_negative(owner, "damping", damping),
            displacement=_check.number(owner, "displacement", displacement),
            force=law(owner, "force", force),
            name=name,
        )

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of the joint."""
        return self.joint.bodies

    def kept(self, name: str, ground: Body) -> Self:
        """The same force with a name."""
        return twin(self, name=name)

    def pieces(self) -> tuple[Piece, ...]:
        """One element."""
        return (on_slide(self.joint, self.stiffness, self.damping, self.displacement, self.force),)


__all__ = ["Slide"]

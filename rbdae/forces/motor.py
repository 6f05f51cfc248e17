"""A motor about or along the axis of a joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

from rbdae._frozen import fill, twin
from rbdae.body import Body
from rbdae.forces._joint import moving, on_angle, on_slide, owner_of
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import NONE, Law, Piece, law
from rbdae.joints.axial import AbstractAxialJoint


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Motor(AbstractForce):
    """Torque about, or force along, the axis of a joint: on its `b`, and the opposite one on `a`.

    Parameters
    ----------
    joint : AbstractAxialJoint
        With a free rotation about an axis (revolute, cylindrical, planar) for a torque, with a free translation along
        one (prismatic, cylindrical) for a force.
    torque : float or callable
        N m: a number, or a function of the time, plain Python or compiled by numba.
    force : float or callable
        N, as the torque. Exactly one of the two.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "motor-1" and so on.
    """

    joint: AbstractAxialJoint
    torque: Law | None
    force: Law | None
    name: str | None

    def __init__(
        self,
        joint: AbstractAxialJoint,
        *,
        torque: float | Callable[[float], Any] | None = None,
        force: float | Callable[[float], Any] | None = None,
        name: str | None = None,
    ) -> None:
        owner = owner_of("Motor", joint, name)
        if (torque is None) == (force is None):
            raise ValueError(f"{owner}: give either torque= (about the axis) or force= (along it)")
        fill(
            self,
            joint=moving(owner, joint, "rotation" if force is None else "translation"),
            torque=None if torque is None else law(owner, "torque", torque),
            force=None if force is None else law(owner, "force", force),
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
        if self.force is not None:
            return (on_slide(self.joint, u=self.force),)
        return (on_angle(self.joint, u=self.torque or NONE),)


__all__ = ["Motor"]

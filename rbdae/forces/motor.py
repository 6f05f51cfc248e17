"""A motor about or along the axis of a joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

from rbdae._frozen import fill, twin
from rbdae.body import Body
from rbdae.forces._joint import Axes, axes, owner_of
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import NONE, Law, Piece, law
from rbdae.joints.base import AbstractJoint


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Motor(AbstractForce):
    """Torque about, or force along, the axis of a joint: on its `b`, and the opposite one on `a`.

    Parameters
    ----------
    joint : AbstractJoint
        With a free rotation about an axis (revolute, cylindrical, planar) for a torque, with a free translation along
        one (prismatic, cylindrical) for a force.
    torque : float or callable
        N m: a number, or a function of the time, plain Python or compiled by numba.
    force : float or callable
        N, as the torque. Exactly one of the two.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "motor-1" and so on.
    """

    joint: AbstractJoint
    torque: Law | None
    force: Law | None
    axes: Axes
    name: str | None

    def __init__(
        self,
        joint: AbstractJoint,
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
            joint=joint,
            torque=None if torque is None else law(owner, "torque", torque),
            force=None if force is None else law(owner, "force", force),
            axes=axes(owner, joint, "rotation" if force is None else "translation"),
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
        return (self.axes.slide(u=self.force) if self.force is not None else self.axes.angle(u=self.torque or NONE),)


__all__ = ["Motor"]

"""A torsional spring and damper about the axis of a joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

from rbdae import _check
from rbdae._frozen import fill, twin
from rbdae.body import Body
from rbdae.forces._joint import moving, on_angle, owner_of
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import Law, Piece, law, not_negative
from rbdae.joints.axial import AbstractAxialJoint


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Torsion(AbstractForce):
    """Torsional spring and damper about the axis of a joint.

    With phi the angle from the joint's `normal_a` to its `normal_b` about its axis, the torque on `b` about the axis is

        -stiffness (phi - angle) - damping phidot + torque(t),

    and the opposite one acts on `a`. The potential is stiffness (phi - angle)^2 / 2.

    Parameters
    ----------
    joint : AbstractAxialJoint
        With a free rotation about an axis: revolute, cylindrical, planar.
    stiffness, damping : float
        N m/rad and N m s/rad.
    angle : float
        Of rest, rad.
    torque : float or callable, optional
        N m: a number, or a function of the time, plain Python or compiled by numba.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "torsion-1" and so on.

    Notes
    -----
    With a stiffness the angle counts full turns: it begins between -pi and pi and then is, of the angles that fit the
    positions, the one next to that of the last evaluation. A problem that goes on from a state several turns away, and
    an energy asked for there alone, count from the initial angle of the system again.
    """

    joint: AbstractAxialJoint
    stiffness: float
    damping: float
    angle: float
    torque: Law
    name: str | None

    def __init__(
        self,
        joint: AbstractAxialJoint,
        *,
        stiffness: float = 0.0,
        damping: float = 0.0,
        angle: float = 0.0,
        torque: float | Callable[[float], Any] = 0.0,
        name: str | None = None,
    ) -> None:
        owner = owner_of("Torsion", joint, name)
        fill(
            self,
            joint=moving(owner, joint, "rotation"),
            stiffness=not_negative(owner, "stiffness", stiffness),
            damping=not_negative(owner, "damping", damping),
            angle=_check.number(owner, "angle", angle),
            torque=law(owner, "torque", torque),
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
        return (on_angle(self.joint, self.stiffness, self.damping, self.angle, self.torque),)


__all__ = ["Torsion"]

"""A motor about or along the axis of a joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from rbdae._frozen import fill
from rbdae.forces.element import NONE, AnyElement, TimeFunction
from rbdae.forces.joint_force import (
    AbstractJointForce,
    about_axis,
    along_axis,
    describe_force,
    load_along,
    with_motion,
)
from rbdae.forces.motion_law import MotionLaw
from rbdae.forces.symbol import Symbol
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import FreeMotion
from rbdae.quantities.coordinate import Coordinate


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Motor(AbstractJointForce):
    """Torque about, or force along, the axis of a joint: on its `b`, and the opposite one on `a`.

    Parameters
    ----------
    joint : AbstractAxialJoint
        With a free rotation about an axis (revolute, cylindrical, planar) for a torque, with a free translation along
        one (prismatic, cylindrical) for a force.
    torque : float or callable
        N m: a number, a function (t), or a law (t, angle, rate) of the joint's angle (rad) and its rate (rad/s), such
        as ``lambda t, angle, rate: -2.0 * rate + sin(angle)``; plain Python, or compiled by numba.
    force : float or callable
        N, as the torque, of the joint's displacement (m) and its rate (m/s). Exactly one of the two.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "motor-1" and so on.

    Notes
    -----
    A law of the motion is run on symbols, and its derivatives are exact (`rbdae.laws`); for one that cannot be recorded
    see `rbdae.forces.CalledBack`. The angle counts full turns: a law that depends on it has an internal state, the
    winding, by the name "motor-1.phi", as that of `rbdae.forces.TorsionalSpringDamper`.
    """

    joint: AbstractAxialJoint
    torque: TimeFunction | MotionLaw | None
    force: TimeFunction | MotionLaw | None
    name: str | None

    def __init__(
        self,
        joint: AbstractAxialJoint,
        *,
        torque: float | Callable[..., Any] | None = None,
        force: float | Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        owner = describe_force("Motor", joint, name)
        if (torque is None) == (force is None):
            raise ValueError(f"{owner}: give either torque= (about the axis) or force= (along it)")
        motion: FreeMotion = "rotation" if force is None else "translation"
        joint = with_motion(owner, joint, motion)
        fill(
            self,
            joint=joint,
            torque=None if torque is None else load_along(owner, "torque", torque, joint, motion),
            force=None if force is None else load_along(owner, "force", force, joint, motion),
            name=name,
        )

    def acts_along(self) -> tuple[Coordinate]:
        """The angle of the joint, or its displacement."""
        return (self.joint.angle_about_axis() if self.force is None else self.joint.displacement_along_axis(),)

    @property
    def symbol(self) -> Symbol:
        """A turn about the axis, or an arrow between the points of the joint."""
        points = ((self.joint.a, self.joint.at_a), (self.joint.b, self.joint.at_b))
        if self.force is not None:
            return Symbol("arrow", points)
        return Symbol("turn", points[:1], axis=self.joint.axis_a)

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        if self.force is not None:
            return (along_axis(self.joint, u=self.force),)
        return (about_axis(self.joint, u=self.torque or NONE),)


__all__ = ["Motor"]

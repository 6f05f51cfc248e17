"""A motor about or along the axis of a joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from rbdae._frozen import fill
from rbdae.forces.base import near
from rbdae.forces.element import NONE, AnyElement, Load, TimeFunction, load
from rbdae.forces.forms import along
from rbdae.forces.joint_force import AbstractJointForce, coordinate_of, describe_force, with_motion
from rbdae.forces.motion_law import MotionLaw
from rbdae.forces.symbol import Symbol
from rbdae.inputs import Input
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import FreeMotion
from rbdae.quantities.coordinate import Coordinate


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Motor(AbstractJointForce):
    """Torque about, or force along, the axis or another coordinate of a joint: on its `b`, and the opposite on `a`.

    Parameters
    ----------
    joint : AbstractAxialJoint
        With a free rotation about an axis (revolute, cylindrical, planar) for a torque, with a free translation along
        one (prismatic, cylindrical) for a force.
    torque : float, Input or callable
        N m: a number, an input of the system, a function (t), or a law (t, angle, rate) of the joint's angle (rad) and
        its rate (rad/s), such as ``lambda t, angle, rate: -2.0 * rate + sin(angle)``; plain Python, or compiled by
        numba.
    force : float, Input or callable
        N, as the torque, of the joint's displacement (m) and its rate (m/s). Exactly one of the two.
    inputs : mapping, optional
        Names and inputs of the system that the law reads: with ``inputs={"gain": system.add_input("gain")}`` the law is
        one of (t, angle, rate, u), such as ``lambda t, angle, rate, u: -u.gain * rate``.
    coordinate : str, optional
        The name of the coordinate on which it acts, if that is not about or along the axis: "x" or "y" of a planar
        joint (force), "angle_a" or "angle_b" of a universal one (torque).
    name : str, optional
        Unique among the forces of the system; without it the system chooses "motor-1" and so on.

    Notes
    -----
    A law of the motion is recorded or called, with exact derivatives (`rbdae.laws`); for one that makes floats of its
    arguments see `rbdae.forces.CalledBack`. The angle counts full turns: a law that depends on it has an internal
    state, the winding, by the name "motor-1.phi", as that of `rbdae.forces.TorsionalSpringDamper`.
    """

    joint: AbstractAxialJoint
    torque: TimeFunction | MotionLaw | None
    force: TimeFunction | MotionLaw | None
    coordinate: str | None
    name: str | None

    def __init__(
        self,
        joint: AbstractAxialJoint,
        *,
        torque: Load | None = None,
        force: Load | None = None,
        inputs: Mapping[str, Input] | None = None,
        coordinate: str | None = None,
        name: str | None = None,
    ) -> None:
        owner = describe_force("Motor", joint, name)
        if (torque is None) == (force is None):
            raise ValueError(f"{owner}: give either torque= (about the axis) or force= (along it)")
        what, value = ("torque", torque) if force is None else ("force", force)
        if coordinate is None:
            motion: FreeMotion = "rotation" if force is None else "translation"
            joint = with_motion(owner, joint, motion)
            of = joint.angle_about_axis() if force is None else joint.displacement_along_axis()
        else:
            of = coordinate_of(owner, joint, coordinate)
        if of.unit != ("rad" if force is None else "m"):
            other = "force" if force is None else "torque"
            raise ValueError(f"{owner}: along {coordinate!r}, in {of.unit}, there is a {other}; give {other}=")
        law = load(owner, what, value, near(of, joint.bodies), (of.name, "rate"), inputs)
        fill(self, joint=joint, coordinate=coordinate, name=name, **{"torque": None, "force": None, what: law})

    def acts_along(self) -> tuple[Coordinate]:
        """The coordinate on which it acts."""
        if self.coordinate is None:
            return (self.joint.angle_about_axis() if self.force is None else self.joint.displacement_along_axis(),)
        (found,) = (each for each in self.joint.coordinates() if each.name == self.coordinate)
        return (found,)

    @property
    def symbol(self) -> Symbol | None:
        """A turn about the axis, or an arrow between the points of the joint; none of other coordinates."""
        if self.coordinate is not None:
            return None
        points = ((self.joint.a, self.joint.at_a), (self.joint.b, self.joint.at_b))
        if self.force is not None:
            return Symbol("arrow", points)
        return Symbol("turn", points[:1], axis=self.joint.axis_a)

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        return (along(*self.acts_along(), u=self.torque or self.force or NONE),)


__all__ = ["Motor"]

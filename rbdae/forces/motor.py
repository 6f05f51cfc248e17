"""A motor about or along the axis of a joint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import attrs

from rbdae import _check
from rbdae.forces.base import near
from rbdae.forces.element import NONE, AnyElement, Load, TimeFunction, along, load
from rbdae.forces.joint_force import AbstractJointForce, coordinate_of, with_axis, with_motion
from rbdae.forces.motion_law import MotionLaw
from rbdae.forces.symbol import Symbol
from rbdae.inputs import Input
from rbdae.quantities.coordinate import Coordinate


def _load(value: Load | None, motor: Any = None, field: Any = None) -> TimeFunction | MotionLaw | None:
    """A torque or force, if it is given, along a coordinate of its kind."""
    if value is None:
        return None
    owner, joint, turns = motor._owner, motor.joint, field.name == "torque"
    if motor.coordinate is None:
        joint = with_motion(owner, joint, "rotation" if turns else "translation")
        of = joint.angle_about_axis() if turns else joint.displacement_along_axis()
    else:
        of = coordinate_of(owner, joint, motor.coordinate)
    if of.unit != ("rad" if turns else "m"):
        other = "force" if turns else "torque"
        raise ValueError(f"{owner}: along {motor.coordinate!r}, in {of.unit}, there is a {other}; give {other}=")
    return load(owner, field.name, value, near(of, joint.bodies), (of.name, "rate"), motor.inputs)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
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

    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)
    coordinate: str | None = attrs.field(default=None, kw_only=True)
    torque: TimeFunction | MotionLaw | None = attrs.field(default=None, converter=_load, kw_only=True)
    force: TimeFunction | MotionLaw | None = attrs.field(default=None, converter=_load, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if (self.torque is None) == (self.force is None):
            raise ValueError(f"{self._owner}: give either torque= (about the axis) or force= (along it)")

    def acts_along(self) -> tuple[Coordinate]:
        """The coordinate on which it acts."""
        if self.coordinate is None:
            joint = with_axis("", self.joint)  # as the constructor has checked
            return (joint.angle_about_axis() if self.force is None else joint.displacement_along_axis(),)
        (found,) = (each for each in self.joint.coordinates() if each.name == self.coordinate)
        return (found,)

    @property
    def symbol(self) -> Symbol | None:
        """A turn about the axis, or an arrow between the points of the joint; none of other coordinates."""
        if self.coordinate is not None:
            return None
        joint = with_axis("", self.joint)
        points = ((joint.a, joint.at_a), (joint.b, joint.at_b))
        if self.force is not None:
            return Symbol("arrow", points)
        return Symbol("turn", points[:1], axis=joint.axis_a)

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        return (along(*self.acts_along(), u=self.torque or self.force or NONE),)

"""The common part of the forces along the free motions of a joint."""

from __future__ import annotations

from collections.abc import Mapping

from rbdae import _check
from rbdae._frozen import fill
from rbdae.body import Body, describe
from rbdae.forces.base import AbstractForce, near
from rbdae.forces.element import NONE, Element, Load, TimeFunction, load, not_negative
from rbdae.forces.forms import along
from rbdae.forces.motion_law import MotionLaw
from rbdae.inputs import Input
from rbdae.joints import JOINTS
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint, FreeMotion
from rbdae.quantities.coordinate import Coordinate


class AbstractJointForce(AbstractForce):
    """A force between the bodies of a joint."""

    __slots__ = ()

    joint: AbstractJoint

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of the joint."""
        return self.joint.bodies


def fill_spring_damper(
    force: AbstractJointForce,
    motion: FreeMotion,
    joint: AbstractAxialJoint,
    name: str | None,
    stiffness: float,
    damping: float,
    rest: tuple[str, float],
    actuator: tuple[str, Load],
    inputs: Mapping[str, Input] | None,
) -> None:
    """Check and set the fields of a spring, damper and actuator along a free motion; only for constructors.

    `rest` and `actuator` are (field, value): the coordinate at which the spring is at rest, and what is added to it,
    with the inputs that it reads.
    """
    owner = describe_force(type(force).__name__, joint, name)
    joint = with_motion(owner, joint, motion)
    values = {
        "joint": joint,
        "stiffness": not_negative(owner, "stiffness", stiffness),
        "damping": not_negative(owner, "damping", damping),
        rest[0]: _check.number(owner, *rest),
        actuator[0]: load_along(owner, *actuator, joint, motion, inputs),
        "name": name,
    }
    fill(force, **values)


def load_along(
    owner: str,
    what: str,
    value: object,
    joint: AbstractAxialJoint,
    motion: FreeMotion,
    inputs: Mapping[str, Input] | None = None,
) -> TimeFunction | MotionLaw:
    """A torque about the axis, or a force along it: a number, or a law of the time, or of the motion, too."""
    coordinate = joint.angle_about_axis() if motion == "rotation" else joint.displacement_along_axis()
    return load(owner, what, value, near(coordinate, joint.bodies), (coordinate.name, "rate"), inputs)


def about_axis(
    joint: AbstractAxialJoint,
    stiffness: float = 0.0,
    damping: float = 0.0,
    rest: float = 0.0,
    u: TimeFunction | MotionLaw = NONE,
) -> Element:
    """An element on the angle about the axis."""
    return along(joint.angle_about_axis(), stiffness, damping, rest, u)


def along_axis(
    joint: AbstractAxialJoint,
    stiffness: float = 0.0,
    damping: float = 0.0,
    rest: float = 0.0,
    u: TimeFunction | MotionLaw = NONE,
) -> Element:
    """An element on the displacement along the axis."""
    return along(joint.displacement_along_axis(), stiffness, damping, rest, u)


def describe_force(kind: str, joint: object, name: str | None) -> str:
    """The name in error messages of a force along a joint. Raises unless it is a joint."""
    if not isinstance(joint, AbstractJoint):
        raise TypeError(
            f"force {kind}: it takes a joint such as rbdae.joints.Revolute(a, b), got {_check.show(joint)} of type "
            f"{type(joint).__name__}"
        )
    return describe("force", kind, joint.a, joint.b, name)


def coordinate_of(owner: str, joint: AbstractJoint, name: str | None) -> Coordinate:
    """The coordinate of a joint by its name, or its only one. Raises ValueError if there is none, or several."""
    known = {each.name: each for each in joint.coordinates()}
    if not known:
        raise ValueError(
            f"{owner}: {describe_joint(joint)} has no coordinate to act on; revolute and prismatic ones do"
        )
    if name is None and len(known) > 1:
        first = next(iter(known))
        raise ValueError(
            f"{owner}: {describe_joint(joint)} has the coordinates {', '.join(known)}; give e.g. coordinate={first!r}"
        )
    if name is not None and not (isinstance(name, str) and name in known):
        raise ValueError(f"{owner}: {_check.unknown('coordinate', name, known)}")
    return known[name or next(iter(known))]


def describe_joint(joint: AbstractJoint) -> str:
    """A joint in messages."""
    return f"joint {joint.name!r}" if joint.name is not None else f"joint {type(joint).__name__}"


def with_axis(owner: str, joint: AbstractJoint) -> AbstractAxialJoint:
    """The joint. Raises if it has no axis."""
    if not isinstance(joint, AbstractAxialJoint):
        raise ValueError(
            f"{owner}: {describe_joint(joint)} has no axis; {_joints_with('rotation', 'translation')} joints have one"
        )
    return joint


def with_motion(owner: str, joint: AbstractJoint, motion: FreeMotion) -> AbstractAxialJoint:
    """The joint. Raises unless it has an axis and leaves the motion free."""
    out = with_axis(owner, joint)
    if motion not in joint.free_motions:
        raise ValueError(
            f"{owner}: {describe_joint(joint)} leaves no {motion} free along its axis; {_joints_with(motion)} joints do"
        )
    return out


def _joints_with(*motions: FreeMotion) -> str:
    """The kinds of joints of the registry that leave one of the motions free."""
    kinds = [kind.__name__ for kind in JOINTS if kind.free_motions.intersection(motions)]
    return " and ".join(filter(None, [", ".join(kinds[:-1]), *kinds[-1:]]))


__all__ = [
    "AbstractJointForce",
    "about_axis",
    "along_axis",
    "coordinate_of",
    "describe_force",
    "describe_joint",
    "fill_spring_damper",
    "load_along",
    "with_axis",
    "with_motion",
]

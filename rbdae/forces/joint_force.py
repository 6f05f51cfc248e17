"""The common part of the forces along the free motions of a joint."""

from __future__ import annotations

from typing import Any

import attrs

from rbdae import _check
from rbdae.body import Body, describe
from rbdae.forces.base import AbstractForce
from rbdae.joints import JOINTS
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint, FreeMotion
from rbdae.quantities.coordinate import Coordinate


def _joint(joint: AbstractJoint, force: Any = None, field: Any = None) -> AbstractJoint:
    """The joint; it and the name are checked."""
    describe_force(type(force).__name__, joint, force.name)
    return joint


@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class AbstractJointForce(AbstractForce):
    """A force between the bodies of a joint."""

    joint: AbstractJoint = attrs.field(converter=_joint)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of the joint."""
        return self.joint.bodies


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

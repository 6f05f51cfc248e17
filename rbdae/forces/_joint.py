"""What forces along the free motions of a joint need to know of it."""

from __future__ import annotations

from rbdae import _check
from rbdae.forces.element import NONE, Element, Law, angle, slide
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint, title


def on_angle(
    joint: AbstractAxialJoint, stiffness: float = 0.0, damping: float = 0.0, rest: float = 0.0, u: Law = NONE
) -> Element:
    """An element on the angle about the axis."""
    return angle(joint.axis_a, joint.normal_a, joint.normal_b, stiffness, damping, rest, u)


def on_slide(
    joint: AbstractAxialJoint, stiffness: float = 0.0, damping: float = 0.0, rest: float = 0.0, u: Law = NONE
) -> Element:
    """An element on the displacement along the axis."""
    return slide(joint.axis_a, joint.at_a, joint.at_b, stiffness, damping, rest, u)


def owner_of(kind: str, joint: object, name: str | None) -> str:
    """How messages call a force of a joint."""
    if not isinstance(joint, AbstractJoint):
        raise TypeError(
            f"force {kind}: it takes a joint such as rbdae.joints.Revolute(a, b), got {_check.show(joint)} of type "
            f"{type(joint).__name__}"
        )
    return title(kind, joint.a, joint.b, name, "force")


def motions(joint: AbstractJoint) -> frozenset[str]:
    """The free motions of a joint, by its equations: "ball" (turning about a point in more than one direction),
    "rotation" (about its axis), "translation" (along its axis), "plane" (two translations and a rotation)."""
    parts = joint.primitives()
    left = 6 - sum(part.rows for part in parts)
    if any(part.kind == "linear" for part in parts):
        return frozenset({0: (), 1: ("rotation",), 2: ("ball",), 3: ("ball",)}.get(left, ()))
    return frozenset({1: ("translation",), 2: ("rotation", "translation"), 3: ("rotation", "plane")}.get(left, ()))


def describe(joint: AbstractJoint) -> str:
    """A joint in messages."""
    return f"joint {joint.name!r}" if joint.name is not None else f"joint {type(joint).__name__}"


def axial(owner: str, joint: AbstractJoint) -> AbstractAxialJoint:
    """The joint; refuses one without an axis by name."""
    if not isinstance(joint, AbstractAxialJoint):
        raise ValueError(
            f"{owner}: {describe(joint)} has no axis; the joints Revolute, Prismatic, Cylindrical and Planar have one"
        )
    return joint


def moving(owner: str, joint: AbstractJoint, motion: str) -> AbstractAxialJoint:
    """The joint, if it has an axis and leaves the motion free; refuses another one by name."""
    out = axial(owner, joint)
    if motion not in motions(joint):
        have = {"rotation": "Revolute, Cylindrical and Planar", "translation": "Prismatic and Cylindrical"}[motion]
        raise ValueError(f"{owner}: {describe(joint)} leaves no {motion} free along its axis; {have} joints do")
    return out


__all__ = ["axial", "describe", "motions", "moving", "on_angle", "on_slide", "owner_of"]

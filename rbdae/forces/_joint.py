"""What forces along the free motions of a joint need to know of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.forces.element import NONE, Element, Law, angle, slide
from rbdae.joints.base import AbstractJoint, title


@dataclass(frozen=True, slots=True)
class Axes:
    """Points, axis and normals of a joint, in the body frames."""

    at_a: Vec
    at_b: Vec
    axis_a: Vec
    normal_a: Vec
    normal_b: Vec

    def angle(self, stiffness: float = 0.0, damping: float = 0.0, rest: float = 0.0, u: Law = NONE) -> Element:
        """An element on the angle about the axis."""
        return angle(self.axis_a, self.normal_a, self.normal_b, stiffness, damping, rest, u)

    def slide(self, stiffness: float = 0.0, damping: float = 0.0, rest: float = 0.0, u: Law = NONE) -> Element:
        """An element on the displacement along the axis."""
        return slide(self.axis_a, self.at_a, self.at_b, stiffness, damping, rest, u)


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


def axes_of(owner: str, joint: Any) -> Axes:
    """The axes of a joint; refuses one that has none by name."""
    names = [field.name for field in fields(Axes)]
    for name in names:
        if getattr(joint, name, None) is None:
            raise ValueError(
                f"{owner}: {describe(joint)} has no {name}; the joints Revolute, Prismatic, Cylindrical and Planar "
                "have an axis"
            )
    values = [np.asarray(getattr(joint, name), dtype=float) for name in names]
    # directions of any length will do
    return Axes(*values[:2], *(_check.frozen(value / np.linalg.norm(value)) for value in values[2:]))


def axes(owner: str, joint: AbstractJoint, motion: str) -> Axes:
    """The axes of a joint that has the motion; refuses another one by name."""
    out = axes_of(owner, joint)
    if motion not in motions(joint):
        have = {"rotation": "Revolute, Cylindrical and Planar", "translation": "Prismatic and Cylindrical"}[motion]
        raise ValueError(f"{owner}: {describe(joint)} leaves no {motion} free along its axis; {have} joints do")
    return out


__all__ = ["Axes", "axes", "axes_of", "describe", "motions", "owner_of"]

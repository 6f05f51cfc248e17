"""The fields that drives share: the joint that is driven, or the points whose distance or difference is prescribed."""

from __future__ import annotations

from collections.abc import Mapping

from rbdae import _check
from rbdae._arrays import ArrayLike
from rbdae._frozen import fill
from rbdae.body import Body, describe
from rbdae.input_motion import motion_of
from rbdae.inputs import Input
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint, place
from rbdae.motion import Law


def drive_joint(
    drive: AbstractJoint,
    joint: AbstractAxialJoint,
    law: Law,
    name: str | None,
    inputs: Mapping[str, Input] | None,
    *fields: str,
) -> None:
    """Set the fields of a drive of a joint: its law, and those that it has in common with the joint; only for
    constructors."""
    kind = type(drive).__name__
    if not isinstance(joint, AbstractAxialJoint):
        raise TypeError(
            f"drive {kind}: it drives a joint that has an axis, such as rbdae.joints.Revolute(...), "
            f"got {_check.show(joint)}"
        )
    motion = motion_of(describe("joint", kind, joint.a, joint.b, name), law, 1, inputs)
    shared = ("a", "b", "at_a", "at_b", "axis_a", *fields)
    fill(drive, motion=motion, name=name, **{field: getattr(joint, field) for field in shared})


def drive_points(
    drive: AbstractJoint,
    a: Body,
    b: Body,
    law: Law,
    n: int,
    at_a: ArrayLike,
    at_b: ArrayLike,
    name: str | None,
    inputs: Mapping[str, Input] | None,
) -> None:
    """Set the fields of a drive between two points with a law of n numbers; only for constructors."""
    owner = place(drive, a, b, at_a, at_b, name)
    fill(drive, motion=motion_of(owner, law, n, inputs))


__all__ = ["drive_joint", "drive_points"]

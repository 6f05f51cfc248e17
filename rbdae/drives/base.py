"""The two bases of drives: of a joint with an axis, and of two points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.body import describe
from rbdae.inputs import Input
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint
from rbdae.motion import Law, Motion, motion_of


@attrs.frozen(eq=False, init=False, kw_only=True)
class AbstractJointDrive(AbstractJoint):
    """A drive of a joint with an axis, whose fields it shares."""

    axis_a: Vec
    axis_b: Vec
    normal_a: Vec
    normal_b: Vec
    motion: Motion

    def _drive(
        self, joint: AbstractAxialJoint, law: Law, name: str | None, inputs: Mapping[str, Input] | None
    ) -> dict[str, Any]:
        """Its fields, for its constructor."""
        kind = type(self).__name__
        if not isinstance(joint, AbstractAxialJoint):
            raise TypeError(
                f"drive {kind}: it drives a joint that has an axis, such as rbdae.joints.Revolute(...), "
                f"got {_check.show(joint)}"
            )
        motion = motion_of(describe("joint", kind, joint.a, joint.b, name), law, 1, inputs)
        shared = ("a", "b", "at_a", "at_b", "axis_a", "axis_b", "normal_a", "normal_b")
        return {"motion": motion, "name": name, **{field: getattr(joint, field) for field in shared}}

    def velocity_rows(self) -> tuple[None, None]:
        """None: the driven joint has them, and the drive takes one of them away."""
        return None, None


def of_one(law: Law, drive: Any = None, field: Any = None) -> Motion:
    """The motion of one number; `inputs` of a drive are fields before it."""
    return motion_of(drive._owner, law, 1, drive.inputs)


def of_three(law: Law, drive: Any = None, field: Any = None) -> Motion:
    """The motion of a vector."""
    return motion_of(drive._owner, law, 3, drive.inputs)


@attrs.frozen(eq=False)
class AbstractPointDrive(AbstractJoint):
    """A drive between two points by a law of the time and of inputs."""

    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)

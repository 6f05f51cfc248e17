"""Joints as they are packed, and the records of friction under their reactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec, of_scalars
from rbdae.forces.element import Element
from rbdae.forces.packing import Packed
from rbdae.kernels.records import FRICTION
from rbdae.system import System


@dataclass(frozen=True, slots=True)
class PackedJoint:
    """A joint's name, its bodies by number, its primitives and points (from the bodies' reference points), and its
    `AbstractJoint.velocity_rows`."""

    name: str
    bodies: tuple[int, int]
    primitives: range
    points: tuple[Vec, Vec]
    velocity_rows: tuple[Mat | None, Mat | None]


def pack_frictions(
    system: System, joints: Sequence[PackedJoint], elements: Sequence[Any], packed: Packed, scalar: Any = np.float64
) -> Any:
    """The elements that are friction under the reaction of a joint; their records get their numbers."""
    out: list[Any] = []
    place = {id(joint): k for k, joint in enumerate(system.joints)}
    for i, (name, element, _) in enumerate(elements):
        friction = element.reaction if isinstance(element, Element) else None
        if friction is None:
            continue
        if id(friction.joint) not in place:
            raise ValueError(
                f"force {name!r}: its joint is no constraint of the system, so it has no reaction; add it with "
                "system.add_joint(...), or give normal= a number"
            )
        joint = joints[place[id(friction.joint)]]
        row = np.zeros((), dtype=of_scalars(FRICTION, scalar))
        row["element"], row["first"], row["last"] = i, joint.primitives.start, joint.primitives.stop
        row["body"], row["moments"], row["point"] = joint.bodies, friction.length is not None, joint.points[1]
        row["axis"] = getattr(friction.joint, "axis_a", 0.0)
        row["length"] = 1.0 if friction.length is None else friction.length
        row["floor"] = friction.floor
        out.append(row)
        packed.elements["reaction"][i] = len(out)
    return np.array(out, dtype=of_scalars(FRICTION, scalar))

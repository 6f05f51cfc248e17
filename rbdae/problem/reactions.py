"""Forces and torques of joints on bodies, and which of their components redundant equations leave undetermined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae._frozen import ByName, brief
from rbdae.multibody.model import Model


def _all() -> Bools:
    return np.ones(3, dtype=bool)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Reaction:
    """Force and torque of a joint on a body, (3,) or (m, 3) arrays.

    Where joint equations follow from the others, G^T la = 0 has solutions la != 0, which change no motion: reactions
    are determined up to the forces of these la, and those of least norm are given. A component is unique if no such la
    moves it. In a plane loop of revolute joints those are the forces in the plane and the torque about the axes.

    Attributes
    ----------
    force, torque : N and N m, spatial components; the torque about the joint's point on the body
    unique : whether all components are; False where multipliers are not finite, as in singular positions without
        ``redundant="minimum-norm"``
    unique_force, unique_torque : (3,) bool, at all times
        The components in the joint's frame that are unique: along normal_a, axis_a x normal_a and axis_a, which turn
        with the joint's body `a`; along the axes of that body for a joint without an axis.
    unique_force_in_space, unique_torque_in_space : (3,) bool, at all times
        The spatial components that are unique.
    frame : (3, 3), or (m, 3, 3)
        The joint's frame: its columns are the three directions in space, so that ``frame.T @ force`` is the force in
        it.
    """

    force: Vec
    torque: Vec
    unique: bool = True
    unique_force: Bools = field(default_factory=_all)
    unique_torque: Bools = field(default_factory=_all)
    unique_force_in_space: Bools = field(default_factory=_all)
    unique_torque_in_space: Bools = field(default_factory=_all)
    frame: Mat = field(default_factory=partial(np.eye, 3))

    def __repr__(self) -> str:
        names = [f"{letter}{axis}" for letter in "FM" for axis in "xyz"]
        sure = [n for n, each in zip(names, [*self.unique_force, *self.unique_torque], strict=True) if each]
        unique = "all" if self.unique else ", ".join(sure) or "no"
        return f"Reaction(force={brief(self.force)}, torque={brief(self.torque)}, unique: {unique})"


_MOVED = 1e-6
"""Components that unit multipliers move by more are not unique; forces count times the model's length."""

_PER_VIOLATION, _MOST_MOVED = 100.0, 1e-2
"""The same where the constraints are violated: rows that follow from the others do so as far as these hold."""


def moved(pulls: Sequence[Mat], frames: Mat, violations: Vec, length: float) -> tuple[Bools, Bools]:
    """The components (joints, 2, 2, 3) in the joints' frames, and in space, that multipliers without a force move at
    some row: `pulls` (m, joints, 2, 2, 3) are what they pull, and `violations` (m,) those of the constraints."""
    E, scale = frames[:, :, None, None], np.array([length, 1.0])[:, None]
    limit = np.minimum(_MOVED + _PER_VIOLATION * violations, _MOST_MOVED)[:, None, None, None, None]

    def found(pulled: Sequence[Any]) -> Bools:
        return np.asarray((~(scale * np.sqrt(sum(pull * pull for pull in pulled)) <= limit)).any(axis=0))

    return found([sum(pull[..., i, None] * E[..., i, :] for i in range(3)) for pull in pulls]), found(pulls)


def named(model: Model, numbers: Mat, own: Bools, in_space: Bools) -> dict[str, dict[str, Reaction]]:
    """Reactions by joint and body, from rows of what the kernel `joint_loads` gives and unique components."""
    out = ByName[dict[str, Reaction]]("joint")
    unique: Any = own.all(axis=(2, 3)).tolist()
    rows = numbers.shape[:-2]
    for k, joint in enumerate(model.joints):
        entry: ByName[Reaction] = ByName("body of this joint")
        frame = numbers[..., k, 12:].reshape(*rows, 3, 3)
        for side, b in enumerate(joint.bodies):
            name, load = model.system.ground.name if b == model.n else model.names[b], numbers[..., k, 6 * side :]
            sure = own[k, side, 0], own[k, side, 1], in_space[k, side, 0], in_space[k, side, 1]
            entry[name] = Reaction(load[..., :3], load[..., 3:6], unique[k][side], *sure, frame)
        out[joint.name] = entry
    return out

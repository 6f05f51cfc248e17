"""Drives that read inputs: their values may not jump in a run, since positions and velocities would."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Vec
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.motion import Motion
from rbdae.multibody.workspace import Workspace

_SAME = 1e-9
"""Of the size of a coordinate: a difference below is rounding."""


def motions_of(workspace: Workspace) -> list[tuple[Motion, list[int], float]]:
    """The laws of drives that read inputs which are numbers, the numbers of these, and the size of the coordinate."""
    model: Any = workspace.memory.filled.like
    place = {each: k for k, each in enumerate(model.forces.inputs)}
    return [
        (law.motion, [place[each] for each in law.motion.inputs], 1.0 if law.kind == ANGLE else model.scales.length)
        for law in model.rheonomic.values()
        if law.motion.inputs
    ]


def follows_inputs(workspace: Workspace) -> bool:
    """Whether a drive has a law of inputs, whether they are numbers now or functions of the time."""
    model: Any = workspace.memory.filled.like
    return any(law.motion.of_inputs for law in model.rheonomic.values())


def refuse_held(workspace: Workspace, values: Vec) -> None:
    """Refuse inputs that are the derivatives of a number, which holds still. Raises ValueError by name."""
    for motion, places, _ in motions_of(workspace):
        if motion.whole:
            motion.refuse_held(values[places][motion.n :])


def refuse_jumps(workspace: Workspace, t: float, before: Vec, after: Vec) -> None:
    """Refuse other values of inputs at a time of a run by which a drive would jump, or its rate.

    Raises
    ------
    ValueError
        with the drive, the inputs, the jump and the remedy
    """
    if before.tobytes() == after.tobytes():
        return
    refuse_held(workspace, after)
    for motion, places, size in motions_of(workspace):
        one, other = motion(t, before[places]), motion(t, after[places])
        for what, first, second in zip(("value", "rate"), one, other, strict=False):
            scale = max(size, float(np.abs(first).max()), float(np.abs(second).max()))
            if np.abs(second - first).max() > _SAME * scale:
                names = ", ".join(repr(each.name) for each in motion.inputs)
                raise ValueError(
                    f"{motion.owner}: its {what} jumps from {_shown(first)} to {_shown(second)} at t = {t:g}, where "
                    f"{names} change{'s' * (len(motion.inputs) == 1)}; give a function of the time, a table with "
                    "kind='cubic', or a law (t, u) that continues the present value and rate, such as "
                    "u.s + u.v * (t - u.t) + u.a * (t - u.t)**2 / 2"
                )


def _shown(values: Vec) -> str:
    return ", ".join(f"{value:.6g}" for value in values)

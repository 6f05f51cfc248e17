"""Inputs of a problem: their values, which belong to its selection; derivatives by them; and drives that read them,
whose inputs may not jump in a run, since positions and velocities would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae.inputs import Given, Input, Table, given
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.motion import Motion
from rbdae.multibody.memory.workspace import Workspace
from rbdae.system import System

Inputs: TypeAlias = Mapping[str, float] | ArrayLike | None
"""Values of inputs: by name, or in the order of `rbdae.System.add_input`; None for those of the problem."""

Source: TypeAlias = Callable[[float], Any]
"""An input as a function of the time."""


def inputs_of(workspace: Workspace) -> tuple[Input, ...]:
    """The inputs that are numbers, in the order of addition."""
    found: tuple[Input, ...] = workspace.memory.model.forces.inputs
    return found


def places_of(workspace: Workspace) -> dict[str, int]:
    """Their places by name."""
    return {each.name: k for k, each in enumerate(inputs_of(workspace))}


def present(workspace: Workspace) -> Vec:
    """Their values in the selection of a workspace."""
    return workspace.owned["inputs"].copy() if inputs_of(workspace) else np.zeros(0)


def asked(owner: str, system: System, values: Mapping[str, Given]) -> tuple[dict[str, float], dict[str, Source | None]]:
    """Split inputs of a system into numbers and functions of the time; None for functions that become numbers.

    Raises TypeError and ValueError as `rbdae.Problem.with_inputs`.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f'{owner}: values must be a mapping by name, got {_check.show(values)}; give {{"torque": 2.0}}')
    known = {each.name: each for each in system.inputs}
    numbers: dict[str, float] = {}
    sources: dict[str, Source | None] = {}
    for name, value in values.items():
        if name not in known:
            raise _check.unknown("input", name, known)
        found = given(owner, name, value)
        if isinstance(found, Table) and found.kind == "previous":
            raise ValueError(
                f"{owner}: the input {name!r} jumps at the times of a table of 'previous' values; give it to "
                "rbdae.solve(..., inputs=), which cuts the run there"
            )
        if not isinstance(found, float):
            sources[name] = found
            continue
        numbers[name] = found
        if known[name] in system.sources:
            sources[name] = None
    return numbers, sources


# ------------------------------------------------------------ drives that read inputs

_SAME = 1e-9
"""Of the size of a coordinate: a difference below is rounding."""


def motions_of(workspace: Workspace) -> list[tuple[Motion, list[int], float]]:
    """The laws of drives that read inputs which are numbers, the numbers of these, and the size of the coordinate."""
    model: Any = workspace.memory.model
    place = {each: k for k, each in enumerate(model.forces.inputs)}
    return [
        (law.motion, [place[each] for each in law.motion.inputs], 1.0 if law.kind == ANGLE else model.scales.length)
        for law in model.rheonomic.values()
        if law.motion.inputs
    ]


def follows_inputs(workspace: Workspace) -> bool:
    """Whether a drive has a law of inputs, whether they are numbers now or functions of the time."""
    system = workspace.memory.model.system
    laws = (joint.rheonomic() for joint in system.joints) if system.inputs else ()
    return any(law is not None and law.motion.inputs for law in laws)


def refuse_held(workspace: Workspace, values: Vec) -> None:
    """Refuse inputs that are the derivatives of a number, which holds still. Raises ValueError by name."""
    for motion, places, _ in motions_of(workspace):
        if motion.whole:
            motion.refuse_held(values[places][motion.n :])


def refuse_run(workspace: Workspace, t0: float, t_end: float) -> None:
    """Refuse a run in which a drive would contradict itself: under inputs that are the derivatives of a number, and
    with a table that ends on the way while the drive moves, where its rate would jump to zero. Raises ValueError."""
    if not follows_inputs(workspace):
        return
    refuse_held(workspace, present(workspace))
    system = workspace.memory.model.system
    for joint in system.joints if system.sources else ():
        law = joint.rheonomic()
        if law is None or law.motion.whole:
            continue
        for each in law.motion.inputs:
            table = system.sources.get(each)
            if not isinstance(table, Table):
                continue
            for end in (float(table.t[0]), float(table.t[-1])):
                if min(t0, t_end) < end < max(t0, t_end) and table.moves_at(end):
                    raise ValueError(
                        f"{law.motion.owner}: the table of input {each.name!r} ends at t = {end:g} while it moves, and "
                        f"the run goes from {t0:g} to {t_end:g}: there the rate would jump; give more of the table"
                    )


def refuse_jumps(workspace: Workspace, t: float, before: Vec, after: Vec) -> None:
    """Refuse other values of inputs at a time of a run by which a drive would jump, or its rate. Raises ValueError with
    the drive, the inputs, the jump and the remedy."""
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

"""Diagrams of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rbdae.problem import observables
from rbdae.problem.observables import REACTIONS, Part
from rbdae.reports.blocks import Block, Figure, Text
from rbdae.reports.contract import Run
from rbdae.reports.figures import Curve, Panel, most_points, over_time
from rbdae.reports.run_tables import balance_of
from rbdae.reports.shown import POINTS, Shown, figure, largest, panels_of, zero

_MARKS = 60  # dotted lines: more are a wall
_NOISE = 1e-11  # of a torque, as a part of the largest force times its distance from the origin


def motion(shown: Shown) -> Iterator[Block]:
    """Positions, orientations, velocities and angular velocities, a panel for each component."""
    every = shown.smooth.states
    if len(shown.names) < len(every):
        yield Text(
            f"{len(shown.names)} of {len(every)} bodies are drawn; report(path, bodies=[...]) draws those that you "
            "choose."
        )
    if shown.plane is not None:
        yield Text(shown.plane.said)
    said = f" One colour a body; a click in the legend hides it, a double click shows it alone. {_sampled(shown)}"
    left: list[str] = []
    for part in shown.table["states"].parts:
        if part.anchor:
            values = {name: every[name] for name in shown.names}
            panels, absent = panels_of(shown, part, values, floor=shown.floors.get(part.unit, 0.0))
            left += absent
            if panels:
                yield figure(shown, part.anchor, panels, f"{part.caption}{said}")
                said = ""
    yield from zero(left)


def further(shown: Shown) -> Iterator[Block]:
    """Observables that have their functions in the table, a figure for each."""
    left: list[str] = []
    for each in observables.further(shown.run.problem):
        run = shown.smooth if each.between else shown.run
        owned = dict(each.owned(getattr(run, each.name)))
        if each.owner != "system":
            names = shown.names if each.owner == "bodies" else [f"{joint} on {body}" for joint, body in shown.joints]
            owned = {name: owned[name] for name in names if name in owned}
        panels, absent = panels_of(shown, each.parts[0], owned, run.t)
        left += absent
        if panels:
            yield figure(shown, each.name.replace("_", "-"), panels, each.note)
    yield from zero(left)


def _sampled(shown: Shown) -> str:
    m, most = len(shown.run.t), shown.most
    if shown.smooth is not shown.run:
        return f"The run has {m} times; between its steps the curves are solution(t)."
    return f"Curves have at most {most} of {m} points, and all their extremes." if m > most else ""


def energy(shown: Shown) -> Iterator[Block]:
    """Its parts, and its balance."""
    run, smooth = shown.run, shown.smooth
    balance, energies = balance_of(run), smooth.energy
    curves = [
        Curve(name, smooth.t, getattr(energies, name), number)
        for number, name in enumerate(("kinetic", "potential", "total"))
    ]
    if isinstance(balance, str):
        yield Text(f"The work of what has no potential is not known, and with it the balance: {balance}.", "warning")
        yield figure(shown, "energy", [Panel("energy [J]", curves)])
        return
    curves.append(Curve("work", smooth.t, energies.work, 3))
    panels = [Panel("energy [J]", curves), Panel("balance [J]", [Curve("balance", run.t, balance, 4)])]
    yield figure(
        shown,
        "energy",
        panels,
        "Work is that of drives, motors, dampers and loads since the first time. The balance is the change of the "
        "total energy minus this work: zero in the exact motion.",
    )


def drift(shown: Shown) -> Iterator[Block]:
    """Largest violations over time; zeros have no logarithm."""
    run = shown.run
    found = {"position": run.drift.position, "velocity": run.drift.velocity}
    if not any((values > 0.0).any() for values in found.values()):
        yield Text(
            "No constraint is violated at any time, not even by rounding: the unknowns satisfy them by themselves."
        )
        return
    curves = [Curve(f"{name} constraints", run.t, values, k) for k, (name, values) in enumerate(found.items())]
    zeros = " Zeros are left out." if any((values == 0.0).any() for values in found.values()) else ""
    yield over_time(
        "drift",
        [Panel("largest violation", curves, logarithmic=True)],
        shown.most,
        f"Largest violation of the constraints on positions and on velocities, in their own units.{zeros}",
    )


def reactions(shown: Shown) -> Iterator[Block]:
    """Components of force and torque, a colour for each joint."""
    run, joints = shown.smooth, shown.joints
    found = run.reactions
    most = f" {len(joints)} of {len(found)} joints, those with the largest forces." if len(joints) < len(found) else ""
    parts, left = _reaction_parts(shown)
    for part in parts:
        what = part.name
        where = "" if what == "force" else ", about the joint's point on it"
        values = {f"{joint} on {body}": found[joint][body] for joint, body in joints}
        caption = (
            f"Reaction {what}s of the joints on the body that is named{where}, in space.{most}{_shared(shown, what)}"
        )
        panels, absent = panels_of(shown, part, values, floor=_floor(shown, what))
        if panels:
            yield figure(shown, part.anchor, panels, caption)
        left += absent
    yield from zero([f"reaction {label}" for label in left], "Zero at all times, but for rounding")


def _reaction_parts(shown: Shown) -> tuple[Sequence[Part], list[str]]:
    """The parts of reactions that are shown, and sentences on those that are zero but for rounding."""
    if shown.plane is not None:
        found = {joint: {body: shown.smooth.reactions[joint][body]} for joint, body in shown.joints}
        return shown.plane.reaction_parts(found, _arm(shown))
    largest = _rounding(shown)
    if largest is None:
        return REACTIONS.parts, []
    return REACTIONS.parts[:1], [f"reaction torques, at most {largest:.2g} N m"]


def _arm(shown: Shown) -> float:
    """The largest distance of a body from the origin, m."""
    return max(largest(state.position) for state in shown.smooth.states.values())


def _floor(shown: Shown, what: str) -> float:
    """The rounding of a force, or of a torque, beside the largest force and its arm."""
    every = [shown.smooth.reactions[joint][body] for joint, body in shown.joints]
    return _NOISE * max(largest(r.force) for r in every) * (1.0 if what == "force" else _arm(shown))


def _shared(shown: Shown, what: str) -> str:
    """A sentence on the components that are not unique."""
    found, parts = shown.smooth.reactions, []
    for joint, body in shown.joints:
        if shown.plane is not None and shown.plane.unique(found[joint][body]).all():
            continue
        sure = getattr(found[joint][body], f"unique_{what}_in_space")
        loose = [axis for axis, each in zip("xyz", sure, strict=True) if not each]
        parts += [f"{', '.join(loose)} of {joint}"] if loose else []
    return f" Not unique, of least norm: {'; '.join(parts)}." if parts else ""


def _rounding(shown: Shown) -> float | None:
    """The largest torque that is shown, if it is what rounding leaves beside the forces and their arms."""
    run = shown.smooth
    every = [run.reactions[joint][body] for joint, body in shown.joints]
    force, torque = (max(largest(getattr(r, what)) for r in every) for what in ("force", "torque"))
    return torque if torque <= _NOISE * force * _arm(shown) else None


def steps(run: Run) -> Iterator[Block]:
    """Sizes of the accepted steps."""
    t = run.t if run.steps is None else run.steps.t
    if len(t) < 2:
        yield Text("This run kept no two steps whose distance could be shown.")
        return
    times = [float(time) for time in (run.segments.times if run.segments is not None else ())]
    marks = tuple((time, "change of selection") for time in times) if len(times) <= _MARKS else ()
    sizes = np.abs(np.diff(t))  # times of a run back in time fall
    panel = Panel("step size [s]", [Curve("step", t[1:], sizes, 0)], logarithmic=True, marks=marks)
    said = f"{len(t) - 1} accepted steps, each at its end."
    if times:
        where = " (dotted)" if marks else ""
        said += f" The run continued {len(times)} times with other unknowns, equations or held inputs{where}."
    yield over_time("step-sizes", [panel], legend=False, caption=said)


def unknowns(run: Run) -> Figure:
    """The unknowns as they are, of a run that cannot say what they mean."""
    labels: Sequence[str] = (
        run.problem.labels if run.problem is not None else [f"y[{k}]" for k in range(run.y.shape[1])]
    )
    curves = [
        Curve(label, run.t, column, k, k < 10) for k, (label, column) in enumerate(zip(labels, run.y.T, strict=True))
    ]
    return over_time("unknowns-over-time", [Panel("unknown", curves[:40])], most_points(len(curves[:40]), POINTS))


__all__ = ["drift", "energy", "further", "motion", "reactions", "steps", "unknowns"]

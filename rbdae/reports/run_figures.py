"""Diagrams of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec, sense
from rbdae.adapter import Steps
from rbdae.plotting.plane_view import Plane
from rbdae.problem import observables
from rbdae.problem.observables import REACTIONS, Observable, Part
from rbdae.reports.blocks import Block, Figure, Text
from rbdae.reports.contract import Run
from rbdae.reports.figures import ROUNDING, Curve, Panel, most_points, over_time
from rbdae.reports.run_tables import balance_of

_POINTS = 100_000
"""Of all curves of a page."""

_SMOOTH = 300  # times of a curve that looks smooth
_JOINTS = 12
_OTHER_CURVES = 10
_NOISE = 1e-11  # of a torque, as a part of the largest force times its distance from the origin


@final
@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A run, the same at more times if it has few, the bodies that its diagrams show, the plane that its motion stays
    in, and whether panels that are zero are shown, too."""

    run: Run
    smooth: Run
    names: tuple[str, ...]
    plane: Plane | None = None
    every: bool = False

    @property
    def table(self) -> Mapping[str, Observable]:
        """The observables as they are shown, at the times of smooth curves."""
        return observables.TABLE if self.plane is None else self.plane.table(self.smooth.t)

    @property
    def joints(self) -> tuple[tuple[str, str], ...]:
        """Joints and bodies whose reactions are shown: of each joint the last body, of many joints those with the
        largest forces, in their own order."""
        sizes = {}
        for joint, of_bodies in self.smooth.reactions.items():
            body = list(of_bodies)[-1]
            sizes[joint, body] = _largest(of_bodies[body].force)
        largest = sorted(sizes, key=lambda key: sizes[key], reverse=True)[:_JOINTS]
        return tuple(key for key in sizes if key in largest)

    @property
    def most(self) -> int:
        """Points of a curve."""
        return most_points(13 * len(self.names) + 6 * len(self.joints) + _OTHER_CURVES, _POINTS)


def refined(run: Any, over: Vec) -> Any:
    """A run between its steps and in its order, from the first to the last of the times `over`, so that its curves are
    no polygons; itself if it has many times, or kept no steps."""
    steps = Steps(run.t, run.y) if run.steps is None else run.steps
    if len(run.t) >= _SMOOTH or len(steps.t) < 2 or len(over) < 2:
        return run
    first, last = sorted((over[0], over[-1]))
    t = np.union1d(run.t, np.linspace(first, last, _SMOOTH))[:: sense(steps.t)]
    return replace(run, t=t, y=run(t), steps=steps)


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
    for part in shown.table["states"].parts:
        if part.anchor:
            values = {name: every[name] for name in shown.names}
            yield _of_owners(shown, part, values, part.anchor, f"{part.caption}{said}")
            said = ""


def further(shown: Shown) -> Iterator[Block]:
    """Observables that have their functions in the table, a figure for each."""
    for each in observables.further(shown.run.problem):
        run = shown.smooth if each.between else shown.run
        owned = dict(each.owned(getattr(run, each.name)))
        if each.owner != "system":
            names = shown.names if each.owner == "bodies" else [f"{joint} on {body}" for joint, body in shown.joints]
            owned = {name: owned[name] for name in names if name in owned}
        yield _of_owners(shown, each.parts[0], owned, each.name.replace("_", "-"), each.note, run.t)


def quantities(shown: Shown) -> Iterator[Block]:
    """Angles, displacements and lengths with their rates, torques, forces and powers: a figure for each sort, a curve
    for each joint or force that has it. What is zero at all times is left out."""
    for kind, what in (("joints", "joint"), ("forces", "force")):
        found = getattr(shown.smooth, kind)
        sorts: dict[tuple[str, str, str], dict[str, Any]] = {}
        for name, each in found.items():
            for quantity in each:
                sorts.setdefault((quantity, *each.units[quantity]), {})[name] = each
        for (quantity, unit, components), owners in sorts.items():
            if unit.endswith("/s^2"):
                continue  # tables have them
            part = Part(quantity, unit, components)
            moving = {name: each for name, each in owners.items() if _largest(part.values(each)) > 0.0}
            some = dict(list(moving.items())[:_JOINTS])
            if some:
                caption = f"One colour a {what}." + (
                    f" {len(some)} of {len(moving)}." if len(some) < len(moving) else ""
                )
                yield _of_owners(shown, part, some, f"{kind}-{quantity.replace('_', '-')}", caption)


def _of_owners(
    shown: Shown, part: Part, values: Mapping[str, Any], anchor: str, caption: str, t: Any = None, floor: float = 0.0
) -> Figure:
    """A panel for each component, a curve in it for each owner; at times t, or at those of smooth curves. Curves that
    stay below the floor are zero."""
    at = shown.smooth.t if t is None else t
    found = {name: _at_least(part.values(each), floor) for name, each in values.items()}
    labels = part.labels(part.said, " ")
    panels = [Panel(label, _curves(at, found, k)) for k, label in enumerate(labels)]
    largest = max((_largest(curve.y) for panel in panels for curve in panel.curves), default=0.0)
    full = [p for p in panels if any(_largest(curve.y) > ROUNDING * largest for curve in p.curves)]
    if shown.every:
        full = panels
    if full and len(full) < len(panels):
        caption += f" Zero at all times: {', '.join(panel.label for panel in panels if panel not in full)}."
    return over_time(anchor, full or panels[:1], shown.most, caption)


def _at_least(values: Mat, floor: float) -> Mat:
    """The columns (m, k) whose largest magnitude is above the floor; zeros in place of the others."""
    sizes = np.max(np.abs(values), axis=0, where=np.isfinite(values), initial=0.0)
    return np.where((sizes <= floor) & np.isfinite(values).all(axis=0), 0.0, values)


def _sampled(shown: Shown) -> str:
    m, most = len(shown.run.t), shown.most
    if shown.smooth is not shown.run:
        return f"The run has {m} times; between its steps the curves are solution(t)."
    return f"Curves have at most {most} of {m} points, and all their extremes." if m > most else ""


def _curves(t: Vec, values: dict[str, Mat], component: int) -> list[Curve]:
    return [Curve(name, t, vectors[:, component], number) for number, (name, vectors) in enumerate(values.items())]


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
        yield over_time("energy", [Panel("energy [J]", curves)], shown.most)
        return
    curves.append(Curve("work", smooth.t, energies.work, 3))
    panels = [Panel("energy [J]", curves), Panel("balance [J]", [Curve("balance", run.t, balance, 4)])]
    yield over_time(
        "energy",
        panels,
        shown.most,
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
    parts, zero = _reaction_parts(shown)
    if zero:
        yield Text(f"Zero but for rounding: {', '.join(zero)}.")
    for part in parts:
        what = part.name
        where = "" if what == "force" else ", about the joint's point on it"
        values = {f"{joint} on {body}": found[joint][body] for joint, body in joints}
        caption = (
            f"Reaction {what}s of the joints on the body that is named{where}, in space.{most}{_shared(shown, what)}"
        )
        yield _of_owners(shown, part, values, part.anchor, caption, floor=_floor(shown, what))


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
    return max(_largest(state.position) for state in shown.smooth.states.values())


def _floor(shown: Shown, what: str) -> float:
    """The rounding of a force, or of a torque, beside the largest force and its arm."""
    every = [shown.smooth.reactions[joint][body] for joint, body in shown.joints]
    return _NOISE * max(_largest(r.force) for r in every) * (1.0 if what == "force" else _arm(shown))


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
    force, torque = (max(_largest(getattr(r, what)) for r in every) for what in ("force", "torque"))
    return torque if torque <= _NOISE * force * _arm(shown) else None


def _largest(values: Mat) -> float:
    """The largest magnitude of what is finite; reactions are not in singular positions."""
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))


def steps(run: Run) -> Iterator[Block]:
    """Sizes of the accepted steps."""
    t = run.t if run.steps is None else run.steps.t
    if len(t) < 2:
        yield Text("This run kept no two steps whose distance could be shown.")
        return
    marks = [(float(time), "change of selection") for time in (run.segments.times if run.segments is not None else ())]
    sizes = np.abs(np.diff(t))  # times of a run back in time fall
    yield over_time(
        "step-sizes",
        [Panel("step size [s]", [Curve("step", t[1:], sizes, 0)], logarithmic=True, marks=tuple(marks[:200]))],
        legend=False,
        caption=f"{len(t) - 1} accepted steps, each at its end."
        + (
            f" Dotted lines: the run continued with another selection of unknowns or equations, {len(marks)} times."
            if marks
            else ""
        ),
    )


def unknowns(run: Run) -> Figure:
    """The unknowns as they are, of a run that cannot say what they mean."""
    labels: Sequence[str] = (
        run.problem.labels if run.problem is not None else [f"y[{k}]" for k in range(run.y.shape[1])]
    )
    curves = [
        Curve(label, run.t, column, k, k < 10) for k, (label, column) in enumerate(zip(labels, run.y.T, strict=True))
    ]
    return over_time("unknowns-over-time", [Panel("unknown", curves[:40])], most_points(len(curves[:40]), _POINTS))


__all__ = ["Shown", "drift", "energy", "further", "motion", "reactions", "refined", "steps", "unknowns"]

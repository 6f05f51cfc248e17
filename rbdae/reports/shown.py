"""A run as its diagrams show it: at more times if it has few, in its plane, over the time or over a quantity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec, sense
from rbdae.adapter import Steps
from rbdae.plotting.abscissa import TIME, Abscissa
from rbdae.plotting.floors import motion_floors
from rbdae.plotting.plane_view import Plane
from rbdae.problem import observables
from rbdae.problem.observables import Observable, Part
from rbdae.reports.blocks import Block, Figure, Text
from rbdae.reports.contract import Run
from rbdae.reports.figures import ROUNDING, Curve, Panel, most_points, over_time

POINTS = 100_000
"""Of all curves of a page."""

MOST_JOINTS = 12
"""Curves of a figure of joints or forces."""

_SMOOTH = 300  # times of a curve that looks smooth
_OTHER_CURVES = 10


@final
@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A run and what its diagrams show of it.

    Attributes
    ----------
    run, smooth : the run, and the same at more times if it has few
    names : of the bodies
    plane : that the motion stays in; None for space
    every : whether panels that are zero are shown, too
    over : the horizontal axis
    floors : by unit the sizes of coordinates and velocities that count as zero
    """

    run: Run
    smooth: Run
    names: tuple[str, ...]
    plane: Plane | None = None
    every: bool = False
    over: Abscissa = TIME
    floors: Mapping[str, float] = field(default_factory=dict)

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
            sizes[joint, body] = largest(of_bodies[body].force)
        some = sorted(sizes, key=lambda key: sizes[key], reverse=True)[:MOST_JOINTS]
        return tuple(key for key in sizes if key in some)

    @property
    def most(self) -> int:
        """Points of a curve."""
        return most_points(13 * len(self.names) + 6 * len(self.joints) + _OTHER_CURVES, POINTS)


def refined(run: Any, over: Vec) -> Any:
    """A run between its steps and in its order, from the first to the last of the times `over`, so that its curves are
    no polygons; itself if it has many times, or kept no steps."""
    steps = Steps(run.t, run.y) if run.steps is None else run.steps
    if len(run.t) >= _SMOOTH or len(steps.t) < 2 or len(over) < 2:
        return run
    first, last = sorted((over[0], over[-1]))
    t = np.union1d(run.t, np.linspace(first, last, _SMOOTH))[:: sense(steps.t)]
    return replace(run, t=t, y=run(t), steps=steps)


def panels_of(
    shown: Shown, part: Part, values: Mapping[str, Any], t: Vec | None = None, floor: float = 0.0
) -> tuple[list[Panel], list[str]]:
    """A panel for each component with a curve for each owner, at times t or at those of smooth curves, and the labels
    of components that are left out because no curve is above the floor."""
    at = shown.smooth.t if t is None else t
    found = {name: _at_least(part.values(each), floor) for name, each in values.items()}
    panels = [Panel(label, _curves(at, found, k)) for k, label in enumerate(part.labels(part.said, " "))]
    if shown.every:
        return panels, []
    top = max((largest(curve.y) for panel in panels for curve in panel.curves), default=0.0)
    full = [p for p in panels if any(largest(curve.y) > ROUNDING * top for curve in p.curves)]
    return full, [panel.label for panel in panels if panel not in full]


def figure(shown: Shown, anchor: str, panels: Sequence[Panel], caption: str = "") -> Figure:
    """Panels over the axis of a report."""
    return over_time(anchor, panels, shown.most, caption, over=shown.over)


def zero(labels: Sequence[str], because: str = "Zero at all times, but for errors of the run") -> list[Block]:
    """A sentence on what is left out; none for nothing."""
    return [Text(f"{because}: {', '.join(labels)}.")] if labels else []


def largest(values: Mat) -> float:
    """The largest magnitude of what is finite; reactions are not in singular positions."""
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))


def _at_least(values: Mat, floor: float) -> Mat:
    """The columns (m, k) whose largest magnitude is above the floor; zeros in place of the others."""
    sizes = np.max(np.abs(values), axis=0, where=np.isfinite(values), initial=0.0)
    return np.where((sizes <= floor) & np.isfinite(values).all(axis=0), 0.0, values)


def _curves(t: Vec, values: dict[str, Mat], component: int) -> list[Curve]:
    return [Curve(name, t, vectors[:, component], number) for number, (name, vectors) in enumerate(values.items())]


def shown_of(run: Run, names: tuple[str, ...], plane: Plane | None, every: bool, over: Abscissa) -> Shown:
    """The same with curves that are smooth, and with what counts as zero."""
    smooth = refined(run, run.t if run.steps is None else run.steps.t)
    return Shown(run, smooth, names, plane, every, over, {} if every else motion_floors(smooth))


__all__ = [
    "MOST_JOINTS",
    "POINTS",
    "Shown",
    "figure",
    "largest",
    "panels_of",
    "refined",
    "shown_of",
    "zero",
]

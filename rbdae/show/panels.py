"""Panels are the diagrams of a run as data: pictures draw them with matplotlib, pages with plotly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from rbdae._arrays import Mat, Vec, sense
from rbdae.adapter import Steps
from rbdae.problem.observables import TABLE, Observable, Part
from rbdae.problem.problem import Problem

ROUNDING: Final = 1e-15
"""A curve below this part of a figure's largest value is zero."""

_NOISE = 1e-6  # variation below this part of the largest value is drawn as a constant
_ROUNDING_OF_FORCES = 1e-9  # of the largest force, and of its moment with an arm of the mechanism's size
_SMOOTH = 300  # times of a curve that looks smooth
_CHANGE = "total \N{MINUS SIGN} total(t\N{SUBSCRIPT ZERO})"


def largest(values: Any) -> float:
    """The largest magnitude of the finite values; reactions are not finite in singular positions."""
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A curve of a panel: its name in the legend, times and values (m,), and the number of its colour and dashes."""

    name: str
    t: Vec
    y: Vec
    number: int = 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Curves in one pair of axes, labelled by the quantity with its unit. A logarithmic axis has no zeros; `limits` are
    those of the values, if known."""

    label: str
    curves: tuple[Curve, ...]
    logarithmic: bool = False
    limits: tuple[float, float] | None = None

    def is_zero(self, floor: float = 0.0) -> bool:
        return all(largest(curve.y) <= floor for curve in self.curves)


@final
@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A run for diagrams: the run itself, and the run at more times if it has few."""

    run: Any
    smooth: Any

    @property
    def reaction_floors(self) -> tuple[float, float]:
        """The largest force, N, and torque, N m, that count as zero relative to the largest reaction force."""
        reactions = [reaction for sides in self.smooth.reactions.values() for reaction in sides.values()]
        force = _ROUNDING_OF_FORCES * max((largest(reaction.force) for reaction in reactions), default=0.0)
        if isinstance(problem := getattr(self.run, "problem", None), Problem):
            return force, force * float(problem.model.scales.length)
        points = np.concatenate([np.asarray(state.center_of_mass) for state in self.run.states.values()])
        return force, force * float(np.linalg.norm(np.ptp(points, axis=0)))  # the extent of the paths


def view(run: Any, *, whole: bool = False) -> View:
    """The view of a run, at 300 or more times for smooth curves if it kept its steps; with `whole`, over all steps of a
    run with output times."""
    if not isinstance(getattr(run, "problem", None), Problem) or not len(run.t):
        return View(run, run)
    steps = Steps(run.t, run.y) if run.steps is None else run.steps
    over = steps.t if whole else run.t
    if len(run.t) >= _SMOOTH or len(steps.t) < 2 or len(over) < 2:
        return View(run, run)
    first, last = sorted((over[0], over[-1]))
    t = np.union1d(run.t, np.linspace(first, last, _SMOOTH))[:: sense(steps.t)]
    return View(run, replace(run, t=t, y=run(t), steps=steps))


# ---------------------------------------------------------------- a quantity of some owners


@final
@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A quantity of several owners: by owner its values (m, components) at times t (m,), where columns below the floor
    of the group are zero, and smaller differences than `least` are rounding. A picture has a panel for each owner, a
    page one for each component."""

    part: Part
    t: Vec
    values: Mapping[str, Mat]
    least: float

    def by_owner(self) -> dict[str, Panel]:
        """A panel for each owner, with a curve for each component. A constant gets an axis as large as the others."""
        label = f"{self.part.heading} [{self.part.unit.replace('^2', '$^2$') or 1}]"
        names = [self.part.symbol.format(c) for c in self.part.components or (self.part.said,)]
        half, out = max(0.5 * max(map(largest, self.values.values()), default=0.0), self.least), {}
        for owner, y in self.values.items():
            limits = self.part.limits
            if limits is None and np.isfinite(y).all() and np.ptp(y) < self.least:
                limits = (float(y.min()) - half, float(y.max()) + half)
            out[owner] = Panel(label, curves_of(self.t, dict(zip(names, y.T, strict=True))), limits=limits)
        return out

    def by_component(self) -> tuple[list[Panel], list[str]]:
        """A panel for each component, with a curve for each owner, and the labels of components omitted as zero."""
        floor = ROUNDING * max(map(largest, self.values.values()), default=0.0)
        panels = [
            Panel(label, curves_of(self.t, {owner: y[:, k] for owner, y in self.values.items()}))
            for k, label in enumerate(self.part.labels(self.part.said, " "))
        ]
        full = [panel for panel in panels if not panel.is_zero(floor)]
        return full, [panel.label for panel in panels if panel not in full]


def curves_of(t: Vec, values: Mapping[str, Vec]) -> tuple[Curve, ...]:
    """Curves by name, each with its own style."""
    return tuple(Curve(name, t, np.asarray(y), k) for k, (name, y) in enumerate(values.items()))


def group(part: Part, t: Vec, values: Mapping[str, Any], floor: float = 0.0) -> Group:
    """A quantity of several owners; columns whose largest value is below the floor are zero."""
    found = {}
    for owner, value in values.items():
        y = part.values(value)
        sizes = np.max(np.abs(y), axis=0, where=np.isfinite(y), initial=0.0)
        found[owner] = np.where((sizes <= floor) & np.isfinite(y).all(axis=0), 0.0, y)
    return Group(part, t, found, max(_NOISE * max(map(largest, found.values()), default=0.0), floor))


def groups(shown: View, quantity: str, names: Iterable[str] = ()) -> list[Group]:
    """The parts of a quantity of the system, of these bodies, or of these joints (on their last moving body)."""
    line, parts = quantities()[quantity]
    run = shown.smooth
    values = getattr(run, line.name)
    if line.owner == "joints":
        values = {name: values[name][moving_side(run, name)] for name in names}
    else:
        values = {quantity: values} if line.owner == "system" else {name: values[name] for name in names}
    floors = shown.reaction_floors if quantity == "reactions" else (0.0,) * len(parts)
    return [group(part, run.t, values, floor) for part, floor in zip(parts, floors, strict=True)]


def moving_side(run: Any, joint: str) -> str:
    """The last moving body of a joint; its reaction is shown."""
    sides: list[str] = list(run.reactions[joint])
    return next((body for body in reversed(sides) if body in run.states), sides[-1])


def unique_components(reaction: Any, suffix: str = "") -> list[str]:
    """Unique components of a reaction, from "Fx" to "Mz", in the joint's frame, or in space with the suffix
    "_in_space"."""
    out = []
    for letter, what in (("F", "force"), ("M", "torque")):
        sure = getattr(reaction, f"unique_{what}{suffix}", np.full(3, bool(reaction.unique)))
        out += [letter + axis for axis, each in zip("xyz", sure, strict=True) if each]
    return out


# ---------------------------------------------------------------- the whole system


def quantities() -> dict[str, tuple[Observable, tuple[Part, ...]]]:
    """All names that `plot_solution` accepts, with the observable and its parts to draw; states are listed one by
    one."""
    states = TABLE["states"]
    out: dict[str, tuple[Observable, tuple[Part, ...]]] = {part.name: (states, (part,)) for part in states.parts}
    lines = (*TABLE.values(), Observable("steps", ()))
    return out | {each.name: (each, each.parts) for each in lines if each is not states}


QUANTITIES: Final[tuple[str, ...]] = tuple(name for name, (line, _) in quantities().items() if line.of is None)
"""The names that `plot_solution` accepts for every run, without observables of particular problems or users."""


def balance_of(run: Any) -> Vec | str:
    """The energy balance, or why it is unknown: a run without its steps cannot integrate a power."""
    try:
        return np.asarray(run.energy.balance)
    except (TypeError, ValueError) as error:
        return str(error)


def energy(shown: View) -> list[Panel]:
    """Parts of the energy, and its balance at the times of the run."""
    run, smooth, balance = shown.run, shown.smooth, balance_of(shown.run)
    names = ["kinetic", "potential", *([] if isinstance(balance, str) else ["work"]), "total"]
    parts = {name: np.asarray(getattr(smooth.energy, name)) for name in names}
    floor = ROUNDING * max(map(largest, parts.values()))
    curves = curves_of(smooth.t, {name: y if largest(y) > floor else 0.0 * y for name, y in parts.items()})
    label, name = "balance of energy [J]", f"{_CHANGE} \N{MINUS SIGN} work"
    if isinstance(balance, str):
        balance = np.asarray(run.energy.total) - run.energy.total[0]
        label, name = "change of energy [J]", f"{_CHANGE}; work is not known"
    return [Panel("energy [J]", curves), Panel(label, (Curve(name, run.t, balance, len(names)),))]


def drift(shown: View) -> list[Panel]:
    """The largest violations of the constraints at the times of the run."""
    run = shown.run
    drifts = {"position": run.drift.position, "velocity": run.drift.velocity}
    return [Panel("drift: violation of constraints [SI]", curves_of(run.t, drifts), logarithmic=True)]


def steps(shown: View) -> list[Panel]:
    """Sizes of the accepted steps, each at its end; positive also in runs back in time."""
    t = shown.run.t if shown.run.steps is None else np.asarray(shown.run.steps.t)
    return [Panel("step size [s]", (Curve("accepted steps", t[1:], np.abs(np.diff(t))),), logarithmic=True)]


def of_system(shown: View, name: str) -> list[Panel]:
    panels = {"energy": energy, "drift": drift, "steps": steps}
    return panels[name](shown) if name in panels else [each.by_owner()[name] for each in groups(shown, name)]

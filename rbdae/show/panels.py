"""Panels: the diagrams of a run as data. Pictures draw them with matplotlib, pages with plotly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec, sense
from rbdae.adapter import Steps
from rbdae.problem.observables import TABLE, Observable, Part, with_unit
from rbdae.problem.problem import Problem
from rbdae.quantities.quantity import Quantity
from rbdae.show.plane import Plane, PlaneChoice, largest, plane_of, reaction_floors

ROUNDING: Final = 1e-15
"""Of the largest value of a figure: a curve that is smaller is zero."""

_NOISE = 1e-6  # of the largest value: less is drawn as a constant
_SMOOTH = 300  # times of a curve that looks smooth
_CHANGE = "total \N{MINUS SIGN} total(t\N{SUBSCRIPT ZERO})"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Abscissa:
    """A horizontal axis: the time, or a quantity such as the angle of a crank.

    Attributes
    ----------
    name, unit : what it says
    at : its values at times (m,)
    """

    name: str
    unit: str
    at: Callable[[Vec], Vec]

    @property
    def label(self) -> str:
        """The name with its unit."""
        return with_unit(self.name, self.unit)


TIME: Final = Abscissa("t", "s", lambda t: t)


def abscissa(run: Any, over: Quantity | str | None, owner: str) -> Abscissa:
    """The axis that was asked for: None for the time, or a quantity of a joint or force with one component."""
    if over is None:
        return TIME
    problem = getattr(run, "problem", None)
    if not isinstance(problem, Problem):
        raise ValueError(f"{owner}: over={_check.show(over)} needs a run of a rbdae.Problem; leave it out")
    if not isinstance(over, (str, Quantity)):
        raise TypeError(f"{owner}: over must be a quantity or its label, got {_check.show(over)}")
    try:
        known, quantity = problem.interpretation.owners.find(over)
    except ValueError as error:
        raise ValueError(f"{owner}: over: {error}") from None
    name = f"{known.name}.{quantity.name}"
    if quantity.components:
        raise ValueError(f"{owner}: over must have one component, got {name}; choose e.g. an angle")

    def at(t: Vec) -> Vec:
        recorded = len(t) == len(run.t) and np.array_equal(t, run.t)
        return np.asarray(run.quantity(over) if recorded else run.quantity(over, t), dtype=float)

    return Abscissa(name, quantity.unit, at)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A curve of a panel.

    Attributes
    ----------
    name : in the legend
    t, y : times and values, (m,)
    number : of its colour and dashes
    shown : whether a page shows it at first
    """

    name: str
    t: Vec
    y: Vec
    number: int = 0
    shown: bool = True


@final
@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Curves in one pair of axes.

    Attributes
    ----------
    label : the quantity with its unit
    curves : in the order of the legend
    logarithmic : whether zeros, which have no logarithm, are left out
    limits : of the values, if they are known
    marks : times with a dotted line
    """

    label: str
    curves: tuple[Curve, ...]
    logarithmic: bool = False
    limits: tuple[float, float] | None = None
    marks: tuple[float, ...] = ()

    def is_zero(self, floor: float = 0.0) -> bool:
        """Whether no value is above a floor."""
        return all(largest(curve.y) <= floor for curve in self.curves)


@final
@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A run as its diagrams show it.

    Attributes
    ----------
    run, smooth : the run, and the same at more times if it has few
    plane : that the motion stays in; None for space
    over : the horizontal axis
    every : whether panels of zeros are shown, too
    """

    run: Any
    smooth: Any
    plane: Plane | None
    over: Abscissa
    every: bool = False

    @property
    def table(self) -> Mapping[str, Observable]:
        """The observables as they are shown, at the times of smooth curves."""
        return TABLE if self.plane is None else self.plane.table(self.smooth.t)

    @property
    def plane_of_reactions(self) -> Plane | None:
        """The plane, if no reaction has components across it."""
        if self.plane is None or not self.plane.holds(self.smooth.reactions, self.size):
            return None
        return self.plane

    @property
    def reaction_parts(self) -> tuple[Part, ...]:
        """Forces and torques, in the plane or in space."""
        return (TABLE if self.plane_of_reactions is None else self.table)["reactions"].parts

    @property
    def size(self) -> float:
        """The size of the mechanism, m; of a run without its problem the extent of the paths."""
        if isinstance(problem := getattr(self.run, "problem", None), Problem):
            return float(problem.model.scales.length)
        points = np.concatenate([np.asarray(state.center_of_mass) for state in self.run.states.values()])
        return float(np.linalg.norm(np.ptp(points, axis=0)))

    def reaction_floor(self, part: Part) -> float:
        """The force or torque that counts as zero."""
        return 0.0 if self.every else reaction_floors(self.smooth.reactions, self.size)[part.name == "torque"]


def view(run: Any, plane: PlaneChoice, over: Quantity | str | None, owner: str, *, whole: bool = False) -> View:
    """The view of a run; `whole` of a run with output times over all its steps.

    Raises
    ------
    TypeError, ValueError
        for a plane that the motion leaves, and for what is no quantity
    """
    axis, flat, smooth = abscissa(run, over, owner), plane_of(run, plane, owner), run
    if isinstance(getattr(run, "problem", None), Problem) and len(run.t):
        smooth = refined(run, run.t if run.steps is None or not whole else run.steps.t)
    return View(run, smooth, flat, axis, plane is False)


def refined(run: Any, over: Vec) -> Any:
    """A run between its steps and in its order, from the first to the last of the times `over`, so that its curves are
    no polygons; itself if it has many times, or kept no steps."""
    steps = Steps(run.t, run.y) if run.steps is None else run.steps
    if len(run.t) >= _SMOOTH or len(steps.t) < 2 or len(over) < 2:
        return run
    first, last = sorted((over[0], over[-1]))
    t = np.union1d(run.t, np.linspace(first, last, _SMOOTH))[:: sense(steps.t)]
    return replace(run, t=t, y=run(t), steps=steps)


# ---------------------------------------------------------------- a quantity of some owners


@final
@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A quantity of some owners. A picture has a panel for each owner, a page one for each component.

    Attributes
    ----------
    part : what it is
    t : times (m,)
    values : by owner, (m, components); columns below the floor of the group are zero
    least : values that differ by less are the same but for rounding
    """

    part: Part
    t: Vec
    values: Mapping[str, Mat]
    least: float

    def by_owner(self) -> dict[str, Panel]:
        """A panel for each owner, with a curve for each component. A constant is a straight line in an axis as large as
        those of the others."""
        label = f"{self.part.heading} [{self.part.unit.replace('^2', '$^2$') or 1}]"
        names = [self.part.symbol.format(c) for c in self.part.components or (self.part.said,)]
        half, out = max(0.5 * max(map(largest, self.values.values()), default=0.0), self.least), {}
        for owner, y in self.values.items():
            limits = self.part.limits
            if limits is None and np.isfinite(y).all() and np.ptp(y) < self.least:
                limits = (float(y.min()) - half, float(y.max()) + half)
            out[owner] = Panel(label, curves_of(self.t, dict(zip(names, y.T, strict=True))), limits=limits)
        return out

    def by_component(self, *, every: bool) -> tuple[list[Panel], list[str]]:
        """A panel for each component, with a curve for each owner, and the labels of those that are left out because
        they are zero, unless every one is wanted."""
        floor = ROUNDING * max(map(largest, self.values.values()), default=0.0)
        panels = [
            Panel(label, curves_of(self.t, {owner: y[:, k] for owner, y in self.values.items()}))
            for k, label in enumerate(self.part.labels(self.part.said, " "))
        ]
        full = [panel for panel in panels if every or not panel.is_zero(floor)]
        return full, [panel.label for panel in panels if panel not in full]


def curves_of(t: Vec, values: Mapping[str, Vec], shown: int = 1000) -> tuple[Curve, ...]:
    """Curves by name, each with a look of its own; a page shows the first ones at once."""
    return tuple(Curve(name, t, np.asarray(y), k, k < shown) for k, (name, y) in enumerate(values.items()))


def group(part: Part, t: Vec, values: Mapping[str, Any], floor: float = 0.0) -> Group:
    """A quantity of some owners, from what has it; columns whose largest value is below the floor are zero."""
    found = {}
    for owner, value in values.items():
        y = part.values(value)
        sizes = np.max(np.abs(y), axis=0, where=np.isfinite(y), initial=0.0)
        found[owner] = np.where((sizes <= floor) & np.isfinite(y).all(axis=0), 0.0, y)
    return Group(part, t, found, max(_NOISE * max(map(largest, found.values()), default=0.0), floor))


def groups(shown: View, quantity: str, names: Iterable[str] = ()) -> list[Group]:
    """The parts of a quantity of the system, of these bodies, or of these joints on the last of their bodies that
    moves."""
    line, parts = quantities(shown.table)[quantity]
    run = shown.smooth
    values = getattr(run, line.name)
    if line.owner == "joints":
        values = {name: values[name][moving_side(run, name)] for name in names}
    else:
        values = {quantity: values} if line.owner == "system" else {name: values[name] for name in names}
    if quantity != "reactions":
        return [group(part, run.t, values) for part in parts]
    return [group(part, run.t, values, shown.reaction_floor(part)) for part in shown.reaction_parts]


def moving_side(run: Any, joint: str) -> str:
    """The last body of a joint that moves: its reaction is shown."""
    sides: list[str] = list(run.reactions[joint])
    return next((body for body in reversed(sides) if body in run.states), sides[-1])


def unique_components(reaction: Any, plane: Plane | None = None, suffix: str = "") -> list[str]:
    """The components of a reaction that are unique, from "Fx" to "Mz": in the joint's frame, with the suffix
    "_in_space" in space; or those in a plane and about its normal."""
    if plane is not None:
        return [name for name, each in zip(plane.reaction_names, plane.unique(reaction), strict=True) if each]
    out = []
    for letter, what in (("F", "force"), ("M", "torque")):
        sure = getattr(reaction, f"unique_{what}{suffix}", np.full(3, bool(reaction.unique)))
        out += [letter + axis for axis, each in zip("xyz", sure, strict=True) if each]
    return out


def is_unique(reaction: Any, plane: Plane | None) -> bool:
    """Whether a reaction is unique, in a plane its forces there and its torque about the normal."""
    return bool(reaction.unique or (plane is not None and plane.unique(reaction).all()))


# ---------------------------------------------------------------- the whole system


def quantities(table: Mapping[str, Observable] = TABLE) -> dict[str, tuple[Observable, tuple[Part, ...]]]:
    """All names that `plot_solution` takes, with the observable and the part of it that is drawn: of states one by
    one."""
    states = table["states"]
    out: dict[str, tuple[Observable, tuple[Part, ...]]] = {part.name: (states, (part,)) for part in states.parts}
    lines = (*table.values(), Observable("steps", ()))
    return out | {each.name: (each, each.parts) for each in lines if each is not states}


QUANTITIES: Final[tuple[str, ...]] = tuple(name for name, (line, _) in quantities().items() if line.of is None)
"""The names that `plot_solution` takes of every run, without those of some problems and those that users have
registered."""


def balance_of(run: Any) -> Vec | str:
    """The energy's balance, or why there is none: a run without its steps cannot integrate a power."""
    try:
        return np.asarray(run.energy.balance)
    except (TypeError, ValueError) as error:
        return str(error)


def energy(shown: View) -> list[Panel]:
    """The parts of the energy, and its balance at the times of the run."""
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
    found = {"position": run.drift.position, "velocity": run.drift.velocity}
    return [Panel("drift: violation of constraints [SI]", curves_of(run.t, found), logarithmic=True)]


def steps(shown: View) -> list[Panel]:
    """Sizes of the accepted steps, each at its end; those of a run back in time are positive, too."""
    t = shown.run.t if shown.run.steps is None else np.asarray(shown.run.steps.t)
    return [Panel("step size [s]", (Curve("accepted steps", t[1:], np.abs(np.diff(t))),), logarithmic=True)]


def of_system(shown: View, name: str) -> list[Panel]:
    """The panels of a quantity of the whole system."""
    own = {"energy": energy, "drift": drift, "steps": steps}
    return own[name](shown) if name in own else [each.by_owner()[name] for each in groups(shown, name)]

"""The quantities that can be drawn over time: those of bodies, of joints and of the whole system, with labels and
units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, Literal, Protocol, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.problem.observables import TABLE, Observable, Part, continuous_quaternions


class Trajectory(Protocol):
    """A trajectory that `plot_solution` draws at m times, for example a `rbdae.Solution`: it has the observables that
    are drawn (`rbdae.observables.TABLE`) as attributes, and no others are asked for."""

    @property
    def t(self) -> Vec:
        """Times, shape (m,), s."""

    @property
    def states(self) -> Mapping[str, Any]:
        """The states by the name of a body: its `position`, `velocity`, `angular_velocity`, `center_of_mass`, shape
        (m, 3), and its `orientation`, m rotations."""

    @property
    def energy(self) -> Any:
        """With `kinetic`, `potential`, `work`, `total` and `balance`, shape (m,), J."""

    @property
    def drift(self) -> Any:
        """With `position` and `velocity`: the largest violations of the constraints, shape (m,)."""

    @property
    def reactions(self) -> Mapping[str, Mapping[str, Any]]:
        """The reactions by the names of joint and body: `force` and `torque`, shape (m, 3)."""

    @property
    def steps(self) -> Any:
        """With the times `t` of the accepted steps; None if they are those of the trajectory."""

    @property
    def solver(self) -> str:
        """The title of the picture."""


_ROUNDING = 1e-9  # of the largest force, and of this force on an arm of the system's size


@final
@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Curves in one pair of axes.

    Attributes
    ----------
    heading : quantity and unit
    labels : of the curves
    t, values : (m,) and (m, curves)
    scale : of the values; zeros have no logarithm and are left out
    limits : of the values, if they are known
    noise : values that differ by less are the same but for rounding
    absent : whether its place stays empty
    """

    heading: str
    labels: tuple[str, ...]
    t: Vec
    values: Mat
    scale: Literal["linear", "log"] = "linear"
    limits: tuple[float, float] | None = None
    noise: float = 0.0
    absent: bool = False


def drawn(parts: Iterable[Part], t: Vec, value: Any) -> list[Panel]:
    """A panel for each vector, and for scalars with one heading."""
    out = []
    for heading, group in groupby(parts, lambda part: f"{part.heading} [{part.unit.replace('^2', '$^2$') or 1}]"):
        each = list(group)
        labels = [part.symbol.format(c) for part in each for c in part.components or (part.said,)]
        values = np.concatenate([part.values(value) for part in each], axis=1)
        out.append(Panel(heading, tuple(labels), t, values, limits=each[0].limits))
    return out


_STEPS = Observable("steps", ())


def quantities(table: Mapping[str, Observable] = TABLE) -> dict[str, tuple[Observable, tuple[Part, ...]]]:
    """All names that `plot_solution` takes, with the observable and the part of it that is drawn: of states one by
    one."""
    states = table["states"]
    out: dict[str, tuple[Observable, tuple[Part, ...]]] = {part.name: (states, (part,)) for part in states.parts}
    out |= {each.name: (each, each.parts) for each in (*table.values(), _STEPS) if each is not states}
    return out


QUANTITIES: Final[tuple[str, ...]] = tuple(name for name, (line, _) in quantities().items() if line.of is None)
"""The names that `plot_solution` takes of every run, without those of some problems and those that users have
registered."""


def of_joint(quantity: str, parts: Iterable[Part], run: Trajectory, joint: str, body: str, size: float) -> list[Panel]:
    """Panels of one joint on one body; `size` is that of the system, m."""
    every, value = list(parts), getattr(run, quantity)[joint][body]
    shown = drawn(every, run.t, value)
    if quantity != "reactions":
        return shown
    force = np.asarray(value.force)
    largest = np.abs(force[np.isfinite(force)]).max(initial=0.0)
    arms = [size if part.name == "torque" else 1.0 for part in every]
    return [replace(panel, noise=_ROUNDING * largest * arm) for panel, arm in zip(shown, arms, strict=True)]


def named_rows(kind: str, t: Vec, found: Mapping[str, Any]) -> list[list[tuple[str, list[Panel]]]]:
    """Blocks of rows of the "joints" or "forces": those with the same quantities are in one. What is zero at all times
    in all of them, as the torques of joints that nothing drives, is left out; in some of them its place is empty."""
    out = []
    alike: dict[tuple[tuple[str, str, str], ...], list[str]] = {}
    for name, each in found.items():
        alike.setdefault(tuple((q, *each.units[q]) for q in each), []).append(name)
    for names in alike.values():
        parts = [
            part
            for part in TABLE[kind].parts_of(found[names[0]])
            if any(np.any(part.values(found[name]) != 0.0) for name in names)
        ]
        if parts:
            out.append([(name, [_named(part, t, found[name]) for part in parts]) for name in names])
    return out


def _named(part: Part, t: Vec, of: Any) -> Panel:
    """The panel of a quantity; one of a user may have no unit."""
    (panel,) = drawn([part], t, of)
    return replace(panel, heading=panel.heading.removesuffix(" [1]"), absent=not np.any(panel.values))


def unique_components(reaction: Any, suffix: str = "") -> list[str]:
    """The components from "Fx" to "Mz" that are unique in the joint's frame; with the suffix "_in_space" spatial
    components. None of a reaction that is not unique and tells no more."""
    out = []
    for letter, what in (("F", "force"), ("M", "torque")):
        sure = getattr(reaction, f"unique_{what}{suffix}", np.full(3, bool(reaction.unique)))
        out += [letter + axis for axis, each in zip("xyz", sure, strict=True) if each]
    return out


def _energy(run: Trajectory, between: Trajectory) -> list[Panel]:
    energy, labels = run.energy, ["kinetic", "potential", "total"]
    heading, label = "balance of energy [J]", "total $-$ total($t_0$) $-$ work"
    try:
        balance = np.asarray(energy.balance)
        labels.insert(2, "work")
    except (TypeError, ValueError):  # the run kept no steps along which work could be integrated
        balance = np.asarray(energy.total) - energy.total[0]
        heading, label = "change of energy [J]", "total $-$ total($t_0$); work is not known"
    values = np.stack([np.asarray(getattr(between.energy, name)) for name in labels], axis=1)
    return [
        Panel("energy [J]", tuple(labels), between.t, values),
        Panel(heading, (label,), run.t, balance[:, None]),
    ]


def _drift(run: Trajectory, _: Trajectory) -> list[Panel]:
    values = np.stack([np.asarray(run.drift.position), np.asarray(run.drift.velocity)], axis=1)
    return [Panel("drift: violation of constraints [SI]", ("position", "velocity"), run.t, values, "log")]


def _steps(run: Trajectory, _: Trajectory) -> list[Panel]:
    t = run.t if run.steps is None else np.asarray(run.steps.t)
    sizes = np.abs(np.diff(t))  # times of a run back in time fall
    return [Panel("step size [s]", ("accepted steps",), t[1:], sizes[:, None], "log")]


_ERRORS: Final[Mapping[str, Callable[[Trajectory, Trajectory], list[Panel]]]] = {
    "energy": _energy,
    "drift": _drift,
    "steps": _steps,
}
"""Panels from a run at its own times and at more times: errors are those at its own."""


def of_system(run: Trajectory, between: Trajectory, quantity: str, parts: Iterable[Part]) -> list[Panel]:
    """Panels of the whole system, from a run at its own times and at more times."""
    if quantity in _ERRORS:
        return _ERRORS[quantity](run, between)
    return drawn(parts, between.t, getattr(between, quantity))


__all__ = [
    "QUANTITIES",
    "Panel",
    "Trajectory",
    "continuous_quaternions",
    "drawn",
    "of_joint",
    "of_system",
    "quantities",
    "unique_components",
]

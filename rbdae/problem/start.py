"""The start of a problem, a consistent state, and how it was found: what was given, what was found, and what had to
change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.body import INITIAL_VALUES
from rbdae.multibody.elements.rhs_elements import rates_by_numpy
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.measures import GROUND

_UNITS = {"position": "m", "orientation": "rad", "velocity": "m/s", "angular_velocity": "rad/s"}


@final
@dataclass(frozen=True, slots=True)
class Change:
    """A given initial value that had to change.

    Attributes
    ----------
    body : name of the body
    quantity : ``"position"``, ``"orientation"``, ``"velocity"`` or ``"angular_velocity"``
    given, used : what was given, and what the start has; (3,), or (4,) for orientations
    size : m, rad, m/s or rad/s
    """

    body: str
    quantity: str
    given: Vec
    used: Vec
    size: float

    def __str__(self) -> str:
        return (
            f"body {self.body!r}: {self.quantity} from {_shown(self.given)} to {_shown(self.used)} "
            f"(by {self.size:.3g} {_UNITS[self.quantity]})"
        )


@final
@dataclass(frozen=True, slots=True)
class Assembly:
    """How a consistent start was found.

    Attributes
    ----------
    names : names of the bodies
    position, orientation, velocity, angular_velocity : (n, 3), (n, 4) scalar-first, (n, 3), (n, 3)
        The consistent state; reference points (centre of mass, or pivot), angular velocities in the body frames.
    moved, turned : (n,)
        How far each body was displaced, m, and turned, rad; from where the search began, if it was not given.
    velocity_change, spin_change : (n,)
        Changes of the velocities, m/s and rad/s; from rest, if they were not given.
    gap : largest violation of a joint before, m (or the square root of m^2, or 1)
    steps : steps of Newton's or the Gauss-Newton method
    redundant : names of the joint equations that follow from the others
    given : for each body, which of position, orientation, velocity and angular_velocity were given (or held by a pivot)
    changes : the given values that had to change by more than rounding
    rate_gap : largest violation of a joint's velocities before, m/s (or likewise)
    disagreement : the joint that the given values contradict most, and what disagrees; empty without `changes`
    """

    names: tuple[str, ...]
    position: Mat
    orientation: Mat
    velocity: Mat
    angular_velocity: Mat
    moved: Vec
    turned: Vec
    velocity_change: Vec
    spin_change: Vec
    gap: float
    steps: int
    redundant: tuple[str, ...] = ()
    given: tuple[tuple[str, ...], ...] = ()
    changes: tuple[Change, ...] = ()
    rate_gap: float = 0.0
    disagreement: str = ""

    @property
    def found(self) -> tuple[tuple[str, ...], ...]:
        """For each body, what was not given: it was found."""
        return tuple(tuple(what for what in INITIAL_VALUES if what not in given) for given in self.given)

    def __str__(self) -> str:
        header = ["body", "moved/m", "turned/rad", "dv/(m/s)", "dOmega/(rad/s)"]
        lines = [header, *(self._cells(k) for k in range(len(self.names)))]
        widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
        out = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
        out.append(f"largest gap before {self.gap:.3g}, of velocities {self.rate_gap:.3g}; {self.steps} steps")
        out += [f"changed: {change}" for change in self.changes]
        out += [f"largest gap: {self.disagreement}"] if self.disagreement else []
        out += [f"redundant: {name}" for name in self.redundant]
        return "\n".join(out)

    def _cells(self, k: int) -> list[str]:
        """The line of a body: "given" for what is as it was given, else how far it is from that or from nothing."""
        changed = {change.quantity for change in self.changes if change.body == self.names[k]}
        known = self.given[k] if self.given else INITIAL_VALUES
        sizes = (self.moved[k], self.turned[k], self.velocity_change[k], self.spin_change[k])
        return [self.names[k]] + [
            f"{size:.3g} changed" if what in changed else "given" if what in known else f"{size:.3g} found"
            for what, size in zip(INITIAL_VALUES, sizes, strict=True)
        ]


def _shown(values: Vec) -> str:
    small = 1e-9 * max(1.0, float(np.max(np.abs(values))))
    return f"({', '.join(f'{0.0 if abs(x) < small else x:.6g}' for x in values)})"


# ------------------------------------------------------------ starts


@final
@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A consistent state (t0, y0, yd0), and how it was found."""

    t0: float
    y0: Vec
    yd0: Vec
    assembly: Assembly


def consistent_start(view: Interpretation, t: float, y: Vec, assembly: Assembly) -> Start:
    """The start at (t, y) with the rates and multipliers that belong to its positions and velocities; those of the
    kinematic correction are zero."""
    workspace, layout = view.workspace, view.workspace.layout
    n = layout.n_differential
    y0, yd0 = y.copy(), np.zeros(layout.n)
    solve_unknowns(view, np.array([t]), y0[None], near=False)
    found = rates_by_numpy(workspace, t, y0)
    rates, la = view.rates_of_selection(t, y0) if found is None else (found[:n], found[n:])
    yd0[:n] = rates
    if workspace.settings.formulation.multipliers == "integrals":
        yd0[layout.la] = layout.among_unknowns(la)
    elif workspace.settings.formulation.multipliers == "values":
        y0[layout.la] = layout.among_unknowns(la)
        y0[layout.mu] = 0.0
    return Start(t, y0, yd0, assembly)


def solve_unknowns(view: Interpretation, t: Vec, y: Mat, *, near: bool = True) -> None:
    """Write the algebraic unknowns of forces into rows y (m, n) at times (m,), in place: those `near` the values that
    are there, or from the start values of their elements.

    Raises
    ------
    ValueError
        with the names of the unknowns and the time, where there is no solution
    """
    workspace, s = view.workspace, view.workspace.layout.s
    forces = workspace.memory.model.forces
    if forces.algebraic.any():
        Z = np.concatenate([view.natural(t, y), np.broadcast_to(GROUND, (len(t), 1, 24))], axis=1)
        y[:, s] = forces.with_unknowns(t, Z, y[:, s], workspace.selection.inputs, near=near)

"""The start of a problem: a consistent state, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.problem.assembly_report import Assembly
from rbdae.problem.interpretation import Interpretation


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
    rates, la = view.rates_of_selection(t, y0)
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
    forces = workspace.memory.filled.like.forces
    if forces.algebraic.any():
        ground = np.concatenate([np.zeros(3), np.eye(3).ravel(), np.zeros(12)])
        Z = np.concatenate([view.natural(t, y), np.broadcast_to(ground, (len(t), 1, 24))], axis=1)
        y[:, s] = forces.with_unknowns(t, Z, y[:, s], workspace.selection.inputs, near=near)

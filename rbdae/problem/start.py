"""The start of a problem: a consistent state, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Vec
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
    forces = workspace.memory.filled.like.forces
    if forces.algebraic.any():
        ground = np.concatenate([np.zeros(3), np.eye(3).ravel(), np.zeros(12)])
        Z = np.vstack([view.natural(t, y), ground])
        y0[layout.s] = forces.with_unknowns(t, Z, y[layout.s], workspace.selection.inputs)
    rates, la = view.rates_of_selection(t, y0)
    yd0[:n] = rates
    if workspace.settings.formulation.multipliers == "integrals":
        yd0[layout.la] = layout.among_unknowns(la)
    elif workspace.settings.formulation.multipliers == "values":
        y0[layout.la] = layout.among_unknowns(la)
        y0[layout.mu] = 0.0
    return Start(t, y0, yd0, assembly)

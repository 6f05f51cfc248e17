"""The independent velocities of systems with loops: selected again where T = [G; S]^-1 [0; I] has grown.

A mechanism can leave the region in which its constant S is good. A run therefore watches the size of T after every
accepted step. Positions and velocities stay; nu are other numbers for them. For one-step methods this costs nothing but
the choice of a first step; multistep codes begin at order one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np

from rbdae._arrays import Vec
from rbdae.formulations.null_space import growth
from rbdae.multibody.choices.selection import Selection
from rbdae.multibody.choices.velocity_selection import spatial_columns
from rbdae.problem.contract import Quiet
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.switches.base import ROUNDING, AbstractSwitch, measured


@final
class VelocitySwitch(AbstractSwitch):
    """Due where a column of T has grown by more than `limit` since S was selected."""

    limit = 2.0

    @classmethod
    def needed(cls, view: Interpretation) -> bool:
        """For the null-space form of systems with loops."""
        return view.workspace.selection.velocities is not None

    def measure(self, t: float, y: Vec) -> float:
        """Largest growth of a column of T."""
        return self.view.growth(t, y)

    def quiet(self) -> Quiet | None:
        """Growths below the limit."""
        return measured(self.view.workspace, growth, 1, high=self.limit * (1.0 - ROUNDING))

    def next(self, t: float, y: Vec, selection: Selection) -> Selection:
        """S from the null space of G at (t, y)."""
        settings = self.view.workspace.settings
        G = self.view.matrices(t, y, sparse=True).G if settings.sparse else self.view.joint_matrix(t, y)
        if settings.kind.spatial and not settings.sparse:
            d = self.view.natural(t, y)[:, 3:12].reshape(-1, 3, 3)
            G = spatial_columns(G, np.swapaxes(d, 1, 2))
        chosen = self.view.workspace.memory.metric.select(G, settings.n_independent)
        return replace(selection, velocities=chosen)

"""Systems with redundant joint equations: the subset that is kept is selected again when it becomes ill-conditioned.

A set of equations that carries the others at the start need not do so along the whole motion. After accepted steps, in
machine code, the dropped equations are written by the kept ones: g = c G. When (1 + |c|^2)^(-1/2) has fallen to a
quarter of what it was at the selection, others are selected. The motion is unaffected: positions and velocities change
only by the drift that the projection removes; the multipliers are redistributed.

When a mechanism of several loops passes a singular position, equations follow from the others for a short time. Let
sigma be the sine between the gradient of such an equation and those of the others; it passes zero linearly in time. The
motion is smooth, but the multiplier has a pole, la = F/sigma, with F the force that the mechanism cannot resist there.
A violation delta of the constraints makes an error delta/sigma in the acceleration, and velocities across the motion
grow as delta/sigma^2 on the way. Suspending the equation makes an error F while sigma is small, so that of the velocity
is in proportion to sigma. Both are equal at sigma = (delta/F)^(1/3), which for the rounding to which states are
projected is about 1e-4, the root of `SUSPENDED_FROM`; the projection removes the rest beyond. ([BL96] regularise by
penalties, which act everywhere.)

That is done in the factorisation that the forms without multipliers and the projection share
(`rbdae.kernels.linear.saddle`). Without projection a passage leaves a drift that has grown some thousandfold by the
next. Forms with multipliers as unknowns have to follow them into the pole, and the null-space form, whose T has one
too, is left as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np

from rbdae._arrays import Vec
from rbdae.kernels.joint_rows import pivots
from rbdae.multibody.choices.row_selection import SUSPENDED_FROM, WEAKENED, closeness, redundant_rows, strength
from rbdae.multibody.choices.selection import KeptRows, Selection
from rbdae.multibody.code.bound import BoundKernel
from rbdae.multibody.memory.workspace import Workspace
from rbdae.problem.contract import Quiet
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.switches.base import ROUNDING, AbstractSwitch

NEAR = 0.1
"""No other rows are selected where the joints are nearer to a singular position than this fraction of the start."""


def with_pivot_floor(workspace: Workspace, rows: KeptRows, t: float, y: Vec, fraction: float) -> KeptRows:
    """The rows, with floors of this fraction of their pivots at (t, y)."""
    bare, found = replace(rows, pivot_floor=np.zeros(workspace.layout.n_rows)), np.empty(workspace.layout.n_rows)
    BoundKernel(workspace.with_selection(replace(workspace.selection, rows=bare)), pivots)(t, y, found)
    return replace(rows, pivot_floor=fraction * found)


@final
class RowSwitch(AbstractSwitch):
    """Considered where the strength of the kept rows has fallen to `WEAKENED` of what it was."""

    @classmethod
    def needed(cls, view: Interpretation) -> bool:
        """For systems with dropped rows."""
        return bool(view.workspace.selection.rows.dropped)

    def begin(self, t: float, y: Vec) -> None:
        """Set the limit: the need of the kept rows at which they are weak."""
        self.limit = self.selection.rows.most_needed(WEAKENED)

    def measure(self, t: float, y: Vec) -> float:
        """How much the dropped rows need of the kept ones."""
        return float(self.view.independence(t, y)[-1])

    def quiet(self) -> Quiet | None:
        """Needs below the limit."""
        measure, high = self.view.compiled_independence, np.full(self.view.workspace.layout.n_rows + 1, np.inf)
        high[-1] = self.limit * (1.0 - ROUNDING)
        return None if measure is None else Quiet(measure, len(high), high=high)

    def next(self, t: float, y: Vec, selection: Selection) -> Selection:
        """Other rows, if there are better ones and the position is not singular, which no choice mends."""
        view, rows = self.view, selection.rows
        n = len(rows.dropped)
        G = view.joint_matrix(t, y)
        if closeness(view.model, G, n) < NEAR * rows.closeness:
            return selection
        dropped = redundant_rows(view.model, G, prefer_trees=False, at_least=n)
        if len(dropped) != n or set(dropped) == set(rows.dropped):
            return selection
        chosen = KeptRows(dropped, strength(view.model, G, dropped), rows.closeness)
        if rows.pivot_floor is not None:
            chosen = with_pivot_floor(view.workspace, chosen, t, y, SUSPENDED_FROM)
        return replace(selection, rows=chosen)

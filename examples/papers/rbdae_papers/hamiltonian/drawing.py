"""The picture of [BS09], Figures 1 and 3: invariants of QUAT.EM, and errors of all schemes over the step size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from rbdae._figure import COLOURS, new_figure
from rbdae_papers.finding import Finding
from rbdae_papers.hamiltonian.schemes import SCHEMES, look
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {"value": "energy", "L1": "L₁", "L2": "L₂", "L3": "L₃"}


def draw_kept_and_errors(
    finding: Finding, heading: str, columns: Iterable[str], run: str, error: str, factor: float
) -> Figure:
    """Draw columns along the run named `run`, and errors over steps named `error`; the line of order two is `factor`
    times the square of the step."""
    figure = new_figure("papers", (9.6, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    t = finding.column("t", what="kept")
    for column, colour in zip(columns, COLOURS, strict=False):
        left.plot(t, 1e15 * finding.column(column, what="kept"), color=colour, linewidth=1.0, label=_NAMES[column])
    framed(left, run, "t [s]", "relative change, 1e-15")
    left.legend(fontsize="small", frameon=False)
    for scheme in SCHEMES:
        steps, errors = (finding.column(name, what="error", scheme=scheme) for name in ("step", "value"))
        right.loglog(steps, errors, **look(scheme))
    guide = np.array([steps.min(), steps.max()])
    right.loglog(guide, factor * guide**2, color="0.45", linewidth=0.9, label="order 2")
    right.set_xticks(steps, [f"{step:g}" for step in steps])
    right.set_xticks([], minor=True)
    framed(right, "after 1 s", "step [s]", error)
    figure.legend(
        *right.get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize="small", frameon=False
    )
    figure.suptitle(heading, fontsize="medium")
    return figure

"""How many equations a problem has."""

from __future__ import annotations

from rbdae.multibody.workspace import Workspace


def count_equations(workspace: Workspace) -> int:
    """The number of equations: more than unknowns for the overdetermined forms. Those that repeat a constraint do so
    for kept joint rows; where there are multipliers, the others say once more that theirs are zero."""
    settings, layout = workspace.settings, workspace.layout
    further = len(settings.formulation.further_levels)
    if settings.reduced:
        joints = layout.n_rows - len(workspace.selection.rows.dropped)
        rows = workspace.model.n * len(settings.chart.internal) + joints
    else:
        rows = layout.n_constraints
    return layout.n + further * rows

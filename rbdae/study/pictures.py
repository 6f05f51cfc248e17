"""The rows of a study as a work-precision picture. Matplotlib is imported when the first one is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rbdae.study.one_run import Row, Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Point = tuple[float, float, float]
"""Evaluations, seconds, largest error."""
_Curves = dict[tuple[str, str], list[_Point]]
"""Points by form and solver."""

_MARKERS = "osv^Dx+*"
_SMALLEST = 1e-16
"""Drawn in place of a smaller error: rounding may leave none, and a logarithmic axis cannot show zero."""


def work_precision(comparison: Rows) -> Figure:
    """Largest error over evaluations and over seconds, one curve for each form and solver.

    Raises
    ------
    ImportError
        without matplotlib
    ValueError
        if no run reached the end
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("the picture needs matplotlib: run `pip install 'rbdae[plot]'`") from None
    curves = _curves(comparison.rows)
    if not curves:
        raise ValueError("there is nothing to draw: no run got to the end")
    figure = Figure(figsize=(12.0, 6.5), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    _draw(curves, axes)
    axes[0].set_ylabel(f"largest relative error at t = {comparison.reference.t_end:g} s")
    axes[0].set_xlabel("evaluations of residual or right-hand side")
    axes[1].set_xlabel("seconds")
    for axis in axes:
        axis.grid(True, which="major", alpha=0.3)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small")
    return figure


def _curves(rows: Iterable[Row]) -> _Curves:
    """Points of the runs that reached the end."""
    curves: _Curves = {}
    for row in rows:
        if row.errors is not None:
            point = (row.stats.evaluations, row.stats.seconds, max(row.errors.largest, _SMALLEST))
            curves.setdefault((row.case.form, row.case.solver), []).append(point)
    return curves


def _draw(curves: _Curves, axes: Iterable[Axes]) -> None:
    """A colour for each form and a marker for each solver."""
    solvers = list(dict.fromkeys(solver for _, solver in curves))
    forms = list(dict.fromkeys(form for form, _ in curves))
    for (form, solver), points in curves.items():
        evaluations, seconds, error = zip(*points, strict=True)
        for axis, work in zip(axes, (evaluations, seconds), strict=True):
            axis.loglog(
                work,
                error,
                marker=_MARKERS[solvers.index(solver) % len(_MARKERS)],
                color=f"C{forms.index(form) % 10}",
                linewidth=1.0,
                markersize=4.0,
                label=f"{form}: {solver}",
            )


__all__ = ["work_precision"]

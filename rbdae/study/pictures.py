"""The rows of a study as a work-precision picture. Matplotlib is imported when the first one is made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rbdae import _check
from rbdae.plotting.figures import plain
from rbdae.study.one_run import Row, Rows
from rbdae.study.ranking import Curve, error_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_Curves = dict[Curve, list[Row]]

MOST = 10
"""Curves that can be told apart in one picture."""

# colours of Okabe and Ito, which everybody can tell apart, and two more; no two neighbours have one line or marker
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00", "#7F3C8D", "#8C564B", "#7F7F7F")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
_STYLES = ("-", "--", "-.", ":")


def work_precision(comparison: Rows, curves: Iterable[Curve] | None = None) -> Figure:
    """Largest error over evaluations and over seconds; see `Comparison.plot`."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("the picture needs matplotlib: run `pip install 'rbdae[plot]'`") from None
    every = curves_of(comparison.rows)
    if not every:
        raise ValueError("there is nothing to draw: no run got to the end")
    chosen = best_curves(every) if curves is None else _checked(curves, every)
    figure = Figure(figsize=(12.0, 5.2 + 0.24 * math.ceil(len(chosen) / 2)), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for number, curve in enumerate(chosen):
        _draw(axes, number, curve, every[curve])
    agreement = comparison.reference.agreement.largest
    axes[0].set_ylabel(f"largest relative error at t = {comparison.reference.t_end:g} s")
    axes[0].set_xlabel("evaluations of residual or right-hand side")
    axes[1].set_xlabel("seconds of the processor")
    for axis in axes:
        axis.grid(True, which="major", alpha=0.3)
        _scale(axis.xaxis)
        if axis.get_ylim()[0] < agreement:
            axis.axhspan(axis.get_ylim()[0], agreement, color="0.9", zorder=0)
            axis.margins(y=0.0)
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=2,
        fontsize="small",
        title=_note(comparison.rows, len(every) - len(chosen), agreement, axes[0].get_ylim()[0]) or None,
        title_fontsize="small",
    )
    return figure


def _scale(axis: Axis) -> None:
    """Numbers at 1, 2 and 5 of each decade: a picture may span less than one."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(base=10.0, subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def curves_of(rows: Iterable[Row]) -> _Curves:
    """Rows that reached the end, by form and solver, the loosest tolerance, or the largest step, first."""
    out: _Curves = {}
    for row in sorted(rows, key=lambda row: -row.case.knob):
        if row.errors is not None:
            out.setdefault(row.case.curve, []).append(row)
    return out


def best_curves(every: _Curves) -> list[Curve]:
    """The best curve of each formulation, and then the next best ones of each form; the first in the table's order."""
    order = sorted(every, key=lambda curve: _cost(every[curve]))
    chosen: list[Curve] = []
    for key in (_formulation, _form, _solver, _itself):
        for curve in order:
            if len(chosen) < MOST and curve not in chosen and not any(key(curve) == key(other) for other in chosen):
                chosen.append(curve)
    return sorted(chosen, key=list(every).index)


def _formulation(curve: Curve) -> str:
    return curve[0].partition(",")[0]


def _form(curve: Curve) -> str:
    return curve[0]


def _solver(curve: Curve) -> tuple[str, str]:
    return _formulation(curve), curve[1]


def _itself(curve: Curve) -> Curve:
    return curve


def _cost(rows: Sequence[Row]) -> float:
    """How far a curve lies to the right and above: the mean logarithm of seconds and error."""
    return sum(math.log(max(row.stats.seconds, 1e-9)) + 0.2 * math.log(error_of(row)) for row in rows) / len(rows)


def _checked(curves: Iterable[Curve], every: _Curves) -> list[Curve]:
    if isinstance(curves, (str, bytes)) or not isinstance(curves, Iterable):
        raise TypeError(
            f"curves must be a list of pairs (form, solver), got {_check.show(curves)}; pass e.g. "
            f"[{next(iter(every))!r}]"
        )
    given = [tuple(curve) if isinstance(curve, list) else curve for curve in curves]
    for curve in given:
        if curve not in list(every):
            listed = ", ".join(map(repr, every))
            raise ValueError(f"curves: there is no curve {_check.show(curve)}; choose from {listed}")
    if not 0 < len(given) <= MOST:
        raise ValueError(f"curves must be 1 to {MOST} pairs, got {len(given)}; more cannot be told apart")
    return list(dict.fromkeys(given))


def _draw(axes: Sequence[Axes], number: int, curve: Curve, rows: Sequence[Row]) -> None:
    """One curve in both panels: colour, marker and line of its own."""
    errors = [error_of(row) for row in rows]
    for axis, work in zip(axes, ("evaluations", "seconds"), strict=True):
        axis.loglog(
            [max(getattr(row.stats, work), 0) or math.nan for row in rows],
            errors,
            color=_COLORS[number],
            marker=_MARKERS[number],
            linestyle=_STYLES[number % len(_STYLES)],
            linewidth=1.3,
            markersize=5.5,
            label=plain(f"{curve[0]}: {curve[1]}"),
        )


def _note(rows: Sequence[Row], left_out: int, agreement: float, bottom: float) -> str:
    """A note of what is not in the picture, and what the grey band is."""
    failed = sum(bool(row.failure) for row in rows)
    said = []
    if failed:
        said.append(f"{failed} of {len(rows)} runs failed and are not shown")
    if left_out:
        said.append(f"{left_out} more curves are not drawn: the best of each formulation come first")
    if bottom < agreement:
        said.append(f"grey: below {agreement:.0e}, where the references differ")
    return "; ".join(said)


__all__ = ["MOST", "best_curves", "curves_of", "work_precision"]

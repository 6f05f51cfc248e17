"""The rows of a study as a work-precision picture. Matplotlib is imported when the first one is made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from rbdae import _check
from rbdae.show.figures import plain
from rbdae.study.one_run import Row, Rows
from rbdae.study.ranking import Curve, error_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_Curves = dict[Curve, list[Row]]

MOST = 10
"""Curves that can be told apart in one picture."""

# colours of Okabe and Ito, which everybody can tell apart, and more; no two neighbours have one line or marker
_COLORS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00", "#7F3C8D", "#8C564B", "#7F7F7F"),
    *("#BCBD22", "#17BECF"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h")
_STYLES = ("-", "--", "-.", ":")


def work_precision(comparison: Rows, curves: Iterable[Curve] | Mapping[str, Iterable[Curve]] | None = None) -> Figure:
    """Largest error over evaluations and over seconds; see `Comparison.plot`."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("the picture needs matplotlib: run `pip install matplotlib`") from None
    every = curves_of(comparison.rows)
    if not every:
        raise ValueError("there is nothing to draw: no run got to the end")
    if isinstance(curves, Mapping):
        return _columns(comparison, {name: _checked(listed, every) for name, listed in curves.items()}, every)
    chosen = best_curves(every) if curves is None else _checked(curves, every)
    figure = Figure(figsize=(12.0, 5.2 + 0.24 * math.ceil(len(chosen) / 2)), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for number, curve in enumerate(chosen):
        _draw(axes, number, curve, every[curve], plain(f"{curve[0]}: {curve[1]}"))
    axes[0].set_ylabel(_error_of(comparison))
    _framed(axes, comparison.reference.agreement.largest)
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=2,
        fontsize="small",
        title=_note(comparison, len(every) - len(chosen), axes[0].get_ylim()[0]) or None,
        title_fontsize="small",
    )
    return figure


def _columns(comparison: Rows, columns: Mapping[str, Sequence[Curve]], every: _Curves) -> Figure:
    """A column of panels for each list, with a legend of its own below; a form has one colour in all of them."""
    from matplotlib.figure import Figure

    if not columns:
        raise ValueError("curves must not be empty, got {}; pass e.g. {'IDA': [...]}")
    forms = list(dict.fromkeys(curve[0] for listed in columns.values() for curve in listed))
    most = max(map(len, columns.values()))
    figure = Figure(figsize=(1.2 + 4.0 * len(columns), 7.4 + 0.21 * most), layout="constrained")
    panels = figure.subplots(2, len(columns), sharey=True, squeeze=False)
    for (heading, listed), column in zip(columns.items(), panels.T, strict=True):
        methods = list(dict.fromkeys(method for _, method in listed))
        for curve in listed:
            label = plain(curve[0] if len(methods) == 1 else f"{curve[0]}:\n{curve[1]}")
            _draw(column, forms.index(curve[0]) % len(_COLORS), curve, every[curve], label, methods.index(curve[1]))
        column[0].set_title(plain(heading), fontsize="medium")
        column[1].legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize="x-small", frameon=False, handlelength=3
        )
    for axis in panels[:, 0]:
        axis.set_ylabel(_error_of(comparison))
    _framed(list(panels.T.flat), comparison.reference.agreement.largest)
    note = _note(comparison, 0, panels[0, 0].get_ylim()[0])
    if note:
        figure.supxlabel(note, fontsize="small")
    return figure


_WORK = {"evaluations": "evaluations of residual or right-hand side", "seconds": "seconds of the processor"}


def _error_of(comparison: Rows) -> str:
    return comparison.reference.axis


def _framed(axes: Sequence[Axes], agreement: float) -> None:
    """What the panels show across, by turns; grids, numbers, and the band where errors mean nothing."""
    bottom = axes[0].get_ylim()[0]
    for axis, label in zip(axes, cycle(_WORK.values()), strict=False):
        axis.set_xlabel(label)
        axis.grid(True, which="major", alpha=0.3)
        _scale(axis.xaxis)
        if bottom < agreement:
            axis.axhspan(bottom, agreement, color="0.9", zorder=0)
    axes[0].set_ylim(bottom=bottom)


def _scale(axis: Axis) -> None:
    """Numbers at 1, 2 and 5 of each decade, for a picture may span less than one; fewer or more as it spans."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    densest = ((4.0, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)), (30.0, (1.0, 2.0, 5.0)), (300.0, (1.0, 3.0)), (math.inf, (1.0,)))
    subs = next(subs for span, subs in densest if high < span * low)
    axis.set_major_locator(LogLocator(base=10.0, subs=subs))
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


def _draw(axes: Sequence[Axes], number: int, curve: Curve, rows: Sequence[Row], label: str, dashes: int = -1) -> None:
    """One curve in both panels: colour, marker and, with no dashes given, line of its own."""
    errors = [error_of(row) for row in rows]
    for axis, work in zip(axes, _WORK, strict=True):
        axis.loglog(
            [max(getattr(row.stats, work), 0) or math.nan for row in rows],
            errors,
            color=_COLORS[number],
            marker=_MARKERS[number],
            linestyle=_STYLES[(number if dashes < 0 else dashes) % len(_STYLES)],
            linewidth=1.3,
            markersize=5.5,
            label=label,
        )


def _note(comparison: Rows, left_out: int, bottom: float) -> str:
    """A note of what is not in the picture, and what the grey band is."""
    rows, agreement = comparison.rows, comparison.reference.agreement.largest
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

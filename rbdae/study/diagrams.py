"""Work-precision diagrams of a study: error, energy and drift over work, a curve for each form and solver.

`picture` draws them for a file by matplotlib, `figures` for a page by plotly, from the same axes, curves and choice of
the best ones. Both packages are imported when the first diagram is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rbdae import _check
from rbdae.show.figures import new_figure, plain
from rbdae.show.page import SYMBOLS, as_json, escaped, layout, powers, style
from rbdae.show.page import Figure as PageFigure
from rbdae.show.page import axis as page_axis
from rbdae.show.page import number as shown
from rbdae.study.one_run import Row
from rbdae.study.ranking import Curve, curves_of, error_of
from rbdae.study.references import Reference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_Curves: TypeAlias = dict[Curve, list[Row]]
_Axis: TypeAlias = tuple[str, Callable[[Row], float]]
"""What an axis says, and its value of a row."""

MOST = 10
"""Curves that can be told apart in one picture."""

EVALUATIONS: _Axis = ("evaluations of residual or right-hand side", lambda row: float(row.stats.evaluations))
SECONDS: _Axis = ("seconds of the processor", lambda row: row.stats.seconds)
ENERGY: _Axis = ("error of energy, relative", lambda row: row.energy_error)
DRIFT: _Axis = ("position drift [SI]", lambda row: row.position_drift)
WORK = (EVALUATIONS, SECONDS)

# colours of Okabe and Ito, which everybody can tell apart, and more; no two neighbours have one line or marker
_COLORS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00", "#7F3C8D", "#8C564B", "#7F7F7F"),
    *("#BCBD22", "#17BECF"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h")
_STYLES = ("-", "--", "-.", ":")


def best_curves(every: _Curves) -> list[Curve]:
    """The best curve of each formulation, and then the next best ones of each form; the first in the table's order."""

    def cost(curve: Curve) -> float:
        """How far a curve lies to the right and above: the mean logarithm of seconds and error."""
        rows = every[curve]
        return sum(math.log(max(r.stats.seconds, 1e-9)) + 0.2 * math.log(error_of(r)) for r in rows) / len(rows)

    groups: tuple[Callable[[Curve], Any], ...] = (
        lambda curve: curve[0].partition(",")[0],
        lambda curve: curve[0],
        lambda curve: (curve[0].partition(",")[0], curve[1]),
        lambda curve: curve,
    )
    chosen: list[Curve] = []
    for group in groups:
        for curve in sorted(every, key=cost):
            if len(chosen) < MOST and group(curve) not in map(group, chosen):
                chosen.append(curve)
    return sorted(chosen, key=list(every).index)


def below(rows: Iterable[Row], reference: Reference) -> str:
    """A note on the grey band where errors mean nothing; empty if no run comes there."""
    agreement = reference.agreement.largest
    if not any(error_of(row) < agreement for row in rows):
        return ""
    return f"grey: below {agreement:.0e}, where the references differ"


# ---------------------------------------------------------------- a picture


def picture(
    rows: Sequence[Row], reference: Reference, curves: Iterable[Curve] | Mapping[str, Iterable[Curve]] | None = None
) -> Figure:
    """Largest error over evaluations and over seconds; see `Comparison.plot`."""
    every = curves_of(rows)
    if not every:
        raise ValueError("there is nothing to draw: no run got to the end")
    if isinstance(curves, Mapping):
        columns = {heading: _checked(listed, every) for heading, listed in curves.items()}
        if not columns:
            raise ValueError("curves must not be empty, got {}; pass e.g. {'IDA': [...]}")
        return _columns(rows, reference, columns, every)
    chosen = best_curves(every) if curves is None else _checked(curves, every)
    size = (12.0, 5.2 + 0.24 * math.ceil(len(chosen) / 2))
    figure = new_figure("the picture", size, layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for number, curve in enumerate(chosen):
        _draw(axes, every[curve], number, number, plain(f"{curve[0]}: {curve[1]}"))
    note = _finished(axes, rows, reference, len(every) - len(chosen))
    look: dict[str, Any] = {"ncols": 2, "fontsize": "small", "title": note or None, "title_fontsize": "small"}
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", **look)
    return figure


def _columns(
    rows: Sequence[Row], reference: Reference, columns: Mapping[str, Sequence[Curve]], every: _Curves
) -> Figure:
    """A column of panels for each list, with a legend of its own below; a form has one colour in all of them."""
    forms = list(dict.fromkeys(curve[0] for listed in columns.values() for curve in listed))
    size = (1.2 + 4.0 * len(columns), 7.4 + 0.21 * max(map(len, columns.values())))
    figure = new_figure("the picture", size, layout="constrained")
    panels = figure.subplots(2, len(columns), sharey=True, squeeze=False)
    for (heading, listed), column in zip(columns.items(), panels.T, strict=True):
        methods = list(dict.fromkeys(method for _, method in listed))
        for curve in listed:
            label = plain(curve[0] if len(methods) == 1 else f"{curve[0]}:\n{curve[1]}")
            _draw(column, every[curve], forms.index(curve[0]), methods.index(curve[1]), label)
        column[0].set_title(plain(heading), fontsize="medium")
        look: dict[str, Any] = {"fontsize": "x-small", "frameon": False, "handlelength": 3}
        column[1].legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), **look)
    note = _finished(list(panels.T.flat), rows, reference, 0)
    panels[1, 0].set_ylabel(reference.axis)
    if note:
        figure.supxlabel(note, fontsize="small")
    return figure


def _draw(axes: Sequence[Any], rows: Sequence[Row], number: int, dashes: int, label: str) -> None:
    """One curve over both kinds of work."""
    look = {"color": _COLORS[number % len(_COLORS)], "marker": _MARKERS[number % len(_MARKERS)]}
    look |= {"linestyle": _STYLES[dashes % len(_STYLES)], "label": label}
    for axis, (_, work) in zip(axes, WORK, strict=True):
        x = [value if (value := work(row)) > 0.0 else math.nan for row in rows]
        axis.loglog(x, [error_of(row) for row in rows], linewidth=1.3, markersize=5.5, **look)


def _finished(axes: Sequence[Any], rows: Sequence[Row], reference: Reference, left_out: int) -> str:
    """Labels, grids and the band where errors mean nothing; returns a note on what is not shown."""
    from matplotlib.ticker import LogLocator, NullFormatter

    bottom, agreement = axes[0].get_ylim()[0], reference.agreement.largest
    for axis, (label, _) in zip(axes, cycle(WORK), strict=False):
        axis.set_xlabel(label)
        axis.grid(True, which="major", alpha=0.3)
        low, high = axis.get_xlim()  # matplotlib's own numbers overlap where an axis spans few decades
        subs = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if high < 5.0 * low else (1.0, 2.0, 5.0) if high < 50.0 * low else (1.0,)
        axis.xaxis.set_major_locator(LogLocator(subs=subs))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter(NullFormatter())
        if bottom < agreement:
            axis.axhspan(bottom, agreement, color="0.9", zorder=0)
    axes[0].set_ylim(bottom=bottom)
    axes[0].set_ylabel(reference.axis)
    failed = sum(bool(row.failure) for row in rows)
    notes = [f"{failed} of {len(rows)} runs failed and are not shown"] if failed else []
    if left_out:
        notes.append(f"{left_out} more curves are not drawn: the best of each formulation come first")
    return "; ".join(filter(None, [*notes, below(rows, reference)]))


def _checked(curves: Iterable[Curve], every: _Curves) -> list[Curve]:
    if isinstance(curves, (str, bytes)) or not isinstance(curves, Iterable):
        raise TypeError(f"curves must be a list of pairs (form, solver), got {_check.show(curves)}")
    given = [tuple(curve) if isinstance(curve, list) else curve for curve in curves]
    for curve in given:
        if curve not in list(every):
            listed = ", ".join(map(repr, every))
            raise ValueError(f"curves: there is no curve {_check.show(curve)}; choose from {listed}")
    if not 0 < len(given) <= MOST:
        raise ValueError(f"curves must be 1 to {MOST} pairs, got {len(given)}; more cannot be told apart")
    return list(dict.fromkeys(given))


# ---------------------------------------------------------------- a page

_HEIGHT, _GAP = 760, 0.2


def figures(rows: Sequence[Row], reference: Reference) -> tuple[list[Curve], PageFigure, PageFigure]:
    """All curves, and two interactive figures of them: error over work, and energy and drift over seconds."""
    every = curves_of(rows)
    curves = [curve for curve in dict.fromkeys(row.case.curve for row in rows) if curve in every]
    note = below(rows, reference)
    error: _Axis = (reference.axis, error_of)
    precision, caption = _spec(every, curves, [(work, error) for work in WORK])
    if note:
        band = {"type": "rect", "x0": 0, "x1": 1, "y0": 1e-300, "y1": reference.agreement.largest, "layer": "below"}
        band |= {"fillcolor": "#e9ecef", "line": {"width": 0}}
        precision["layout"]["shapes"] = [{**band, "xref": f"x{k} domain", "yref": f"y{k}"} for k in ("", "2")]
        caption += f" {note[0].upper()}{note[1:]}."
    costs, other = _spec(every, curves, [(SECONDS, ENERGY), (SECONDS, DRIFT)])
    return (
        curves,
        PageFigure("work-precision", as_json(precision), _HEIGHT, caption),
        PageFigure("costs", as_json(costs), _HEIGHT, f"{other} Zeros are left out."),
    )


def _spec(every: _Curves, curves: Sequence[Curve], panels: Sequence[tuple[_Axis, _Axis]]) -> tuple[dict[str, Any], str]:
    """Plotly's figure of panels over one another, and its caption."""
    best = best_curves(every)
    forms, solvers = (list(dict.fromkeys(curve[k] for curve in curves)) for k in (0, 1))
    words = [form.split(", ") for form in forms]
    telling = [k for k in range(3) if k == 0 or len({tuple(form[k : k + 1]) for form in words}) > 1]
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for row, (across, up) in enumerate(panels):
        suffix = "" if row == 0 else str(row + 1)
        for k, curve in enumerate(curves):
            look = style(forms.index(curve[0]))
            symbol = SYMBOLS[solvers.index(curve[1]) % len(SYMBOLS)]
            form = ", ".join(curve[0].split(", ")[j] for j in telling if j < len(curve[0].split(", ")))
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": escaped(f"{form}: {curve[1]}"),
                    "legendgroup": str(k),
                    "meta": k,
                    "showlegend": row == 0,
                    "visible": True if curve in best else "legendonly",
                    "x": [_positive(across[1](each)) for each in every[curve]],
                    "y": [_positive(up[1](each)) for each in every[curve]],
                    "xaxis": f"x{suffix}",
                    "yaxis": f"y{suffix}",
                    "line": {**look, "width": 1.5},
                    "marker": {"symbol": symbol, "size": 8, "color": look["color"]},
                    "text": [_told(each) for each in every[curve]],
                    "hovertemplate": "%{text}<extra></extra>",
                }
            )
        top = 1.0 - row / len(panels)
        domain = [max(top - (1.0 - _GAP) / len(panels), 0.0), top]
        x, y = (np.array([quantity[1](each) for rows in every.values() for each in rows]) for quantity in (across, up))
        axes[f"xaxis{suffix}"] = page_axis(across[0], True, **powers(x), anchor=f"y{suffix}")
        axes[f"yaxis{suffix}"] = page_axis(up[0], True, **powers(y), anchor=f"x{suffix}", domain=domain)
    choices = {"best of each formulation": best, "all": curves, "none": []}
    buttons = [
        {
            "label": label,
            "method": "restyle",
            "args": [{"visible": [True if c in some else "legendonly" for c in curves] * len(panels)}],
        }
        for label, some in choices.items()
    ]
    menu = {"type": "buttons", "direction": "right", "x": 0.0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"}
    menu |= {"pad": {"b": 8}, "showactive": False, "bgcolor": "#ffffff", "bordercolor": "#c5ccd3", "buttons": buttons}
    margin = {"l": 78, "r": 16, "t": 52, "b": 46}
    look = layout(height=_HEIGHT, showlegend=True, updatemenus=[menu], margin=margin, **axes)
    caption = (
        "One colour and dashes a form, one symbol a solver. A click in the legend hides a curve, a double click shows "
        "only it; a filter of the table of runs shows its curves only."
    )
    if left := len(curves) - len(best):
        caption += f" {left} more curves come by a click in the legend, or with the buttons."
    return {"data": data, "layout": look}, caption


def _positive(value: float) -> float | None:
    """None for what a logarithmic axis cannot show."""
    return value if math.isfinite(value) and value > 0.0 else None


def _told(row: Row) -> str:
    """The text that a point says of its run."""
    stats, counted = row.stats, shown(None if row.stats.evaluations < 0 else row.stats.evaluations)
    return "<br>".join(
        [
            f"<b>{escaped(row.case.form)}</b>",
            f"{escaped(row.case.method)} at {row.case.at}",
            f"error {shown(error_of(row), 3)}",
            f"{counted} evaluations, {stats.steps} steps, {shown(stats.seconds, 3)} s",
            f"energy {shown(row.energy_error, 2)}, drift {shown(row.position_drift, 2)}",
        ]
    )

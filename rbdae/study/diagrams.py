"""Interactive diagrams of a study: what a run costs, and how good it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from rbdae.show.page import SYMBOLS, Figure, as_json, axis, escaped, layout, number, powers, style
from rbdae.study.one_run import Row, Rows
from rbdae.study.pictures import best_curves, curves_of
from rbdae.study.ranking import Curve, error_of

_Quantity: TypeAlias = tuple[str, Callable[[Row], float]]
"""What an axis says, and its value of a row."""

_HEIGHT = 760
_GAP = 0.2

_SECONDS: _Quantity = ("seconds of the processor", lambda row: row.stats.seconds)
_EVALUATIONS: _Quantity = ("evaluations of residual or right-hand side", lambda row: float(row.stats.evaluations))
_ENERGY: _Quantity = ("error of energy, relative", lambda row: row.energy_error)
_DRIFT: _Quantity = ("position drift [SI]", lambda row: row.position_drift)


def work_precision(study: Rows, curves: Sequence[Curve]) -> Figure:
    """Error over evaluations and over seconds, a curve for each form and solver."""
    error: _Quantity = (study.reference.axis, error_of)
    agreement = study.reference.agreement.largest
    below = any(error_of(row) < agreement for row in study.rows)
    band = f" Grey: below {agreement:.0e}, where the references differ." if below else ""
    return _figure("work-precision", study, curves, ((_EVALUATIONS, error), (_SECONDS, error)), agreement, band)


def costs(study: Rows, curves: Sequence[Curve]) -> Figure:
    """Energy and drift over seconds."""
    return _figure("costs", study, curves, ((_SECONDS, _ENERGY), (_SECONDS, _DRIFT)), math.nan, " Zeros are left out.")


def _figure(
    name: str,
    study: Rows,
    curves: Sequence[Curve],
    panels: Sequence[tuple[_Quantity, _Quantity]],
    agreement: float,
    note: str,
) -> Figure:
    every = curves_of(study.rows)
    best = set(best_curves(every))
    looks, names = _marking(curves), _names(curves)
    data = []
    axes: dict[str, Any] = {}
    for row, (across, up) in enumerate(panels):
        suffix = "" if row == 0 else str(row + 1)
        for k, curve in enumerate(curves):
            place = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "showlegend": row == 0}
            points = _points(every[curve], across, up) | looks[curve] | _visible(curve in best)
            data.append({"name": escaped(names[curve]), "legendgroup": str(k), "meta": k} | points | place)
        top = 1.0 - row / len(panels)
        domain = [max(top - (1.0 - _GAP) / len(panels), 0.0), top]
        rows = [each for of_curve in every.values() for each in of_curve]
        values = [np.array([quantity[1](each) for each in rows]) for quantity in (across, up)]
        axes[f"xaxis{suffix}"] = axis(across[0], True, **powers(values[0]), anchor=f"y{suffix}")
        axes[f"yaxis{suffix}"] = axis(up[0], True, **powers(values[1]), anchor=f"x{suffix}", domain=domain)
    spec = {
        "data": data,
        "layout": layout(
            height=_HEIGHT,
            showlegend=True,
            shapes=_bands(agreement, len(panels)),
            updatemenus=[_choices(curves, best, len(panels))],
            margin={"l": 78, "r": 16, "t": 52, "b": 46},
            **axes,
        ),
    }
    left = len(curves) - len(best)
    hidden = f" {left} more curves come by a click in the legend, or with the buttons." if left else ""
    caption = (
        "One colour and dashes a form, one symbol a solver. A click in the legend hides a curve, a double click shows "
        f"it alone; a filter of the table of runs shows its curves only.{hidden}{note}"
    )
    return Figure(name, as_json(spec), _HEIGHT, caption)


def _marking(curves: Iterable[Curve]) -> dict[Curve, dict[str, Any]]:
    """Colour and dashes by the form, symbols by the solver."""
    listed = list(curves)
    forms, solvers = (list(dict.fromkeys(curve[k] for curve in listed)) for k in (0, 1))
    out = {}
    for form, solver in listed:
        look = style(forms.index(form))
        symbol = SYMBOLS[solvers.index(solver) % len(SYMBOLS)]
        out[form, solver] = {
            "line": {**look, "width": 1.5},
            "marker": {"symbol": symbol, "size": 8, "color": look["color"]},
        }
    return out


def _names(curves: Iterable[Curve]) -> dict[Curve, str]:
    """Names for the legend, without what is the same in all forms."""
    listed = list(curves)
    words = [curve[0].split(", ") for curve in listed]
    alike = {k for k in (1, 2) if len({tuple(form[k : k + 1]) for form in words}) == 1}
    return {
        curve: f"{', '.join(word for k, word in enumerate(form) if k not in alike)}: {curve[1]}"
        for curve, form in zip(listed, words, strict=True)
    }


def _points(rows: Sequence[Row], across: _Quantity, up: _Quantity) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [_positive(across[1](row)) for row in rows],
        "y": [_positive(up[1](row)) for row in rows],
        "text": [_told(row) for row in rows],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _positive(value: float) -> float | None:
    """None for what a logarithmic axis cannot show."""
    return value if math.isfinite(value) and value > 0.0 else None


def _told(row: Row) -> str:
    """The text that a point says of its run."""
    counted = number(None if row.stats.evaluations < 0 else row.stats.evaluations)
    return "<br>".join(
        [
            f"<b>{escaped(row.case.form)}</b>",
            f"{escaped(row.case.method)} at {row.case.at}",
            f"error {number(error_of(row), 3)}",
            f"{counted} evaluations, {row.stats.steps} steps, {number(row.stats.seconds, 3)} s",
            f"energy {number(row.energy_error, 2)}, drift {number(row.position_drift, 2)}",
        ]
    )


def _visible(shown: bool) -> dict[str, Any]:
    return {"visible": True if shown else "legendonly"}


def _bands(agreement: float, panels: int) -> list[dict[str, Any]]:
    """The bands where errors are smaller than the references are good for."""
    if not math.isfinite(agreement) or agreement <= 0.0:
        return []
    suffixes = ["", *(str(row + 1) for row in range(1, panels))]
    return [
        {
            "type": "rect",
            "xref": f"x{suffix} domain",
            "yref": f"y{suffix}",
            "x0": 0,
            "x1": 1,
            "y0": 1e-300,
            "y1": agreement,
            "fillcolor": "#e9ecef",
            "line": {"width": 0},
            "layer": "below",
        }
        for suffix in suffixes
    ]


def _choices(curves: Sequence[Curve], best: set[Curve], panels: int) -> dict[str, Any]:
    """Buttons that show some of the curves."""

    def button(label: str, shown: Callable[[Curve], bool]) -> dict[str, Any]:
        visible = [_visible(shown(curve))["visible"] for curve in curves] * panels
        return {"label": label, "method": "restyle", "args": [{"visible": visible}]}

    return {
        "type": "buttons",
        "direction": "right",
        "x": 0.0,
        "xanchor": "left",
        "y": 1.0,
        "yanchor": "bottom",
        "pad": {"b": 8},
        "showactive": False,
        "bgcolor": "#ffffff",
        "bordercolor": "#c5ccd3",
        "buttons": [
            button("best of each formulation", lambda curve: curve in best),
            button("all", lambda curve: True),
            button("none", lambda curve: False),
        ],
    }


__all__ = ["costs", "work_precision"]

"""Interactive figures: panels over one another with curves by name, one entry of the legend for each name."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.plotting.abscissa import TIME, Abscissa
from rbdae.plotting.figures import COLOURS, thinned
from rbdae.reports.blocks import Figure

DASHES: Final = ("solid", "dash", "dot", "dashdot")
SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "triangle-down", "pentagon")

ENTRY = 24
"""Height of an entry of a legend, px."""

MOST = 2000
"""Points of a curve: more than a wide screen has columns."""

_PANEL, _FRAME = 165, 110  # heights, px
_TOOLBAR = 36  # px above the axes: plotly's buttons are there, and legends below them
_LONG = 16  # letters of a name that stands in one line beside a panel
_FEW = 60  # points of a curve that are marked one by one
_GAP = 0.08  # between panels, as a part of one
ROUNDING = 1e-15  # of the largest number in a figure
_GREY = "#d8dde2"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A curve of a panel.

    Attributes
    ----------
    name : in the legend; curves of one name have one colour and are hidden together
    x, y : (m,)
    number : of its colour and dashes
    shown : False for one that a click in the legend brings
    """

    name: str
    x: Vec
    y: Vec
    number: int
    shown: bool = True


@final
@dataclass(frozen=True, slots=True)
class Panel:
    """A diagram: what its vertical axis says, whether it is logarithmic, and its curves."""

    label: str
    curves: Sequence[Curve]
    logarithmic: bool = False
    marks: tuple[tuple[float, str], ...] = field(default=())
    """Times with a vertical line, and what happened then."""


def most_points(curves: int, total: int) -> int:
    """Points for each of some curves, so that a page has at most `total` of them; not fewer than 300, or `MOST`."""
    return int(np.clip(total // max(curves, 1), 300, MOST))


def escaped(text: str) -> str:
    """Text for plotly, which takes angle brackets for markup."""
    return html.escape(text, quote=False)


def style(number: int) -> dict[str, str]:
    """Colour and dashes of a curve: 28 that can be told apart."""
    return {"color": COLOURS[number % len(COLOURS)], "dash": DASHES[number // len(COLOURS) % len(DASHES)]}


def layout(**more: Any) -> dict[str, Any]:
    """The look of all figures."""
    base = {
        "font": {"family": "system-ui, sans-serif", "size": 12.5, "color": "#1d2733"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "#ffffff",
        "margin": {"l": 78, "r": 16, "t": _TOOLBAR, "b": 46},
        "hovermode": "closest",
        "hoverlabel": {"namelength": -1, "font": {"size": 12}},
        "legend": {"groupclick": "togglegroup", "font": {"size": 12}, "tracegroupgap": 2},
        "dragmode": "zoom",
    }
    return base | more


def axis(label: str, logarithmic: bool = False, **more: Any) -> dict[str, Any]:
    """The look of all axes."""
    out = {
        "title": {"text": escaped(label).replace("\n", "<br>"), "standoff": 8},
        "gridcolor": _GREY,
        "linecolor": "#8a949e",
        "showline": True,
        "mirror": True,
        "ticks": "outside",
        "ticklen": 4,
        "zeroline": False,
        "automargin": True,
        "tickformat": ".8~g",
    }
    return out | ({"type": "log"} if logarithmic else {}) | more


def over_time(
    name: str,
    panels: Sequence[Panel],
    most: int = MOST,
    caption: str = "",
    legend: bool = True,
    over: Abscissa = TIME,
) -> Figure:
    """Panels over one another with one axis, of the time or of a quantity; curves have at most `most` points."""
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    shapes: list[dict[str, Any]] = []
    seen: set[str] = set()
    largest = max((_largest(c.y) for panel in panels if not panel.logarithmic for c in panel.curves), default=0.0)
    for row, panel in enumerate(panels):
        number = "" if row == 0 else str(row + 1)
        for curve in panel.curves:
            place = {"xaxis": f"x{number}", "yaxis": f"y{number}", "showlegend": curve.name not in seen}
            data.append(_scatter(_rounded(curve, largest), panel.logarithmic, most, over) | place)
            seen.add(curve.name)
        last = row == len(panels) - 1
        top = 1.0 - row / len(panels)
        domain = [max(top - 1.0 / len(panels) + (0.0 if last else _GAP / len(panels)), 0.0), top]
        ticks = powers(*(curve.y for curve in panel.curves)) if panel.logarithmic else {}
        axes[f"yaxis{number}"] = axis(
            _in_two(panel.label), panel.logarithmic, **ticks, domain=domain, anchor=f"x{number}"
        )
        axes[f"xaxis{number}"] = axis(over.label if last else "", anchor=f"y{number}", showticklabels=last) | (
            {"matches": "x"} if row else {}
        )
        shapes += [_mark(float(over.at(np.array([t]))[0]), what, number) for t, what in panel.marks]
    # the legend may be longer than the panels
    height = max(_PANEL * len(panels) + _FRAME if len(panels) > 1 else 300, ENTRY * len(seen) + _FRAME)
    own = max(_PANEL * len(panels) + _FRAME, 300)  # without the legend
    spec = {"data": data, "layout": layout(height=height, showlegend=legend, shapes=shapes, **axes), "own": own}
    return Figure(name, as_json(spec), height, caption)


def _in_two(label: str) -> str:
    """A label in one or two lines: beside a panel there is no room for a long one."""
    name, bracket, unit = label.rpartition(" [")
    return f"{name}\n[{unit}" if bracket and len(name) > _LONG else label


def _largest(y: Vec) -> float:
    return float(np.max(np.abs(y), initial=0.0, where=np.isfinite(y)))


def _rounded(curve: Curve, largest: float) -> Curve:
    """Zero, where all of it is rounding of the largest number in the figure: an axis would magnify it."""
    size = _largest(curve.y)
    return replace(curve, y=np.zeros_like(curve.y)) if 0.0 < size < ROUNDING * largest else curve


def as_json(spec: Mapping[str, Any]) -> str:
    """Plotly's JSON, which may stand in a script of a page."""
    text = json.dumps(spec, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def numbers(values: Vec) -> dict[str, str]:
    """An array as plotly reads it, in single precision where that has the range: seven digits, half the space."""
    kind = "f4" if _fits(values) else "f8"
    return {"dtype": kind, "bdata": base64.b64encode(values.astype(f"<{kind}").tobytes()).decode("ascii")}


def _scatter(curve: Curve, logarithmic: bool, most: int, over: Abscissa) -> dict[str, Any]:
    y = positive(curve.y) if logarithmic else np.asarray(curve.y, dtype=float)
    here = thinned(y, most)
    x, look = np.asarray(over.at(np.asarray(curve.x, dtype=float)))[here], style(curve.number)
    return {
        "type": "scatter",
        # times are told apart by more than seven digits
        "x": {"dtype": "f8", "bdata": base64.b64encode(x.astype("<f8").tobytes()).decode("ascii")},
        "y": numbers(y[here]),
        "name": escaped(curve.name),
        "legendgroup": escaped(curve.name),
        "visible": True if curve.shown else "legendonly",
        "mode": "lines" if len(x) > _FEW else "lines+markers",
        "line": {**look, "width": 1.6, "simplify": False},
        "marker": {"color": look["color"], "size": 4},
        "hovertemplate": f"{escaped(over.name)} = %{{x:.6g}} {over.unit}<br>%{{y:.6g}}"
        "<extra>%{fullData.name}</extra>",
    }


def _mark(t: float, what: str, number: str) -> dict[str, Any]:
    """A vertical line at a time."""
    return {
        "type": "line",
        "xref": f"x{number}",
        "yref": f"y{number} domain",
        "x0": t,
        "x1": t,
        "y0": 0,
        "y1": 1,
        "name": escaped(what),
        "line": {"color": "#8a949e", "width": 1, "dash": "dot"},
    }


def powers(*values: Vec) -> dict[str, Any]:
    """Range and ticks of a logarithmic axis for these values: every power of ten, of few also their double and
    fivefold."""
    every = np.concatenate([positive(np.asarray(each, dtype=float)).ravel() for each in values] or [np.empty(0)])
    every = every[np.isfinite(every)]
    if not len(every):
        return {}
    lower, upper = float(np.log10(every.min())), float(np.log10(every.max()))
    room = max(0.06 * (upper - lower), 0.05)
    plain = lower >= -4.0 and upper <= 6.0
    decades = upper - lower
    return {
        "range": [lower - room, upper + room],
        "dtick": "D2" if decades < 2.5 else max(1, round(decades / 7.0)),
        "tickformat": ".6~g" if plain else "~e",
    }


def positive(y: Vec) -> Vec:
    """Without what a logarithmic axis cannot show."""
    with np.errstate(invalid="ignore"):
        return np.where(y > np.finfo(float).tiny, y, np.nan)


def _fits(y: Vec) -> bool:
    """Whether seven digits in single precision have the range of these numbers, which then take half the space."""
    size = np.abs(y[np.isfinite(y)])
    return bool(((size < 1e37) & ((size > 1e-37) | (size == 0.0))).all())


__all__ = [
    "DASHES",
    "ENTRY",
    "MOST",
    "ROUNDING",
    "SYMBOLS",
    "Curve",
    "Panel",
    "as_json",
    "axis",
    "escaped",
    "layout",
    "most_points",
    "numbers",
    "over_time",
    "positive",
    "powers",
    "style",
]

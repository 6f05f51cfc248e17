"""A page of headings, texts, tables and interactive figures in one HTML file that needs no network."""

from __future__ import annotations

import base64
import html
import json
import math
import os
import platform
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from rbdae._arrays import Vec
from rbdae._figure import COLOURS, thinned
from rbdae._version import __version__
from rbdae.output_files import replacing, writable
from rbdae.show.panels import Curve, Panel

Tone: TypeAlias = Literal["plain", "good", "warning", "failure", "code", "html"]
Value: TypeAlias = str | int | float | None

NOT_REPORTED: Final = "\N{EN DASH}"
"""Stands for None: an unreported count, or a number missing from a failed run."""
FAR: Final = "1.7e308"
"""Sort key of entries that are not numbers: they come last."""
DASHES: Final = ("solid", "dash", "dot", "dashdot")
SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "triangle-down", "pentagon")
ENTRY: Final = 24
"""Height of a legend entry, px."""
MOST: Final = 2000
"""Most points of a curve: more than a wide screen has columns."""

_INFINITE = "1.6e308"  # DataTables sorts finite numbers only
_FOLDER = Path(__file__).parent / "page"
_PANEL, _FRAME = 165, 110  # heights, px
_TOOLBAR = 36  # px above the axes for plotly's buttons; legends are below them
_LONG = 16  # letters of a name that fits in one line next to a panel
_POINTS = 15_000  # points of a figure, shared by its curves
_FEW = 60  # points of a curve that are marked individually
_GAP = 0.08  # between panels, as a part of one


# ---------------------------------------------------------------- blocks, which page/page.html draws


class Cell(NamedTuple):
    """The text shown in a table, and its sort key."""

    text: str
    order: str


class Facts(NamedTuple):
    pairs: tuple[tuple[str, str], ...]
    kind: str = "facts"


class Text(NamedTuple):
    """A paragraph, typed text, or rbdae's own HTML; `tone` also marks warnings and failures."""

    text: str
    tone: Tone = "plain"
    kind: str = "text"


class Table(NamedTuple):
    """A table that can be sorted and filtered, see `table`; columns have names and tooltips."""

    name: str
    head: tuple[tuple[str, str], ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]
    kind: str = "table"


class Figure(NamedTuple):
    """An interactive figure: `spec` is plotly's JSON, for the first moment if there is a `motion` for `page.js`."""

    name: str
    spec: str
    height: int
    caption: str = ""
    motion: Mapping[str, Any] | None = None
    kind: str = "figure"


Block: TypeAlias = Facts | Text | Table | Figure


class Section(NamedTuple):
    """A heading with its content and its entry in the table of contents."""

    heading: str
    blocks: tuple[Block, ...]


class Page(NamedTuple):
    heading: str
    under: str
    verdict: str
    tone: Tone
    sections: tuple[Section, ...]


def number(value: float | int | None, digits: int = 6) -> str:
    """A number as text: ``nan`` and infinities by name, None as a dash."""
    if value is None:
        return NOT_REPORTED
    if isinstance(value, int):
        return str(value)
    return f"{value + 0.0:.{digits}g}"  # without the sign of a zero


def cell(value: Value, digits: int = 6) -> Cell:
    if isinstance(value, str):
        return Cell(value, value)
    if value is None or math.isnan(value):
        return Cell(number(value), FAR)
    if math.isinf(value):
        return Cell(number(value), _INFINITE if value > 0 else f"-{_INFINITE}")
    return Cell(number(value, digits), repr(float(value)))


def table(name: str, head: Mapping[str, str], rows: Iterable[Sequence[Value | Cell]], digits: int = 6) -> Table:
    """A table of texts and numbers, or of cells; a column without texts is numeric. `name` is its id in the page,
    `head` has the names of columns with tooltips, `digits` are those of numbers."""
    given = [tuple(row) for row in rows]
    numeric = tuple(bool(given) and not any(isinstance(row[k], str) for row in given) for k in range(len(head)))
    cells = tuple(tuple(value if isinstance(value, Cell) else cell(value, digits) for value in row) for row in given)
    return Table(name, tuple(head.items()), numeric, cells)


# ---------------------------------------------------------------- figures, as plotly's data


def diagram(name: str, panels: Sequence[Panel], caption: str = "", legend: bool = True) -> Figure:
    """Panels above each other with a common time axis and one legend entry for each name."""
    most = int(np.clip(_POINTS // max(sum(len(panel.curves) for panel in panels), 1), 300, MOST))
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    seen: set[str] = set()
    for row, panel in enumerate(panels):
        suffix = "" if row == 0 else str(row + 1)
        for curve in panel.curves:
            place = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "showlegend": curve.name not in seen}
            data.append(_scatter(curve, panel.logarithmic, most) | place)
            seen.add(curve.name)
        last = row == len(panels) - 1
        top = 1.0 - row / len(panels)
        domain = [max(top - 1.0 / len(panels) + (0.0 if last else _GAP / len(panels)), 0.0), top]
        label, bracket, unit = panel.label.rpartition(" [")  # there is no room for a long one next to a panel
        label = f"{label}\n[{unit}" if bracket and len(label) > _LONG else panel.label
        axes[f"yaxis{suffix}"] = axis(label, panel.logarithmic, domain=domain, anchor=f"x{suffix}")
        axes[f"xaxis{suffix}"] = axis("t [s]" if last else "", anchor=f"y{suffix}", showticklabels=last)
        axes[f"xaxis{suffix}"] |= {"matches": "x"} if row else {}
    least_height = max(_PANEL * len(panels) + _FRAME, 300)  # without the legend, which may be taller than the panels
    height = max(least_height if len(panels) > 1 else 300, ENTRY * len(seen) + _FRAME)
    spec = {"data": data, "layout": layout(height=height, showlegend=legend, **axes), "own": least_height}
    return Figure(name, as_json(spec), height, caption)


def _scatter(curve: Curve, logarithmic: bool, most: int) -> dict[str, Any]:
    y = np.asarray(curve.y, dtype=float)
    y = np.where(y > 0.0, y, np.nan) if logarithmic else y
    here = thinned(y, most)
    x, look = np.asarray(curve.t, dtype=float)[here], style(curve.number)
    return {
        "type": "scatter",
        "x": numbers(x, "f8"),  # times need more than seven digits
        "y": numbers(y[here]),
        "name": escaped(curve.name),
        "legendgroup": escaped(curve.name),
        "mode": "lines" if len(x) > _FEW else "lines+markers",
        "line": {**look, "width": 1.6, "simplify": False},
        "marker": {"color": look["color"], "size": 4},
        "hovertemplate": "t = %{x:.6g} s<br>%{y:.6g}<extra>%{fullData.name}</extra>",
    }


def escaped(text: str) -> str:
    """Text for plotly, which reads angle brackets as markup."""
    return html.escape(text, quote=False)


def style(number: int) -> dict[str, str]:
    """Colour and dashes of a curve; 28 are distinct."""
    return {"color": COLOURS[number % len(COLOURS)], "dash": DASHES[number // len(COLOURS) % len(DASHES)]}


def layout(**more: Any) -> dict[str, Any]:
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
    out = {
        "title": {"text": escaped(label).replace("\n", "<br>"), "standoff": 8},
        "gridcolor": "#d8dde2",
        "linecolor": "#8a949e",
        "showline": True,
        "mirror": True,
        "ticks": "outside",
        "ticklen": 4,
        "zeroline": False,
        "automargin": True,
        "tickformat": ".8~g",
        "minorloglabels": "none",
    }
    return out | ({"type": "log", "tickformat": "", "exponentformat": "power"} if logarithmic else {}) | more


def as_json(spec: Mapping[str, Any]) -> str:
    """Plotly's JSON, safe within a page's script."""
    text = json.dumps(spec, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def numbers(values: Vec, kind: str = "") -> dict[str, str]:
    """An array for plotly, in single precision if its range suffices: seven digits, half the space."""
    size = np.abs(values[np.isfinite(values)])
    kind = kind or ("f4" if ((size < 1e37) & ((size > 1e-37) | (size == 0.0))).all() else "f8")
    return {"dtype": kind, "bdata": base64.b64encode(values.astype(f"<{kind}").tobytes()).decode("ascii")}


# ---------------------------------------------------------------- the file


def check_report(path: str | Path) -> Path:
    """The file for a report, checked by `writable`; ImportError if a package that writes reports is missing."""
    target = writable("report: path", path, "run.html", (".html",))
    missing = [name for name in ("plotly", "jinja2", "itables") if find_spec(name) is None]
    if missing:
        raise ImportError(f"a report needs {', '.join(missing)}: run `pip install {' '.join(missing)}`")
    return target


def write(page: Page, target: Path) -> Path:
    """Write a page and return its path. The template escapes the user's names and messages, and letters without an
    encoding, such as lone surrogates, are written as escapes."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    loader = FileSystemLoader(_FOLDER)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    spec = find_spec("itables")  # DataTables are in its folder; the package need not be imported
    assert spec is not None and spec.submodule_search_locations is not None, "check_report has asked for it"
    tables = Path(spec.submodule_search_locations[0]) / "html"
    text = environment.get_template("page.html").render(
        page=page,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        style=(_FOLDER / "page.css").read_text(encoding="utf-8"),
        script=(_FOLDER / "page.js").read_text(encoding="utf-8"),
        plotly=get_plotlyjs(),
        tables_style=(tables / "dt_bundle.css").read_text(encoding="utf-8"),
        # a module, which a page without a server cannot import from its own text
        tables_script=base64.b64encode((tables / "dt_bundle.js").read_bytes()).decode("ascii"),
    )
    with replacing(target) as new:
        new.write_bytes(text.encode("utf-8", "backslashreplace"))
    return target


def versions(packages: Mapping[str, str]) -> dict[str, str]:
    """Current versions by name: rbdae, its dependencies, more packages, Python, the machine and the date."""
    needs = {name: metadata.version(name) for name in ("numpy", "scipy", "llvmlite")}
    return {
        "rbdae": __version__,
        **needs,
        **packages,
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.platform()}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def command() -> str:
    """The command that started this process; empty for an interactive one."""
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else ""
    return shlex.join([program, *sys.argv[1:]]) if program and program != "-c" else ""

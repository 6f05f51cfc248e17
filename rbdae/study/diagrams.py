"""Work-precision diagrams of a study, a curve for each form and solver, and its page with ranking and all runs.

`picture` draws diagrams for a file by matplotlib, `report_comparison` for a page by plotly, from the same axes, curves
and choice of the best curves. Both packages are imported with the first diagram.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rbdae import _check
from rbdae._figure import OF_BODIES, STYLES, new_figure, plain
from rbdae.show.page import (
    FAR,
    SYMBOLS,
    Block,
    Cell,
    Facts,
    Page,
    Section,
    Table,
    Text,
    as_json,
    check_report,
    command,
    escaped,
    layout,
    style,
    table,
    write,
)
from rbdae.show.page import Figure as PageFigure
from rbdae.show.page import axis as page_axis
from rbdae.show.page import number as shown
from rbdae.study.one_run import Row
from rbdae.study.ranking import RANKED, Curve, advice, curves_of, error_of, failures, named, observed_order, sentences
from rbdae.study.references import Reference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_Curves: TypeAlias = dict[Curve, list[Row]]
_Axis: TypeAlias = tuple[str, Callable[[Row], float]]
"""The label of an axis, and its value for a row."""

MOST = 10
"""Most curves that can be distinguished in one picture."""

WORK: dict[str, _Axis] = {
    "evaluations": ("evaluations", lambda row: float(row.stats.evaluations)),
    "steps": ("steps", lambda row: float(row.stats.steps)),
    "seconds": ("seconds of the processor", lambda row: row.stats.seconds),
    "tolerance": ("tolerance", lambda row: row.case.tolerance if row.case.step is None else math.nan),
    "step": ("step size [s]", lambda row: row.case.step or math.nan),
}
"""What errors can be drawn over."""
ENERGY: _Axis = ("error of energy, relative", lambda row: row.energy_error)
DRIFT: _Axis = ("position drift [SI]", lambda row: row.position_drift)

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h")
_HEIGHT, _GAP = 760, 0.12  # height of a page's figure, px, and the gap between its panels


_FIRST = ("formulation", "rotation", "velocity", "solver", "tolerance", "error", "evaluations", "seconds", "steps")


def best_curves(every: _Curves) -> list[Curve]:
    """The best curve of each formulation, then the second best of each, and so on, in the table's order."""

    def cost(curve: Curve) -> float:
        """The mean logarithm of seconds and error: distance to the right and up."""
        rows = every[curve]
        return sum(math.log(max(r.stats.seconds, 1e-9)) + 0.2 * math.log(error_of(r)) for r in rows) / len(rows)

    place: Counter[str] = Counter()
    ranked: list[tuple[int, Curve]] = []
    for curve in sorted(every, key=cost):
        formulation = curve[0].partition(",")[0]
        ranked.append((place[formulation], curve))
        place[formulation] += 1
    chosen = [curve for _, curve in sorted(ranked, key=lambda pair: pair[0])[:MOST]]
    return sorted(chosen, key=list(every).index)


def _below(rows: Iterable[Row], reference: Reference) -> str:
    """A note on the grey band where errors mean nothing; empty if no run reaches it."""
    agreement = reference.agreement.largest
    if not any(error_of(row) < agreement for row in rows):
        return ""
    return f"grey: below {agreement:.0e}, where the references differ"


def picture(
    rows: Sequence[Row],
    reference: Reference,
    curves: Iterable[Curve] | Mapping[str, Iterable[Curve]] | None,
    over: Iterable[str],
) -> Figure:
    """Largest error over measures of work, a column of panels for each list; see `Comparison.plot`."""
    from matplotlib.ticker import LogLocator, NullFormatter

    works = [WORK[name] for name in _check.known("over", "axis", over, WORK)]
    known = {curve: [r for r in of if all(work(r) > 0.0 for _, work in works)] for curve, of in curves_of(rows).items()}
    every = {curve: of for curve, of in known.items() if of}
    if not every or not works:
        raise ValueError(f"there is nothing to draw: no run reached the end with {' and '.join(n for n, _ in works)}")
    fitted = any(name in ("tolerance", "step size [s]") for name, _ in works)
    groups = curves if isinstance(curves, Mapping) else {"": best_curves(every) if curves is None else curves}
    columns = {heading: _checked(listed, every) for heading, listed in groups.items()}
    if not columns:
        raise ValueError("curves must not be empty, got {}; pass e.g. {'IDA': [...]}")
    several = len(columns) > 1
    forms = list(dict.fromkeys(form for listed in columns.values() for form, _ in listed))
    height = 1.0 + 3.2 * len(works) + 0.21 * max(map(len, columns.values()))
    figure = new_figure("the picture", (1.2 + max(4.0 * len(columns), 7.0), height), layout="constrained")
    panels = figure.subplots(len(works), len(columns), sharey=True, squeeze=False)
    for (heading, listed), column in zip(columns.items(), panels.T, strict=True):
        methods = list(dict.fromkeys(method for _, method in listed))
        for form, method in listed:
            form_number, method_number = forms.index(form), methods.index(method)
            label = form if several and len(methods) == 1 else f"{form}:{chr(10) if several else ' '}{method}"
            if fitted and not math.isnan(order := observed_order(every[form, method], reference.floor)):
                label += f" (order {order:.2f})"
            look = {"color": OF_BODIES[form_number % len(OF_BODIES)], "linestyle": STYLES[method_number % len(STYLES)]}
            look |= {"marker": _MARKERS[(form_number + 5 * method_number) % len(_MARKERS)], "label": plain(label)}
            y = [error_of(row) for row in every[form, method]]
            for axis, (_, work) in zip(column, works, strict=True):
                axis.loglog([work(row) for row in every[form, method]], y, linewidth=1.3, markersize=5.5, **look)
        column[0].set_title(plain(heading), fontsize="medium")
        below: dict[str, Any] = {"fontsize": "x-small" if several else "small", "frameon": False, "handlelength": 3}
        column[-1].legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), **below)
    bottom, agreement = panels[0, 0].get_ylim()[0], reference.agreement.largest
    for axis, (label, _) in zip(panels.T.flat, cycle(works), strict=False):
        axis.set_xlabel(label)
        axis.grid(True, which="major", alpha=0.3)
        low, high = axis.get_xlim()  # matplotlib's own numbers overlap if an axis spans few decades
        subs = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if high < 5.0 * low else (1.0, 2.0, 5.0) if high < 50.0 * low else (1.0,)
        axis.xaxis.set_major_locator(LogLocator(subs=subs))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter(NullFormatter())
        if bottom < agreement:
            axis.axhspan(bottom, agreement, color="0.9", zorder=0)
    panels[0, 0].set_ylim(bottom=bottom)
    for axis in panels[:, 0]:
        axis.set_ylabel(reference.axis)
    failed, left = sum(bool(row.failure) for row in rows), len(every) - len(columns.get("", every))
    notes = [f"{failed} of {len(rows)} runs failed and are not shown"] if failed else []
    notes += [f"{left} more curves are not drawn: the best of each formulation come first"] if left else []
    figure.supxlabel("; ".join(filter(None, [*notes, _below(rows, reference)])), fontsize="small")
    return figure


def _checked(curves: Iterable[Curve], every: _Curves) -> list[Curve]:
    chosen = list(dict.fromkeys((*curve,) for curve in curves))
    for curve in chosen:
        if curve not in every:
            listed = ", ".join(map(repr, every))
            raise ValueError(f"curves: there is no curve {_check.show(curve)}; choose from {listed}")
    if not 0 < len(chosen) <= MOST:
        raise ValueError(f"curves must be 1 to {MOST} pairs, got {len(chosen)}; more cannot be told apart")
    return chosen


# ---------------------------------------------------------------- a page


def figures(every: _Curves, reference: Reference) -> tuple[PageFigure, PageFigure]:
    """Two interactive figures: error over work, and energy and drift over seconds."""
    note = _below(chain(*every.values()), reference)
    error: _Axis = (reference.axis, error_of)
    precision, caption = _spec(every, [(WORK[name], error) for name in ("evaluations", "seconds")])
    if note:
        band = {"type": "rect", "x0": 0, "x1": 1, "y0": 1e-300, "y1": reference.agreement.largest, "layer": "below"}
        band |= {"fillcolor": "#e9ecef", "line": {"width": 0}}
        precision["layout"]["shapes"] = [{**band, "xref": f"x{k} domain", "yref": f"y{k}"} for k in ("", "2")]
        caption += f" {note[0].upper()}{note[1:]}."
    costs, other = _spec(every, [(WORK["evaluations"], each) for each in (ENERGY, DRIFT)])
    return (
        PageFigure("work-precision", as_json(precision), _HEIGHT, caption),
        PageFigure("costs", as_json(costs), _HEIGHT, f"{other} Zeros are left out."),
    )


def _spec(every: _Curves, panels: Sequence[tuple[_Axis, _Axis]]) -> tuple[dict[str, Any], str]:
    """Plotly's figure of panels above each other, and its caption."""
    best = best_curves(every)
    forms, solvers = (list(dict.fromkeys(curve[k] for curve in every)) for k in (0, 1))
    words = [form.rsplit(", ", 2) for form in forms]
    telling = [k for k in range(3) if k == 0 or len({form[k] for form in words}) > 1]
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for row, (across, up) in enumerate(panels):
        suffix = "" if row == 0 else str(row + 1)
        for k, (curve, of) in enumerate(every.items()):
            look = style(forms.index(curve[0]))
            symbol = SYMBOLS[solvers.index(curve[1]) % len(SYMBOLS)]
            form = ", ".join(curve[0].rsplit(", ", 2)[j] for j in telling)
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": escaped(f"{form}: {curve[1]}"),
                    "legendgroup": str(k),
                    "showlegend": row == 0 and curve in best,
                    "visible": curve in best,
                    "x": [_positive(across[1](each)) for each in of],
                    "y": [_positive(up[1](each)) for each in of],
                    "xaxis": f"x{suffix}",
                    "yaxis": f"y{suffix}",
                    "line": {**look, "width": 1.5},
                    "marker": {"symbol": symbol, "size": 8, "color": look["color"]},
                    "text": [_told(each) for each in of],
                    "hovertemplate": "%{text}<extra></extra>",
                }
            )
        high = (1.0 - (len(panels) - 1) * _GAP) / len(panels)
        domain = [max(1.0 - row * (high + _GAP) - high, 0.0), 1.0 - row * (high + _GAP)]
        values = [across[1](each) for each in chain(*every.values()) if across[1](each) > 0.0]
        ticks: dict[str, Any] = {"dtick": 1}
        if max(values, default=1.0) < 1e4 * min(values, default=1.0):  # there may be one decade in sight, or none
            ticks = {"dtick": "D2", "minorloglabels": "complete", "tickformat": "~g"}
        axes[f"xaxis{suffix}"] = page_axis(across[0], True, anchor=f"y{suffix}", **ticks)
        axes[f"yaxis{suffix}"] = page_axis(up[0], True, anchor=f"x{suffix}", domain=domain)
    look = layout(height=_HEIGHT, showlegend=True, **axes)
    caption = (
        "A colour and dashes for each form, a symbol for each solver. A click in the legend hides a curve, a double "
        "click shows only it."
    )
    sets = {"the best of each formulation": best}
    if left := len(every) - len(best):
        caption += f" The menu has {left} more curves, by form and by solver."
        sets |= {name: [curve for curve in every if name in curve] for name in (*forms, *solvers)}
    menu = [(name, [curve in chosen for curve in every]) for name, chosen in sets.items()]
    return {"data": data, "layout": look, "own": _HEIGHT, "menu": menu}, caption


def _positive(value: float) -> float | None:
    """The value, or None if a logarithmic axis cannot show it."""
    return value if math.isfinite(value) and value > 0.0 else None


def _told(row: Row) -> str:
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


def report_comparison(found: Any, path: str | Path, preface: str, columns: Mapping[str, str]) -> Path:
    """Write the page of a `Comparison` with a preface and the meaning of its columns; see `Comparison.report`."""
    target = check_report(path)
    rows, ranking, reasons = found.rows, found.ranking(), failures(found.rows)
    failed = sum(map(len, reasons.values()))
    curves = curves_of(rows)
    precision, costs = figures(curves, found.reference)
    summary = [Text(each) for each in (*sentences(ranking), *advice(ranking))]
    if failed:
        summary.append(Text(f"{failed} of {len(rows)} runs failed: see Failures.", "warning"))
    head = {"runs": "", "reason": "without times and numbers", "which": ""}
    which = [(len(of), reason, named(of)) for reason, of in reasons.items()]
    reached = ranking[ranking["seconds"] != math.inf].round({"evaluations": 0})
    blocks: dict[str, Sequence[Block]] = {
        "Summary": [*summary, Text(preface)],
        "Work and precision": [precision] if curves else [],
        "Energy and drift": [costs] if curves else [],
        "Cost of an error": [_table("targets", reached, RANKED)] if len(reached) else [],
        "Runs": [*_runs(found, columns)],
        "Failures": [table("failures", head, which)] if failed else [],
        "How it was made": [Text(command() or "rbdae.compare(...)", "code"), Facts(tuple(found.made.items()))],
    }
    forms, solvers = ({getattr(row.case, what) for row in rows} for what in ("form", "method"))
    page = Page(
        f"Comparison of {len(rows)} runs",
        f"{len(forms)} forms, {len(solvers)} solvers, to t = {found.reference.t_end:g} s",
        f"{failed} failed" if failed else "all reached the end",
        "good" if not failed else "failure" if failed == len(rows) else "warning",
        tuple(Section(heading, tuple(inside)) for heading, inside in blocks.items() if inside),
    )
    return write(page, target)


def _table(name: str, frame: Any, tips: Mapping[str, str]) -> Table:
    """A table of a data frame without its empty columns."""
    rows = frame.astype(object).where(frame.notna(), None)
    used = [each for each in rows if any(value not in ("", None) for value in rows[each])]
    return table(name, {each.replace("_", " "): tips[each] for each in used}, rows[used].values.tolist(), 3)


def _runs(found: Any, columns: Mapping[str, str]) -> Iterator[Block]:
    """A table of all runs, with the columns in which they differ."""
    frame, agreement = found.frame, found.reference.agreement
    others = [name for name in columns if name not in (*_FIRST, "failure", "reason")]
    alike = [name for name in others if frame[name].nunique(dropna=False) == 1]
    told = ((name, frame[name].iloc[0]) for name in alike if frame[name].notna().all())
    if same := [f"{name.replace('_', ' ')} = {value}" for name, value in told if value != ""]:
        yield Text(f"The same in all runs: {', '.join(same)}.")
    shown = frame[[*_FIRST, *(name for name in others if name not in alike), "failure"]].astype(object)
    bounds = {"error": agreement.largest, **{f"error_{name}": each for name, each in asdict(agreement).items()}}
    for name in bounds.keys() & shown:
        shown[name] = [_bounded(value, bounds[name]) for value in frame[name]]
    yield _table("runs", shown, columns)


def _bounded(error: float, bound: float) -> float | Cell:
    """The error; '<' and the bound if it is smaller; 'failed' if there is none."""
    if math.isnan(error):
        return Cell("failed", FAR)
    return Cell(f"<{bound:.0e}", repr(error)) if error < bound else error

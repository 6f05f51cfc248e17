"""The report of a comparison: its ranking in words, work-precision diagrams, and all runs in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rbdae.show.page import (
    FAR,
    Block,
    Cell,
    Facts,
    Items,
    Page,
    Section,
    Text,
    Value,
    check_report,
    command,
    table,
    write,
)
from rbdae.study.diagrams import figures
from rbdae.study.ranking import Curve, Ranking, runs_of

_FIRST = ("formulation", "rotation", "velocity", "solver", "tolerance", "error", "evaluations", "seconds", "steps")
_TARGETS = {
    "error": "of the end state, relative",
    "form": "formulation, rotation, velocity",
    "solver": "",
    "seconds": "of the processor, interpolated between the tolerances whose errors enclose this one",
    "evaluations": "interpolated likewise",
    "energy": "largest error of the balance of its loosest run that is so exact, relative",
    "position drift": "of that run",
    "tolerance": "of that run; of a fixed-step method its step, s",
}


def report_comparison(found: Any, path: str | Path, preface: str, columns: Mapping[str, str]) -> Path:
    """Write the report of a `Comparison` with a preface, and what its columns are; see `Comparison.report`."""
    target = check_report(path)
    rows, ranking = found.rows, found.ranking()
    failed = sum(bool(row.failure) for row in rows)
    curves, precision, costs = figures(rows, found.reference)
    summary = [*_paragraphs(str(Ranking(ranking.targets)))]
    if failed:
        summary.append(Text(f"{failed} of {len(rows)} runs failed: see Failures.", "warning"))
    failures = [(len(of), reason, "; ".join(runs_of(of))) for reason, of in ranking.failures.items()]
    head = {"runs": "", "reason": "without times and numbers", "which": ""}
    blocks: dict[str, Sequence[Block]] = {
        "Summary": [*summary, Text(preface)],
        "Work and precision": [precision] if curves else [],
        "Energy and drift": [costs] if curves else [],
        "Cost of an error": _targets(ranking),
        "Runs": [*_runs(found, curves, columns)],
        "Failures": [table("failures", head, failures)] if failures else [],
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


def _paragraphs(text: str) -> Iterator[Block]:
    """Sentences, and lists of the indented ones below them."""
    items: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith(" "):
            items.append(line.strip())
            continue
        if items:
            yield Items(tuple(items))
            items = []
        if line:
            yield Text(line)


def _targets(ranking: Ranking) -> list[Block]:
    """The work that every form and solver takes to an error, interpolated."""
    rows: list[tuple[Value, ...]] = [
        (
            target.error,
            *place.curve,
            place.seconds,
            round(place.evaluations) if place.evaluations == place.evaluations else None,
            place.energy,
            place.drift,
            place.tolerance if place.step is None else f"step {place.step:g}",
        )
        for target in ranking.targets
        for place in target.places
    ]
    return [table("targets", _TARGETS, rows, 3)] if rows else []


def _runs(found: Any, curves: Sequence[Curve], columns: Mapping[str, str]) -> Iterator[Block]:
    """All runs, with those columns in which they differ."""
    agreement = found.reference.agreement
    frame = found.frame.astype(object).where(found.frame.notna(), None)
    order = [*_FIRST, *(name for name in columns if name not in (*_FIRST, "failure", "reason")), "failure"]
    values = {name: {*frame[name]} for name in order}
    alike = [name for name in order[len(_FIRST) : -1] if len(values[name]) == 1 and not values[name] & {"", None}]
    if alike:
        same = ", ".join(f"{name.replace('_', ' ')} = {frame[name].iloc[0]}" for name in alike)
        yield Text(f"The same in all runs: {same}.")
    used = [name for name in order if values[name] - {"", None} and name not in alike]
    bounds = {f"error_{name}": getattr(agreement, name) for name in ("position", "orientation", "velocity")}
    bounds["error"] = agreement.largest
    cells = [[_bounded(row[name], bounds.get(name)) for name in used] for _, row in frame.iterrows()]
    numbers = tuple(-1 if row.errors is None else curves.index(row.case.curve) for row in found.rows)
    head = {name.replace("_", " "): columns[name] for name in used}
    yield table("runs", head, cells, 3, curves=numbers, figure="work-precision costs" if curves else "")


def _bounded(value: Any, bound: float | None) -> Value | Cell:
    """The value; of an error the bound that it is below, and of a run without one that it failed."""
    shown: Value | Cell = value
    if bound is not None:
        if value is None:
            shown = Cell("failed", FAR)
        elif isinstance(value, float) and value < bound:
            shown = Cell(f"<{bound:.0e}", repr(value))
    return shown

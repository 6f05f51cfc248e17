"""The report of a comparison: its ranking in words, work-precision diagrams, and all runs in one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rbdae.show import check_report
from rbdae.show.page import (
    FAR,
    Block,
    Cell,
    Code,
    Facts,
    Items,
    Page,
    Section,
    Text,
    Value,
    command,
    table,
    versions,
    write,
)
from rbdae.study.diagrams import figures
from rbdae.study.one_run import Row
from rbdae.study.provenance import Provenance
from rbdae.study.ranking import Curve, Ranking, rank
from rbdae.study.references import Reference
from rbdae.study.table import COLUMNS, preface, record, shared_equations

_FIRST = ("formulation", "rotation", "velocity", "solver", "tolerance", "error", "evaluations", "seconds", "steps")
_LISTED = 6
"""Runs that are named for one failure."""

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


def report_comparison(
    rows: Sequence[Row], reference: Reference, about: Provenance | None, resumed: int, path: str | Path
) -> Path:
    """Write the report of a comparison; see `Comparison.report`."""
    target = check_report(path)
    ranking = rank(rows)
    curves, precision, costs = figures(rows, reference)
    blocks = {
        "Summary": _summary(rows, reference, ranking),
        "Work and precision": [precision] if curves else [],
        "Energy and drift": [costs] if curves else [],
        "Cost of an error": _targets(ranking),
        "Runs": _runs(rows, reference, curves),
        "Failures": _failures(ranking),
        "How it was made": _made(about, resumed),
    }
    sections = [Section(heading, tuple(inside)) for heading, inside in blocks.items()]
    failed = sum(bool(row.failure) for row in rows)
    forms, solvers = ({getattr(row.case, what) for row in rows} for what in ("form", "method"))
    under = f"{len(forms)} forms, {len(solvers)} solvers, to t = {reference.t_end:g} s"
    if about is not None and about.bodies:
        under += f"; bodies {', '.join(about.bodies[:6])}" + (", ..." if len(about.bodies) > 6 else "")
    page = Page(
        f"Comparison of {len(rows)} runs",
        under,
        f"{failed} failed" if failed else "all reached the end",
        "good" if not failed else "failure" if failed == len(rows) else "warning",
        tuple(section for section in sections if section.blocks),
    )
    return write(page, target)


def _summary(rows: Sequence[Row], reference: Reference, ranking: Ranking) -> Iterator[Block]:
    yield from _paragraphs(str(Ranking(ranking.targets)).splitlines())
    failed = sum(bool(row.failure) for row in rows)
    if failed:
        reasons = f"{len(ranking.failures)} {'reasons' if len(ranking.failures) > 1 else 'reason'}"
        yield Text(f"{failed} of {len(rows)} runs failed, for {reasons}: see Failures.", "warning")
    yield from _paragraphs(shared_equations(rows))
    yield Text(" ".join(preface(reference)))


def _paragraphs(text: Iterable[str]) -> Iterator[Block]:
    """Sentences, and lists of the indented ones below them."""
    items: list[str] = []
    for line in [*text, ""]:
        if line.startswith(" "):
            items.append(line.strip())
            continue
        if items:
            yield Items(tuple(items))
            items = []
        if line:
            yield Text(line)


def _targets(ranking: Ranking) -> Iterator[Block]:
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
    if rows:
        yield table("targets", _TARGETS, rows, 3)


def _runs(rows: Sequence[Row], reference: Reference, curves: Sequence[Curve]) -> Iterator[Block]:
    """All runs, with those columns in which they differ."""
    records = [record(row, reference) for row in rows]
    order = [*_FIRST, *(name for name in COLUMNS if name not in (*_FIRST, "failure", "reason")), "failure"]
    values = {name: {each[name] for each in records} for name in order}
    alike = [name for name in order[len(_FIRST) : -1] if len(values[name]) == 1 and not values[name] & {"", None}]
    if alike:
        yield Text("The same in all runs: " + ", ".join(f"{_named(k)} = {records[0][k]}" for k in alike) + ".")
    used = [name for name in order if values[name] - {"", None} and name not in alike]
    agreement = reference.agreement
    bounds = {f"error_{name}": getattr(agreement, name) for name in ("position", "orientation", "velocity")}
    bounds["error"] = agreement.largest
    cells = [[_bounded(each[name], bounds.get(name)) for name in used] for each in records]
    numbers = tuple(-1 if row.errors is None else curves.index(row.case.curve) for row in rows)
    head = {_named(name): COLUMNS[name] for name in used}
    yield table("runs", head, cells, 3, curves=numbers, figure="work-precision costs" if curves else "")


def _named(column: str) -> str:
    kind, _, what = column.partition("_")
    return f"{what} drift" if kind == "drift" else column.replace("_", " ")


def _bounded(value: Value, bound: float | None) -> Value | Cell:
    """The value; of an error the bound that it is below, and of a run without one that it failed."""
    if bound is None:
        return value
    if value is None:
        return Cell("failed", FAR)
    return Cell(f"<{bound:.0e}", repr(value)) if isinstance(value, float) and value < bound else value


def _failures(ranking: Ranking) -> Iterator[Block]:
    rows: list[tuple[Value, ...]] = []
    for failure in ranking.failures:
        named = [f"{row.case.form} with {row.case.method} at {row.case.at}" for row in failure.cases]
        more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
        rows.append((len(failure.cases), failure.reason, "; ".join(named[:_LISTED]) + more))
    if rows:
        yield table("failures", {"runs": "", "reason": "without times and numbers", "which": ""}, rows)


def _made(about: Provenance | None, resumed: int) -> Iterator[Block]:
    if command():
        yield Text("The report was written by")
        yield Code(command())
    if about is None:
        yield Text("The comparison was put together by hand: the versions that ran it are not known.")
        yield Facts(versions({}))
        return
    pairs = [*about.versions.items(), ("machine", about.machine), ("date", about.date)]
    pairs.append(("mechanism", f"fingerprint {about.fingerprint}"))
    if resumed:
        pairs.append(("resumed", f"{resumed} runs are from the file of an earlier start"))
    yield Facts(tuple(pairs))

"""The report of a comparison: its ranking in words, work-precision diagrams, and all runs in one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from rbdae.show.page import (
    FAR,
    Block,
    Cell,
    Code,
    Facts,
    Items,
    Page,
    Section,
    Table,
    Text,
    Tone,
    Value,
    command,
    table,
    versions,
    write,
)
from rbdae.study.columns import COLUMNS, Record
from rbdae.study.diagrams import costs, work_precision
from rbdae.study.one_run import Rows
from rbdae.study.pictures import curves_of
from rbdae.study.provenance import Provenance
from rbdae.study.ranking import Curve, Ranking
from rbdae.study.tables import preface, shared_equations

_FIRST = ("formulation", "rotation", "velocity", "solver", "tolerance", "error", "evaluations", "seconds", "steps")
_LAST = ("failure",)
_LISTED = 6
"""Runs that are named for one failure."""


class Study(Rows, Protocol):
    """A study that a report is made of, for example a `Comparison`."""

    @property
    def provenance(self) -> Provenance | None:
        """Mechanism, versions, machine and date."""

    @property
    def resumed(self) -> int:
        """How many rows were there from an earlier start."""

    def records(self) -> list[Record]:
        """A flat dict for each row."""

    def ranking(self) -> Ranking:
        """The form and solver that are the best."""


def report_comparison(study: Study, target: Path) -> Path:
    """Write the report of a comparison to a file, from `rbdae.show.check_report`."""
    ranking, drawn = study.ranking(), curves_of(study.rows)
    curves = [curve for curve in dict.fromkeys(row.case.curve for row in study.rows) if curve in drawn]
    sections = [Section("Summary", tuple(_summary(study, ranking)))]
    if curves:
        sections += [
            Section("Work and precision", (work_precision(study, curves),)),
            Section("Energy and drift", (costs(study, curves),)),
        ]
    if any(target.places for target in ranking.targets):
        sections.append(Section("Cost of an error", (_targets(ranking),)))
    sections.append(Section("Runs", tuple(_runs(study, curves))))
    if ranking.failures:
        sections.append(Section("Failures", (_failures(ranking),)))
    sections.append(Section("How it was made", tuple(_made(study))))
    return write(_page(study, sections), target)


def _page(study: Study, sections: Sequence[Section]) -> Page:
    failed = sum(bool(row.failure) for row in study.rows)
    forms = {row.case.form for row in study.rows}
    solvers = {row.case.method for row in study.rows}
    under = f"{len(forms)} forms, {len(solvers)} solvers, to t = {study.reference.t_end:g} s"
    if study.provenance is not None and study.provenance.bodies:
        names = study.provenance.bodies
        under += f"; bodies {', '.join(names[:6])}" + (", ..." if len(names) > 6 else "")
    verdict = f"{failed} failed" if failed else "all reached the end"
    tone: Tone = "good" if not failed else "failure" if failed == len(study.rows) else "warning"
    return Page(f"Comparison of {len(study.rows)} runs", under, verdict, tone, tuple(sections))


def _summary(study: Study, ranking: Ranking) -> Iterator[Block]:
    words = str(Ranking(ranking.targets, ()))
    for heading, items in _paragraphs(words.splitlines()):
        yield Text(heading)
        if items:
            yield Items(items)
    failed = sum(len(failure.cases) for failure in ranking.failures)
    if failed:
        reasons = len(ranking.failures)
        yield Text(
            f"{failed} of {len(study.rows)} runs failed, for {reasons} {'reasons' if reasons > 1 else 'reason'}: see "
            "Failures.",
            "warning",
        )
    for heading, items in _paragraphs(shared_equations(study)):
        yield Text(heading)
        yield Items(items)
    yield Text(" ".join(preface(study.reference)))


def _paragraphs(text: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Sentences, and the indented ones below each."""
    heading, items = "", list[str]()
    for line in [*text, ""]:
        if line.startswith(" "):
            items.append(line.strip())
        else:
            if heading:
                yield heading, tuple(items)
            heading, items = line, []


def _targets(ranking: Ranking) -> Table:
    """The table of what every form and solver takes to an error, interpolated."""
    rows: list[tuple[Value, ...]] = [
        (
            target.error,
            place.curve[0],
            place.curve[1],
            place.seconds,
            round(place.evaluations) if place.evaluations == place.evaluations else None,
            place.energy,
            place.drift,
            place.tolerance if place.step is None else f"step {place.step:g}",
        )
        for target in ranking.targets
        for place in target.places
    ]
    head = {
        "error": "of the end state, relative",
        "form": "formulation, rotation, velocity",
        "solver": "",
        "seconds": "of the processor, interpolated between the tolerances whose errors enclose this one",
        "evaluations": "interpolated likewise",
        "energy": "largest error of the balance of its loosest run that is so exact, relative",
        "position drift": "of that run",
        "tolerance": "of that run; of a fixed-step method its step, s",
    }
    return table("targets", head, rows, 3)


def _runs(study: Study, curves: Sequence[Curve]) -> Iterator[Block]:
    """All runs, with those columns in which they differ."""
    records = study.records()
    order = [*_FIRST, *(name for name in COLUMNS if name not in (*_FIRST, *_LAST, "reason")), *_LAST]
    values = {name: {record[name] for record in records} - {"", None} for name in order}
    alike = [name for name in order if name not in _FIRST and len(values[name]) == 1 and name != "failure"]
    alike = [name for name in alike if all(record[name] not in ("", None) for record in records)]
    if alike:
        yield Text(
            "The same in all runs: " + ", ".join(f"{_named(k)} = {_shown(k, records[0][k])}" for k in alike) + "."
        )
    used = [name for name in order if values[name] and name not in alike]
    bounds = _bounds(study)
    rows = [
        tuple(_bounded(record[name], bounds.get(name), _shown(name, record[name])) for name in used)
        for record in records
    ]
    numbers = {curve: number for number, curve in enumerate(curves)}
    of_rows = tuple(-1 if row.errors is None else numbers[row.case.curve] for row in study.rows)
    head = {_named(name): COLUMNS[name] for name in used}
    yield table("runs", head, rows, 3, curves=of_rows, figure="work-precision costs" if curves else "")


def _named(column: str) -> str:
    return {
        "below_reference": "below reference",
        "drift_position": "position drift",
        "drift_velocity": "velocity drift",
    }.get(column, column.replace("_", " "))


def _shown(name: str, value: Value) -> Value:
    if name == "below_reference" and value is not None:
        return "yes" if value else "no"
    return value


def _bounds(study: Study) -> dict[str, float]:
    """The bounds of the errors: what the references are good for."""
    agreement = study.reference.agreement
    parts_of_it = {f"error_{name}": getattr(agreement, name) for name in ("position", "orientation", "velocity")}
    return {"error": agreement.largest} | parts_of_it


def _bounded(value: Value, bound: float | None, shown: Value) -> Value | Cell:
    """An error; below its bound that bound, and of a run without one that it failed."""
    if bound is not None and value is None:
        return Cell("failed", FAR)
    if bound is None or not isinstance(value, float) or not value < bound:
        return shown
    return Cell(f"<{bound:.0e}", repr(value))


def _failures(ranking: Ranking) -> Table:
    rows: list[tuple[Value, ...]] = []
    for failure in ranking.failures:
        named = [f"{row.case.form} with {row.case.method} at {row.case.at}" for row in failure.cases]
        more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
        rows.append((len(failure.cases), failure.reason, "; ".join(named[:_LISTED]) + more))
    return table("failures", {"runs": "", "reason": "without times and numbers", "which": ""}, rows)


def _made(study: Study) -> Iterator[Block]:
    if command():
        yield Text("The report was written by")
        yield Code(command())
    about = study.provenance
    if about is None:
        yield Text("The comparison was put together by hand: the versions that ran it are not known.")
        yield Facts(versions({}))
        return
    pairs = list(about.versions.items())
    pairs += [("machine", about.machine), ("date", about.date), ("mechanism", f"fingerprint {about.fingerprint}")]
    if about.load:
        averages = ", ".join(f"{value:.2g}" for value in about.load)
        pairs.append(("load", f"{averages} processes over 1, 5 and 15 minutes at the start, for {about.cores} cores"))
    if study.resumed:
        pairs.append(("resumed", f"{study.resumed} runs are from the file of an earlier start"))
    yield Facts(tuple(pairs))


__all__ = ["Study", "report_comparison"]

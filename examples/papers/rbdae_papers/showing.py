"""Findings on the screen and in files."""

from __future__ import annotations

import csv
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from time import perf_counter

import rbdae
from rbdae.output_files import replacing
from rbdae_papers.finding import Comparison, Finding
from rbdae_papers.item import Item, Settings, run

_WIDTHS = (46, 26, 12, 44)
_HEAD = ("", "the paper says", "rbdae", "agrees, or differs and why")


def told(item: Item, finding: Finding, paper: str) -> str:
    """The finding as text: a line for each comparison."""
    lines = [f"{item.name}: {item.place} of the {paper}", *textwrap.wrap(item.says, 120), ""]
    if finding.comparisons:
        lines += _cells(_HEAD)
    for one in finding.comparisons:
        lines += _cells((one.quantity, one.says or "-", _number(one), one.verdict))
    for sentence in (*finding.remarks, *finding.not_run):
        lines += textwrap.wrap(sentence, 120)
    lines += textwrap.wrap(f"-> {_whole(finding)}", 120, subsequent_indent="   ")
    return "\n".join(lines)


def _whole(finding: Finding) -> str:
    if not finding.comparisons:
        return "not run"
    if not finding.holds:
        failed = sum(not one.holds for one in finding.comparisons)
        return f"FAILED: {failed} of {len(finding.comparisons)} numbers are not as expected"
    return finding.conclusion


def _number(one: Comparison) -> str:
    held = one.expected or one.paper
    exact = held is not None and held.kind == "absolute" and held.tolerance < 1e-3
    return f"{one.found:.9g}" if exact else f"{one.found:.5g}"


def _cells(cells: tuple[str, str, str, str]) -> Iterator[str]:
    """A row of cells with wrapped text."""
    wrapped = [textwrap.wrap(text, width) or [""] for text, width in zip(cells, _WIDTHS, strict=True)]
    for k in range(max(map(len, wrapped))):
        texts = [lines[k] if k < len(lines) else "" for lines in wrapped]
        yield "  ".join(text.ljust(width) for text, width in zip(texts, _WIDTHS, strict=True)).rstrip()


def table(findings: Iterable[tuple[Item, Finding]], papers: Mapping[str, str]) -> str:
    """The table of docs/papers.md: each item with the verdict of a run, its number of comparisons, and reasons."""
    lines = ["| item | paper | place | the paper says | rbdae | numbers, what differs |", "| --- " * 6 + "|"]
    for item, finding in findings:
        verdict, _, why = finding.conclusion.partition(": ")
        place = papers[item.paper].split()[-1], item.place
        lines.append(f"| `{item.name}` | {' | '.join((*place, item.says, verdict, why.replace('|', chr(92) + '|')))} |")
    return "\n".join(lines)


def write(item: Item, finding: Finding, folder: Path, *, dpi: int = 150, solver: str | None = None) -> list[Path]:
    """Write the table, the comparisons and the picture of a finding, possibly by a user's solver; returns the files.

    Raises
    ------
    ImportError
        if matplotlib is missing, after the tables are written
    OSError
        for files that cannot be written
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{item.name}.csv", folder / f"{item.name}.compared.csv"]
    _write_table(files[0], finding.columns, finding.rows)
    compared = [
        (one.quantity, one.says, repr(one.found), str(one.paper or ""), str(one.expected or ""), one.verdict)
        for one in finding.comparisons
    ]
    head = ("quantity", "the paper says", "rbdae", "the paper's criterion", "expected", "verdict")
    _write_table(files[1], head, compared)
    if item.draw is not None:
        path = folder / f"{item.name}.png"
        figure = item.draw(finding)
        if solver is not None:  # the heading has the paper's
            figure.suptitle(f"{item.place}, Example {item.example}, by {solver}", fontsize="medium")
        with replacing(path) as new:
            figure.savefig(new, dpi=dpi, format="png")
        files.append(path)
    return files


def _write_table(path: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    with replacing(path) as new, open(new, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def show(items: Iterable[Item], papers: Mapping[str, str], folder: Path, how: Settings) -> bool:
    """Run items, print and write their findings; returns whether every number is as expected."""
    findings: list[tuple[Item, Finding]] = []
    for item in items:
        begun = perf_counter()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", rbdae.FailedRunWarning)
            finding = run(item, how)
        findings.append((item, finding))
        for warning in said:
            print(f"rbdae: {item.name}: {warning.message}", file=sys.stderr)
        by = f"{papers[item.paper]}, by {how.solver}" if how.solver else papers[item.paper]
        print(told(item, finding, by))
        if finding.rows:
            try:
                files = write(item, finding, folder, dpi=80 if how.quick else 150, solver=how.solver)
                print("written to " + ", ".join(map(str, files)))
            except ImportError as error:
                print(f"no picture: {error}")
        print(f"{perf_counter() - begun:.1f} s\n", flush=True)
    if any(finding.rows for _, finding in findings):
        (folder / "table.md").write_text(table(findings, papers) + "\n", encoding="utf-8")
    return all(finding.holds for _, finding in findings)

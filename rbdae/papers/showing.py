"""Findings on the screen and in files."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter

from rbdae._files import harmless, replacing
from rbdae.papers.finding import Comparison, Finding
from rbdae.papers.item import Item, run

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
    lines += textwrap.wrap(f"-> {_whole(item, finding)}", 120, subsequent_indent="   ")
    return "\n".join(lines)


def _whole(item: Item, finding: Finding) -> str:
    if not finding.comparisons:
        return "not run"
    if not finding.holds:
        failed = sum(not one.holds for one in finding.comparisons)
        return f"FAILED: {failed} of {len(finding.comparisons)} numbers are not as expected"
    return f"{item.verdict}: {item.why}" if item.why else item.verdict


def _number(one: Comparison) -> str:
    return f"{one.found:.9g}" if one.kind == "absolute" and one.tolerance < 1e-3 else f"{one.found:.5g}"


def _cells(cells: tuple[str, str, str, str]) -> Iterator[str]:
    """A row of cells with wrapped text."""
    wrapped = [textwrap.wrap(text, width) or [""] for text, width in zip(cells, _WIDTHS, strict=True)]
    for k in range(max(map(len, wrapped))):
        texts = [lines[k] if k < len(lines) else "" for lines in wrapped]
        yield "  ".join(text.ljust(width) for text, width in zip(texts, _WIDTHS, strict=True)).rstrip()


def write(item: Item, finding: Finding, folder: Path, *, dpi: int = 150) -> list[Path]:
    """Write the table, the comparisons and the picture of a finding; returns the files.

    Raises
    ------
    ImportError
        without matplotlib, after the tables are written
    OSError
        for what cannot be written
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{item.name}.csv", folder / f"{item.name}.compared.csv"]
    _write_table(files[0], finding.columns, finding.rows)
    compared = [(one.quantity, one.says, repr(one.found), one.allowed, one.verdict) for one in finding.comparisons]
    _write_table(files[1], ("quantity", "the paper says", "rbdae", "expected", "verdict"), compared)
    if item.draw is not None:
        path = folder / f"{item.name}.png"
        figure = item.draw(finding)
        with replacing(path) as new:
            figure.savefig(new, dpi=dpi, format="png")
        files.append(path)
    return files


def _write_table(path: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    with replacing(path) as new, open(new, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([harmless(name) for name in columns])
        writer.writerows([harmless(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)


def show(items: Iterable[Item], papers: dict[str, str], folder: Path, *, quick: bool = False) -> bool:
    """Run items, print what they find, and write it to a folder; returns whether every number is as expected."""
    good = True
    for item in items:
        begun = perf_counter()
        finding = run(item, quick)
        print(told(item, finding, papers[item.paper]))
        if finding.rows:
            try:
                files = write(item, finding, folder, dpi=80 if quick else 150)
                print("written to " + ", ".join(map(str, files)))
            except ImportError as error:
                print(f"no picture: {error}")
        print(f"{perf_counter() - begun:.1f} s\n", flush=True)
        good = good and finding.holds
    return good


__all__ = ["show", "told", "write"]

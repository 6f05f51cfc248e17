"""The table of a run: ratios first, then milliseconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .measure import Row, interpolated

BASE = ("C by hand", "DOPRI5")
"""The peer and method that ratios are over."""


def whole_runs(rows: Sequence[Row], targets: Sequence[float]) -> list[dict[str, Any]]:
    """One record for each method: seconds to reach each target, and ratios over C's DOPRI5."""
    seconds = [[interpolated(row.points, target) for target in targets] for row in rows]
    base = next((s for row, s in zip(rows, seconds, strict=True) if (row.peer, row.method) == BASE), None)
    records = []
    for row, found in zip(rows, seconds, strict=True):
        ratios = [f / b if f and b else None for f, b in zip(found, base or [None] * len(found), strict=True)]
        points = [{"knob": p.knob, "error": p.error, "seconds": p.median, "rounds": len(p.seconds)} for p in row.points]
        records.append(
            {
                "peer": row.peer,
                "method": row.method,
                "seconds": found,
                "ratios": ratios,
                "note": row.note,
                "points": points,
            }
        )
    return sorted(records, key=lambda r: tuple(float("inf") if s is None else s for s in reversed(r["seconds"])))


def markdown(name: str, targets: Sequence[float], records: Iterable[dict[str, Any]]) -> str:
    """Whole runs of one mechanism as a Markdown table."""
    heads = [f"ratio, {t:.0e}" for t in targets] + [f"ms, {t:.0e}" for t in targets]
    lines = [f"**{name}**, errors at the end of {_written(targets)}, ratios over C's DOPRI5 loop", ""]
    lines += [f"| | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    for record in records:
        cells = [_ratio(r) for r in record["ratios"]]
        cells += ["not reached" if s is None else f"{1e3 * s:.3g}" for s in record["seconds"]]
        lines.append(f"| {record['peer']}: {record['method']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


PAGE = """# rbdae beside C by hand and other packages

    {command}

wrote this page: {date}, {processor}, Python {python}, {gcc}; {versions}. The machine's load was {load:.1f} at the end.
Times are those of the processor for this process, but caches and clock are shared with others: on a loaded machine
ratios below 1.5 say nothing. {missing}

All peers run in one process, with the same mechanisms (numbers from `rbdae.models`) and the same start. Each method is
scanned over its tolerances, or over its step sizes if it has no error control. An error is the largest distance of a
centre of mass at the end from the reference, divided by the mechanism's length; the reference is rbdae at 1e-13, which
C's DOP853 confirms. Times are medians of rounds in which all take turns, interpolated between the two points around the
requested error. Building of models and compiling do not count; whole calls such as `rbdae.solve` do. The tables have
the fastest method of each peer, two of C's, and ours in a loop of C and by a call of `rbdae.solve`; `--json` has all.
C by hand is in `benchmarks/peers/c`: right-hand sides as one writes them for the mechanism, and the loops of DOPRI5 and
DOP853; tests compare them with ours to 1e-12. CasADi's functions are C code that it writes, compiled with the same
flags. heyoka compiles for each tolerance.

"""


def page(found: dict[str, Any]) -> str:
    """docs/peers.md from all that was measured."""
    kept = []
    for case in found["cases"]:
        seen: list[tuple[str, bool]] = []
        for record in case["methods"]:  # the fastest to the finer target come first
            kind = record["peer"], record["method"].startswith("C's")  # ours, also in loops of C
            seen.append(kind)
            if seen.count(kind) <= (2 if record["peer"] == BASE[0] else 1):
                kept.append((case["case"], record))
    machine, missing = found["machine"], ", ".join(found["missing"])
    said = {
        "versions": ", ".join(version for name, version in found["versions"].items() if name != "rbdae"),
        "missing": f"Not installed: {missing}." if missing else "",
    }
    tables = [markdown(c["case"], c["targets"], [r for name, r in kept if name == c["case"]]) for c in found["cases"]]
    calls = "\nOne call inside a compiled loop\n\n" + functions(found["calls"]) if found["calls"] else ""
    return PAGE.format(**machine | said) + "\n".join(tables) + calls


def functions(records: Sequence[dict[str, Any]]) -> str:
    """Functions in a compiled loop as a Markdown table; `records` with case, function, peer, seconds."""
    lines = ["| | ratio over C | us |", "| --- | ---: | ---: |"]
    for record in records:
        same = ((r["case"], r["function"]) == (record["case"], record["function"]) for r in records)
        of_c = [r["seconds"] for r, s in zip(records, same, strict=True) if s and r["peer"] == BASE[0]]
        ratio = _ratio(record["seconds"] / of_c[0] if of_c else None)
        lines.append(
            f"| {record['case']}, {record['function']}: {record['peer']} | {ratio} | {1e6 * record['seconds']:.3g} |"
        )
    return "\n".join(lines) + "\n"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}" if value < 10.0 else f"{value:.0f}"


def _written(targets: Sequence[float]) -> str:
    return " and ".join(f"{t:.0e}" for t in targets)

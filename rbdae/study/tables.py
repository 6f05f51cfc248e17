"""The rows of a study as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import groupby
from statistics import fmean

from rbdae.study.one_run import Row, Rows
from rbdae.study.ranking import Target, failure_lines, failures
from rbdae.study.references import Reference

_WIDTH = 20  # of the solvers' names, at least
_UNIT = (
    f"{'tol-':>10}{'----- error at the end ------':>31}{'evalua-':>9}{'Jacob-':>8}{'':7}"
    f"{'-- largest drift --':>21}{'energy':>10}\n"
)
_NAMES = (
    f"{'erance':>10}{'position':>11}{'orient.':>10}{'velocity':>10}{'tions':>9}{'ians':>8}"
    f"{'steps':>7}{'position':>11}{'velocity':>10}{'balance':>10}{'seconds':>9}{'wall':>9}{'timed':>6}"
)


def table(comparison: Rows, *, reasons: bool = True) -> str:
    """One line per run, under a heading for each formulation, rotation and velocity; then the reasons of failures."""
    exact, width = comparison.reference, max([_WIDTH, *(len(row.case.method) for row in comparison.rows)])
    done = [row for row in comparison.rows if row.errors is not None]
    text = [
        *preface(exact),
        *shared_equations(comparison),
        "",
        f"{'':{width + 2}}{_UNIT}{'  solver':{width + 2}}{_NAMES}",
    ]
    for form, rows in groupby(done, key=lambda row: row.case.form):
        text += [form, *(_line(row, exact, width) for row in rows)]
    failed = failures(comparison.rows)
    if reasons:
        text += failure_lines(failed)
    count = sum(len(failure.cases) for failure in failed)
    return "\n".join([*text, f"{len(comparison.rows)} runs, {count} failed"])


def preface(exact: Reference) -> list[str]:
    """End time, and what the errors are measured against."""
    if exact.quantity:
        return [
            f"End time {exact.t_end:g} s. The error that the summary speaks of is that of {exact.quantity},",
            f"relative to its largest magnitude, against {exact.about},",
            f"which agree to {exact.agreement.largest:.1e} in it; others are relative (orientation: rad).",
            *_UNITS[:2],
            "of a clock: medians of timed runs.",
        ]
    first = f"End time {exact.t_end:g} s. Errors are relative (orientation: rad), against "
    if math.isnan(exact.agreement.largest):
        return [f"{first}a run of the user's own; how good that is is not known.", *_UNITS]
    a = exact.agreement
    return [
        f"{first}{exact.about},",
        f"which agree to {a.position:.1e} in positions, {a.orientation:.1e} in orientations and {a.velocity:.1e} in "
        "velocities; errors below are shown as <.",
        *_UNITS,
    ]


_UNITS = [
    "Drift is the largest violation of the constraints in SI units; balance is the largest error of the energy's",
    "balance relative to the kinetic energy. Seconds are processor time of the solver, without loading, wall those",
    "of a clock: medians of timed runs. The error that the summary speaks of is the largest of position, orientation",
    "and velocity; the work that it takes is interpolated between the tolerances.",
]


def shared_equations(comparison: Rows) -> list[str]:
    """The forms that are the same equations, once."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for row in comparison.rows:
        if row.same:
            solvers = found.setdefault((row.case.form, tuple(dict.fromkeys(row.same))), [])
            if row.case.solver not in solvers:
                solvers.append(row.case.solver)
    if not found:
        return []
    return ["", "One and the same equations, run once:"] + [
        f"  {form} also stands for {', '.join(others)} ({', '.join(solvers)})"
        for (form, others), solvers in found.items()
    ]


def _last(row: Row, exact: Reference) -> str:
    """The error of the quantity that a study is about."""
    if row.errors is None or row.errors.quantity is None or exact.agreement.quantity is None:
        return ""
    return f"  {exact.quantity}:{_error(row.errors.quantity, exact.agreement.quantity, 11)}"


def _line(row: Row, exact: Reference, width: int) -> str:
    start = f"  {row.case.method:{width}}{_knob(row):>10}"
    e, s, a = row.errors, row.stats, exact.agreement
    if e is None:
        return f"{start}  failed: {row.failure}"
    return (
        f"{start}{_error(e.position, a.position, 11)}{_error(e.orientation, a.orientation, 10)}"
        f"{_error(e.velocity, a.velocity, 10)}{_count(s.evaluations):>9}"
        f"{_count(s.jacobians):>8}{_count(s.steps):>7}{row.position_drift:11.1e}{row.velocity_drift:10.1e}"
        f"{row.energy_error:10.1e}{s.seconds:9.4f}{s.wall_seconds:9.4f}{row.timed:6d}{_last(row, exact)}"
    )


def multiples(target: Target, to: str, operations: Mapping[str, int] | None = None) -> str:
    """The work that an error takes as multiples of that of one form, solver by solver, as a table.

    A line for each form that shares solvers with `to`, the best one first: its evaluations as multiples, a dash where
    it does not reach the error, "alone" where `to` does not; then their geometric mean, that of seconds, and the
    operations of an evaluation.

    Parameters
    ----------
    target : of a `Ranking`
    to : the form whose evaluations are 1, as `Case.form`
    operations : of an evaluation, by form; None for no such column
    """
    every = [*(place.curve for place in target.places), *target.beyond]
    methods = sorted(method for form, method in every if form == to)
    forms = dict.fromkeys(form for form, method in every if method in methods)
    counts = {place.curve: place.evaluations for place in target.places}
    heads = [*methods, "mean", "seconds", *([] if operations is None else ["operations"])]
    lines: list[tuple[int, float, str, list[str]]] = []
    for form in forms:
        work, time = target.ratios(form, to), target.ratios(form, to, "seconds")
        cells = [_multiple(work.get(method), counts.get((form, method))) for method in methods]
        means = [mean_ratio(work), mean_ratio(time)]
        cells += ["-" if math.isnan(mean) else f"x {mean:.2f}" for mean in means]
        cells += [] if operations is None else [str(operations.get(form, "-"))]
        lines.append((cells.count("-"), means[0], form, cells))
    # names of solvers are split over lines, the last one at the bottom
    split = [head.replace(":", ":\n").replace(" (", "\n(").split("\n") for head in ("", *heads)]
    deep = max(map(len, split))
    above = [[""] * (deep - len(name)) + name for name in split]
    rows = [*map(list, zip(*above, strict=True)), *([form, *cells] for *_, form, cells in sorted(lines))]
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    text = [[f"{row[0]:{widths[0]}}", *(f"{row[k]:>{widths[k]}}" for k in range(1, len(row)))] for row in rows]
    return "\n".join("".join(cells).rstrip() for cells in text)


def mean_ratio(ratios: Mapping[str, float]) -> float:
    """The geometric mean of ratios, of those that are numbers; not a number if there is none."""
    finite = [math.log(ratio) for ratio in ratios.values() if 0.0 < ratio < math.inf]
    return math.exp(fmean(finite)) if finite else math.nan


def _multiple(ratio: float | None, count: float | None) -> str:
    """A multiple; the count itself for the form that all are compared with."""
    if ratio is None or math.isinf(ratio):
        return "-"
    if ratio == 0.0:
        return "alone"
    return f"{count:.0f}" if ratio == 1.0 and count is not None else f"x {ratio:.2f}"


def _knob(row: Row) -> str:
    """The tolerance, or the step of a fixed-step method."""
    return f"{row.case.tolerance:.0e}" if row.case.step is None else f"h={row.case.step:.2g}"


def _error(value: float, agreement: float, width: int) -> str:
    """An error; below what the reference is good for, that bound."""
    text = f"<{agreement:.0e}" if value < agreement else f"{value:.1e}"
    return f"{text:>{width}}"


def _count(number: int) -> str:
    """A dash for counts that the package does not report."""
    return "-" if number < 0 else str(number)


__all__ = ["mean_ratio", "multiples", "preface", "shared_equations", "table"]

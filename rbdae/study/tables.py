"""The rows of a study as a table."""

from __future__ import annotations

import math
from itertools import groupby

from rbdae.study.one_run import Row, Rows
from rbdae.study.ranking import failure_lines, failures
from rbdae.study.references import REFERENCES, Reference

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
    names = " and ".join(f"{formulation} ({rotation})" for formulation, rotation in REFERENCES)
    first = f"End time {exact.t_end:g} s. Errors are relative (orientation: rad), against "
    if math.isnan(exact.agreement.largest):
        return [f"{first}a run of the user's own; how good that is is not known.", *_UNITS]
    a = exact.agreement
    return [
        f"{first}{names} at 1e-13,",
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


def _line(row: Row, exact: Reference, width: int) -> str:
    start = f"  {row.case.method:{width}}{_knob(row):>10}"
    e, s, a = row.errors, row.stats, exact.agreement
    if e is None:
        return f"{start}  failed: {row.failure}"
    return (
        f"{start}{_error(e.position, a.position, 11)}{_error(e.orientation, a.orientation, 10)}"
        f"{_error(e.velocity, a.velocity, 10)}{_count(s.evaluations):>9}"
        f"{_count(s.jacobians):>8}{_count(s.steps):>7}{row.position_drift:11.1e}{row.velocity_drift:10.1e}"
        f"{row.energy_error:10.1e}{s.seconds:9.4f}{s.wall_seconds:9.4f}{row.timed:6d}"
    )


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


__all__ = ["preface", "shared_equations", "table"]

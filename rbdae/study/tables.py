"""The rows of a study as a table."""

from __future__ import annotations

from itertools import groupby

from rbdae.study.one_run import Row, Rows
from rbdae.study.references import REFERENCES

_WIDTH = 20  # of the solvers' names
_HEAD = (
    f"{'':{_WIDTH + 2}}{'tol-':>8}{'----- error at the end ------':>31}{'evalua-':>9}{'Jacob-':>8}{'':7}"
    f"{'-- largest drift --':>21}{'energy':>10}\n"
    f"{'  solver':{_WIDTH + 2}}{'erance':>8}{'position':>11}{'orient.':>10}{'velocity':>10}{'tions':>9}{'ians':>8}"
    f"{'steps':>7}{'position':>11}{'velocity':>10}{'error':>10}{'seconds':>9}"
)


def table(comparison: Rows) -> str:
    """One line per run, under a heading for each formulation, rotation and velocity."""
    exact = comparison.reference
    names = " and ".join(f"{formulation} ({rotation})" for formulation, rotation in REFERENCES)
    lines = [
        f"End time {exact.t_end:g} s. Errors are relative (orientation: rad), against {names} at 1e-13,",
        f"which agree to {exact.agreement.position:.1e} in positions, {exact.agreement.orientation:.1e} in "
        f"orientations and {exact.agreement.velocity:.1e} in velocities.",
        "",
        _HEAD,
    ]
    for form, rows in groupby(comparison.rows, key=lambda row: row.case.form):
        lines += [form, *(_line(row) for row in rows)]
    failed = sum(bool(row.failure) for row in comparison.rows)
    lines.append(f"{len(comparison.rows)} runs, {failed} failed")
    return "\n".join(lines)


def _line(row: Row) -> str:
    start = f"  {row.case.solver:{_WIDTH}}{row.case.tolerance:8.0e}"
    if row.errors is None:
        return f"{start}  failed: {row.failure}"
    e, s = row.errors, row.stats
    return (
        f"{start}{e.position:11.1e}{e.orientation:10.1e}{e.velocity:10.1e}{_count(s.evaluations):>9}"
        f"{_count(s.jacobians):>8}{_count(s.steps):>7}{row.position_drift:11.1e}{row.velocity_drift:10.1e}"
        f"{row.energy_error:10.1e}{s.seconds:9.3f}"
    )


def _count(number: int) -> str:
    """A dash for counts that the package does not report."""
    return "-" if number < 0 else str(number)


__all__ = ["table"]

"""A `Comparison` as a table and as a work-precision picture."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rbdae.study.comparison import Comparison, Row
from rbdae.study.references import REFERENCES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH = 20  # of the solvers' names
_HEAD = (
    f"{'':{_WIDTH + 2}}{'tol-':>8}{'----- error at the end ------':>31}{'evalua-':>9}{'Jacob-':>8}{'':7}"
    f"{'-- largest drift --':>21}{'energy':>10}\n"
    f"{'  solver':{_WIDTH + 2}}{'erance':>8}{'position':>11}{'orient.':>10}{'velocity':>10}{'tions':>9}{'ians':>8}"
    f"{'steps':>7}{'position':>11}{'velocity':>10}{'error':>10}{'seconds':>9}"
)


def table(comparison: Comparison) -> str:
    """One line a run, under a heading for each formulation, rotation and velocity."""
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
    return "-" if number < 0 else str(number)


def work_precision(comparison: Comparison) -> Figure:
    """Largest error over evaluations and over seconds, one curve for each form and solver.

    Raises
    ------
    ImportError
        without matplotlib
    ValueError
        where no run got to the end
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("the picture needs matplotlib: run `pip install 'rbdae[plot]'`") from None
    curves: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for row in comparison.rows:
        if row.errors is not None:
            curve = curves.setdefault((row.case.form, row.case.solver), [])
            # Rounding may leave no difference at all, which a logarithmic axis cannot show.
            curve.append((row.stats.evaluations, row.stats.seconds, max(row.errors.largest, 1e-16)))
    if not curves:
        raise ValueError("there is nothing to draw: no run got to the end")
    figure = Figure(figsize=(12.0, 6.5), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    solvers = list(dict.fromkeys(solver for _, solver in curves))
    forms = list(dict.fromkeys(form for form, _ in curves))
    for (form, solver), points in curves.items():
        evaluations, seconds, error = zip(*points, strict=True)
        for axis, work in zip(axes, (evaluations, seconds), strict=True):
            axis.loglog(
                work,
                error,
                marker="osv^Dx+*"[solvers.index(solver) % 8],
                color=f"C{forms.index(form) % 10}",
                linewidth=1.0,
                markersize=4.0,
                label=f"{form}: {solver}",
            )
    axes[0].set_ylabel(f"largest relative error at t = {comparison.reference.t_end:g} s")
    axes[0].set_xlabel("evaluations of residual or right-hand side")
    axes[1].set_xlabel("seconds")
    for axis in axes:
        axis.grid(True, which="major", alpha=0.3)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small")
    return figure


__all__ = ["table", "work_precision"]

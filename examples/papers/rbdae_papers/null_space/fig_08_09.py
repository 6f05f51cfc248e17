"""[NS] Figures 8 and 9: step sizes of DoPri5, Examples A and B."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import rbdae
from rbdae._arrays import Vec
from rbdae._figure import new_figure
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, claim, close, expect, near, within_factor
from rbdae_papers.item import Settings, item, missing, numbers
from rbdae_papers.null_space.drawing import legend, look
from rbdae_papers.null_space.equations import BODIES, FORMS, LEGEND, problem
from rbdae_papers.null_space.fig_12 import turnovers
from rbdae_papers.null_space.references import errors, reference
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TOLERANCE = 1e-6
_SOLVER = "rbdae:dopri5"
_COLUMNS = ("form", "t [s]", "step [s]")
_B = "Example B, disturbance 1e-3, DoPri5 at 1e-6"
_EQUAL = "q42, one scale for Omega"
"""Null space in quaternions with the absolute tolerance 20 rad/s x rtol for Omega instead of rtol."""

_BY_SIZE = (
    "with rtol = atol the small components of Omega are held to atol although |Omega| is 20 rad/s, while all "
    "components of pdot are of the size of |Omega| / 2"
)
_HISTORIES: Final[dict[str, tuple[str, float, str]]] = {
    "A, DoP853": ("A", 10.0, "rbdae:dop853"),
    "A, LSODA": ("A", 2.0, "scipy:LSODA"),
    "C, DoPri5": ("C", 0.5, "rbdae:dopri5"),
    "C, DoP853": ("C", 0.5, "rbdae:dop853"),
}
"""Further runs: example, end time, solver."""


def _steps(example: str, form: str, t_end: float, solver: str, atol: Any = _TOLERANCE) -> tuple[rbdae.Solution, Vec]:
    of = problem(example, form)
    run = rbdae.solve(of, (0.0, t_end), solver=solver, rtol=_TOLERANCE, atol=atol)
    return run, np.diff(run.t)


def _medians(
    example: str, t_end: float, solver: str, forms: Iterable[str]
) -> tuple[list[tuple[Cell, ...]], dict[str, float]]:
    rows: list[tuple[Cell, ...]] = []
    medians = {}
    for form in forms:
        run, steps = _steps(example, form, t_end, solver)
        medians[form] = float(np.median(steps))
        rows += [(form, float(t), float(h)) for t, h in zip(run.t[1:], steps, strict=True)]
    return rows, medians


def _rankings(medians: dict[str, float], before: str = "", why: str = "") -> list[Comparison]:
    """Claims for the forms that were run: Euler angles and quaternions above directors, null space above index 0."""
    largest = max(("d25", "d23"), key=lambda form: medians.get(form, 0.0))
    pairs = [*((over, largest) for over in ("E66", "q42", "q40")), ("d25", "d23"), ("q42", "q40")]
    return [
        claim(f"{before}median step, {over} : {under}", medians[over] / medians[under], at_least(1.0), "larger than 1",
              why=why if (over, under) == ("q42", "q40") else "")
        for over, under in pairs if over in medians and under in medians
    ]  # fmt: skip


def _as_before(medians: dict[str, float], known: dict[str, Any]) -> list[Comparison]:
    wanted = known["medians"]
    return [expect(f"median step [s], {form}", found, near(wanted[form], 0.05)) for form, found in medians.items()]


def _sizes(medians: dict[str, float]) -> str:
    return ", ".join(f"{form} {medians[form]:.3g} s" for form in sorted(medians, key=medians.__getitem__, reverse=True))


def _run_a(how: Settings) -> Finding:
    known, t_end, solver = numbers("null_space", "ns-fig-8"), 10.0, how.solver or _SOLVER
    rows, medians = _medians("A", t_end, solver, how.chosen(FORMS))
    compared = _as_before(medians, known)
    scaled, steps = _steps("A", "q42", t_end, solver, np.repeat((_TOLERANCE, 20.0 * _TOLERANCE), (4, 3)))
    rows += [(_EQUAL, float(t), float(h)) for t, h in zip(scaled.t[1:], steps, strict=True)]
    equal = float(np.median(steps))
    compared.append(expect(f"median step [s], {_EQUAL}", equal, near(known["scaled"], 0.05)))
    of_R = {}
    for name, run in (("q42", _steps("A", "q42", t_end, solver)[0]), ("q40", _steps("A", "q40", t_end, solver)[0]),
                      ("scaled", scaled)):  # fmt: skip
        found = errors(run, reference("A", t_end))
        of_R[name] = found.position
        for what, value, size in zip(("R", "Omega [rad/s]"), found, known["errors"][name], strict=True):
            compared.append(expect(f"error of {what} at 10 s, {name}", value, within_factor(size, 1.5)))
    compared += _rankings(medians, why=f"{_BY_SIZE}; with one scale for Omega the null space has {equal:.2g} s")
    sentence = (
        f"Medians: {_sizes(medians)}. R errs by {of_R['q42']:.2g} with q42, {of_R['scaled']:.2g} with one scale for "
        f"Omega, {of_R['q40']:.2g} with q40."
    )
    return Finding(_COLUMNS, rows, tuple(compared), (), (LEGEND,), sentence)


def _run_b(how: Settings) -> Finding:
    known, solver = numbers("null_space", "ns-fig-9"), how.solver or _SOLVER
    rows, medians = _medians("B", 2.0, solver, how.chosen(FORMS))
    compared = _as_before(medians, known)
    compared += _rankings(medians)
    for form in medians:
        Omega1 = _steps("B", form, 2.0, solver)[0].states["racket"].angular_velocity[:, 0]
        found = int(np.count_nonzero(np.sign(Omega1[1:]) != np.sign(Omega1[:-1])))
        compared.append(expect(f"turnovers of the run until 2 s, {form}", found, close(known["turnovers"][form])))
    remark = f"The motion turns over {len(turnovers())} times until 2 s."
    return Finding(_COLUMNS, rows, tuple(compared), (), (LEGEND, remark), f"Medians: {_sizes(medians)}.")


def _run_others(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    told = []
    for name, (example, t_end, solver) in _HISTORIES.items():
        if missing((solver,)):
            continue
        found, medians = _medians(example, t_end, solver, FORMS if example == "A" else BODIES)
        rows += [(name, *row) for row in found]
        compared += _rankings(medians, f"{name}: ")
        told.append(f"{name}: {_sizes(medians)}.")
    lacking = missing(solver for _, _, solver in _HISTORIES.values())
    return Finding(("run", *_COLUMNS), rows, tuple(compared), lacking, (LEGEND,), " ".join(told))


def _draw(finding: Finding, heading: str, marks: Sequence[float] = ()) -> Figure:
    figure = new_figure("papers", (9.6, 4.8), layout="constrained")
    axes = figure.subplots()
    for form in (form for form in FORMS if form in finding.values("form")):
        t, steps = finding.column("t", form=form), finding.column("step", form=form)
        axes.semilogy(t[:-1], steps[:-1], **look(form))  # the last step is cut by the end of the run
    framed(axes, "accepted steps", "t [s]", "step size [s]")
    axes.grid(True, which="minor", axis="y", alpha=0.15)
    axes.margins(x=0.01)
    for time in marks:
        axes.axvline(time, color="0.5", linewidth=0.8, linestyle=":", zorder=0)
    steps = finding.column("step")
    axes.set_ylim(0.7 * np.percentile(steps, 1), 1.2 * steps.max())
    legend(figure, (axes,), 3)
    figure.suptitle(heading, fontsize="medium")
    return figure


def _draw_others(finding: Finding) -> Figure:
    figure = new_figure("papers", (11.0, 7.4), layout="constrained")
    names = finding.values("run")
    panels = figure.subplots(2, -(-len(names) // 2), squeeze=False).ravel()
    for axes, name in zip(panels, names, strict=False):
        for form in FORMS:
            t, steps = (finding.column(column, run=name, form=form) for column in ("t", "step"))
            axes.semilogy(t[:-1], steps[:-1], **look(form))
        framed(axes, name, "t [s]", "step size [s]")
    legend(figure, (panels[0],), 3)
    figure.suptitle("Step sizes at 1e-6 of other solvers, and of Example C, [NS] section 7", fontsize="medium")
    return figure


FIGURE_8: Final = item(
    "ns-fig-8", _run_a, lambda finding: _draw(finding, "Example A, DoPri5 at 1e-6: step sizes, [NS] Figure 8")
)
FIGURE_9: Final = item(
    "ns-fig-9",
    _run_b,
    lambda finding: _draw(finding, f"{_B}: step sizes, [NS] Figure 9\ndotted: turnovers of the motion", turnovers()),
)
OTHERS: Final = item("ns-steps", _run_others, _draw_others)

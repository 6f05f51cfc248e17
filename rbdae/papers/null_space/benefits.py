"""[NS] section 2, benefits (v) and (vi): the condition of the systems, and the cost of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

import rbdae
from rbdae._arrays import Mat
from rbdae.papers.finding import Cell, Comparison, Finding, at_least, near
from rbdae.papers.item import Item
from rbdae.papers.null_space.drawing import look
from rbdae.papers.null_space.equations import BODIES, FORMS, NAMES, problem
from rbdae.papers.panels import framed
from rbdae.plotting.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CONDITIONS: Final[dict[str, dict[str, float]]] = {
    "A": {"q42": 5.0, "d25": 5.0, "q40": 2.0e2, "d23": 1.4e3},
    "C": {"q42": 2.5e2, "d25": 2.5e2, "q40": 1.9e5, "d23": 8.9e3},
}
_SKEEL: Final[dict[str, float]] = {"A": 1.00, "C": 241.0}
"""Of the reduced mass matrix."""


def _matrix(of: rbdae.Problem, form: str) -> Mat:
    """The matrix that an evaluation solves with: of (4), or T^T M T of (11)."""
    found = of.matrices(of.t0, of.y0)
    M = np.asarray(found.M)
    if form in ("q42", "d25"):
        T = np.asarray(found.T)
        reduced: Mat = T.T @ M @ T
        return reduced
    G = np.asarray(found.G)
    return np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])


def _skeel(A: Mat) -> float:
    """The condition that no scaling of rows changes: the norm of |A^-1| |A|."""
    return float(np.sum(np.abs(np.linalg.inv(A)) @ np.abs(A), axis=1).max())


def _run_condition(quick: bool) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    for example, expected in _CONDITIONS.items():
        found = {}
        for form, number in expected.items():
            A = _matrix(problem(example, form), form)
            found[form] = float(np.linalg.cond(A))
            rows.append((example, form, len(A), found[form], _skeel(A)))
            compared.append(near(f"{example}, {NAMES[form]}: condition", found[form], number, 0.05))
        ratio = min(found["q40"] / found["q42"], found["d23"] / found["d25"])
        quantity = f"{example}: condition, index 0 : null space, the least"
        compared.append(at_least(quantity, ratio, 10.0, says="resolved completely"))
        reduced = _skeel(_matrix(problem(example, "q42"), "q42"))
        compared.append(near(f"{example}: Skeel's condition of the reduced mass", reduced, _SKEEL[example], 0.05))
    return Finding(("example", "form", "size", "condition", "skeel"), rows, tuple(compared))


def _microseconds(example: str, forms: Iterable[str], repeats: int) -> dict[str, float]:
    """The least times of an evaluation in runs by DoPri5 in machine code, with its share of the step; the forms take
    turns, so that other work on the machine meets them all."""
    least = dict.fromkeys(forms, float("inf"))
    t_end = {"A": 2.0, "C": 0.3}[example]
    for _ in range(repeats):
        for form in least:
            run = rbdae.solve(
                problem(example, form), (0.0, t_end), solver="rbdae:dopri5", rtol=1e-10, atol=1e-10, t_eval=[0.0, t_end]
            )
            least[form] = min(least[form], 1e6 * run.stats.seconds / run.stats.evaluations)
    return least


def _counted(of: rbdae.Problem) -> int:
    return of.callbacks.operations("rhs").total


def _run_cost(quick: bool) -> Finding:
    """Operations are compared, which are the same on every machine; times are shown beside them."""
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    remarks = ["The paper has operations, and no times; times have the share of the step in them."]
    for example, forms in (("A", tuple(FORMS)), ("C", BODIES)):
        counted = {form: _counted(problem(example, form)) for form in forms}
        time = _microseconds(example, forms, 5 if quick else 100)
        rows += [(example, form, counted[form], time[form]) for form in forms]
        null, what = max(counted["q42"], counted["d25"]), f"{example}: operations of an evaluation"
        ratio = counted["q40"] / null
        compared.append(at_least(f"{what}, q40 : null space", ratio, 1.25, says="null space cheaper"))
        compared.append(at_least(f"{what}, d23 : q40", counted["d23"] / counted["q40"], 1.1))
        remarks.append(f"{example}, by time: {' < '.join(sorted(time, key=lambda form: time[form]))}.")
    return Finding(("example", "form", "operations", "microseconds"), rows, tuple(compared), remarks=tuple(remarks))


def _draw_cost(finding: Finding) -> Figure:
    figure = new_figure("papers", (8.0, 3.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, example in zip(panels, ("A", "C"), strict=True):
        forms = [str(row[1]) for row in finding.select(example=example)]
        times = finding.column("microseconds", example=example)
        axes.barh(forms, times, color=[look(form)["color"] for form in forms], height=0.6)
        for form, time in zip(forms, times, strict=True):
            axes.annotate(f" {time:.3f}", (time, form), va="center", fontsize="small")
        axes.set_xlim(0.0, 1.18 * times.max())
        framed(axes, f"Example {example}", "microseconds an evaluation", "")
        axes.grid(False, axis="y")
    panels[0].invert_yaxis()
    figure.suptitle("Cost of the right-hand side within DoPri5 in machine code, [NS] (vi)", fontsize="medium")
    return figure


CONDITION: Final = Item(
    name="ns-condition",
    paper="null_space",
    place="Benefit (v)",
    says="The bad condition of the index-0 and index-1 systems is resolved completely by the null space.",
    verdict="agrees",
    why="The condition numbers are 200 and 1,400 against 5 in Example A, 1.9e5 and 8.9e3 against 250 in C.",
    run=_run_condition,
)
COST: Final = Item(
    name="ns-cost",
    paper="null_space",
    place="Benefit (vi)",
    says="The right-hand side of the null space is cheaper than that of index 0.",
    verdict="agrees",
    why="By operations, and by time; by time Euler angles, with their sines and cosines, are the dearest.",
    run=_run_cost,
    draw=_draw_cost,
)

__all__ = ["CONDITION", "COST"]

"""[NS] section 2, benefits (v) and (vi): the condition of the systems, and the cost of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import rbdae
from rbdae import _check
from rbdae._arrays import ArrayLike, Mat
from rbdae._figure import new_figure
from rbdae.rotations import checks
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, claim, close, expect, near
from rbdae_papers.item import Settings, item, numbers
from rbdae_papers.null_space.drawing import look
from rbdae_papers.null_space.equations import BODIES, FORMS, LEGEND, NAMES, problem
from rbdae_papers.null_space.work import SUPERIOR
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _matrix(of: rbdae.Problem, form: str) -> Mat:
    """The matrix of an evaluation's linear system: of (4), or T^T M T of (11)."""
    matrices = of.matrices(of.t0, of.y0)
    M = np.asarray(matrices.M)
    if form in ("q42", "d25"):
        T = np.asarray(matrices.T)
        reduced: Mat = T.T @ M @ T
        return reduced
    G = np.asarray(matrices.G)
    return np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])


def skeel_condition(A: ArrayLike) -> float:
    """Skeel's condition number of a regular matrix (n, n): the largest row sum of abs(A^-1) abs(A). It is independent
    of the units of equations, and 1 for diagonal matrices. [NS], benefit (v)."""
    matrix = checks.numbers("skeel_condition", "A", A)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(
            f"skeel_condition: A must be a square matrix, got {_check.show(A)} of shape {matrix.shape}; pass one (n, n)"
        )
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"skeel_condition: A must be regular, got {_check.show(A)}, which has no inverse; pass a regular matrix"
        ) from None
    return float((np.abs(inverse) @ np.abs(matrix)).sum(axis=1).max())


def _run_condition(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    known = numbers("null_space", "ns-condition")
    told: list[str] = []
    for example, skeel in known["skeel"].items():
        found = {}
        for form, number in known[example].items():
            A = _matrix(problem(example, form), form)
            found[form] = float(np.linalg.cond(A))
            rows.append((example, form, len(A), found[form], skeel_condition(A)))
            compared.append(expect(f"{example}, {NAMES[form]}: condition", found[form], near(number, 0.05)))
        ratio = min(found["q40"] / found["q42"], found["d23"] / found["d25"])
        quantity = f"{example}: condition, index 0 : null space, the least"
        compared.append(claim(quantity, ratio, at_least(10.0), "resolved completely"))
        reduced = skeel_condition(_matrix(problem(example, "q42"), "q42"))
        quantity = f"{example}: Skeel's condition of the reduced mass"
        compared.append(expect(quantity, reduced, near(skeel, 0.05)))
        if example == "A":  # (v) is of one body
            compared[-1] = claim(quantity, reduced, close(1.0, 1e-9), "equals one")
        told.append(f"Example {example}: {', '.join(f'{form} {number:.2g}' for form, number in found.items())}.")
    return Finding(("example", "form", "size", "condition", "skeel"), rows, tuple(compared), (), (LEGEND,),
                   f"Conditions, {' '.join(told)}")  # fmt: skip


def _microseconds(example: str, forms: Iterable[str], repeats: int) -> dict[str, float]:
    """Least times of an evaluation in runs by DoPri5 in machine code, including its share of the step. The forms take
    turns, so that other work on the machine affects all of them."""
    least = dict.fromkeys(forms, float("inf"))
    t_end = {"A": 2.0, "C": 0.3}[example]
    for _ in range(repeats):
        for form in least:
            run = rbdae.solve(
                problem(example, form), (0.0, t_end), solver="rbdae:dopri5", rtol=1e-10, atol=1e-10, t_eval=[0.0, t_end]
            )
            least[form] = min(least[form], 1e6 * run.stats.seconds / run.stats.evaluations)
    return least


def _run_cost(how: Settings) -> Finding:
    """Compare operations, which are the same on every machine, and show times."""
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    told = []
    for example, forms in (("A", tuple(FORMS)), ("C", BODIES)):
        counted = {form: problem(example, form).callbacks.operations("rhs").total for form in forms}
        time = _microseconds(example, forms, 5 if how.quick else 100)
        rows += [(example, form, counted[form], time[form]) for form in forms]
        what = f"{example}: operations of an evaluation"
        for over, under in SUPERIOR:
            ratio, own = counted[over] / counted[under], at_least(1.25)
            compared.append(claim(f"{what}, {over} : {under}", ratio, at_least(1.0), "cheaper", expected=own))
        compared.append(expect(f"{what}, d23 : q40", counted["d23"] / counted["q40"], at_least(1.0)))
        ranking = " < ".join(f"{form} {time[form]:.3f}" for form in sorted(time, key=time.__getitem__))
        told.append(f"{example}, microseconds on this machine: {ranking}.")
    remark = "The paper has operations, and no times; times have the share of the step in them."
    return Finding(("example", "form", "operations", "microseconds"), rows, tuple(compared), (), (LEGEND, remark),
                   " ".join(told))  # fmt: skip


def _run_spatial(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    for rotation in ("quaternion", "directors"):
        for velocity in ("angular", "spatial"):
            chosen: dict[str, Any] = {"rotation": rotation, "velocity": velocity}
            top = rbdae.models.heavy_top(gravity=0.0)
            of = rbdae.formulate(top, "null-space", **chosen)
            rows.append(
                (rotation, velocity, *(of.callbacks.operations(name).total for name in ("rhs", "rhs_jacobian")))
            )
    finding = Finding(("rotation", "velocity", "rhs", "jacobian"), rows, ())
    compared = []
    for rotation in finding.values("rotation"):
        for name in ("rhs", "jacobian"):
            material, spatial = finding.column(name, rotation=rotation)
            quantity = f"{rotation}: operations of the {name}, spatial : material velocities"
            compared.append(claim(quantity, spatial / material, at_least(1.0), "more expensive, mass of the state"))
    told = "; ".join(f"{rotation}, {velocity}: {rhs} and {jacobian}" for rotation, velocity, rhs, jacobian in rows)
    return Finding(finding.columns, rows, tuple(compared), sentence=f"Operations of f and its Jacobian: {told}.")


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


CONDITION: Final = item("ns-condition", _run_condition)
COST: Final = item("ns-cost", _run_cost, _draw_cost)

SPATIAL: Final = item("ns-spatial", _run_spatial)

"""[NS] Figures 13 and 14: error over evaluations, Example A by six solvers, after 10 s and also after 2 s."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

import rbdae
from rbdae._figure import new_figure
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, at_most, claim, close, expect, near
from rbdae_papers.item import Settings, item, missing, numbers
from rbdae_papers.null_space.drawing import draw_work, legend
from rbdae_papers.null_space.equations import FORMS, problem
from rbdae_papers.null_space.references import Motion, heavy_top
from rbdae_papers.null_space.work import (
    BETTER,
    COLUMNS,
    SUPERIOR,
    TOLERANCES,
    evaluations_for,
    ratios,
    remarks,
    work_precision,
)
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOLVERS: Final[dict[str, str]] = {
    "DoPri5": "rbdae:dopri5",
    "DoP853": "rbdae:dop853",
    "Radau5": "assimulo:Radau5ODE",
    "NDF": "scipy:BDF",
    "Daspk": "scikits.odes:ddaspk",
    "LSODA": "scipy:LSODA",
}
"""Solvers by the paper's names; NDF is the method of Ode15s. LSODA is not in the paper."""

_OWN = ("DoPri5", "DoP853")
_T_END = 10.0
_LATE: Final[tuple[float, ...]] = tuple(np.linspace(2.0, _T_END, 161).tolist())
_LEVELS: Final = ((1e-3, "position", "R"), (1e-5, "position", "R"), (1e-5, "velocity", "Omega"))
"""Errors for which evaluations are compared."""

_ABSOLUTE: Final = ("q40", "d23")
_COMPETITIVE = 2.0
"""Largest ratio to the evaluations in Euler angles for a competitive form."""

_KNOWN: Final = numbers("null_space", "ns-fig-13-14")


def _allowed(solver: str) -> float:
    return 0.05 if solver in _OWN else 0.10


def _run(how: Settings) -> Finding:
    late = _late()
    last = Motion(late.position[-1:], late.velocity[-1:])
    ends = {2.0: heavy_top((2.0,)), _T_END: last}
    wanted_solvers = how.solvers(SOLVERS)
    there = {name: solver for name, solver in wanted_solvers.items() if not missing((solver,))}
    whole = {name for name in there if not how.quick or how.solver or name in _OWN}
    rows: list[tuple[Cell, ...]] = []
    for name, solver in there.items():
        for t_end, wanted in ends.items():
            if name in whole:
                rows += work_precision("A", t_end, solver, how.chosen(FORMS), TOLERANCES, wanted, name=name)
            elif t_end == _T_END:
                for form, tolerances in _KNOWN["quick"][name].items():
                    rows += work_precision("A", t_end, solver, (form,), tolerances, wanted, name=name)
            if name in whole:
                rows += _keeping(name, solver, t_end, wanted, how.chosen(_ABSOLUTE))
    finding = Finding(COLUMNS, rows, ())
    compared: list[Comparison] = []
    for name in there:
        if name in whole:
            compared += _all_forms(finding, name)
            compared += _with_and_without(finding, name, how.chosen(_ABSOLUTE))
        if name in SOLVERS:
            compared += _ratio(finding, name)
            compared += _early(finding, name) if name in whole and name in _KNOWN["early"] else []
    if how.solver is None:
        compared += [*_growth(), *_faster(finding)]
    told = (*remarks(finding), f"The exponents belong to a run from {_LATE[0]:g} s to {_T_END:g} s.")
    lacking = missing(solver for name, solver in wanted_solvers.items() if name not in there)
    of_q42 = [one.found for one in compared if "q40 : q42, R to" in one.quantity and "2 s" not in one.quantity]
    sentence = (
        f"After {_T_END:g} s q40 takes {min(of_q42, default=np.nan):.2f} to {max(of_q42, default=np.nan):.2f} times "
        f"the evaluations of q42 with {len(there)} solvers."
    )
    return Finding(COLUMNS, rows, tuple(compared), lacking, told, sentence)


@lru_cache(maxsize=1)
def _late() -> Motion:
    """The motion after 2 s."""
    return heavy_top(_LATE)


def _keeping(name: str, solver: str, t_end: float, wanted: Motion, forms: list[str]) -> list[tuple[Cell, ...]]:
    """Index 0 with the projection that keeps Omega, unlike the paper's."""
    rows = work_precision("A", t_end, solver, forms, TOLERANCES, wanted, name=name, projection=rbdae.Projection())
    return [(*row[:2], f"{row[2]}*", *row[3:]) for row in rows]


def _with_and_without(finding: Finding, solver: str, forms: list[str]) -> list[Comparison]:
    """The evaluations of index 0 with and without this projection."""
    out = []
    for form in forms:
        kept, none = (
            [evaluations_for(finding, e, q, form=f, t_end=_T_END, solver=solver) for e, q, _ in _LEVELS]
            for f in (f"{form}*", form)
        )
        quantity = f"{solver}: evaluations, {form} keeping Omega : {form}, the most"
        out.append(expect(quantity, max(a / b for a, b in zip(kept, none, strict=True)), at_most(1.0)))
    return out


def _all_forms(finding: Finding, solver: str) -> list[Comparison]:
    """Evaluations of all forms, and their ranking."""
    levels = [
        {form: evaluations_for(finding, error, quantity, form=form, t_end=_T_END, solver=solver) for form in FORMS}
        for error, quantity, _ in _LEVELS
    ]
    out = [
        expect(f"{solver}, {form}: evaluations, error of {of} {error:.0e}", work[form], near(count, _allowed(solver)))
        for form, counts in _KNOWN["evaluations"].get(solver, {}).items()
        for count, work, (error, _, of) in zip(counts, levels, _LEVELS, strict=True)
    ]
    out += ratios(levels, SUPERIOR, 1.0, "null space superior", f"{solver}: the least of ")
    out += ratios(levels, BETTER, 1.0, "quaternions better", f"{solver}: the least of ")
    for form, expected in (("q42", close(_KNOWN["competitive"], 0.25)), ("d25", None)):
        ratio = levels[1][form] / levels[1]["E66"]
        quantity = f"{solver}: evaluations, {form} : E66, R to 1e-5"
        out.append(claim(quantity, ratio, at_most(_COMPETITIVE), "competitive", expected=expected))
    return out


def _ratio(finding: Finding, solver: str) -> list[Comparison]:
    error, expected = _KNOWN["ratios"][solver]
    work = [evaluations_for(finding, error, form=form, t_end=_T_END, solver=solver) for form in ("q40", "q42")]
    quantity = f"{solver}: evaluations, q40 : q42, R to {error:.0e}"
    return [claim(quantity, work[0] / work[1], at_least(1.0), "null space superior", expected=near(expected, 0.10))]


def _early(finding: Finding, solver: str) -> list[Comparison]:
    work = {form: evaluations_for(finding, 1e-5, form=form, t_end=2.0, solver=solver) for form in FORMS}
    out = [
        expect(f"{solver}, 2 s, {form}: evaluations, R to 1e-5", work[form], near(expected, _allowed(solver)))
        for form, expected in _KNOWN["early"][solver].items()
    ]
    if solver == "DoPri5":
        own = near(_KNOWN["early_ratio"], 0.05)
        out.append(expect("DoPri5, 2 s: evaluations, q40 : q42, R to 1e-5", work["q40"] / work["q42"], own))
    return out


def _growth() -> list[Comparison]:
    """The exponent of t in the error of R after 2 s, which explains the difference between 2 s and 10 s."""
    t, exact = np.array(_LATE), _late()
    out = []
    for form, expected in _KNOWN["exponents"].items():
        of = problem("A", form)
        run = rbdae.solve(of, (0.0, _T_END), solver="rbdae:dopri5", rtol=1e-8, atol=1e-8)
        R = of.states(t, run(t))["top"].orientation.as_matrix().reshape(-1, 9)
        error = np.abs(R - exact.position).max(axis=1)
        exponent = float(np.polyfit(np.log(t), np.log(error), 1)[0])
        out.append(expect(f"DoPri5, {form}: exponent of t in the error of R", exponent, close(expected, 0.3)))
    return out


def _faster(finding: Finding) -> list[Comparison]:
    """The ratio after 2 s for a top with five times the spin."""
    wanted, spin = heavy_top((2.0,), 100.0), (0.0, 0.0, 100.0)
    rows = work_precision("A", 2.0, SOLVERS["DoPri5"], ("q40", "q42"), TOLERANCES, wanted, angular_velocity=spin)
    runs = (finding, "DoPri5"), (Finding(COLUMNS, rows, ()), SOLVERS["DoPri5"])
    slow, fast = (
        evaluations_for(of, 1e-5, form="q40", t_end=2.0, solver=name)
        / evaluations_for(of, 1e-5, form="q42", t_end=2.0, solver=name)
        for of, name in runs
    )
    return [
        expect("DoPri5, 2 s, 100 rad/s: evaluations, q40 : q42", fast, near(_KNOWN["fast_ratio"], 0.05)),
        claim("the same, 100 : 20 rad/s", fast / slow, at_least(1.0), "the faster, the larger the discrepancy"),
    ]


def _draw(finding: Finding) -> Figure:
    names = [name for name in finding.values("solver") if finding.select(solver=name, t_end=2.0)]
    figure = new_figure("papers", (max(2.6 * len(names) + 1.4, 7.2), 8.6), layout="constrained")
    grid = figure.subplots(3, len(names), sharey="row", sharex="col", squeeze=False, height_ratios=(1.0, 1.0, 0.8))
    rows = (("Figure 13: R after 10 s", "position", _T_END), ("Figure 14: Ω after 10 s", "velocity", _T_END),
            ("R after 2 s", "position", 2.0))  # fmt: skip
    for k, (panels, (what, quantity, t_end)) in enumerate(zip(grid, rows, strict=True)):
        for axes, name in zip(panels, names, strict=True):
            draw_work(axes, finding, quantity, solver=name, t_end=t_end)
            framed(axes, name if k == 0 else "", "evaluations" if k == 2 else "", "")
            axes.set_ylim(1e-12, 10.0)
        unit = "[rad/s]" if quantity == "velocity" else ""
        panels[0].set_ylabel(f"{what}\nlargest error {unit}")
    legend(figure, (grid[0, 0],), 5 if len(names) > 3 else 3)
    figure.suptitle(
        "Example A: error over evaluations of the right-hand side, [NS] Figures 13 and 14", fontsize="medium"
    )
    return figure


ITEM: Final = item("ns-fig-13-14", _run, _draw)

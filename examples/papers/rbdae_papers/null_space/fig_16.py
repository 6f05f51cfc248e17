"""[NS] Figure 16: error over evaluations, Example C, and the time up to which its motion can be computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import rbdae
from rbdae._figure import new_figure
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, at_most, claim, expect, near, within_factor
from rbdae_papers.item import Settings, item, missing, numbers
from rbdae_papers.null_space.drawing import draw_work, legend
from rbdae_papers.null_space.equations import BODIES, problem
from rbdae_papers.null_space.fig_13_14 import SOLVERS
from rbdae_papers.null_space.references import motion
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

_T_END = 0.5
_OWN = ("DoPri5", "DoP853")
_EARLY = "in half a second drift costs nothing, and later no solver has the motion"
_SUPERIOR = 1.1
"""Least ratio of evaluations for a superior form."""


def _run(how: Settings) -> Finding:
    known = numbers("null_space", "ns-fig-16")["evaluations"]
    of_paper = {name: SOLVERS[name] for name in known if not how.quick or name in (*_OWN, "LSODA")}
    wanted = how.solvers(of_paper)
    there = {name: solver for name, solver in wanted.items() if not missing((solver,))}
    rows: list[tuple[Cell, ...]] = []
    for name, solver in there.items():
        forms, tolerances = how.chosen(BODIES), TOLERANCES[: 5 if how.quick and not how.solver else None]
        rows += work_precision("C", _T_END, solver, forms, tolerances, name=name)
    finding = Finding(COLUMNS, rows, ())
    compared: list[Comparison] = []
    told = []
    for name in there:
        work = {form: evaluations_for(finding, 1e-3, form=form, solver=name) for form in BODIES}
        allowed = 0.05 if name in _OWN else 0.15
        compared += [
            expect(f"{name}, {form}: evaluations, error 1e-3", work[form], near(count, allowed))
            for form, count in known.get(name, {}).items()
        ]
        compared += ratios([work], SUPERIOR, _SUPERIOR, "null space superior", f"{name}: ", _EARLY)
        compared += ratios([work], BETTER, 1.0, "quaternions better", f"{name}: ")
        told.append(f"{name} {work['q40'] / work['q42']:.2f} and {work['d23'] / work['d25']:.2f}")
    if how.solver is None:
        compared += _spreads()
    sentence = f"After {_T_END:g} s index 0 takes, q40 : q42 and d23 : d25, {', '.join(told)} times the evaluations."
    lacking = missing(solver for name, solver in wanted.items() if name not in there)
    return Finding(COLUMNS, rows, tuple(compared), lacking, remarks(finding), sentence)


def _spreads() -> list[Comparison]:
    """Distances between three forms at the smallest tolerance."""
    out = []
    for time, known in numbers("null_space", "ns-fig-16")["spread"].items():
        found, t_end = [], float(time)
        for form in ("q42", "d25", "q40"):
            run = rbdae.solve(problem("C", form), (0.0, t_end), solver="rbdae:dop853", rtol=1e-13, atol=1e-13)
            found.append(motion(run).position[-1])
        spread = float(np.ptp(np.array(found), axis=0).max())
        quantity = f"spread of three forms at {t_end:g} s (a perturbation grows {known['growth']:.0e}-fold)"
        if "forms" in known:
            out.append(expect(quantity, spread, within_factor(known["forms"], 10.0)))
        else:
            why = "at the paper's end time no digit is left in double precision"
            out.append(claim(quantity, spread, at_most(1e-3), "accuracy at T = 4 s", expected=at_least(1.0), why=why))
    return out


def _draw(finding: Finding) -> Figure:
    names = finding.values("solver")
    figure = new_figure("papers", (2.6 * len(names) + 1.4, 4.6), layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        draw_work(axes, finding, "position", solver=name)
        framed(axes, name, "evaluations", "largest error after 0.5 s" if axes is panels[0] else "")
    legend(figure, (panels[0],), 4)
    figure.suptitle("Example C: error of R and of centres of mass [m], [NS] Figure 16", fontsize="medium")
    return figure


ITEM: Final = item("ns-fig-16", _run, _draw)

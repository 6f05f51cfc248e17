"""[NS] Figure 6: drift of position and velocity, Example A by Radau5 at 1e-9."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import rbdae
from rbdae._arrays import Vec
from rbdae._figure import new_figure
from rbdae_papers.finding import Cell, Comparison, Finding, at_most, claim, close, expect, within_factor
from rbdae_papers.item import Settings, item, numbers
from rbdae_papers.null_space.drawing import legend, look, thinned_by_logarithm
from rbdae_papers.null_space.equations import BODIES, LEGEND, NAMES, problem
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SOLVER, _TOLERANCE = "assimulo:Radau5ODE", 1e-9
_ORDERS: Final = {1: "linear", 2: "quadratic"}
_ABSOLUTE: Final = ("q40", "d23")


def _slope(t: Vec, drift: Vec) -> float:
    """The exponent of t in the last 70 % of a run."""
    late = t > 0.3 * t[-1]
    return float(np.polyfit(np.log(t[late]), np.log(drift[late]), 1)[0])


def _run(how: Settings) -> Finding:
    t_end, solver = 30.0 if how.quick else 100.0, how.solver or _SOLVER
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    at_end = {}
    for form in how.chosen(BODIES):
        run = rbdae.solve(problem("A", form), (0.0, t_end), solver=solver, rtol=_TOLERANCE, atol=_TOLERANCE)
        position, velocity = run.drift.position, run.drift.velocity
        at_end[form] = float(position[-1])
        name, (size, *slopes) = NAMES[form], numbers("null_space", "ns-fig-6")[f"{t_end:g}"][form]
        compared.append(expect(f"{name}: g at {t_end:g} s", position[-1], within_factor(size, 2.0)))
        orders = (2, 1) if form in _ABSOLUTE else (1,)
        for what, drift, order, slope in zip(("g", "gdot"), (position, velocity), orders, slopes, strict=False):
            found = _slope(run.t, drift)
            why = f"at {t_end:g} s the drift of the start still counts; it is quadratic later" if order == 2 else ""
            compared.append(claim(f"{name}: exponent of t in {what}", found, close(order, 0.2), _ORDERS[order],
                                  expected=close(slope, 0.1), why=why))  # fmt: skip
        if form not in _ABSOLUTE:
            compared.append(claim(f"{name}: largest gdot", velocity.max(), at_most(5e-14), "satisfied"))
        for k in thinned_by_logarithm(run.t):
            rows.append((form, float(run.t[k]), float(position[k]), float(velocity[k])))
    off = ", ".join(f"{form} by {size:.2g}" for form, size in at_end.items())
    sentence = f"After {t_end:g} s with {solver} at {_TOLERANCE:g} the position is off: {off}."
    return Finding(("form", "t [s]", "g", "gdot [1/s]"), rows, tuple(compared), (), (LEGEND,), sentence)


def _draw(finding: Finding) -> Figure:
    figure = new_figure("papers", (9.6, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True)
    floor = 1e-17
    for form in finding.values("form"):
        t = finding.column("t", form=form)
        left.loglog(t, np.maximum(finding.column("g", form=form), floor), **look(form))
        right.loglog(t, np.maximum(finding.column("gdot", form=form), floor), **look(form))
    for axes, power, at, down in ((left, 1, 2e-10, 0.45), (left, 2, 2.5e-9, 1.2), (right, 1, 2e-10, 0.4)):
        times = np.array([8.0, t[-1]])
        axes.loglog(times, at * times**power, color="0.45", linewidth=0.9, linestyle="-")
        axes.annotate(
            f"t{'²' if power == 2 else ''}", (times[-1], down * at * times[-1] ** power), color="0.35", ha="right"
        )
    framed(left, "position, g", "t [s]", "largest |g|")
    framed(right, "velocity, dg/dt", "t [s]", "largest |dg/dt|  [1/s]")
    legend(figure, (left,), 4)
    figure.suptitle("Example A at 1e-9: drift from the constraints, [NS] Figure 6", fontsize="medium")
    return figure


ITEM: Final = item("ns-fig-6", _run, _draw)

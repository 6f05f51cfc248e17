"""[NS] Figure 10: the total energy of Example A with Omega3 = 500 rad/s, by DoPri5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import rbdae
from rbdae.papers.finding import Cell, Comparison, Finding, at_least, near, within_factor
from rbdae.papers.item import Item
from rbdae.papers.null_space.drawing import legend, look
from rbdae.papers.null_space.equations import FORMS, NAMES, problem
from rbdae.papers.panels import framed
from rbdae.plotting.figures import new_figure, thinned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SPIN = (0.0, 0.0, 500.0)
_T_END = 2.0
_EXPECTED: Final[dict[float, dict[str, float]]] = {
    1e-3: {"q42": 3.2e-6, "d25": 3.1e-9, "q40": 2.1e-2, "d23": 0.95, "E66": 2.2e-6},
    1e-6: {"q42": 2.0e-8, "d25": 8.0e-12, "q40": 2.5e-4, "d23": 3.2e-4, "E66": 1.7e-10},
}
"""The largest relative change of the energy without projection, by tolerance and form."""

_PROJECTED: Final[dict[float, dict[str, float]]] = {
    1e-3: {"q40": 1.1e-2, "d23": 1.4e-2},
    1e-6: {"q40": 1.3e-4, "d23": 3.2e-4},
}
_SAYS = {"q40": "fails for coarse tolerances", "d23": "fails for coarse tolerances"}


def _run(quick: bool) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    largest: dict[tuple[float, bool, str], float] = {}
    for tolerance in _EXPECTED:
        for projection in (False, True):
            for form in FORMS:
                of = problem("A", form, angular_velocity=_SPIN)
                run = rbdae.solve(
                    of, (0.0, _T_END), solver="rbdae:dopri5", rtol=tolerance, atol=tolerance, projection=projection
                )
                energy = run.energy.total
                change = energy / energy[0] - 1.0
                largest[tolerance, projection, form] = float(np.abs(change).max())
                if not compared:
                    compared.append(near("energy at the start [J]", energy[0], 1.25005e6, 1e-4))
                for k in thinned(change, 400):
                    word = "yes" if projection else "no"
                    rows.append((form, tolerance, word, float(run.t[k]), float(energy[k]), float(change[k])))
    for tolerance, expected in _EXPECTED.items():
        for form, size in expected.items():
            says = _SAYS.get(form, "") if tolerance == 1e-3 else ""
            quantity = f"largest |dE / E| at {tolerance:.0e}, {NAMES[form]}"
            compared.append(within_factor(quantity, largest[tolerance, False, form], size, 2.0, says=says))
        for form, size in _PROJECTED[tolerance].items():
            quantity = f"the same with projection, {NAMES[form]}"
            compared.append(within_factor(quantity, largest[tolerance, True, form], size, 2.0))
        for null, absolute in (("q42", "q40"), ("d25", "d23")):
            ratio = largest[tolerance, False, absolute] / largest[tolerance, False, null]
            quantity = f"change of energy at {tolerance:.0e}, {absolute} : {null}"
            compared.append(at_least(quantity, ratio, 1e3, says="null space much better"))
    columns = ("form", "tolerance", "projection", "t [s]", "energy [J]", "change")
    return Finding(columns, rows, tuple(compared))


def _draw(finding: Finding) -> Figure:
    figure = new_figure("papers", (10.4, 7.2), layout="constrained")
    grid = figure.subplots(2, 2, sharex=True)
    for k, (row, tolerance) in enumerate(zip(grid, _EXPECTED, strict=True)):
        for projection, faint in (("yes", {"linewidth": 0.7, "label": "_projected"}), ("no", {})):
            for form in FORMS:
                if projection == "yes" and form not in _PROJECTED[tolerance]:
                    continue
                where: dict[str, Cell] = {"form": form, "tolerance": tolerance, "projection": projection}
                t, energy = finding.column("t", **where), finding.column("energy", **where)
                row[0].plot(t, 1e-6 * energy, **{**look(form), **faint})
                row[1].semilogy(t[1:], np.abs(finding.column("change", **where))[1:], **{**look(form), **faint})
        across = "t [s]" if k == 1 else ""
        framed(row[0], f"total energy, tolerance {tolerance:.0e}", across, "E [MJ]")
        framed(row[1], f"its change, tolerance {tolerance:.0e}", across, "|E / E(0) - 1|")
        row[1].set_ylim(1e-14, 3.0)
        row[0].ticklabel_format(axis="y", useOffset=False)
        for axes in row:
            axes.margins(x=0.01)
    legend(figure, (grid[0, 0],), 3)
    figure.suptitle(
        "Example A with 500 rad/s, DoPri5: total energy, [NS] Figure 10\nthin: index 0 with projection",
        fontsize="medium",
    )
    return figure


ITEM: Final = Item(
    name="ns-fig-10",
    paper="null_space",
    place="Figure 10",
    says="Both null-space forms conserve the energy much better than the absolute forms, which fail for coarse "
    "tolerances.",
    verdict="agrees",
    why="At 1e-3 index 0 in directors loses 95 % of the energy, and reports success; projection leaves 1.4 %.",
    run=_run,
    draw=_draw,
)

__all__ = ["ITEM"]

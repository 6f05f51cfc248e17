"""[NS] Figure 10: the total energy of Example A with Omega3 = 500 rad/s, by DoPri5."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

import rbdae
from rbdae._figure import new_figure, thinned
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, claim, expect, near, within_factor
from rbdae_papers.item import Settings, item, numbers
from rbdae_papers.null_space.drawing import legend, look
from rbdae_papers.null_space.equations import FORMS, LEGEND, NAMES, PROJECTIONS, problem
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SPIN = (0.0, 0.0, 500.0)
_T_END = 2.0
_COARSE = 1e-3
_TOLERANCES: Final = (_COARSE, 1e-6)
_ABSOLUTE: Final = ("q40", "d23")


def _run(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    largest: dict[tuple[float, str, str], float] = {}
    known = numbers("null_space", "ns-fig-10")
    for tolerance in _TOLERANCES:
        for word, projection in PROJECTIONS.items():
            for form in how.chosen(FORMS):
                of = problem("A", form, angular_velocity=_SPIN)
                run = rbdae.solve(
                    of, (0.0, _T_END), solver=how.solver or "rbdae:dopri5", rtol=tolerance, atol=tolerance,
                    projection=projection,
                )  # fmt: skip
                energy = run.energy.total
                change = energy / energy[0] - 1.0
                largest[tolerance, word, form] = float(np.abs(change).max())
                if not compared:
                    compared.append(expect("energy at the start [J]", energy[0], near(known["energy"], 1e-4)))
                for k in thinned(change, 400):
                    rows.append((form, tolerance, word, float(run.t[k]), float(energy[k]), float(change[k])))
    for (tolerance, word, form), change in largest.items():
        where = f"{NAMES[form]}{'' if word == 'no' else f', projection: {word}'}"
        quantity, fails = f"largest |dE / E| at {tolerance:.0e}, {where}", tolerance == _COARSE and form in _ABSOLUTE
        size = known[word][f"{tolerance:.0e}"].get(form)
        own = within_factor(size, 2.0) if size else None
        if fails and word == "no":
            compared.append(claim(quantity, change, at_least(0.01), "fails for coarse tolerances", expected=own))
        elif own:
            compared.append(expect(quantity, change, own))
    for tolerance, (null, absolute) in product(_TOLERANCES, (("q42", "q40"), ("d25", "d23"))):
        if {null, absolute} <= set(how.chosen(FORMS)):
            ratio = largest[tolerance, "no", absolute] / largest[tolerance, "no", null]
            quantity = f"change of energy at {tolerance:.0e}, {absolute} : {null}"
            compared.append(claim(quantity, ratio, at_least(10.0), "null space much better", expected=at_least(1e3)))
    told = ", ".join(f"{form} {100.0 * size:.2g} %" for (tolerance, word, form), size in largest.items()
                     if tolerance == _COARSE and word == "no")  # fmt: skip
    sentence = f"At {_COARSE:g} the energy changes by at most: {told}; projection leaves index 0 "
    for word, said in (("yes", "; if it keeps Omega, "), ("keeps Ω", ".")):
        sentence += " and ".join(f"{100.0 * largest[_COARSE, word, f]:.2g} %" for f in how.chosen(_ABSOLUTE)) + said
    columns = ("form", "tolerance", "projection", "t [s]", "energy [J]", "change")
    return Finding(columns, rows, tuple(compared), (), (LEGEND,), sentence)


def _draw(finding: Finding) -> Figure:
    figure = new_figure("papers", (10.4, 7.2), layout="constrained")
    grid = figure.subplots(2, 2, sharex=True)
    for k, (row, tolerance) in enumerate(zip(grid, _TOLERANCES, strict=True)):
        for projection, faint in (("yes", {"linewidth": 0.7, "label": "_projected"}), ("no", {}), ("keeps Ω", {})):
            for form in finding.values("form"):
                if projection != "no" and form not in _ABSOLUTE:
                    continue
                shown = {**look(form if projection != "keeps Ω" else form + "*"), **faint}
                where: dict[str, Cell] = {"form": form, "tolerance": tolerance, "projection": projection}
                t, energy = finding.column("t", **where), finding.column("energy", **where)
                row[0].plot(t, 1e-6 * energy, **shown)
                row[1].semilogy(t[1:], np.abs(finding.column("change", **where))[1:], **shown)
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


ITEM: Final = item("ns-fig-10", _run, _draw)

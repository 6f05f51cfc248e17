"""[NS] Figure 15: error over evaluations, Example B by DoPri5, for a large disturbance (a) and a small one (b)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rbdae._figure import new_figure
from rbdae_papers import closed_form
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, at_most, claim, close, expect, near
from rbdae_papers.item import Settings, item, numbers
from rbdae_papers.null_space.drawing import draw_work, legend
from rbdae_papers.null_space.equations import FORMS, PROJECTION
from rbdae_papers.null_space.fig_12 import turnovers
from rbdae_papers.null_space.references import reference
from rbdae_papers.null_space.work import (
    BETTER,
    COLUMNS,
    EULER,
    TOLERANCES,
    evaluations_for,
    ratios,
    remarks,
    work_precision,
)
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SOLVER = "rbdae:dopri5"
_LARGE, _SMALL = 0.1, 1e-5
_COLUMNS = ("projection", *COLUMNS)

_ENDS: Final = (0.25, 0.5, 1.0, 2.0)
_SMALL_RATIO = 2.0
"""Largest ratio of evaluations for a small discrepancy."""


def _work(finding: Finding, t_end: float) -> dict[str, float]:
    return {form: evaluations_for(finding, 1e-3, form=form, projection="no", t_end=t_end) for form in FORMS}


def _pairs(work: dict[str, float], when: str = "") -> list[Comparison]:
    """Section 7: quaternions behave slightly better than directors; both null-space forms are better than Euler."""
    return [
        *ratios([work], BETTER, 1.0, "quaternions slightly better", when),
        *ratios([work], EULER, 1.0, "null space even better than Euler", when),
    ]


def _rows(how: Settings, t_end: float, disturbance: float, tolerances: Sequence[float]) -> list[tuple[Cell, ...]]:
    wanted = reference("B", t_end, disturbance)
    return [
        ("yes" if projection else "no", *row)
        for projection in (False, True)
        for row in work_precision(
            "B",
            t_end,
            how.solver or _SOLVER,
            how.chosen(FORMS),
            tolerances,
            wanted,
            projection=PROJECTION if projection else None,
            disturbance=disturbance,
        )
    ]


def _run_a(how: Settings) -> Finding:
    tolerances = TOLERANCES[: 6 if how.quick and not how.solver else None]
    rows = [row for t_end in _ENDS for row in _rows(how, t_end, _LARGE, tolerances)]
    finding = Finding(_COLUMNS, rows, ())
    compared: list[Comparison] = []
    first, small = turnovers(_LARGE, 1.0)[0], {}
    why = f"it is through the first turnover, at {first:.3g} s, and no longer from then on"
    for t_end in _ENDS:
        work, known = _work(finding, t_end), numbers("null_space", "ns-fig-15a")[str(t_end)]
        compared += [
            expect(f"{t_end:g} s, {form}: evaluations, R to 1e-3", found, near(known[form], 0.05))
            for form, found in work.items()
        ]
        small[t_end] = work["q40"] / work["q42"]
        compared.append(claim(f"{t_end:g} s: evaluations, q40 : q42", small[t_end], at_most(_SMALL_RATIO), "small",
                              expected=near(known["ratio"], 0.10), why=why))  # fmt: skip
        projected = evaluations_for(finding, 1e-3, form="q40", projection="yes", t_end=t_end)
        quantity = f"{t_end:g} s: evaluations of q40, with projection : without"
        compared.append(expect(quantity, projected / work["q40"], at_least(1.0)))
    compared += _pairs(work, f"{t_end:g} s: ")
    body = closed_form.FreeBody((41.6, 11.6, 50.0), (50.0, _LARGE, _LARGE))
    times = numbers("null_space", "ns-fig-15a")["turnovers"]
    compared.append(expect("first turnover [s]", first, close(times["first"], 1e-4)))
    compared.append(expect("time between two turnovers [s]", body.half_period, close(times["between"], 1e-3)))
    sentence = f"q40 : q42 is {', '.join(f'{ratio:.2f} at {t:g} s' for t, ratio in small.items())}."
    return Finding(_COLUMNS, rows, tuple(compared), remarks=remarks(finding), sentence=sentence)


def _run_b(how: Settings) -> Finding:
    rows = _rows(how, 2.0, _SMALL, TOLERANCES)
    finding, known = Finding(_COLUMNS, rows, ()), numbers("null_space", "ns-fig-15b")
    compared: list[Comparison] = []
    of_index_0 = []
    for projection, with_it in (("no", ""), ("yes", ", with projection")):
        for form in how.chosen(("q40", "d23")):
            errors = finding.column("position", form=form, projection=projection)[1:8]
            of_index_0 += errors.tolist()
            quantity = f"{form}: least error of R, tolerances 1e-4 to 1e-10{with_it}"
            compared.append(claim(quantity, errors.min(), at_least(0.5), "completely fail"))
    for form in how.chosen(("q42",)):
        for tolerance, bound in known["largest"].items():
            error = finding.column("position", form=form, projection="no", tolerance=float(tolerance))[0]
            compared.append(expect(f"{form}: error of R, tolerance {tolerance}", error, at_most(bound)))
    work = _work(finding, 2.0)
    compared += [
        expect(f"{form}: evaluations, R to 1e-3", work[form], near(count, 0.05))
        for form, count in known["evaluations"].items()
    ]
    compared += _pairs(work)
    for form in how.chosen(("q40",)):
        last = finding.column("position", form=form, projection="no", tolerance=TOLERANCES[-1])[0]
        compared.append(expect(f"{form}: error of R, tolerance 1e-12", last, at_most(1e-3)))
    of_q42 = finding.column("position", form="q42", projection="no")[1:8]
    sentence = (
        f"At tolerances from {TOLERANCES[1]:.0e} to {TOLERANCES[7]:.0e} index 0 errs by "
        f"{min(of_index_0, default=0.0):.2g} to {max(of_index_0, default=0.0):.2g}, q42 by "
        f"{of_q42.max(initial=0.0):.2g} and less; Euler angles take {work['E66'] / work['q42']:.2f} times the "
        "evaluations of q42."
    )
    return Finding(_COLUMNS, rows, tuple(compared), remarks=remarks(finding), sentence=sentence)


def _draw_a(finding: Finding) -> Figure:
    figure = new_figure("papers", (13.0, 4.6), layout="constrained")
    panels = figure.subplots(1, 4, sharey=True)
    for axes, t_end in zip(panels, _ENDS, strict=True):
        draw_work(axes, finding, "position", t_end=t_end, projection="no")
        framed(axes, f"R after {t_end:g} s", "evaluations", "largest error" if axes is panels[0] else "")
    legend(figure, (panels[0],))
    figure.suptitle("Example B, disturbance 0.1, DoPri5, [NS] Figure 15 (a)", fontsize="medium")
    return figure


def _draw_b(finding: Finding) -> Figure:
    figure = new_figure("papers", (9.6, 4.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, projection, how in zip(panels, ("no", "yes"), ("without projection", "with projection"), strict=True):
        draw_work(axes, finding, "position", projection=projection)
        framed(axes, f"R after 2 s, {how}", "evaluations", "largest error" if axes is panels[0] else "")
    legend(figure, (panels[0],), 3)
    figure.suptitle("Example B, disturbance 1e-5, DoPri5, [NS] Figure 15 (b)", fontsize="medium")
    return figure


FIGURE_A: Final = item("ns-fig-15a", _run_a, _draw_a)
FIGURE_B: Final = item("ns-fig-15b", _run_b, _draw_b)

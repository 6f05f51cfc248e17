"""[NS] Figures 13 and 14: error over evaluations, Example A by six solvers, after 10 s, and after 2 s beside it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

import rbdae
from rbdae.papers.finding import Cell, Comparison, Finding, at_least, close, near
from rbdae.papers.item import Item, missing
from rbdae.papers.null_space.drawing import draw_work, legend
from rbdae.papers.null_space.equations import FORMS, LEGEND, problem
from rbdae.papers.null_space.references import Motion, heavy_top
from rbdae.papers.null_space.work import COLUMNS, TOLERANCES, evaluations_for, work_precision
from rbdae.papers.panels import framed
from rbdae.plotting.figures import new_figure

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
"""By the paper's names; NDF is the method of Ode15s. LSODA is not in the paper."""

_OWN = ("DoPri5", "DoP853")
_T_END = 10.0
_LATE: Final[tuple[float, ...]] = tuple(np.linspace(2.0, _T_END, 161).tolist())
_EXPECTED: Final[dict[str, dict[str, tuple[int, int, int]]]] = {
    "DoPri5": {
        "q42": (1943, 4963, 2611), "d25": (2773, 7324, 6409), "q40": (2694, 6125, 5844),
        "d23": (6220, 15958, 15200), "E66": (1682, 4580, 3117),
    },
    "DoP853": {
        "q42": (1192, 1990, 1866), "d25": (1476, 2532, 2251), "q40": (1796, 3449, 3321),
        "d23": (2201, 4143, 4087), "E66": (1188, 1980, 1860),
    },
    "Radau5": {
        "q42": (2095, 5225, 3737), "d25": (3007, 7591, 6173), "q40": (3702, 11042, 6872),
        "d23": (7562, 17744, 14391), "E66": (2155, 5293, 3980),
    },
    "NDF": {
        "q42": (2506, 6278, 4279), "d25": (3505, 8927, 7692), "q40": (7174, 15141, 14967),
        "d23": (11151, 24788, 23958), "E66": (2498, 6300, 4403),
    },
    "Daspk": {
        "q42": (1636, 2937, 2398), "d25": (1877, 4663, 3830), "q40": (2445, 4939, 4811),
        "d23": (4665, 11221, 10094), "E66": (1400, 4380, 3894),
    },
    "LSODA": {
        "q42": (1531, 1949, 1942), "d25": (1952, 2721, 2562), "q40": (2670, 4127, 4004),
        "d23": (3025, 4588, 4533), "E66": (1526, 1946, 1902),
    },
}  # fmt: skip
"""Evaluations for errors of 1e-3 and 1e-5 of R, and of 1e-5 rad/s of Omega, after 10 s."""

_RATIOS: Final[dict[str, tuple[float, float]]] = {
    "DoPri5": (1e-5, 1.23),
    "DoP853": (1e-5, 1.73),
    "Radau5": (1e-5, 2.11),
    "NDF": (1e-3, 2.9),
    "Daspk": (1e-5, 1.68),
    "LSODA": (1e-5, 2.12),
}
"""An error of R and the evaluations for it of index 0 over those of the null space, both in quaternions."""

_EARLY: Final[dict[str, tuple[int, int, int, int, int]]] = {
    "DoPri5": (598, 877, 473, 1520, 548),
    "DoP853": (311, 412, 346, 489, 313),
    "Radau5": (632, 839, 914, 1496, 663),
    "NDF": (759, 996, 1641, 1913, 773),
    "LSODA": (360, 484, 472, 694, 371),
}
"""Evaluations for an error of 1e-5 of R after 2 s, of the forms in their order."""

_QUICK: Final[dict[str, dict[str, tuple[float, ...]]]] = {
    "Radau5": {"q42": (1e-6, 1e-7), "q40": (1e-9, 1e-10)},
    "NDF": {"q42": (1e-5, 1e-6), "q40": (1e-7, 1e-8, 1e-9)},
    "Daspk": {"q42": (1e-7, 1e-8), "q40": (1e-9, 1e-10)},
    "LSODA": {"q42": (1e-6, 1e-7), "q40": (1e-9, 1e-10)},
}
"""The tolerances between which the error of `_RATIOS` lies."""


def _allowed(solver: str) -> float:
    return 0.05 if solver in _OWN else 0.10


def _run(quick: bool) -> Finding:
    late = _late()
    last = Motion(late.position[-1:], late.velocity[-1:])
    ends = {2.0: heavy_top((2.0,)), _T_END: last}
    there = {name: solver for name, solver in SOLVERS.items() if not missing((solver,))}
    rows: list[tuple[Cell, ...]] = []
    for name, solver in there.items():
        for t_end, wanted in ends.items():
            if not quick or name in _OWN:
                rows += _named(name, work_precision("A", t_end, solver, FORMS, TOLERANCES, wanted))
            elif t_end == _T_END:
                for form, tolerances in _QUICK[name].items():
                    rows += _named(name, work_precision("A", t_end, solver, (form,), tolerances, wanted))
    finding = Finding(COLUMNS, rows, ())
    compared: list[Comparison] = []
    for name in there:
        whole = not quick or name in _OWN
        if whole:
            compared += _all_forms(finding, name)
        compared += _ratio(finding, name)
        if whole and name in _EARLY:
            compared += _early(finding, name)
    compared += [*_growth(), _faster(finding)]
    remarks = (
        LEGEND,
        "The exponents are those of a run at 1e-8 from 2 s to 10 s. After 2 s index 0 in quaternions can be cheaper: "
        "its error grows with the third power of time, that of the null space with the second at most.",
    )
    lacking = missing(solver for name, solver in SOLVERS.items() if name not in there)
    return Finding(COLUMNS, rows, tuple(compared), lacking, remarks)


@lru_cache(maxsize=1)
def _late() -> Motion:
    """The motion after 2 s."""
    return heavy_top(_LATE)


def _named(name: str, rows: list[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """Rows with the paper's name of the solver."""
    return [(row[0], name, *row[2:]) for row in rows]


def _all_forms(finding: Finding, solver: str) -> list[Comparison]:
    """The evaluations of all forms, and who is ahead."""
    where: dict[str, Cell] = {"t_end": _T_END, "solver": solver}
    out, work = [], {}
    for form, wanted in _EXPECTED[solver].items():
        levels = ((1e-3, "position", "R"), (1e-5, "position", "R"), (1e-5, "velocity", "Omega"))
        for expected, (error, quantity, of) in zip(wanted, levels, strict=True):
            found = evaluations_for(finding, error, quantity, form=form, **where)
            out.append(
                near(f"{solver}, {form}: evaluations, error of {of} {error:.0e}", found, expected, _allowed(solver))
            )
            work[form, error, quantity] = found
    pairs = (("q40", "q42", "null space superior"), ("d23", "d25", "null space superior"),
             ("d25", "q42", "quaternions better"), ("d23", "q40", "quaternions better"))  # fmt: skip
    for over, under, says in pairs:
        least = min(
            work[over, e, q] / work[under, e, q]
            for e, q in ((1e-3, "position"), (1e-5, "position"), (1e-5, "velocity"))
        )
        out.append(at_least(f"{solver}: evaluations, {over} : {under}, the least", least, 1.0, says=says))
    ratio = work["q42", 1e-5, "position"] / work["E66", 1e-5, "position"]
    return [*out, close(f"{solver}: evaluations, q42 : E66, R to 1e-5", ratio, 0.9, 0.25, says="competitive")]


def _ratio(finding: Finding, solver: str) -> list[Comparison]:
    error, expected = _RATIOS[solver]
    work = [evaluations_for(finding, error, form=form, t_end=_T_END, solver=solver) for form in ("q40", "q42")]
    quantity = f"{solver}: evaluations, q40 : q42, R to {error:.0e}"
    return [near(quantity, work[0] / work[1], expected, 0.10, says="null space superior")]


def _early(finding: Finding, solver: str) -> list[Comparison]:
    work = {form: evaluations_for(finding, 1e-5, form=form, t_end=2.0, solver=solver) for form in FORMS}
    out = [
        near(f"{solver}, 2 s, {form}: evaluations, R to 1e-5", work[form], expected, _allowed(solver))
        for form, expected in zip(FORMS, _EARLY[solver], strict=True)
    ]
    if solver == "DoPri5":
        out.append(near("DoPri5, 2 s: evaluations, q40 : q42, R to 1e-5", work["q40"] / work["q42"], 0.79, 0.05))
    return out


def _growth() -> list[Comparison]:
    """The exponent of t in the error of R after 2 s, why 2 s and 10 s differ."""
    t, exact = np.array(_LATE), _late()
    out = []
    for form, expected in (("q42", 1.6), ("q40", 3.4)):
        of = problem("A", form)
        run = rbdae.solve(of, (0.0, _T_END), solver="rbdae:dopri5", rtol=1e-8, atol=1e-8)
        R = of.states(t, run(t))["top"].orientation.as_matrix().reshape(-1, 9)
        error = np.abs(R - exact.position).max(axis=1)
        exponent = float(np.polyfit(np.log(t), np.log(error), 1)[0])
        out.append(close(f"DoPri5, {form}: exponent of t in the error of R", exponent, expected, 0.3))
    return out


def _faster(finding: Finding) -> Comparison:
    """The ratio after 2 s where the top turns five times as fast."""
    wanted, spin = heavy_top((2.0,), 100.0), (0.0, 0.0, 100.0)
    rows = work_precision("A", 2.0, SOLVERS["DoPri5"], ("q40", "q42"), TOLERANCES, wanted, angular_velocity=spin)
    fast = Finding(COLUMNS, rows, ())
    work = [evaluations_for(fast, 1e-5, form=form) for form in ("q40", "q42")]
    quantity = "DoPri5, 2 s, 100 rad/s: evaluations, q40 : q42"
    return near(quantity, work[0] / work[1], 1.00, 0.05, says="the faster, the larger the discrepancy")


def _draw(finding: Finding) -> Figure:
    names = [name for name in finding.values("solver") if finding.select(solver=name, t_end=2.0)]
    figure = new_figure("papers", (2.6 * len(names) + 1.4, 8.6), layout="constrained")
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
    legend(figure, (grid[0, 0],))
    figure.suptitle(
        "Example A: error over evaluations of the right-hand side, [NS] Figures 13 and 14", fontsize="medium"
    )
    return figure


ITEM: Final = Item(
    name="ns-fig-13-14",
    paper="null_space",
    place="Figures 13 and 14",
    says="In Example A the null space is superior to index 0 with every solver, quaternions are better than directors, "
    "and both null-space forms are competitive with Euler angles.",
    verdict="agrees",
    why="After 10 s index 0 takes 1.2 to 2.9 times the evaluations. After 2 s it can take fewer, because its error "
    "grows with the third power of time, that of the null space with the second.",
    run=_run,
    draw=_draw,
)

__all__ = ["ITEM", "SOLVERS"]

"""[NS] section 6: projection with BDF, of velocity and position, metric and norm, and four ways back to a rotation."""

from __future__ import annotations

import timeit
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

import rbdae
from rbdae._arrays import Mat
from rbdae._figure import COLOURS, new_figure
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, at_most, claim, close, expect, near
from rbdae_papers.item import Settings, attempt, item, numbers
from rbdae_papers.null_space.equations import LEGEND, NAMES, PROJECTION, problem
from rbdae_papers.null_space.orthonormal import orthonormalised
from rbdae_papers.null_space.references import errors, reference
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_T_END = 10.0
_Method = Literal["spurrier-klumpp", "polar", "gram-schmidt", "logarithm"]
_METHODS: Final[tuple[_Method, ...]] = ("spurrier-klumpp", "polar", "gram-schmidt", "logarithm")
_OFF = 1e-4
"""Standard deviation of the entries' errors."""


def _run_metric(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    ratios = []
    for form, by_tolerance in numbers("null_space", "ns-metric").items():
        for tolerance, expected in ((float(text), number) for text, number in by_tolerance.items()):
            if form not in how.chosen((form,)) or (how.quick and tolerance < 1e-6):
                continue
            found = {}
            for metric in ("mass", "identity"):
                run = rbdae.solve(
                    problem("A", form), (0.0, _T_END), solver=how.solver or "scipy:RK45", rtol=tolerance,
                    atol=tolerance, projection=replace(PROJECTION, metric=metric),
                )  # fmt: skip
                found[metric] = errors(run, reference("A", _T_END)).position
                rows.append((form, tolerance, metric, found[metric]))
            quantity = f"{form}, tolerance {tolerance:.0e}: error of R after 10 s, mass"
            compared.append(expect(quantity, found["mass"], near(expected, 0.05)))
            ratio, quantity = found["identity"] / found["mass"], f"{form}, tolerance {tolerance:.0e}: identity : mass"
            compared.append(claim(quantity, ratio, at_most(1.05), "not significantly", expected=close(1.0, 0.02)))
            ratios.append(abs(ratio - 1.0))
    sentence = f"The errors differ by {100.0 * max(ratios, default=0.0):.1g} % at most."
    return Finding(("form", "tolerance", "metric", "error"), rows, tuple(compared), sentence=sentence)


def _error(form: str, t_end: float, projection: Any, **options: Any) -> float:
    """The error of R at the end, infinite if the run does not reach it."""
    options = {"solver": "rbdae:dopri5", "rtol": 1e-6, "atol": 1e-6, **options}
    run = attempt(problem("A", form), (0.0, t_end), projection=projection, **options)
    return errors(run, reference("A", t_end)).position if run.success else float("inf")


def _run_multistep(how: Settings) -> Finding:
    """BDF with projected output, with restarts, and with projection in the solver's core."""
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    never = replace(PROJECTION, restart_tolerance=1.0)
    ways: dict[str, tuple[str, rbdae.Projection, str]] = {
        "output only": ("scikits.odes:cvode", never, ""),
        "by restarts": ("scikits.odes:cvode", PROJECTION, "a few restarts feed it back, without a change of the core"),
        "in the core": ("sundials:cvode", PROJECTION, ""),
    }
    for form in ("q40", "d23"):
        for where, (solver, projection, why) in ways.items():
            before, after = (_error(form, 5.0, on, solver=solver, lmm="bdf") for on in (None, projection))
            rows.append((form, where, before, after))
            helps = at_most(0.8) if where == "in the core" else at_least(0.8)
            quantity = f"{form}, BDF: error of R after 5 s, projection {where} : none"
            compared.append(claim(quantity, after / before, helps, "needs changes in the core solver", why=why))
    told = ", ".join(f"{form} {where} {before:.2g} to {after:.2g}" for form, where, before, after in rows)
    return Finding(("form", "projection", "error without", "error with"), rows, tuple(compared), (), (LEGEND,),
                   f"Errors by CVODE, BDF, without and with projection: {told}.")  # fmt: skip


def _run_velocity(how: Settings) -> Finding:
    """Projection of only the position, and of only the velocity."""
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    told = []
    for form in ("q40", "d23"):
        for tolerance in (1e-6, 1e-8):
            found = [
                _error(form, _T_END, replace(PROJECTION, position=position, velocity=not position), rtol=tolerance,
                       atol=tolerance)
                for position in (True, False)
            ]  # fmt: skip
            rows.append((form, tolerance, *found))
            quantity = f"{form}, {tolerance:.0e}: error of R, position alone projected : velocity alone"
            compared.append(claim(quantity, found[0] / found[1], at_least(2.0), "velocity much more crucial"))
            told.append(f"{form} at {tolerance:.0e} {found[0]:.2g} and {found[1]:.2g}")
    sentence = f"R after {_T_END:g} s errs, with the position and with the velocity projected, by {', '.join(told)}."
    return Finding(("form", "tolerance", "position alone", "velocity alone"), rows, tuple(compared), (), (LEGEND,),
                   sentence)  # fmt: skip


def _run_norm(how: Settings) -> Finding:
    of = problem("A", "q40")
    norm, y = 1.001, of.y0.copy()
    y[:4] *= norm
    rate = y[4:].copy()
    before = float(of.energy(0.0, y).kinetic)
    M = np.asarray(of.matrices(0.0, y).M)
    by_hand = float(0.5 * rate @ M @ rate)
    projected = of.project(0.0, y, PROJECTION)
    after = float(of.energy(0.0, projected).kinetic)
    radial = y.copy()
    radial[4:] += 3e-3 * y[:4]
    with_radial = float(of.energy(0.0, radial).kinetic)
    compared = (
        claim("kinetic energy before (63, P) : after", before / after, close(norm**2, 1e-12), "|p*|^2"),
        claim("the same with M_p of (31)", by_hand / after, close(norm**2, 1e-12), "|p*|^2"),
        expect("norm of p after (63, P)", float(np.linalg.norm(projected[:4])), close(1.0, 1e-15)),
        claim("the same with radial pdot : without", with_radial / before, close(1.0, 1e-12), "(63, V) consumes none"),
    )
    rows = [("before", norm, before), ("after", 1.0, after), ("with radial pdot", norm, with_radial)]
    return Finding(("state", "norm", "kinetic energy [J]"), rows, compared)


def _seconds(M: Mat, method: _Method) -> float:
    """The least time per matrix for a stack, s."""
    return min(timeit.repeat(lambda: orthonormalised(M, method), number=1, repeat=3)) / len(M)


def _run_orthonormal(how: Settings) -> Finding:
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(1)
    R = Rotation.from_rotvec(rng.uniform(-1.0, 1.0, (1000, 3))).as_matrix()  # far from half a turn, for the logarithm
    M = R + _OFF * rng.standard_normal(R.shape)
    polar = orthonormalised(M[:50], "polar")
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    seconds = {}
    for method in _METHODS:
        expected = numbers("null_space", "ns-orthonormal")["distances"][method]
        found = orthonormalised(M[:50], method)
        distance = float(np.abs(found - polar).max(axis=(-2, -1)).mean())
        seconds[method] = _seconds(M[:2] if method == "logarithm" else M, method)
        rows.append((method, distance, 1e6 * seconds[method]))
        quantity, own = f"{method}: distance from the polar factor", near(expected, 0.05)
        if method == "spurrier-klumpp":
            why = f"entries are off by {_OFF:g}; the orthogonal factor solves it, against the proof of the lemma"
            compared.append(claim(quantity, distance, at_most(0.01 * _OFF), "solves (64, P)", expected=own, why=why))
        else:
            compared.append(expect(quantity, distance, own))
    order = [2, 0, 1]
    turned = orthonormalised(M[:50][..., order], "gram-schmidt")
    changed = float(np.abs(turned - orthonormalised(M[:50], "gram-schmidt")[..., order]).max())
    dearer = {method: seconds[method] / seconds["spurrier-klumpp"] for method in ("polar", "logarithm")}
    compared += [
        claim("gram-schmidt: change with the order", changed, at_least(0.1 * _OFF), "depends on the order"),
        claim("seconds, polar (SVD) : spurrier-klumpp", dearer["polar"], at_least(1.0), "fast"),
        claim("seconds, logarithm : spurrier-klumpp", dearer["logarithm"], at_least(10.0), "expensive"),
    ]
    remarks = ("Times are of stacks of 1,000 matrices, of 2 for the logarithm.",)
    return Finding(("method", "distance", "microseconds a matrix"), rows, tuple(compared), remarks=remarks)


def _draw_metric(finding: Finding) -> Figure:
    figure = new_figure("papers", (6.4, 4.6), layout="constrained")
    axes = figure.subplots()
    for k, form in enumerate(finding.values("form")):
        for metric, marker, size in (("mass", "o", 9), ("identity", "x", 6)):
            tolerance, found = (finding.column(name, form=form, metric=metric) for name in ("tolerance", "error"))
            axes.loglog(
                tolerance, found, color=COLOURS[k], marker=marker, markersize=size,
                markerfacecolor="none", linewidth=1.0 if metric == "mass" else 0.0, label=f"{NAMES[form]}, {metric}",
            )  # fmt: skip
    framed(axes, "projection after each step", "tolerance", "largest error of R after 10 s")
    axes.legend(fontsize="small", frameon=False)
    figure.suptitle("Example A: projection with M and with the identity, [NS] (62), (64)", fontsize="medium")
    return figure


def _draw_orthonormal(finding: Finding) -> Figure:
    figure = new_figure("papers", (9.0, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    names = finding.values("method")
    shown = (
        ("distance", "distance from the polar factor, entries off by 1e-4", 1e-10),
        ("microseconds", "μs a matrix", 0.1),
    )
    for axes, (column, across, floor) in zip(panels, shown, strict=True):
        values = finding.column(column)
        axes.barh(names, np.maximum(values, floor), color=COLOURS[: len(names)], height=0.6)
        axes.set_xscale("log")
        axes.set_xlim(floor, 30.0 * values.max())
        for name, value in zip(names, values, strict=True):
            axes.annotate(f" {value:.3g}", (max(value, floor), name), va="center", fontsize="small")
        framed(axes, "", across, "")
        axes.grid(False, axis="y")
    panels[0].invert_yaxis()
    figure.suptitle("Four ways back to a rotation, [NS] section 6", fontsize="medium")
    return figure


METRIC: Final = item("ns-metric", _run_metric, _draw_metric)
MULTISTEP: Final = item("ns-bdf", _run_multistep)
VELOCITY: Final = item("ns-velocity", _run_velocity)
NORM: Final = item("ns-norm", _run_norm)
ORTHONORMAL: Final = item("ns-orthonormal", _run_orthonormal, _draw_orthonormal)

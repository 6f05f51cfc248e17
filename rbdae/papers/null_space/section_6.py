"""[NS] section 6: the metric of projection, the norm of p*, and four ways back to a rotation."""

from __future__ import annotations

import timeit
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

import rbdae
from rbdae import rotations
from rbdae._arrays import Mat
from rbdae.papers.finding import Cell, Comparison, Finding, at_least, at_most, close, near
from rbdae.papers.item import Item
from rbdae.papers.null_space.equations import NAMES, problem
from rbdae.papers.null_space.references import errors, reference
from rbdae.papers.panels import framed
from rbdae.plotting.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_T_END = 10.0
_ERRORS: Final[dict[str, dict[float, float]]] = {
    "d23": {1e-4: 0.335, 1e-6: 3.88e-3, 1e-8: 3.51e-5},
    "q40": {1e-4: 0.138, 1e-6: 1.96e-3, 1e-8: 1.92e-5},
    "d25": {1e-4: 1.95e-2, 1e-6: 1.20e-4, 1e-8: 8.49e-7},
}
"""Errors of R after 10 s with the mass metric, by form and tolerance."""

_Method = Literal["spurrier-klumpp", "polar", "gram-schmidt", "logarithm"]
_METHODS: Final[dict[_Method, float]] = {
    "spurrier-klumpp": 5.63e-5,
    "polar": 0.0,
    "gram-schmidt": 9.57e-5,
    "logarithm": 4.22e-9,
}
"""Distances from the polar factor, the mean of the largest entries, where entries are off by 1e-4 (normal)."""


def _run_metric(quick: bool) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    for form, by_tolerance in _ERRORS.items():
        for tolerance, expected in by_tolerance.items():
            if quick and tolerance < 1e-6:
                continue
            found = {}
            for metric in ("mass", "identity"):
                run = rbdae.solve(
                    problem("A", form), (0.0, _T_END), solver="scipy:RK45", rtol=tolerance, atol=tolerance,
                    projection=rbdae.Projection(metric=metric),
                )  # fmt: skip
                found[metric] = errors(run, reference("A", _T_END)).position
                rows.append((form, tolerance, metric, found[metric]))
            quantity = f"{form}, tolerance {tolerance:.0e}: error of R after 10 s, mass"
            compared.append(near(quantity, found["mass"], expected, 0.05))
            ratio, quantity = found["identity"] / found["mass"], f"{form}, tolerance {tolerance:.0e}: identity : mass"
            compared.append(close(quantity, ratio, 1.0, 0.02, says="not significantly"))
    return Finding(("form", "tolerance", "metric", "error"), rows, tuple(compared))


def _run_norm(quick: bool) -> Finding:
    of = problem("A", "q40")
    norm, y = 1.001, of.y0.copy()
    y[:4] *= norm
    rate = y[4:].copy()
    before = float(of.energy(0.0, y).kinetic)
    M = np.asarray(of.matrices(0.0, y).M)
    by_hand = float(0.5 * rate @ M @ rate)
    projected = of.project(0.0, y)
    after = float(of.energy(0.0, projected).kinetic)
    radial = y.copy()
    radial[4:] += 3e-3 * y[:4]
    with_radial = float(of.energy(0.0, radial).kinetic)
    compared = (
        close("kinetic energy before (63, P) : after", before / after, norm**2, 1e-12, says="|p*|^2"),
        close("the same with M_p of (31)", by_hand / after, norm**2, 1e-12, says="|p*|^2"),
        close("norm of p after (63, P)", float(np.linalg.norm(projected[:4])), 1.0, 1e-15),
        close(
            "kinetic energy with radial pdot : without", with_radial / before, 1.0, 1e-12, says="(63, V) consumes none"
        ),
    )
    rows = [("before", norm, before), ("after", 1.0, after), ("with radial pdot", norm, with_radial)]
    return Finding(("state", "norm", "kinetic energy [J]"), rows, compared)


def _seconds(M: Mat, method: _Method) -> float:
    """The least time for a stack of matrices, over its length, s."""
    return min(timeit.repeat(lambda: rotations.orthonormalised(M, method), number=1, repeat=9)) / len(M)


def _run_orthonormal(quick: bool) -> Finding:
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(1)
    R = Rotation.from_rotvec(rng.uniform(-1.0, 1.0, (1000, 3))).as_matrix()  # far from half a turn, for the logarithm
    M = R + 1e-4 * rng.standard_normal(R.shape)
    polar = rotations.orthonormalised(M[:50], "polar")
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    seconds = {}
    for method, expected in _METHODS.items():
        found = rotations.orthonormalised(M[:50], method)
        distance = float(np.abs(found - polar).max(axis=(-2, -1)).mean())
        seconds[method] = _seconds(M[:10] if method == "logarithm" else M, method)
        rows.append((method, distance, 1e6 * seconds[method]))
        quantity = f"{method}: distance from the polar factor"
        if expected:
            compared.append(near(quantity, distance, expected, 0.05))
        else:
            compared.append(at_most(quantity, distance, 0.0))
    differs = "it comes near; the orthogonal factor solves (64, P), against the proof of Lemma 6.2"
    compared[0] = replace(compared[0], says="solves (64, P)", differs=differs)
    compared += [
        at_least(
            "seconds, polar (SVD) : spurrier-klumpp", seconds["polar"] / seconds["spurrier-klumpp"], 3.0, says="faster"
        ),
        at_least(
            "seconds, logarithm : spurrier-klumpp",
            seconds["logarithm"] / seconds["spurrier-klumpp"],
            30.0,
            says="expensive",
        ),
    ]
    remarks = ("Times are of stacks of 1,000 matrices, of 10 for the logarithm.",)
    return Finding(("method", "distance", "microseconds a matrix"), rows, tuple(compared), remarks=remarks)


def _draw_metric(finding: Finding) -> Figure:
    figure = new_figure("papers", (6.4, 4.6), layout="constrained")
    axes = figure.subplots()
    for k, form in enumerate(_ERRORS):
        for metric, marker, size in (("mass", "o", 9), ("identity", "x", 6)):
            found = finding.column("error", form=form, metric=metric)
            axes.loglog(
                list(_ERRORS[form])[: len(found)], found, color=COLOURS[k], marker=marker, markersize=size,
                markerfacecolor="none", linewidth=1.0 if metric == "mass" else 0.0, label=f"{NAMES[form]}, {metric}",
            )  # fmt: skip
    framed(axes, "RK45, projection after each step", "tolerance", "largest error of R after 10 s")
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


METRIC: Final = Item(
    name="ns-metric",
    paper="null_space",
    place="Section 6, after Lemma 6.2",
    says="Projection with the identity in place of the mass does not deteriorate the accuracy significantly.",
    verdict="agrees",
    why="The errors differ by 1 % at most.",
    run=_run_metric,
    draw=_draw_metric,
)
NORM: Final = Item(
    name="ns-norm",
    paper="null_space",
    place="(63)",
    says="The projection of the position divides the kinetic energy by the square of the norm of p*, that of the "
    "velocity leaves it.",
    verdict="agrees",
    run=_run_norm,
)
ORTHONORMAL: Final = Item(
    name="ns-orthonormal",
    paper="null_space",
    place="Section 6, Lemma 6.2 and Remark 6.3",
    says="The algorithm of Spurrier and Klumpp is explicit and fast, and solves (64); Gram-Schmidt depends on the "
    "order, the logarithm is expensive.",
    verdict="agrees in part",
    why="It is several times as fast as the singular value decomposition, but does not solve (64, P): the orthogonal "
    "factor does, and it is off by half of the error.",
    run=_run_orthonormal,
    draw=_draw_orthonormal,
)

__all__ = ["METRIC", "NORM", "ORTHONORMAL"]

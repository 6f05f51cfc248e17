"""[NS] Figure 11: the motion of Example A."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import rbdae
from rbdae._arrays import Vec
from rbdae._figure import COLOURS, new_figure
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, claim, close, expect
from rbdae_papers.item import Settings, item, numbers
from rbdae_papers.null_space.equations import problem
from rbdae_papers.null_space.references import heavy_top
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_T_END = 20.0


def _axis(of: rbdae.Problem, run: rbdae.Solution, t: Vec) -> Vec:
    """The third director at times, (m, 3)."""
    rotation = of.states(t, run(t))["top"].orientation
    out: Vec = rotation.apply((0.0, 0.0, 1.0))
    return out


def _tilt(of: rbdae.Problem, run: rbdae.Solution, t: float) -> float:
    """The angle between the axis of the top and the vertical, degrees."""
    axis = _axis(of, run, np.array([t]))[0]
    return float(np.degrees(np.arctan2(np.hypot(axis[0], axis[1]), axis[2])))


def _run(how: Settings) -> Finding:
    from scipy.optimize import minimize_scalar

    of = problem("A", "q42")
    run = rbdae.solve(of, (0.0, _T_END), solver="rbdae:dop853", rtol=1e-12, atol=1e-12)
    t = np.linspace(0.0, _T_END, 4001)
    axis, states = _axis(of, run, t), of.states(t, run(t))["top"]
    tilt = np.degrees(np.arctan2(np.hypot(axis[:, 0], axis[:, 1]), axis[:, 2]))
    azimuth = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    Omega = states.angular_velocity
    known, turned, times = numbers("null_space", "ns-fig-11"), azimuth[-1] - azimuth[0], []
    start, largest = known["tilt"]
    compared: list[Comparison] = [
        claim("smallest tilt [deg]", tilt.min(), close(start, 1e-3), "60 at the start"),
        claim("nutation: range of the tilt [deg]", np.ptp(tilt), at_least(1.0), "nutates",
              expected=close(largest - start, 1e-3)),
        claim("precession in 20 s [rad]", turned, at_least(1.0), "precesses",
              expected=close(known["precession"], 1e-3)),
        expect("smallest Omega3 [rad/s]", Omega[:, 2].min(), close(known["Omega3"][0], 1e-3)),
        expect("largest Omega3 [rad/s]", Omega[:, 2].max(), close(known["Omega3"][1], 1e-3)),
    ]  # fmt: skip
    for k, expected in enumerate(known["minima"]):
        bounds, fine = (expected - 0.3, expected + 0.3), {"xatol": 1e-6}
        found = minimize_scalar(lambda at: _tilt(of, run, at), bounds=bounds, method="bounded", options=fine)
        times.append(float(found.x))
        compared.append(expect(f"time of nutation minimum {k + 1} [s]", found.x, close(expected, 1e-3)))
    exact = heavy_top((2.0,))
    R = of.states(2.0, run(2.0))["top"].orientation.as_matrix().ravel()
    apart = np.abs(R - exact.position[0]).max()
    compared.append(expect("largest entry of R - R of Euler's equations, 2 s", apart, close(0.0, 1e-9)))
    keep = slice(None, None, 4)
    columns = zip(t[keep], tilt[keep], azimuth[keep], *axis[keep].T, *Omega[keep].T, strict=True)
    rows: list[tuple[Cell, ...]] = [tuple(float(x) for x in row) for row in columns]
    names = "t [s]", "tilt [deg]", "azimuth [rad]", "d3x", "d3y", "d3z", *(f"Omega{k} [rad/s]" for k in "123")
    sentence = (
        f"The tilt is between {tilt.min():.3f} and {tilt.max():.3f} degrees with a period of "
        f"{float(np.diff(times).mean()):.3f} s; the axis precesses by {turned:.3f} rad in {_T_END:g} s."
    )
    return Finding(names, rows, tuple(compared), sentence=sentence)


def _draw(finding: Finding) -> Figure:
    figure = new_figure("papers", (10.4, 7.4), layout="constrained")
    grid = figure.add_gridspec(4, 2, width_ratios=(1.5, 1.0))
    t = finding.column("t")
    left = [figure.add_subplot(grid[k, 0]) for k in range(4)]
    shown = (
        ("nutation: angle between d3 and the vertical", "tilt [deg]", ["tilt"]),
        ("precession: azimuth of d3", "azimuth [rad]", ["azimuth"]),
        ("angular velocity in the body", "Ω₁, Ω₂ [rad/s]", ["Omega1", "Omega2"]),
        ("", "Ω₃ [rad/s]", ["Omega3"]),
    )
    for axes, (title, up, columns) in zip(left, shown, strict=True):
        for k, column in enumerate(columns):
            label = "Ω" + "₁₂"[k] if len(columns) > 1 else None
            axes.plot(t, finding.column(column), color=COLOURS[k], linewidth=1.0, label=label)
        framed(axes, title, "t [s]" if axes is left[-1] else "", up)
        axes.margins(x=0.01)
        axes.tick_params(labelbottom=axes is left[-1])
        axes.ticklabel_format(axis="y", useOffset=False)
    left[2].legend(loc="upper right", ncols=2, fontsize="small", framealpha=0.9, borderaxespad=0.2)
    x, y, z = (finding.column(name) for name in ("d3x", "d3y", "d3z"))
    space = figure.add_subplot(grid[:, 1], projection="3d")
    turn, down = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 37), np.linspace(0.0, 0.5 * np.pi, 10))
    sphere = np.cos(turn) * np.sin(down), np.sin(turn) * np.sin(down), np.cos(down)
    space.plot_wireframe(*sphere, color="0.88", linewidth=0.5)
    space.plot(x, y, z, color=COLOURS[1], linewidth=1.0)
    space.plot(x[:1], y[:1], z[:1], "o", color="black", markersize=4)
    space.set_box_aspect((1.0, 1.0, 0.5), zoom=1.0)
    space.set(xlabel="x", ylabel="y", zlabel="z", xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(0, 1))
    space.set_title("path of d3 on the unit sphere; dot: start", fontsize="medium")
    figure.suptitle("Example A: nutation and precession, [NS] Figure 11", fontsize="medium")
    return figure


ITEM: Final = item("ns-fig-11", _run, _draw)

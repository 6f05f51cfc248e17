"""[GR95] Figures 6 and 7: the symmetric top of section 11.6, dropped and thrown, by the mid-point rule."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import rbdae
from rbdae._arrays import Mat, Vec
from rbdae._figure import COLOURS, new_figure
from rbdae_papers import closed_form, step_equations
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, at_most, claim, close, expect, within_factor
from rbdae_papers.item import Settings, item, numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STEP, _T_END = 1e-3, 5.0
_MASS, _ARM, _INERTIA = 5.0, 1.3, (0.8, 0.8, 1.8)
_TOP: Final = closed_form.SymmetricTop(0.8 + _MASS * _ARM**2, 1.8, _MASS * 9.81 * _ARM)
_READINGS: Final[dict[str, tuple[str, str]]] = {
    "average-velocity": ("(326), average of angular velocities", COLOURS[4]),
    "average-momentum": ("(310), average of momenta", COLOURS[2]),
    "conformal": ("conformal vector", COLOURS[1]),
    "rodrigues": ("Rodrigues parameters", COLOURS[0]),
}
"""Names and colours of the readings, `variant=`."""


_NAMES: Final[dict[int, str]] = {1: "gr-fig-6", 2: "gr-fig-7"}
_TIMES: Final[dict[int, str]] = {1: "dropped", 2: "thrown with a precession of -10 rad/s"}


@lru_cache(maxsize=16)
def _solved(case: int, variant: str) -> rbdae.Solution:
    problem = rbdae.formulate(rbdae.models.rotations_top(case=case), "index-0")
    return rbdae.solve(problem, (0.0, _T_END), solver="rbdae:midpoint", variant=variant, step=_STEP)


def _curves(solution: rbdae.Solution) -> dict[str, Vec]:
    """The quantities of the figures, by the names of columns."""
    top = solution.states["top"]
    x, Omega = np.asarray(top.position), np.asarray(top.angular_velocity)
    _, theta, phi = np.unwrap(top.orientation.as_euler("ZXZ"), axis=0).T
    energy = np.asarray(solution.energy.total)
    return {
        "t": solution.t,
        "x1": x[:, 0],
        "x2": x[:, 1],
        "x3": x[:, 2],
        "theta": theta,
        "phi": phi,
        "constraint": np.linalg.norm(x - top.orientation.apply((0.0, 0.0, _ARM)), axis=1),
        "thetadot": Omega[:, 0] * np.cos(phi) - Omega[:, 1] * np.sin(phi),  # (345)
        "energy": energy / energy[0] - 1.0,
        "Omega_1": Omega[:, 0],
    }


_COLUMNS: Final = (
    "reading", "t [s]", "x1 [m]", "x2 [m]", "x3 [m]", "theta [rad]", "phi [rad]", "constraint [m]",
    "thetadot [rad/s]", "energy", "Omega_1 [rad/s]",
)  # fmt: skip


def _by_hand(case: int, steps: int) -> Mat:
    """Centres of mass of the first steps, (steps, 3), by (341) to (344)."""
    run = _solved(case, "average-momentum").states["top"]
    state = step_equations.MidpointState(
        run.position[0], run.orientation[0].as_matrix(), run.velocity[0], run.angular_velocity[0]
    )
    found = []
    for _ in range(steps):
        step = step_equations.MidpointStep(
            state, _STEP, _MASS, np.diag(_INERTIA), np.array((0.0, 0.0, _ARM)), np.array((0.0, 0.0, -9.81 * _MASS))
        )
        state = step.end(step.solved())
        found.append(state.x)
    return np.array(found)


def _run(case: int, how: Settings) -> Finding:
    expected, quick = numbers("rotations", _NAMES[case]), how.quick
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    start = _solved(case, "rodrigues").states["top"]
    limits = _TOP.nutation_limits(*_TOP.integrals(start.orientation[0], start.angular_velocity[0]))
    for name, found, wanted in zip(("least", "largest"), limits, expected["limits"], strict=True):
        compared.append(expect(f"{name} tilt of the first integrals [rad]", found, close(wanted, 1e-5)))
    for variant, (name, _) in _READINGS.items():
        curves = _curves(_solved(case, variant))
        rows += [(variant, *map(float, row)) for row in list(zip(*curves.values(), strict=True))[:: 10 if quick else 5]]
        energy = float(np.abs(curves["energy"]).max())
        drift = float(curves["constraint"].max())
        compared.append(claim(f"{name}: constraint [m]", drift, at_most(expected["constraint"]), "at most 2e-7",
                              expected=at_most(1e-14)))  # fmt: skip
        why = "(310), the average of momenta, contradicts (326), with which energy holds"
        own = within_factor(expected["energy"], 1.5) if variant == "average-momentum" else at_most(3e-12)
        quantity = f"{name}: largest |E / E0 - 1|"
        compared.append(claim(quantity, energy, at_most(1e-9), "conserved", expected=own, why=why))
        if variant == "rodrigues":
            compared.append(expect(f"{name}: largest tilt [rad]", curves["theta"].max(), close(expected["tilt"], 1e-5)))
            least = close(expected["limits"][0], 1e-5)
            compared.append(expect(f"{name}: least tilt [rad]", curves["theta"].min(), least))
            compared.append(expect(f"{name}: least height [m]", curves["x3"].min(), close(expected["height"], 1e-5)))
            kept = curves["theta"]
        if variant == "average-velocity":
            lost = curves["theta"]
    away = float(np.abs(lost - kept).max())
    period = limits[1] - limits[0]
    for variant, theta in (("rodrigues", kept), ("average-velocity", lost)):
        left = max(theta.max() - limits[1], limits[0] - theta.min(), 0.0) / period
        quantity = f"{_READINGS[variant][0]}: how far the tilt leaves its limits, of their distance"
        compared.append(claim(quantity, left, at_most(0.01), "stays periodic",
                              why="with the average of angular velocities the top loses its spin"))  # fmt: skip
    compared.append(expect("(326): largest difference of the tilt from that [rad]", away, at_least(expected["lost"])))
    by_hand = _by_hand(case, 5 if quick else 50)
    steps = np.asarray(_solved(case, "average-momentum").states["top"].position)[1 : len(by_hand) + 1]
    difference = float(np.abs(by_hand - steps).max())
    compared.append(expect("centre of mass by (341) to (344), difference [m]", difference, at_most(1e-11)))
    remarks = ("The printed constraint comes from Newton's tolerance: (340) is the difference of x = R X_g.",)
    return Finding(_COLUMNS, rows, tuple(compared), remarks=remarks)


_PANELS: Final = (
    ("t", "x3", "(a) height of the centre of mass", "t [s]", "x₃ [m]"),
    ("x1", "x2", "(b) path of the centre of mass", "x₁ [m]", "x₂ [m]"),
    ("t", "theta", "(c) tilt", "t [s]", "θ [rad]"),
    ("t", "phi", "(d) spin", "t [s]", "φ [rad]"),
    ("t", "constraint", "(e) constraint", "t [s]", "|x - R X_g| [m]"),
    ("theta", "thetadot", "(f) phase diagram of the tilt", "θ [rad]", "dθ/dt [rad/s]"),
    ("t", "energy", "(g) change of the energy", "t [s]", "|E / E₀ - 1|"),
    ("t", "Omega_1", "(h) transverse angular velocity", "t [s]", "Ω₁ [rad/s]"),
)


def _draw(case: int, finding: Finding) -> Figure:
    figure = new_figure("papers", (9.6, 13.0), layout="constrained")
    panels = figure.subplots(4, 2).ravel()
    panels[1].remove()
    panels[1] = space = figure.add_subplot(4, 2, 2, projection="3d")
    until = 2.0
    for axes, (across, up, heading, label, unit) in zip(panels, _PANELS, strict=True):
        for variant, (name, colour) in _READINGS.items():
            shown = finding.column("t", reading=variant) <= until
            x, y = (finding.column(each, reading=variant)[shown] for each in (across, up))
            look: dict[str, Any] = {"color": colour, "label": name}
            look |= {"linewidth": 3.0, "alpha": 0.5} if variant == "average-momentum" else {"linewidth": 1.0}
            look |= {"linestyle": "--", "linewidth": 1.6} if variant == "conformal" else {}
            if across == "x1":
                axes.plot(x, y, finding.column("x3", reading=variant)[shown], **look)
            elif up in ("constraint", "energy"):
                axes.semilogy(x, np.maximum(np.abs(y), 1e-17), **look)
            else:
                axes.plot(x, y, **look)
        axes.set_title(heading, loc="left", fontsize="medium")
        axes.set_xlabel(label)
        axes.set_ylabel(unit)
        axes.grid(True, alpha=0.3)
    for limit in numbers("rotations", _NAMES[case])["limits"]:
        panels[2].axhline(limit, color="black", linestyle=":", linewidth=0.9)
        panels[5].axvline(limit, color="black", linestyle=":", linewidth=0.9)
    space.set_zlabel("x₃ [m]")
    space.tick_params(labelsize="small", pad=0)
    space.locator_params(nbins=4)
    space.set_box_aspect((1.0, 1.0, 0.7), zoom=1.15)
    panels[4].set_ylim(1e-17, 1e-13)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    figure.suptitle(
        f"Top with a spin of 50 rad/s, {_TIMES[case]}; [GR95] Figure {5 + case}\ndotted: nutation limits",
        fontsize="medium",
    )
    return figure


FIGURE_6: Final = item(_NAMES[1], lambda how: _run(1, how), lambda finding: _draw(1, finding))
FIGURE_7: Final = item(_NAMES[2], lambda how: _run(2, how), lambda finding: _draw(2, finding))

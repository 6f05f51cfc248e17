"""Figures 1, 3, 4 and 5 of the Hamiltonian paper [BS09]: a free body and a gyro top by the schemes compared there.

    python examples/free_body_and_gyro_top.py [--folder results] [--quick]

Writes `free_body.png` (energy and momentum at a large step; error over the step size), `gyro_top.png` (the same for
the top in steady precession) and `gyro_top_paths.png` (its centre of mass and its exact circle). Prints the errors at
1e-3 s, and the orders. See docs/conserving.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rbdae

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOMENTUM = {"velocity": "momentum"}
SCHEMES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "QUAT.EM": ({"rotation": "quaternion", **MOMENTUM}, {"solver": "rbdae:energy-momentum", "variant": "paper"}),
    "QUAT.EM-R": ({"rotation": "quaternion", **MOMENTUM}, {"solver": "rbdae:energy-momentum"}),
    "DIR.EM": ({"rotation": "directors", **MOMENTUM}, {"solver": "rbdae:energy-momentum"}),
    "QUAT.VI": ({"rotation": "quaternion", **MOMENTUM}, {"solver": "rbdae:variational"}),
    "ALGO.C1": ({"rotation": "quaternion", "velocity": "angular"}, {"solver": "rbdae:simo-wong"}),
}
"""Formulation and options of each scheme. QUAT.EM-R is not in the paper."""

STYLES: dict[str, dict[str, Any]] = {
    "QUAT.EM": {"color": "tab:blue", "marker": "o"},
    "QUAT.EM-R": {"color": "tab:cyan", "marker": "s"},
    "DIR.EM": {"color": "tab:orange", "marker": "^"},
    "QUAT.VI": {"color": "tab:red", "marker": "v"},
    "ALGO.C1": {"color": "tab:green", "marker": "d"},
}

MODELS = {"free body": rbdae.models.free_body, "gyro top": rbdae.models.gyro_top}
STEPS = (0.01, 0.005, 0.0025, 0.001, 0.0005, 0.00025, 0.0001)
T_END = 1.0
TILT, PRECESSION, LENGTH = np.pi / 3, 10.0, 0.075
"""Data of the gyro top, whose centre of mass follows a circle."""


def run(model: str, scheme: str, step: float, t_end: float = T_END) -> rbdae.Solution:
    """One run; QUAT.VI refuses steps for which its equation for the spin has no solution."""
    chosen, how = SCHEMES[scheme]
    formulation = "hamiltonian-eliminated" if chosen["velocity"] == "momentum" else "index-0"
    problem = rbdae.formulate(MODELS[model](), formulation, **chosen)
    return rbdae.solve(problem, (0.0, t_end), step=step, **how)


def circle(t: Any) -> Any:
    """The centre of mass of the gyro top, (m, 3)."""
    turned = PRECESSION * np.asarray(t)
    across, up = LENGTH * np.sin(TILT), LENGTH * np.cos(TILT)
    return np.stack([across * np.sin(turned), -across * np.cos(turned), np.full_like(turned, up)], axis=-1)


def centre(solution: rbdae.Solution) -> Any:
    """The centre of mass in a run, (m, 3); the body's position is its tip."""
    return solution.states["top"].orientation.apply((0.0, 0.0, LENGTH))


def error(model: str, solution: rbdae.Solution) -> float:
    """The error at the end: |R_ref R^T - I| (Frobenius norm) for the free body, relative error of the centre for the
    top."""
    if model == "gyro top":
        wanted = circle(solution.t[-1])
        return float(np.linalg.norm(centre(solution)[-1] - wanted) / np.linalg.norm(wanted))
    body = rbdae.closed_form.FreeBody((6.0, 8.0, 3.0), (10.0, 20.0, 20.0))
    wanted = body.orientation(solution.t[-1])
    reached = solution.states["body"].orientation[-1]
    return float(np.linalg.norm((wanted * reached.inv()).as_matrix() - np.eye(3)))


def errors(model: str, steps: tuple[float, ...] = STEPS) -> dict[str, dict[float, float]]:
    """Errors at the end by scheme and step, for the steps with which the scheme runs."""
    by_scheme: dict[str, dict[float, float]] = {}
    for scheme in SCHEMES:
        runs = {step: run(model, scheme, step) for step in steps}
        by_scheme[scheme] = {step: error(model, one) for step, one in runs.items() if one.success}
    return by_scheme


def changes(solution: rbdae.Solution) -> dict[str, Any]:
    """Relative changes of energy and angular momentum at the steps."""
    energy, momentum = solution.energy.total, solution.momentum.angular
    size = np.linalg.norm(momentum[0])
    return {"energy": energy / energy[0] - 1.0} | {
        f"L{'₁₂₃'[k]}": (momentum[:, k] - momentum[0, k]) / size for k in range(3)
    }


def draw(model: str, found: dict[str, dict[float, float]], t_end: float = 10.0) -> Figure:
    """Draw Figure 1 or 3: invariants of QUAT.EM at a large step, and errors over the step size."""
    from matplotlib.figure import Figure

    step = 0.05 if model == "free body" else 0.01
    figure = Figure(figsize=(12.0, 5.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    solution = run(model, "QUAT.EM", step, t_end)
    for name, change in changes(solution).items():
        if model == "free body" or name in ("energy", "L₃"):  # weight changes the others
            left.plot(solution.t, change, lw=1.0, label=name)
    left.set(title=f"QUAT.EM, step {step:g} s", xlabel="t in s", ylabel="relative change")
    for scheme, values in found.items():
        right.loglog(list(values), list(values.values()), ms=5, label=scheme, **STYLES[scheme])
    coarse = max(max(values) for values in found.values())
    guide = np.array([coarse / 10.0, coarse])
    base = min(min(values.values()) for values in found.values())
    right.loglog(guide, 30.0 * base * (guide / guide[0]) ** 2, color="black", ls=":", lw=1.0, label="order 2")
    what = "|R_ref Rᵀ - I|" if model == "free body" else "relative error of the centre of mass"
    right.set(title=f"error at t = {T_END:g} s", xlabel="step in s", ylabel=what)
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.suptitle(f"{model}, [BS09] Figure {1 if model == 'free body' else 3}")
    return figure


def draw_paths(t_end: float = T_END) -> Figure:
    """Draw Figures 4 and 5: coordinates of the centre of mass and of the circle."""
    from matplotlib.figure import Figure

    shown = (("QUAT.EM", 0.01), ("DIR.EM", 0.01), ("QUAT.VI", 0.007), ("ALGO.C1", 0.007))
    figure = Figure(figsize=(12.0, 8.0), layout="constrained")
    grid = figure.subplots(2, 2, sharex=True)
    fine = np.linspace(0.0, t_end, 500)
    for column, name in enumerate("xz"):
        for row, schemes in enumerate((shown[:2], shown[2:])):
            axes = grid[row, column]
            axes.plot(fine, circle(fine)[:, 2 * column], color="black", lw=1.0, label="closed form")
            for scheme, step in schemes:
                one = run("gyro top", scheme, step, t_end)
                style = {**STYLES[scheme], "ms": 3, "lw": 0.8}
                axes.plot(one.t, centre(one)[:, 2 * column], label=f"{scheme}, step {step:g} s", **style)
            axes.set(ylabel=f"{name} in m", title=f"Figure {4 + row}")
            axes.grid(alpha=0.3)
    entries = {text: line for axes in grid[:, 0] for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=5)
    for axes in grid[1]:
        axes.set_xlabel("t in s")
    figure.suptitle("gyro top, centre of mass, [BS09] Figures 4 and 5")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("results"))
    parser.add_argument("--quick", action="store_true", help="without the two smallest steps")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for model in MODELS:
        found = errors(model, STEPS[:-2] if arguments.quick else STEPS)
        for scheme, values in found.items():
            steps = [h for h in values if h <= 0.005]
            order = np.polyfit(np.log(steps), np.log([values[h] for h in steps]), 1)[0]
            print(f"{model}, {scheme}: error {values[0.001]:.3g} at 0.001 s, order {order:.2f}")
        path = arguments.folder / f"{model.replace(' ', '_')}.png"
        draw(model, found).savefig(path, dpi=80)
        print(f"written to {path}")
    draw_paths().savefig(arguments.folder / "gyro_top_paths.png", dpi=80)
    print(f"written to {arguments.folder / 'gyro_top_paths.png'}")


if __name__ == "__main__":
    main()

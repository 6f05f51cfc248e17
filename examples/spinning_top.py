"""Figures 6 and 7 of the rotations paper [GR95]: a spinning top by the mid-point rule, in its four readings.

    python examples/spinning_top.py [--folder results] [--t-end 2.0] [--step 1e-3]

Writes `top_case_1.png` (dropped) and `top_case_2.png` (thrown), each with the eight curves of the paper: height of the
centre of mass, its path, tilt theta, spin phi, the constraint, the phase diagram of theta, energy, and Omega_1; the
nutation limits from the first integrals are dotted. Prints the invariants of each reading (docs/conserving.md).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rbdae

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARM = np.array((0.0, 0.0, 1.3))
TOP = rbdae.closed_form.SymmetricTop(0.8 + 5.0 * 1.3**2, 1.8, 5.0 * 9.81 * 1.3)
"""The top, with moments about the fixed point."""

STYLES: dict[str, dict[str, Any]] = {
    "average-velocity": {"color": "tab:orange", "lw": 1.2, "label": "average of velocities, (326)"},
    "average-momentum": {"color": "tab:green", "lw": 3.5, "alpha": 0.5, "label": "average of momenta, (310)"},
    "conformal": {"color": "tab:red", "lw": 1.6, "ls": "--", "label": "conformal vector"},
    "rodrigues": {"color": "tab:blue", "lw": 1.1, "label": "Rodrigues parameters"},
}
"""The readings, `variant=`, in drawing order."""


def run(case: int, variant: str, t_end: float = 2.0, step: float = 1e-3) -> rbdae.Solution:
    """The top of section 11.6, case 1 or 2."""
    problem = rbdae.formulate(rbdae.models.rotations_top(case=case), "index-0")
    return rbdae.solve(problem, (0.0, t_end), solver="rbdae:midpoint", variant=variant, step=step)


def quantities(solution: rbdae.Solution) -> dict[str, Any]:
    """Quantities of the figures at the steps."""
    top = solution.states["top"]
    x, Omega = top.position, top.angular_velocity
    psi, theta, phi = np.unwrap(top.orientation.as_euler("ZXZ"), axis=0).T
    energy = solution.energy.total
    return {
        "t": solution.t,
        "x": x,
        "psi": psi,
        "theta": theta,
        "phi": phi,
        "constraint": np.linalg.norm(x - top.orientation.apply(ARM), axis=1),
        "thetadot": Omega[:, 0] * np.cos(phi) - Omega[:, 1] * np.sin(phi),  # (345)
        "energy": energy / energy[0] - 1.0,
        "Omega_1": Omega[:, 0],
        "L_z": solution.momentum.angular[:, 2],
    }


def limits(solution: rbdae.Solution) -> tuple[float, float]:
    """Least and largest tilt of the motion."""
    top = solution.states["top"]
    return TOP.nutation_limits(*TOP.integrals(top.orientation[0], top.angular_velocity[0]))


def largest(errors: Any, n: int = 20) -> Any:
    """The largest of each n errors, at least rounding, since noise would fill a logarithmic panel."""
    whole = len(errors) // n * n
    return np.maximum(errors[:whole].reshape(-1, n).max(axis=1), 1e-17)


def draw(case: int, solutions: dict[str, rbdae.Solution]) -> Figure:
    """Draw the figure of a case, 6 or 7 in the paper."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 15.0), layout="constrained")
    start = "dropped" if case == 1 else "thrown with a precession of -10 rad/s"
    figure.suptitle(
        f"Case {case}: symmetric top with a spin of 50 rad/s, {start}\n"
        f"mid-point rule of [GR95], section 11; Figure {5 + case} there",
        fontsize=14,
    )
    axes = [figure.add_subplot(4, 2, k + 1, projection="3d" if k == 1 else None) for k in range(8)]
    time_panels: list[tuple[int, str, str]] = [
        (0, "(a) height of the centre of mass", "x₃ in m"),
        (2, "(c) tilt", "θ in rad"),
        (3, "(d) spin", "φ in rad"),
        (4, "(e) constraint, largest of 20 steps", "|x - R X_g| in m"),
        (6, "(g) relative change of the energy, largest of 20 steps", "|E / E₀ - 1|"),
        (7, "(h) transverse angular velocity", "Ω₁ in rad/s"),
    ]
    for name, style in STYLES.items():
        q = quantities(solutions[name])
        shown = {
            0: q["x"][:, 2],
            2: q["theta"],
            3: q["phi"],
            4: largest(q["constraint"]),
            6: largest(np.abs(q["energy"])),
            7: q["Omega_1"],
        }
        for k, values in shown.items():
            axes[k].plot(np.linspace(0.0, q["t"][-1], len(values)), values, **style)
        axes[1].plot(*q["x"].T, **style)
        axes[5].plot(q["theta"], q["thetadot"], **style)
    for k, title, label in time_panels:
        axes[k].set(title=title, xlabel="t in s", ylabel=label)
    for k in (4, 6):
        axes[k].set_yscale("log")
    axes[4].set_ylim(1e-17, 1e-13)
    low, high = limits(solutions["rodrigues"])
    for value in (low, high):
        axes[2].axhline(value, color="black", ls=":", lw=1.0)
        axes[5].axvline(value, color="black", ls=":", lw=1.0)
    axes[1].set(title="(b) path of the centre of mass", xlabel="x₁ in m", ylabel="x₂ in m")
    axes[1].set_zlabel("x₃ in m", labelpad=8.0)
    axes[1].tick_params(labelsize=8)
    axes[1].locator_params(nbins=4)
    axes[1].set_box_aspect((1.0, 1.0, 0.8), zoom=0.88)
    axes[5].set(title="(f) phase diagram of the tilt", xlabel="θ in rad", ylabel="dθ/dt in rad/s")
    for k in (0, 2, 3, 4, 5, 6, 7):
        axes[k].grid(alpha=0.3)
    handles, labels = axes[0].get_legend_handles_labels()
    dotted = axes[2].get_lines()[-1]
    figure.legend(
        [*reversed(handles), dotted],
        [*reversed(labels), "nutation limits of the first integrals"],
        loc="outside lower center",
        ncols=3,
        fontsize=11,
    )
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("results"))
    parser.add_argument("--t-end", type=float, default=2.0)
    parser.add_argument("--step", type=float, default=1e-3)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for case in (1, 2):
        solutions = {name: run(case, name, arguments.t_end, arguments.step) for name in STYLES}
        for name, solution in solutions.items():
            q = quantities(solution)
            kept = {"E": np.abs(q["energy"]).max(), "L_z": np.abs(q["L_z"] / q["L_z"][0] - 1.0).max()}
            print(f"case {case}, {name}: " + ", ".join(f"{key} to {value:.1e}" for key, value in kept.items()))
        path = arguments.folder / f"top_case_{case}.png"
        draw(case, solutions).savefig(path, dpi=80)
        print(f"written to {path}")


if __name__ == "__main__":
    main()

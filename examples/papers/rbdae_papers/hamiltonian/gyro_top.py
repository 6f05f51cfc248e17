"""[BS09] Figures 3, 4 and 5: a gyro top in steady precession."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rbdae._figure import new_figure
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, at_most, claim, close, expect, near
from rbdae_papers.hamiltonian.drawing import draw_kept_and_errors
from rbdae_papers.hamiltonian.schemes import LENGTH, changes, circle, error, look, order, run
from rbdae_papers.item import Settings, item, numbers
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PATHS: Final = {"bs-fig-4": "Figure 4", "bs-fig-5": "Figure 5"}


def _run_3(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    coarse = run("gyro top", "QUAT.EM", 0.01, 1.0)
    kept = changes(coarse)
    for name in ("energy", "L3"):
        largest = float(np.abs(kept[name]).max())
        compared.append(claim(f"QUAT.EM, 0.01 s: largest change of {name}", largest, at_most(1e-13), "conserved"))
    rows += [
        ("kept", "QUAT.EM", 0.01, float(t), float(kept["energy"][k]), float(kept["L3"][k]))
        for k, t in enumerate(coarse.t)
    ]
    found, known = {}, numbers("hamiltonian", "bs-fig-3")
    for scheme, expected in known["errors"].items():
        steps = known["steps"][: 2 if how.quick else None]
        errors = [error("gyro top", run("gyro top", scheme, step, 1.0)) for step in steps]
        rows += [("error", scheme, h, 1.0, e, 0.0) for h, e in zip(steps, errors, strict=True)]
        found[scheme] = errors[1]
        compared.append(expect(f"{scheme}: error after 1 s, steps of 1e-3 s", errors[1], near(expected, 0.02)))
        compared.append(expect(f"{scheme}: order", order(steps, errors), close(known["order"], 0.05)))
    ratios = sorted(error / found["DIR.EM"] for scheme, error in found.items() if scheme != "DIR.EM")
    compared.append(claim("error of the second best : DIR.EM", ratios[0], at_least(1.0), "DIR.EM best",
                          expected=near(known["second"], 0.05)))  # fmt: skip
    ranking = sorted(found, key=found.__getitem__)
    apart = sum(one != other for one, other in zip(ranking, known["errors"], strict=True))
    compared.append(expect("places in which the ranking is another: " + ", ".join(ranking), apart, close(0)))
    sentence = (
        f"After 1 s with {steps[1]:g} s DIR.EM errs by {found['DIR.EM']:.2g}, the others by {ratios[0]:.1f} to "
        f"{ratios[-1]:.1f} times that."
    )
    return Finding(("what", "scheme", "step [s]", "t [s]", "value", "L3"), rows, tuple(compared), sentence=sentence)


def _run_paths(name: str) -> Finding:
    known = numbers("hamiltonian", name)
    step, away = known["step"], {}
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    z0 = float(circle(0.0)[2])
    for scheme, deviation in known["deviations"].items():
        solution = run("gyro top", scheme, step, 1.0)
        centre = solution.states["top"].center_of_mass
        rows += [(scheme, float(t), float(c[0]), float(c[2])) for t, c in zip(solution.t, centre, strict=True)]
        away[scheme] = largest = float(np.abs(centre[:, 2] - z0).max())
        compared.append(expect(f"{scheme}, {step:g} s: largest |z - z0| [m]", largest, near(deviation, 0.02)))
        length = float(np.abs(np.linalg.norm(centre, axis=1) - LENGTH).max())
        compared.append(expect(f"{scheme}: change of the length of the arm [m]", length, at_most(1e-15)))
    if name == "bs-fig-4":
        compared += [
            claim("DIR.EM: largest |z - z0| : z0", away["DIR.EM"] / z0, at_most(0.1), "near the closed form"),
            claim("QUAT.EM: largest |z - z0| : z0", away["QUAT.EM"] / z0, at_least(0.5), "not near it"),
        ]
    else:
        sizes = [step, *(step + 1e-4 * k for k in (1, 2, 10, 30))]
        converges = [size for size in sizes if run("gyro top", "QUAT.VI", size, 1.0).success]
        quantity = "QUAT.VI: the largest step that converges [s]"
        compared.append(claim(quantity, max(converges, default=0.0), close(step, 2e-4), "0.007 needed to converge",
                              expected=close(known["converges"], 1e-9)))  # fmt: skip
    sentence = "; ".join(f"z errs by up to {d:.3g} m with {scheme}" for scheme, d in away.items())
    return Finding(("scheme", "t [s]", "x [m]", "z [m]"), rows, tuple(compared),
                   sentence=f"z0 is {z0:.4g} m; {sentence}.")  # fmt: skip


def _draw_3(finding: Finding) -> Figure:
    return draw_kept_and_errors(
        finding,
        "Gyro top, [BS09] Figure 3",
        ("value", "L3"),
        "QUAT.EM, 0.01 s: energy and momentum",
        "relative error of the centre of mass",
        3e3,
    )


def _draw_paths(finding: Finding, name: str) -> Figure:
    figure = new_figure("papers", (9.6, 4.4), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True)
    fine = np.linspace(0.0, 1.0, 400)
    for axes, column, k in zip(panels, ("x", "z"), (0, 2), strict=True):
        axes.plot(fine, circle(fine)[:, k], color="black", linewidth=1.0, label="closed form")
        for scheme in finding.values("scheme"):
            shown = {**look(scheme), "markersize": 2.5, "linewidth": 0.8}
            axes.plot(finding.column("t", scheme=scheme), finding.column(column, scheme=scheme), **shown)
        framed(axes, f"{column} of the centre of mass", "t [s]", f"{column} [m]")
    figure.legend(
        *panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small", frameon=False
    )
    step = numbers("hamiltonian", name)["step"]
    figure.suptitle(f"Gyro top, steps of {step:g} s, [BS09] {_PATHS[name]}", fontsize="medium")
    return figure


FIGURE_3: Final = item("bs-fig-3", _run_3, _draw_3)
FIGURE_4: Final = item("bs-fig-4", lambda how: _run_paths("bs-fig-4"), lambda finding: _draw_paths(finding, "bs-fig-4"))
FIGURE_5: Final = item("bs-fig-5", lambda how: _run_paths("bs-fig-5"), lambda finding: _draw_paths(finding, "bs-fig-5"))

"""[NS] Figure 12: the tennis racket, Example B with a disturbance of 1e-3 rad/s."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

import rbdae
from rbdae._arrays import Vec
from rbdae._figure import COLOURS, new_figure
from rbdae_papers import closed_form
from rbdae_papers.finding import Cell, Comparison, Finding, at_most, claim, close, expect
from rbdae_papers.item import Settings, item, numbers
from rbdae_papers.null_space.equations import problem
from rbdae_papers.null_space.references import tennis_racket
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_T_END = 2.0
_MOMENTS = (41.6, 11.6, 50.0)


@lru_cache(maxsize=8)
def turnovers(disturbance: float = 1e-3, t_end: float = _T_END) -> tuple[float, ...]:
    """The times at which Omega1 changes its sign, by the closed form."""
    from scipy.optimize import brentq

    body = closed_form.FreeBody(_MOMENTS, (50.0, disturbance, disturbance))
    grid = np.linspace(0.0, t_end, 2001)
    Omega1 = body.angular_velocity(grid)[:, 0]
    changes = np.nonzero(np.sign(Omega1[1:]) != np.sign(Omega1[:-1]))[0]
    return tuple(
        float(brentq(lambda t: float(body.angular_velocity(t)[0]), grid[k], grid[k + 1], xtol=1e-13)) for k in changes
    )


def _run(how: Settings) -> Finding:
    of = problem("B", "q42", disturbance=1e-3)

    def flips(t: float, y: Vec) -> float:
        return float(of.states(t, y)["racket"].angular_velocity[0])

    run = rbdae.solve(of, (0.0, _T_END), solver="rbdae:dop853", rtol=1e-12, atol=1e-12, events=flips)
    t = np.linspace(0.0, _T_END, 801)
    exact, states = tennis_racket(t.tolist(), 1e-3), of.states(t, run(t))["racket"]
    found, R = states.angular_velocity, states.orientation.as_matrix().reshape(-1, 9)
    compared: list[Comparison] = []
    known, at = numbers("null_space", "ns-fig-12"), [float(each) for each in run.events[0].t]
    for k, (closed, wanted) in enumerate(zip(turnovers(), known["turnovers"], strict=True)):
        quantity, own = f"turnover {k + 1} [s], the run", close(wanted, 1e-4)
        if k < len(known["printed"]):
            back = t[(t > closed) & (np.abs(exact.velocity[:, 0]) > 0.99 * 50.0)][0]
            why = f"the paper reads the end of the turn, where Omega1 is back at 99 % of its size at {back:.2f} s"
            printed = known["printed"][k]
            compared.append(claim(quantity, at[k], close(printed, 0.05), f"about {printed}", expected=own, why=why))
        else:
            compared.append(expect(quantity, at[k], own))
        compared.append(expect(f"turnover {k + 1} [s], closed form", closed, own))
    half = closed_form.FreeBody(_MOMENTS, (50.0, 1e-3, 1e-3)).half_period
    gaps = np.diff(at)
    compared += [
        claim("second time between turnovers : first", gaps[1] / gaps[0], close(1.0, 0.01), "almost periodic"),
        expect("time between two turnovers [s]", half, close(known["half_period"], 1e-4)),
        *(expect(f"largest Omega{k} [rad/s]", np.abs(exact.velocity[:, k - 1]).max(), close(size, 1e-2))
          for k, size in zip((2, 3), known["largest"], strict=True)),
        expect("largest error of Omega in the run [rad/s]", np.abs(found - exact.velocity).max(), at_most(1e-2)),
        expect("largest error of R in the run", np.abs(R - exact.position).max(), at_most(1e-4)),
    ]  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for name, of_position, of_velocity in (("closed form", exact.position, exact.velocity), ("run", R, found)):
        for k, time in enumerate(t[::2]):
            rows.append((name, float(time), *of_position[2 * k].tolist(), *of_velocity[2 * k].tolist()))
    entries = tuple(f"R{i}{j}" for i in "123" for j in "123")
    return Finding(("by", "t [s]", *entries, *(f"Omega{k} [rad/s]" for k in "123")), rows, tuple(compared),
                   sentence=f"The run turns over at {', '.join(f'{each:.4f}' for each in at)} s.")  # fmt: skip


def _draw(finding: Finding) -> Figure:
    figure = new_figure("papers", (9.6, 8.0), layout="constrained")
    panels = figure.subplots(4, 1, sharex=True)
    t, at = finding.column("t", by="closed form"), finding.column("t", by="run")
    labels = [(f"d{'₁₂₃'[j]}", [f"R{i}{j + 1}" for i in "123"], "xyz") for j in range(3)]
    labels.append(("Ω [rad/s]", [f"Omega{k}" for k in "123"], "123"))
    for axes, (name, columns, parts) in zip(panels, labels, strict=True):
        for k, column in enumerate(columns):
            axes.plot(t, finding.column(column, by="closed form"), color=COLOURS[k], linewidth=2.6, alpha=0.3)
            axes.plot(at, finding.column(column, by="run"), color=COLOURS[k], linewidth=1.0, label=parts[k])
        for turnover in turnovers():
            axes.axvline(turnover, color="0.5", linewidth=0.8, linestyle=":")
        axes.margins(x=0.01)
        framed(axes, "", "", name)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)
    panels[-1].set_xlabel("t [s]")
    figure.suptitle(
        "Example B, disturbance 1e-3: directors and angular velocity, [NS] Figure 12\n"
        "broad: closed form; thin: run in quaternions; dotted: turnovers",
        fontsize="medium",
    )
    return figure


ITEM: Final = item("ns-fig-12", _run, _draw)

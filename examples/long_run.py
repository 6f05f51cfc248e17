"""A thousand revolutions: energy and momentum with general solvers and with conserving schemes.

    python examples/long_run.py [--folder results] [--revolutions 1000] [--evaluations 200]

Two bodies with a ball joint and a spring turn freely in space, so that energy, momentum and angular momentum are
constant. Every solver gets the same number of evaluations per revolution: of its equations, or iterations of Newton's
method in implicit steps of fixed size. The tolerance, or step, with this cost is found on the first revolutions.
Writes `long_run.png` and prints a table. See docs/conserving.md.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rbdae

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUATERNIONS = {"formulation": "hamiltonian-eliminated", "rotation": "quaternion", "velocity": "momentum"}
DIRECTORS = {"formulation": "hamiltonian-eliminated", "rotation": "directors", "velocity": "momentum"}


@dataclass(frozen=True)
class Way:
    """One way to integrate: name, formulation, options of `rbdae.solve`, and line style."""

    name: str
    form: dict[str, Any]
    how: dict[str, Any]
    style: dict[str, Any] = field(default_factory=dict)

    @property
    def fixed(self) -> bool:
        """Whether its knob is a step size."""
        return self.name.startswith(("QUAT", "DIR"))

    def run(self, knob: float, t_end: float, samples: int) -> rbdae.Solution:
        """A run with a tolerance, or a step size, and this number of samples, at steps, where invariants are kept."""
        problem = rbdae.formulate(pair(), **self.form)
        times = np.linspace(0.0, t_end, samples + 1)
        chosen = {"step": 1.0 / round(1.0 / knob)} if self.fixed else {"rtol": knob, "atol": knob}
        return rbdae.solve(problem, (0.0, t_end), t_eval=times, **chosen, **self.how)


INDEX_0 = {"formulation": "index-0"}
INDEX_2 = {"formulation": "index-2", "velocity": "angular"}
PROJECTED = {"projection": True}
WAYS = (
    Way("IDA, index 2", INDEX_2, {"solver": "sksundae:ida"}, {"color": "tab:red"}),
    Way("IDA, projected", INDEX_2, {"solver": "sksundae:ida", **PROJECTED}, {"color": "tab:red", "ls": "--"}),
    Way("Radau5, index 2", INDEX_2, {"solver": "assimulo:Radau5DAE"}, {"color": "tab:purple"}),
    Way(
        "Radau5, projected", INDEX_2, {"solver": "assimulo:Radau5DAE", **PROJECTED}, {"color": "tab:purple", "ls": "--"}
    ),
    Way("DOP853, index 0", INDEX_0, {"solver": "rbdae:dop853"}, {"color": "tab:blue"}),
    Way("DOP853, projected", INDEX_0, {"solver": "rbdae:dop853", **PROJECTED}, {"color": "tab:blue", "ls": "--"}),
    Way("QUAT.EM-R", QUATERNIONS, {"solver": "rbdae:energy-momentum"}, {"color": "tab:green"}),
    Way("QUAT.EM", QUATERNIONS, {"solver": "rbdae:energy-momentum", "variant": "paper"}, {"color": "tab:olive"}),
    Way("DIR.EM", DIRECTORS, {"solver": "rbdae:energy-momentum"}, {"color": "tab:orange"}),
)


def pair() -> rbdae.System:
    """Two bodies with a ball joint and a spring, free in space; one revolution takes about a second."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    spin = (0.3, -0.2, 2.0 * math.pi)
    a = system.add_body("a", mass=2.0, inertia=(0.4, 0.5, 0.6), position=(0.5, 0.0, 0.0), angular_velocity=spin)
    b = system.add_body("b", mass=1.0, inertia=(0.2, 0.3, 0.35), position=(-0.5, 0.1, 0.0), angular_velocity=spin)
    system.add_joint(rbdae.joints.Spherical(a, b, at_a=(-0.5, 0.0, 0.0), at_b=(0.5, -0.1, 0.0)))
    system.add_force(
        rbdae.forces.SpringDamper(a, b, stiffness=20.0, length=0.9, at_a=(0.0, 0.3, 0.1), at_b=(0.0, 0.3, -0.1))
    )
    return system


@dataclass(frozen=True)
class Found:
    """Result of one way: knob, evaluations per revolution, and largest relative changes so far at each sample."""

    way: Way
    knob: float
    evaluations: float
    seconds: float
    t: Any
    energy: Any
    momentum: Any
    constraint: float
    message: str


def evaluations(solution: rbdae.Solution) -> float:
    """Evaluations per revolution."""
    return solution.stats.evaluations / float(solution.t[-1])


def knob_for(way: Way, wanted: float, t_end: float = 20.0) -> float:
    """The tolerance, or step, with about the wanted number of evaluations per revolution, by secants of logarithms."""
    low, high = (0.002, 0.06) if way.fixed else (1e-13, 1e-2)
    for _ in range(10):
        middle = math.sqrt(low * high)
        one = way.run(middle, t_end, 20)
        if not one.success or evaluations(one) < wanted:
            high = middle
        else:
            low = middle
    return high


def measured(way: Way, wanted: float, revolutions: int) -> Found:
    knob = knob_for(way, wanted)
    solution = way.run(knob, float(revolutions), revolutions)
    energy, angular, linear = solution.energy.total, solution.momentum.angular, solution.momentum.linear
    momentum = np.linalg.norm(angular - angular[0], axis=1) / np.linalg.norm(angular[0])
    size = math.sqrt(2.0 * energy[0] * sum(body.mass for body in pair().bodies))
    momentum = np.maximum(momentum, np.linalg.norm(linear - linear[0], axis=1) / size)
    return Found(
        way,
        knob,
        evaluations(solution),
        solution.stats.seconds,
        solution.t,
        np.maximum.accumulate(np.abs(energy / energy[0] - 1.0)),
        np.maximum.accumulate(momentum),
        float(solution.drift.position.max()),
        "" if solution.success else solution.message,
    )


def table(found: list[Found]) -> str:
    """A Markdown table; the last errors are the largest of the run."""
    lines = ["| solver | tolerance or step | evaluations a revolution | s | energy | momentum | constraints |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for f in found:
        numbers = f"{f.knob:.1e} | {f.evaluations:.0f} | {f.seconds:.2g}"
        lines.append(
            f"| {f.way.name} | {numbers} | {f.energy[-1]:.0e} | {f.momentum[-1]:.0e} | {f.constraint:.0e} |"
            + (f" {f.message}" if f.message else "")
        )
    return "\n".join(lines)


def draw(found: list[Found], wanted: float) -> Figure:
    """Draw the largest errors so far over revolutions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.0, 6.0), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, name in ((left, "energy"), (right, "momentum")):
        for f in found:
            axes.loglog(f.t[1:], np.maximum(getattr(f, name)[1:], 1e-16), lw=1.5, label=f.way.name, **f.way.style)
        axes.set(title=name, xlabel="revolutions")
        axes.grid(alpha=0.3)
    left.set_ylabel("largest relative change so far")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    figure.suptitle(f"two bodies with a ball joint, free in space; {wanted:g} evaluations a revolution each")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("results"))
    parser.add_argument("--revolutions", type=int, default=1000)
    parser.add_argument("--evaluations", type=float, default=200.0)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    here = {solver.name for solver in rbdae.solvers() if solver.available}
    results = []
    for way in WAYS:
        if way.how["solver"] not in here:
            print(f"{way.name}: {way.how['solver']} is not installed")
            continue
        results.append(measured(way, arguments.evaluations, arguments.revolutions))
        print(table(results[-1:]).splitlines()[-1], flush=True)
    path = arguments.folder / "long_run.png"
    draw(results, arguments.evaluations).savefig(path, dpi=80)
    print(f"\n{table(results)}\n\nwritten to {path}")


if __name__ == "__main__":
    main()

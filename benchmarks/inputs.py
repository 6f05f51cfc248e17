"""Times of inputs and laws, for docs/inputs.md and docs/systems.md: steps of a simulator, recorded and called laws.

python benchmarks/inputs.py        processor time, the least of several rounds in turns; half a minute
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rbdae

SOLVERS = ("rbdae:dop853", "scipy:RK45", "assimulo:Radau5DAE", "sundials:cvode", "sundials:ida")


def pendulum() -> rbdae.System:
    system = rbdae.models.pendulum(side=1.0)
    system.add_force(rbdae.forces.Motor(system.joints[0], torque=system.add_input("torque-0")))
    return system


def arm() -> rbdae.System:
    """Six axes, upright."""
    system = rbdae.System(gravity=(0, 0, -9.81))
    before, height = system.ground, 0.0
    for k, (length, axis) in enumerate(zip((0.4, 0.5, 0.4, 0.2, 0.15, 0.1), "zyyzyz", strict=True)):
        end, along = (0, 0, height), (0, 0, 1) if axis == "z" else (0, 1, 0)
        J, centre = length**2 / (k + 1) + 0.01, (0, 0, height + length / 2)
        link = system.add_body(
            f"link{k}", mass=12 / (k + 1), inertia=(J,) * 3, center_of_mass=centre, position=(0, 0, 0)
        )
        pin = system.add_joint(rbdae.joints.Revolute(before, link, at_a=end, at_b=end, axis_a=along, axis_b=along))
        system.add_force(rbdae.forces.Motor(pin, torque=system.add_input(f"torque-{k}")))
        before, height = link, height + length
    return system


def least(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The least seconds of each, after a first call that compiles."""
    found = dict.fromkeys(calls, np.inf)
    for name in [*calls, *list(calls) * rounds]:
        start = time.process_time()
        calls[name]()
        found[name] = min(found[name], time.process_time() - start)
    return found


def steps(system: rbdae.System, solver: str, n: int) -> Callable[[], None]:
    """The next `n` steps of 1 ms, whose torques jump."""
    sim = rbdae.Simulator(rbdae.formulate(system, "null-space"), solver=solver, dt=1e-3, record=False)
    size = len(sim.inputs)

    def run() -> None:
        for k in range(n):
            sim.step([(-1.0) ** k] * size)

    return run


def law(t: float, angle: float, rate: float) -> float:
    return -3.0 * rate - 2.0 * math.sin(angle)


def laws(called: bool) -> Callable[[], Any]:
    """A run of two laws by IDA, at index 2."""
    system = rbdae.models.double_pendulum()
    for joint in system.joints:
        torque = rbdae.forces.CalledBack(law) if called else law
        system.add_force(rbdae.forces.Motor(joint, torque=torque))
    problem = rbdae.formulate(system, "index-2")
    return lambda: rbdae.solve(problem, (0.0, 1.0), solver="sundials:ida", rtol=1e-6, atol=1e-6)


def main() -> None:
    for name, system in (("pendulum", pendulum()), ("arm with six axes", arm())):
        found = least({solver: steps(system, solver, 20) for solver in SOLVERS}, 8)
        print(name, *(f"{solver} {found[solver] / 20 * 1e6:.0f} us" for solver in SOLVERS), sep="; ")
    found = least({"recorded": laws(False), "called": laws(True)}, 8)
    print("two laws, index-2, sundials:ida, 1 s", *(f"{name} {s * 1e3:.2f} ms" for name, s in found.items()), sep="; ")


if __name__ == "__main__":
    main()

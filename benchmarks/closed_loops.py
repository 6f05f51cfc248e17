"""Loops with redundant joint equations at their own cost: `rbdae.solve` with and without what is looked at beside it.

For each mechanism and solver: the run as it is; without the watch of kept rows; its message, for which singular
positions are looked for; and the reactions at all rows of the run, and at one state. Milliseconds of the processor,
minima of some turns in one process, and ratios.

    OPENBLAS_NUM_THREADS=1 python benchmarks/closed_loops.py [four-bar] [bricard] [windows] [--turns 30]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import rbdae
from rbdae.joints import Revolute
from rbdae.problem.switches import RowSwitch


def four_bar() -> rbdae.System:
    """A plane four-bar of hinges with a motor."""
    system = rbdae.System(gravity=(0.0, -9.81, 0.0))
    a0, b0, a = np.zeros(2), np.array((0.6, 0.0)), 0.15 * np.array((np.cos(0.7), np.sin(0.7)))
    d = b0 - a
    r = np.hypot(*d)
    f = np.arctan2(d[1], d[0]) + np.arccos((0.55**2 + r * r - 0.35**2) / (1.1 * r))
    b = a + 0.55 * np.array((np.cos(f), np.sin(f)))
    bars = []
    for name, p, q, mass in (("crank", a0, a, 1.5), ("coupler", a, b, 2.5), ("rocker", b0, b, 2.0)):
        length, angle = np.hypot(*(q - p)), np.arctan2(*(q - p)[::-1])
        J = mass * length**2 / 12 + 1e-3
        turn = (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
        spin = (0.0, 0.0, 3.0 * (name == "crank"))
        place = (*((p + q) / 2), 0.0)
        bars.append(
            system.add_body(
                name, mass=mass, inertia=(1e-3, J, J), position=place, orientation=turn, angular_velocity=spin
            )
        )
    crank, coupler, rocker = bars
    axes: dict[str, Any] = {"axis_a": (0, 0, 1)}
    pin = system.add_joint(Revolute(system.ground, crank, at_b=(-0.075, 0, 0), name="A0", **axes))
    system.add_joint(Revolute(crank, coupler, at_a=(0.075, 0, 0), at_b=(-0.275, 0, 0), name="A", **axes))
    system.add_joint(Revolute(coupler, rocker, at_a=(0.275, 0, 0), at_b=(0.175, 0, 0), name="B", **axes))
    system.add_joint(Revolute(system.ground, rocker, at_a=(0.6, 0, 0), at_b=(-0.175, 0, 0), name="B0", **axes))
    system.add_force(rbdae.forces.Motor(pin, torque=lambda t, angle, rate: 8 - 1.5 * rate, name="motor"))
    return system


MECHANISMS: dict[str, Callable[[], rbdae.System]] = {
    "four-bar": four_bar,
    "bricard": rbdae.models.bricard,
    "windows": rbdae.models.n_four_bar,
}
RUNS = (("index-0", "rbdae:dop853"), ("null-space", "rbdae:dop853"), ("index-2", "sundials:ida"))


@contextmanager
def bare() -> Iterator[None]:
    """Runs without the watch of kept rows."""
    with mock.patch.object(RowSwitch, "needed", classmethod(lambda cls, view: False)):
        yield


def milliseconds(calls: list[Callable[[], object]], turns: int) -> list[float]:
    """Of the processor, the least of some turns of each."""
    out = [np.inf] * len(calls)
    for _ in range(turns):
        for k, call in enumerate(calls):
            began = time.process_time()
            call()
            out[k] = min(out[k], 1e3 * (time.process_time() - began))
    return out


def compare(name: str, formulation: str, solver: str, turns: int) -> None:
    """One line."""
    problem, other = (
        rbdae.formulate(MECHANISMS[name](), formulation, redundant="minimum-norm") for _ in range(2)
    )  # what a problem has to watch is asked once

    def run(of: rbdae.Problem = problem) -> rbdae.Solution:
        return rbdae.solve(of, (0.0, 1.0), solver=solver, rtol=1e-6, atol=1e-6)

    def without() -> rbdae.Solution:
        with bare():
            return run(other)

    last, alone = run(), without()
    same = f"{len(last.t)} and {len(alone.t)} rows"
    whole, plain = milliseconds([run, without], turns)
    t, y = last.t, last.y
    last.problem.reactions(t, y)
    rows, state, said = milliseconds(
        [
            lambda: last.problem.reactions(t, y),
            lambda: last.problem.reactions(float(t[-1]), y[-1]),
            lambda: replace(last).message,
        ],
        turns,
    )
    print(
        f"{name:8s} {formulation:10s} {solver:13s} {same:17s} run {whole:8.3f}, bare {plain:8.3f}: {whole / plain:5.2f}"
        f"   message {said:6.3f}   reactions {rows:8.3f}: {rows / whole:5.2f} of it, one state {1e3 * state:4.0f} us",
        flush=True,
    )


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mechanisms", nargs="*", help="among " + ", ".join(MECHANISMS))
    parser.add_argument("--turns", type=int, default=30)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.mechanisms or MECHANISMS:
        for formulation, solver in RUNS:
            compare(name, formulation, solver, options.turns)


if __name__ == "__main__":
    main()

"""Whole `rbdae.solve` calls with loops in machine code, against the same method in C by hand in the same run.

For each mechanism and each error at the end that is to be reached (of the centres of mass, over the mechanism's
length): the largest tolerance that reaches it, and with it both loops in turns. Then what a `solve` costs that takes
one step of a free body.

    python benchmarks/loops.py [heavy_top] [linked_bodies] [chain10] [chain100] [chain1000] [--method dop853]
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import rbdae
from benchmarks.peers import c_library
from benchmarks.peers.mechanisms import CASES, Mechanism

ROUNDS = 25
"""Times that both loops take turns."""

SECONDS = 0.02
"""Of one turn, about."""


class ByHand:
    """A method in C with the mechanism's right-hand side in C."""

    def __init__(self, mechanism: Mechanism, method: str) -> None:
        n = len(mechanism.y0)
        chain = getattr(mechanism, "n", 0)
        self._run = getattr(c_library.library(), method)
        self._function = c_library.address("chain" if chain else mechanism.name)
        self._context = c_library.chain_context(chain) if chain else 0
        self._start, self.y, self._work = mechanism.y0, np.empty(n), np.empty(30 * n)
        self._t_end = mechanism.t_end
        self.counts = c_library.Counts()

    def __call__(self, tolerance: float) -> None:
        self.y[:] = self._start
        failed = self._run(
            ctypes.c_void_p(self._function),
            ctypes.c_void_p(self._context),
            ctypes.c_int(len(self.y)),
            ctypes.c_double(0.0),
            ctypes.c_double(self._t_end),
            ctypes.c_void_p(self.y.ctypes.data),
            ctypes.c_double(tolerance),
            ctypes.c_double(tolerance),
            ctypes.c_long(10**9),
            ctypes.c_void_p(self._work.ctypes.data),
            ctypes.byref(self.counts),
        )
        assert failed == 0, failed


def solve(mechanism: Mechanism, method: str, tolerance: float) -> Any:
    """The whole call."""
    span = (0.0, mechanism.t_end)
    return rbdae.solve(mechanism.problem, span, solver=f"rbdae:{method}", rtol=tolerance, atol=tolerance)


def enough(mechanism: Mechanism, method: str, target: float) -> tuple[float, float]:
    """The largest tolerance 10^(-k/4) that reaches the target, and the error that it has."""
    exact = mechanism.centres(solve(mechanism, "dop853", 1e-13).y[-1])
    for k in range(8, 52):
        tolerance = 10.0 ** (-k / 4)
        error = np.abs(mechanism.centres(solve(mechanism, method, tolerance).y[-1]) - exact).max() / mechanism.length
        if error <= target:
            return tolerance, float(error)
    raise RuntimeError(f"{method} does not reach {target:g}")


def seconds(call: Callable[[], object], times: int) -> float:
    """Of the processor for one call, in the mean over one turn: what else runs on the machine counts less."""
    began = time.thread_time()
    for _ in range(times):
        call()
    return (time.thread_time() - began) / times


def compared(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float, float]:
    """Medians of both, and the median of their ratios within a round."""
    times = max(1, round(SECONDS / max(seconds(first, 1), seconds(first, 3))))
    pairs = [(seconds(first, times), seconds(second, times)) for _ in range(ROUNDS)]
    a, b = zip(*pairs, strict=True)
    return statistics.median(a), statistics.median(b), statistics.median(x / y for x, y in pairs)


def compare(mechanism: Mechanism, method: str) -> None:
    """A line for each target."""
    by_hand = ByHand(mechanism, method)
    for target in mechanism.targets:
        tolerance, error = enough(mechanism, method, target)
        ours, theirs, ratio = compared(lambda t=tolerance: solve(mechanism, method, t), lambda t=tolerance: by_hand(t))
        steps = solve(mechanism, method, tolerance).stats.steps
        print(
            f"{mechanism.name:14s} {method:7s} error {error:7.1e} (tolerance {tolerance:7.1e}, {steps:5d} and "
            f"{by_hand.counts.steps:5d} steps)  solve {1e3 * ours:8.3f} ms  C {1e3 * theirs:8.3f} ms  "
            f"ratio {ratio:5.2f}",
            flush=True,
        )


def fixed_cost() -> None:
    """A free body over one step, nothing special asked."""
    system = rbdae.System()
    system.add_body("b", mass=1.0, inertia=(1.0, 2.0, 2.5), angular_velocity=(0.0, 0.1, 0.0))
    problem = rbdae.formulate(system, "index-0")

    def call() -> Any:
        return rbdae.solve(problem, (0.0, 1e-6), solver="rbdae:dopri5")

    assert call().stats.steps == 1
    runs = [seconds(call, 200) for _ in range(ROUNDS)]
    yardstick = [seconds(lambda: sum(range(1000)), 200) for _ in range(ROUNDS)]
    print(
        f"one step of a free body: {1e6 * statistics.median(runs):.1f} us, at best {1e6 * min(runs):.1f} us "
        f"(sum(range(1000)) at best {1e6 * min(yardstick):.1f} us)"
    )


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="among " + ", ".join(CASES))
    parser.add_argument("--method", nargs="+", default=["dopri5", "dop853"], choices=["dopri5", "dop853"])
    options = parser.parse_args()
    for name in options.cases or ("heavy_top", "linked_bodies"):
        for method in options.method:
            compare(CASES[name](), method)
    fixed_cost()


if __name__ == "__main__":
    main()

"""How long does one residual, right-hand side and Jacobian call take, from Python and in compiled code alone?

Medians over repetitions, in microseconds, for Examples A (heavy top) and C (linked bodies) in every formulation, next
to a call of `math.atan2`. "alone" is the callback in a compiled loop; "call" is `problem.callbacks`; the budgets of the
design are on the call: residual and right-hand side 1 (A), 2.5 (C); Jacobian 1.5 (A), 6 (C).

    python benchmarks/callbacks.py [--quick]
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import internals
import numpy as np

import rbdae


def median(run: Callable[[], float], repetitions: int) -> float:
    """Median of `run()` (seconds for one call), in microseconds."""
    return float(np.median([run() for _ in range(repetitions)])) * 1e6


def from_python(call: Callable[..., Any], args: tuple[Any, ...], n: int) -> float:
    """Seconds of one call from a Python loop."""
    start = time.perf_counter()
    for _ in range(n):
        call(*args)
    return (time.perf_counter() - start) / n


def alone(problem: rbdae.Problem, callback: str, args: tuple[Any, ...], n: int) -> float:
    """Seconds of one call in a compiled loop of n calls."""
    function = problem.callbacks.machine(callback)
    t, *vectors, out = args
    c = vectors.pop() if isinstance(vectors[-1], float) else 0.0
    y, yd = (vectors[0], vectors[-1])
    addresses = (y.ctypes.data, yd.ctypes.data, c, out.ctypes.data)
    start = time.perf_counter()
    internals.many()(function.address, function.context, t, *addresses, n)
    return (time.perf_counter() - start) / n


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--only", default="", help="only formulations whose name contains this")
    options = parser.parse_args()
    repetitions, n = (5, 2000) if options.quick else (15, 10000)
    print(f"math.atan2 {median(lambda: from_python(math.atan2, (1.0, 2.0), n), repetitions):.2f} us")
    print(f"{'':50s}{'residual':>15s}{'jacobian':>15s}{'rhs':>15s}{'rhs jacobian':>15s}")
    print(f"{'':50s}" + f"{'call':>8s}{'alone':>7s}" * 4)
    for name, build in (("A", rbdae.models.heavy_top), ("C", rbdae.models.linked_bodies)):
        for formulation, rotation, velocity in rbdae.pairings():
            if options.only not in formulation:
                continue
            problem = rbdae.formulate(build(), formulation, rotation=rotation, velocity=velocity)
            print(f"{name}  {formulation:26s} {rotation:11s} {velocity:10s}" + row(problem, repetitions, n), flush=True)


def row(problem: rbdae.Problem, repetitions: int, n: int) -> str:
    """Times of all callbacks of a problem: the call, and its kernel alone."""
    y0, yd0 = problem.y0, problem.yd0
    out, J = np.empty(problem.n_equations), np.empty((problem.n_equations, problem.n))
    arguments: dict[str, tuple[Any, ...]] = {"residual": (0.0, y0, yd0, out), "jacobian": (0.0, y0, yd0, 1.0, J)}
    if problem.kind == "ode":
        arguments |= {"rhs": (0.0, y0, out), "rhs_jacobian": (0.0, y0, J)}
    cells = []
    for callback, args in arguments.items():
        outer = median(partial(from_python, getattr(problem.callbacks, callback), args, n), repetitions)
        inner = median(partial(alone, problem, callback, args, n), repetitions)
        cells.append(f"{outer:8.2f}{inner:7.2f}")
    return "".join(cells)


if __name__ == "__main__":
    main()

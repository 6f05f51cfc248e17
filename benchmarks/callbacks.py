"""How long does one residual, right-hand side and Jacobian call take, from Python and in compiled code alone?

Medians over repetitions, in microseconds, for Examples A (heavy top) and C (linked bodies) in every formulation, next
to an empty compiled call of the same signature and to plain Python. "alone" is the kernel in a compiled loop; "call"
is `problem.callbacks`; the budgets of the design are on the call: residual and right-hand side 1 (A), 2.5 (C);
Jacobian 1.5 (A), 6 (C).

    python benchmarks/callbacks.py [--quick]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import internals
import numba
import numpy as np
from numba import types

import rbdae

_IN = types.Array(types.float64, 1, "C", readonly=True)
_OUT = types.Array(types.float64, 1, "C")
_MATRIX = types.Array(types.float64, 2, "A")


def median(run: Callable[[], float], repetitions: int) -> float:
    """Median of `run()` (seconds for one call), in microseconds."""
    return float(np.median([run() for _ in range(repetitions)])) * 1e6


def from_python(call: Callable[..., Any], args: tuple[Any, ...], n: int) -> float:
    """Seconds of one call from a Python loop."""
    start = time.perf_counter()
    for _ in range(n):
        call(*args)
    return (time.perf_counter() - start) / n


def alone(kernel: Any, kinds: str, args: tuple[Any, ...]) -> Callable[[int], float]:
    """A function that gives the seconds of one call in a compiled loop of n calls."""
    known = {"i": types.intp, "t": types.float64, "y": _IN, "o": _OUT, "M": _MATRIX}
    signature = types.void(types.intp, *(known[k] for k in kinds))
    if kinds == "ityyo":

        def loop(n, m, t, y, yd, out):  # type: ignore[no-untyped-def]
            for _ in range(n):
                kernel(m, t, y, yd, out)

    elif kinds == "ityytM":

        def loop(n, m, t, y, yd, c, out):  # type: ignore[no-untyped-def]
            for _ in range(n):
                kernel(m, t, y, yd, c, out)

    else:

        def loop(n, m, t, y, out):  # type: ignore[no-untyped-def]
            for _ in range(n):
                kernel(m, t, y, out)

    compiled = numba.njit(signature)(loop)

    def run(n: int) -> float:
        start = time.perf_counter()
        compiled(n, *args)
        return (time.perf_counter() - start) / n

    return run


@numba.njit
def empty(t, y, yd, out):  # type: ignore[no-untyped-def]
    """Nothing: what a call costs."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--only", default="", help="only formulations whose name contains this")
    options = parser.parse_args()
    repetitions, n = (5, 2000) if options.quick else (15, 10000)
    y = np.zeros(8)
    empty(0.0, y, y, y)
    print(f"empty compiled call {median(lambda: from_python(empty, (0.0, y, y, y), n), repetitions):.2f} us")
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
        kernel, signs = internals.kernel(problem, callback)
        # the call comes first: it has the kernel's stages compiled, which the loop is linked with
        outer = median(partial(from_python, getattr(problem.callbacks, callback), args, n), repetitions)
        inner = median(partial(alone(kernel, signs, (internals.memory_address(problem), *args)), n), repetitions)
        cells.append(f"{outer:8.2f}{inner:7.2f}")
    return "".join(cells)


if __name__ == "__main__":
    main()

"""Right-hand sides by elements beside code of the whole model and, for chains, C by hand.

Microseconds a call in a loop of machine code, the least of many turns that the codes take one after the other, and the
processor time of the first call with nothing on disk. Budgets: elements at most 0.9 of code of the whole model and 1.4
of C for chains of 100 and 1000 links, 1.1 of it for 25 and 100 hinges.

    python -m benchmarks.elements [--case NAME ...] [--formulation null-space] [--seconds 1.0]
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rbdae

sys.path.insert(0, str(Path(__file__).parent))
import internals
from peers import c_library


def balls(n: int) -> rbdae.System:
    """A random tree of ball joints, whose bodies have masses, inertias and points of their own."""
    rng = np.random.default_rng(1)
    system = rbdae.System(gravity=(0.3, 0.0, -9.81))
    bodies, at = [system.ground], [np.zeros(3)]
    for k in range(n):
        parent = 0 if k == 0 else int(rng.integers(max(1, k - 4), k + 1))
        place = at[parent] + (rng.uniform(0.2, 0.6, 3) if parent else 0.0)
        inertia = rng.uniform(0.1, 0.13, 3)
        body = system.add_body(f"b{k}", mass=rng.uniform(0.5, 2.0), inertia=inertia, position=place)
        system.add_joint(rbdae.joints.Spherical(bodies[parent], body, at_a=place - at[parent], name=f"j{k}"))
        bodies.append(body)
        at.append(place)
    return system


def hinges(n: int, *, tree: bool = False) -> rbdae.System:
    """A chain of hinges with axes in all directions; as a tree each body carries two."""
    rng = np.random.default_rng(1)
    system = rbdae.System()
    bodies: list[Any] = [system.ground]
    at = [np.zeros(3)]
    for i in range(n):
        k = i // 2 if tree else i
        x = at[k] + np.array([1.0, *(0.3 * rng.normal(size=2))])
        inertia = 0.1 * (1.0 + 0.3 * rng.random(3))
        body = system.add_body(f"body-{i}", mass=1.0 + rng.random(), inertia=inertia, position=x)
        axis, middle = rng.normal(size=3), 0.5 * (at[k] + x)
        joint = rbdae.joints.Revolute(bodies[k], body, at_a=middle - at[k], at_b=middle - x, axis_a=axis, axis_b=axis)
        system.add_joint(joint)
        bodies.append(body)
        at.append(x)
    return system


CASES: dict[str, Callable[[], rbdae.System]] = {
    **{f"chain({n})": lambda n=n: rbdae.models.chain(n) for n in (20, 25, 100, 1000)},
    **{f"hinges({n})": lambda n=n: hinges(n) for n in (25, 100)},
    **{f"tree of {n} hinges": lambda n=n: hinges(n, tree=True) for n in (25, 100)},
    **{f"random tree of {n} balls": lambda n=n: balls(n) for n in (25, 100, 1000)},
    **{f"ladder of {2 * n + 1}": lambda n=n: rbdae.models.n_four_bar(n) for n in (12, 50)},
}


def best(calls: list[Callable[[int], Any]], seconds: float) -> list[float]:
    """Seconds of one call each, the least of many short turns."""
    counts, out = [], [float("inf")] * len(calls)
    for call in calls:
        n, used = 1, 0.0
        while used < 5e-4:
            n *= 2
            began = time.perf_counter()
            call(n)
            used = time.perf_counter() - began
        counts.append(n)
    until = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < until:
        for k, call in enumerate(calls):
            began = time.perf_counter()
            call(counts[k])
            out[k] = min(out[k], (time.perf_counter() - began) / counts[k])
    return out


def measure(name: str, seconds: float, formulation: str) -> str:
    """A line of the table."""
    system, calls, first, codes, kept = CASES[name](), [], [], [], []
    many = internals.many()
    y = None
    for how in ("elements", "whole"):
        with internals.right_hand_sides(by_elements=how == "elements"):
            problem = rbdae.formulate(system, formulation)
            y = problem.y0 + 0.01 * np.random.default_rng(1).standard_normal(problem.n) if y is None else y
            out, began = np.empty(problem.n), time.process_time()
            function = problem.callbacks.machine("rhs")
            first.append(time.process_time() - began)
        codes.append(problem.callbacks.code("rhs"))
        kept.append((function, out))
    addresses = [(function.address, function.context, out) for function, out in kept]
    if name.startswith("chain") and formulation == "index-0":
        n = len(system.bodies)
        addresses.append((c_library.address("chain"), c_library.chain_context(n), np.empty_like(y)))
    for f, context, out in addresses:
        given = (f, context, 0.1, y.ctypes.data, y.ctypes.data, 0.0, out.ctypes.data)
        calls.append(lambda k, given=given: many(*given, k))
    us = [1e6 * x for x in best(calls, seconds)]
    error = max(np.abs(out - addresses[0][2]).max() for _, _, out in addresses) / np.abs(addresses[0][2]).max()
    whole = us[1] if codes[1] == "machine" else float("nan")  # else it was refused
    by_hand = f"{us[2]:9.2f}{us[0] / us[2]:7.2f}" if len(us) > 2 else " " * 16
    return (
        f"{name:26s}{us[0]:9.2f}{whole:9.2f}   {us[0] / whole:7.2f}"
        f"{by_hand}   {first[0]:6.2f}{first[1]:6.2f}   {error:.0e}"
    )


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="+", default=list(CASES), choices=list(CASES), metavar="NAME")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each code of a case")
    parser.add_argument("--formulation", default="index-0", help="another ODE form")
    chosen = parser.parse_args()
    print(f"{'us a call':26s} elements    whole     /whole        C     /C    first: s     difference")
    for name in chosen.case:
        print(measure(name, chosen.seconds, chosen.formulation), flush=True)


if __name__ == "__main__":
    main()

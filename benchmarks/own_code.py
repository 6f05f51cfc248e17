"""Is the code that a model gets by default as quick as that which can be had, and what do short runs cost beside it?

- A call of the right-hand side (ODE forms), of the residual and the sparse Jacobian (DAEs) with ``code="auto"``, over
  one with ``code="traced"`` and under one with ``code="generic"``, for models around the size at which "auto" changes.
- The fixed cost of `rbdae.solve`: a run of one step, and how many steps it is worth.
- A restart with charts that are centred again, and how many steps it is worth.

All times are processor time, the least of many in turns, so that a busy machine changes ratios little. Budgets: "auto"
at most 1.5 times "traced"; `solve` at most 20 us on a quiet machine.

    python benchmarks/own_code.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rbdae

CODES = ("auto", "traced", "generic")


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


MODELS: dict[str, tuple[Callable[[], rbdae.System], str]] = {
    "heavy top": (rbdae.models.heavy_top, "index-0"),
    "linked bodies": (rbdae.models.linked_bodies, "index-2"),
    "25 hinges": (lambda: hinges(25), "index-0"),
    "25 hinges, null space": (lambda: hinges(25), "null-space"),
    "25 hinges, index 2": (lambda: hinges(25), "index-2"),
    "tree of 25 hinges": (lambda: hinges(25, tree=True), "index-0"),
    "ladder of 13 bodies, null space": (lambda: rbdae.models.n_four_bar(6), "null-space"),
    "ladder of 25 bodies": (lambda: rbdae.models.n_four_bar(12), "index-0"),
    "ladder of 25 bodies, null space": (lambda: rbdae.models.n_four_bar(12), "null-space"),
    "Andrews, null space": (rbdae.models.andrews, "null-space"),
    "chain(100)": (lambda: rbdae.models.chain(100), "index-0"),
    "chain(100), index 2": (lambda: rbdae.models.chain(100), "index-2"),
}
QUICK = ("heavy top", "linked bodies", "25 hinges", "chain(100)")


def calls_of(problem: rbdae.Problem) -> dict[str, Callable[[], None]]:
    """The callbacks of a run, by name."""
    t, y, yd, c = problem.t0, problem.y0, problem.yd0, problem.callbacks
    if problem.kind == "ode":
        rates = np.empty(problem.n)
        return {"rhs": lambda: c.rhs(t, y, rates)}
    out, data = np.empty(problem.n_equations), np.empty(problem.sparsity.nnz)
    return {
        "residual": lambda: c.residual(t, y, yd, out),
        "jacobian_data": lambda: c.jacobian_data(t, y, yd, 1.0, data),
    }


def least(calls: list[Callable[[], Any]], turns: int, seconds: float = 2e-3) -> list[float]:
    """Processor time of one call each, the least of some turns."""
    best = [float("inf")] * len(calls)
    for _ in range(turns):
        for k, call in enumerate(calls):
            n, began = 0, time.process_time()
            while (used := time.process_time() - began) < seconds:
                for _ in range(5):
                    call()
                n += 5
            best[k] = min(best[k], used / n)
    return best


def callbacks(names: tuple[str, ...], turns: int) -> None:
    """One row a model and callback."""
    print(f"{'':42s}{'auto':>9s}{'traced':>9s}{'generic':>9s} us; auto over traced, generic over auto; codes")
    for name in names:
        build, form = MODELS[name]
        system = build()
        problems = [rbdae.formulate(system, form, code=code) for code in CODES]
        by_code = [calls_of(problem) for problem in problems]
        for callback in by_code[0]:
            one, other, generic = least([calls[callback] for calls in by_code], turns)
            ran = "/".join(problem.callbacks.code(callback) for problem in problems)
            numbers = "".join(f"{1e6 * seconds:9.2f}" for seconds in (one, other, generic))
            print(f"{f'{name}: {callback}':42s}{numbers}    {one / other:5.2f}{generic / one:7.1f}  {ran}", flush=True)


def runs(turns: int) -> None:
    """Fixed costs, and steps that they are worth."""
    top = rbdae.models.heavy_top()
    plain = rbdae.formulate(top, "index-0")
    charts = rbdae.formulate(top, "index-0", rotation="rotation-vector")

    def run(problem: rbdae.Problem, t_end: float, **chosen: Any) -> rbdae.Solution:
        return rbdae.solve(problem, (0.0, t_end), solver="rbdae:dop853", rtol=1e-6, atol=1e-6, **chosen)

    def switched(t_end: float) -> rbdae.Solution:
        return run(charts, t_end, on_singularity="switch", recentre="always")

    short, long, few, many = least(
        [lambda: run(plain, 1e-9), lambda: run(plain, 5.0), lambda: switched(1.0), lambda: switched(5.0)], 10 * turns
    )
    step = (long - short) / (run(plain, 5.0).stats.steps - 1)
    one = few / switched(1.0).stats.restarts
    further = (many - few) / (switched(5.0).stats.restarts - switched(1.0).stats.restarts)
    print(f"solve before its first step {1e6 * short:.1f} us, worth {short / step:.0f} steps of {1e6 * step:.2f} us")
    print(f"charts centred again {1e6 * further:.0f} us each, worth {further / step:.0f} steps; in a run of a second")
    print(f"with all that is made once {1e6 * one:.0f} us each")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="four models, fewer turns")
    quick = parser.parse_args().quick
    callbacks(QUICK if quick else tuple(MODELS), 10 if quick else 30)
    runs(5 if quick else 20)


if __name__ == "__main__":
    main()

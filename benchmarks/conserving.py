"""What does a step of the conserving integrators cost?

- Microseconds of a step of the heavy top, all schemes, over C by hand of QUAT.EM-R with an analytic 3 x 3 tangent and
  the same rule to stop (`peers/c/heavy_top_steps.c`): 20,000 steps of 1e-3 s, rows kept on both sides, the least of
  turns. Budget: 1.3.
- Microseconds of an iteration, and iterations of a step, of hinged links and of ladders (`n_four_bar`) by QUAT.EM-R and
  QUAT.VI, default code, with the exponent from the shortest to the longest. Budgets: QUAT.VI twice QUAT.EM-R, 1.1.

Processor time.

    python benchmarks/conserving.py [--quick]
"""

from __future__ import annotations

import argparse
import ctypes
import math
import time
from collections.abc import Callable

import numpy as np
from peers import c_library
from peers.missing import Missing

import rbdae

STEP = 1e-3
MOMENTA, ANGULAR = ("hamiltonian-eliminated", "momentum"), ("index-0", "angular")
SCHEMES = {
    "QUAT.EM-R": ("energy-momentum", "rodrigues", MOMENTA),
    "QUAT.EM": ("energy-momentum", "paper", MOMENTA),
    "DIR.EM": ("energy-momentum", "rodrigues", MOMENTA),
    "QUAT.VI": ("variational", "quat-vi", MOMENTA),
    "midpoint, Rodrigues": ("midpoint", "rodrigues", ANGULAR),
    "midpoint, conformal": ("midpoint", "conformal", ANGULAR),
    "midpoint (310)": ("midpoint", "average-momentum", ANGULAR),
    "midpoint (326)": ("midpoint", "average-velocity", ANGULAR),
    "ALGO.C1": ("simo-wong", "algo-c1", ANGULAR),
    "ALGO.C1 (energy)": ("simo-wong", "energy-momentum", ANGULAR),
}


def links(n: int) -> rbdae.System:
    """Hinged links from the horizontal."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    before, at = system.ground, (0.0, 0.0, 0.0)
    for k in range(n):
        body = system.add_body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.02), position=(0.5 + k, 0.0, 0.0))
        axes = {"axis_a": (0.0, 1.0, 0.0), "axis_b": (0.0, 1.0, 0.0)}
        system.add_joint(rbdae.joints.Revolute(before, body, at_a=at, at_b=(-0.5, 0.0, 0.0), **axes))
        before, at = body, (0.5, 0.0, 0.0)
    return system


def by_hand(n: int) -> Callable[[], object]:
    """n steps in C. Raises `Missing` without a compiler."""
    function = c_library.compile_together(["heavy_top_steps"]).heavy_top_steps
    function.restype = ctypes.c_long
    y0 = problem_of("QUAT.EM-R").y0

    def run() -> object:
        rows = np.empty((n + 1, len(y0)))
        pointers = c_library.pointer(y0), c_library.pointer(rows)
        iterations = function(pointers[0], ctypes.c_double(STEP), ctypes.c_long(n), ctypes.c_double(1e-8), pointers[1])
        return rows, iterations

    return run


def problem_of(name: str) -> rbdae.Problem:
    """The heavy top for a scheme."""
    form, velocity = SCHEMES[name][2]
    rotation = "directors" if name == "DIR.EM" else "quaternion"
    return rbdae.formulate(rbdae.models.heavy_top(), form, rotation=rotation, velocity=velocity)


def runs_of(name: str, n: int) -> Callable[[], object]:
    """n steps of a scheme, with all of `rbdae.solve`."""
    method, variant, _ = SCHEMES[name]
    problem = problem_of(name)
    return lambda: rbdae.solve(problem, (0.0, n * STEP), solver=f"rbdae:{method}", variant=variant, step=STEP)


def of_the_top(quick: bool) -> None:
    """The first table."""
    n, turns = (500, 3) if quick else (20_000, 40)
    calls = {name: runs_of(name, n) for name in SCHEMES}
    try:
        calls = {"C": by_hand(n), **calls}
    except Missing as missing:
        print(missing)
    least = dict.fromkeys(calls, math.inf)
    for turn in range(turns + 1):
        for name, call in calls.items():
            began = time.process_time()
            call()
            if turn:  # the first one compiles
                least[name] = min(least[name], time.process_time() - began)
    for name, seconds in least.items():
        over = f"{seconds / least['C']:6.2f} of C" if "C" in least else ""
        print(f"{name:20s}{1e6 * seconds / n:8.3f} us a step {over}")


def of_joints(quick: bool) -> None:
    """The second table."""
    sizes = (5, 10) if quick else (10, 50, 200, 1000)
    for what, build, per in (("links", links, 1), ("ladder", rbdae.models.n_four_bar, 2)):
        for scheme, method in (("QUAT.EM-R", "energy-momentum"), ("QUAT.VI", "variational")):
            found = []
            for size in sizes:
                problem = rbdae.formulate(build(size // per), "hamiltonian-eliminated", velocity="momentum")
                steps = max(3, 2000 // size)
                least, iterations = math.inf, 1
                for _ in range(2 if quick else 4):
                    began = time.process_time()
                    run = rbdae.solve(problem, (0.0, steps * STEP), solver=f"rbdae:{method}", step=STEP)
                    least, iterations = min(least, time.process_time() - began), run.stats.evaluations
                found.append(least / iterations)
                code = problem.callbacks.steps(scheme).code
                line = f"{what}({size}), {scheme}: {1e6 * found[-1]:.2f} us an iteration"
                print(f"{line}, {iterations / steps:.2f} of them a step, {code}", flush=True)
            print(f"exponent: {math.log(found[-1] / found[0]) / math.log(sizes[-1] / sizes[0]):.2f}")


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    of_the_top(quick)
    of_joints(quick)


if __name__ == "__main__":
    main()

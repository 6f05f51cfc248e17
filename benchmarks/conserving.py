"""What does a step of the conserving integrators cost?

Microseconds of a step of the free body ([BS09], section 5.1), output included, next to a right-hand side of the heavy
top in DOPRI5's loop in the same run, and of an iteration in chains of hinged links with the exponent from the shortest
to the longest one.

    python benchmarks/conserving.py [--quick]
"""

from __future__ import annotations

import argparse
import math
import time

import rbdae

SCHEMES = {
    "QUAT.EM-R": ("quaternion", "rodrigues"),
    "QUAT.EM": ("quaternion", "paper"),
    "DIR.EM": ("directors", "rodrigues"),
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


def seconds(problem: rbdae.Problem, n: int, step: float, **options: str) -> tuple[float, int]:
    """Of n steps, and their iterations."""
    span = (0.0, n * step)
    start = time.perf_counter()
    run = rbdae.solve(problem, span, solver="rbdae:energy-momentum", step=step, **options)
    return time.perf_counter() - start, run.stats.evaluations


def main(quick: bool) -> None:
    """Print both tables."""
    n = 2_000 if quick else 100_000
    top = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    rbdae.solve(top, (0.0, 0.1), solver="rbdae:dopri5", rtol=1e-8, atol=1e-8)
    start = time.perf_counter()
    run = rbdae.solve(top, (0.0, 2.0 if quick else 50.0), solver="rbdae:dopri5", rtol=1e-8, atol=1e-8)
    one = (time.perf_counter() - start) / run.stats.evaluations
    print(f"right-hand side of the top in DOPRI5's loop: {one * 1e6:.3f} us")
    for name, (rotation, variant) in SCHEMES.items():
        problem = rbdae.formulate(
            rbdae.models.free_body(), "hamiltonian-eliminated", rotation=rotation, velocity="momentum"
        )
        seconds(problem, 10, 0.05, variant=variant)
        took, _ = seconds(problem, n, 0.05, variant=variant)
        print(f"{name}: {took / n * 1e6:.2f} us a step of the free body, {took / n / one:.1f} right-hand sides")
    found = []
    lengths = (5, 10) if quick else (50, 200, 1000)
    for length in lengths:
        chain = rbdae.formulate(links(length), "hamiltonian-eliminated", velocity="momentum", code="generic")
        seconds(chain, 2, 1e-3)
        took, iterations = min(seconds(chain, max(5, 4000 // length), 1e-3) for _ in range(3))
        found.append(took / iterations)
        print(f"chain of {length}: {found[-1] * 1e6:.1f} us an iteration")
    print(f"exponent: {math.log(found[-1] / found[0]) / math.log(lengths[-1] / lengths[0]):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)

"""What RADAU5's M1 saves: linked bodies, Andrews' mechanism and a chain of ten links, with and without it in turn.

    python benchmarks/radau5.py [repetitions]

Processor time, the least of the repetitions of each, whose runs alternate. Both take the same steps, up to rounding: M1
leaves the equations Y_i' = Y_(i + m1) out of the linear algebra.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from internals import use_m1

import rbdae

CASES: dict[str, tuple[Callable[[], rbdae.System], float, float]] = {
    "linked bodies": (rbdae.models.linked_bodies, 0.5, 1.2),
    "Andrews": (rbdae.models.andrews, 0.03, 1.5),
    "chain(10)": (lambda: rbdae.models.chain(10), 0.5, 1.7),
}
"""Model, end of the run, and the ratio that is wanted at least."""


def measure(name: str, formulation: str = "index-2", repetitions: int = 5) -> tuple[float, float, int, int]:
    """Seconds with and without M1, and the steps of both."""
    system, t_end, _ = CASES[name]
    problem = rbdae.formulate(system(), formulation)
    best, steps = {True: float("inf"), False: float("inf")}, {}
    for _ in range(repetitions + 1):  # the first ones compile
        for used in (True, False):
            use_m1(used)
            try:
                began = time.process_time()
                run = rbdae.solve(problem, (0.0, t_end), solver="assimulo:Radau5DAE", rtol=1e-6, atol=1e-6)
                best[used] = min(best[used], time.process_time() - began)
            finally:
                use_m1(True)
            steps[used] = run.stats.steps
    return best[True], best[False], steps[True], steps[False]


def main() -> None:
    """Print a line for each mechanism."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(f"{'':15} {'with':>9} {'without':>9}  ratio  wanted  steps")
    for name, (_, _, wanted) in CASES.items():
        ours, whole, steps, other = measure(name, repetitions=repetitions)
        print(
            f"{name:15} {1e3 * ours:6.1f} ms {1e3 * whole:6.1f} ms  {whole / ours:5.2f}  {wanted:6.1f}  "
            f"{steps} and {other}"
        )


if __name__ == "__main__":
    main()

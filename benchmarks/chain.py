"""How does the cost grow with the number of bodies?

Chains of 1 to 1000 links on ball joints, from rest: times of building and formulating (the kernels are loaded before),
of one residual, CSC Jacobian, sparse factorisation and right-hand side, and of runs over 0.5 s at 1e-6. The last column
has the exponent of a straight line through the logarithms for 50 links and more. BLAS runs on one thread: on a busy
machine its threads wait for each other longer than they work.

    python benchmarks/chain.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from typing import Any

import internals
import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

import rbdae

SIZES = (1, 5, 20, 50, 100, 200, 500, 1000)
QUICK = (1, 20, 50, 100, 200)
RUNS = (
    ("ida2", "index-2", "sksundae:ida"),
    ("idaggl", "ggl", "sksundae:ida"),
    ("dop853", "index-0", "scipy:DOP853"),
)
C = 1e3
"""The factor c of dF/dy + c dF/dy' for steps of some tenths of a millisecond."""


def once(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what `run` returned."""
    start = time.perf_counter()
    value = run()
    return time.perf_counter() - start, value


def median(run: Callable[[], Any], repetitions: int) -> float:
    """Median of the seconds of `run()`."""
    return float(np.median([once(run)[0] for _ in range(repetitions)]))


def measure(n: int, repetitions: int) -> dict[str, float]:
    """One row: seconds, and bytes for each body."""
    row: dict[str, float] = {}
    row["build"], system = once(lambda: rbdae.models.chain(n))
    row["formulate"], p = once(lambda: rbdae.formulate(system, "index-2"))
    row["pattern"], pattern = once(lambda: p.sparsity)
    out = np.empty(p.n)
    row["residual"] = median(lambda: p.callbacks.residual(p.t0, p.y0, p.yd0, out), repetitions)
    matrix = csc_matrix((np.zeros(pattern.nnz), pattern.indices, pattern.indptr), pattern.shape)
    row["jacobian"] = median(lambda: p.callbacks.jacobian_data(p.t0, p.y0, p.yd0, C, matrix.data), repetitions)
    row["splu"] = median(lambda: splu(matrix), max(3, repetitions // 5))
    row["formulate0"], e = once(lambda: rbdae.formulate(system, "index-0"))
    rate = np.empty(e.n)
    row["rhs"] = median(lambda: e.callbacks.rhs(e.t0, e.y0, rate), repetitions)
    for name, form, solver in RUNS:
        row[name], row[f"{name}/step"] = run(rbdae.formulate(system, form), solver, 2 if repetitions > 10 else 1)
    row["bytes/body"] = internals.memory_bytes(p) / n
    return row


def run(problem: rbdae.Problem, solver: str, repetitions: int) -> tuple[float, float]:
    """Seconds of the fastest of some runs, and the same for each step."""
    times = []
    for _ in range(repetitions):
        seconds, solution = once(
            lambda: rbdae.solve(problem, (0.0, 0.5), solver=solver, rtol=1e-6, atol=1e-6, t_eval=[0.0, 0.5])
        )
        if not solution.success:
            raise SystemExit(f"{len(problem.system.bodies)} links, {problem.formulation}: {solution.message}")
        times.append(seconds)
    return min(times), min(times) / solution.stats.steps


def shown(name: str, value: float) -> str:
    """Microseconds, milliseconds or seconds, in nine columns."""
    if name == "bytes/body":
        return f"{value:.0f} B"
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if value * factor >= 1.0:
            return f"{value * factor:.2f} {unit}"
    return f"{value * 1e6:.1f} us"


def main() -> None:
    """Print the table, and the exponents."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 200 links, fewer repetitions")
    quick = parser.parse_args().quick
    measure(2, 1)  # kernels and packages are loaded
    sizes = QUICK if quick else SIZES
    rows = []
    for n in sizes:
        rows.append(measure(n, 10 if quick else 20))
        print(f"{n} links measured", flush=True)
    large = np.array([n for n in sizes if n >= 50], dtype=float)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"{'links':>12s}" + "".join(f"{n:>11d}" for n in sizes) + f"{'exponent':>10s}")
    for name in rows[0]:
        values = np.array([row[name] for row in rows])
        exponent = np.polyfit(np.log(large), np.log(values[-len(large) :]), 1)[0]
        print(f"{name:>12s}" + "".join(f"{shown(name, v):>11s}" for v in values) + f"{exponent:>10.2f}", flush=True)


if __name__ == "__main__":
    main()

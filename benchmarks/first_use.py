"""How long does the first use take in a fresh process: imports, formulate, one residual and one Jacobian?

Once with an empty kernel cache (cold) and several times with it (warm). Budgets: cold 20 s, warm 1.5 s.

    python benchmarks/first_use.py [FORMULATION ...]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

_USE = """
import sys, rbdae
p = rbdae.formulate(rbdae.models.linked_bodies(), sys.argv[1])
p.residual(0.0, p.y0, p.yd0)
p.jacobian(0.0, p.y0, p.yd0, 1.0)
if p.kind == "ode":
    p.rhs(0.0, p.y0)
    p.rhs_jacobian(0.0, p.y0)
"""


def once(formulation: str, cache: str) -> float:
    """Seconds of one fresh process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", _USE, formulation], check=True, env={**os.environ, "NUMBA_CACHE_DIR": cache})
    return time.perf_counter() - start


def main() -> None:
    """Print cold and warm times."""
    for formulation in sys.argv[1:] or ["index-2", "index-0", "null-space", "hamiltonian"]:
        with tempfile.TemporaryDirectory() as cache:
            cold = once(formulation, cache)
            warm = statistics.median(once(formulation, cache) for _ in range(5))
            print(f"{formulation:14s} cold {cold:6.1f} s   warm {warm:6.2f} s", flush=True)


if __name__ == "__main__":
    main()

"""What do callbacks of the C files cost, compiled by ``gcc -O2``, beside our machine code?

Microseconds a call in a loop of machine code, the least of turns that both take one after the other; residual or
right-hand side, and the entries of the Jacobian. Budget: 1.3 in the geometric mean.

    python benchmarks/handover.py [MODEL ...]
"""

from __future__ import annotations

import ctypes
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import internals
import numpy as np

import rbdae
from rbdae.machine.function import PROTOTYPE

MODELS = [
    "heavy_top",
    "linked_bodies",
    "double_pendulum",
    "driven_pendulum",
    "planar_slider_crank",
    "bricard",
    "andrews",
]
FORMS = ["index-3", "index-1", "index-0", "null-space"]
FLAGS = ["-std=c99", "-O2", "-march=native", "-ffp-contract=fast"]
"""Our machine code is that of this processor, too, and contracts products and sums."""

SHIM = """
int shim_{0}(void *c_, double t, const double *y, const double *yd, double c, double *out) {{
    (void)c_; (void)yd; (void)c;
    return {1}_{0}(t, y{2}, 0, 0, out);
}}
"""


def of_c(problem: Any, folder: Path, name: str, names: list[str]) -> Any:
    """The callbacks of the file with the signature of ours."""
    path = problem.c_source(folder / f"{name}.c")
    arguments = {"residual": ", yd", "jacobian": ", yd, c", "rhs": "", "rhs_jacobian": ""}
    path.write_text(path.read_text() + "".join(SHIM.format(each, name, arguments[each]) for each in names))
    library = folder / f"{name}-{time.time_ns()}.so"
    subprocess.run(["gcc", *FLAGS, "-shared", "-fPIC", "-o", library, path, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def measured(problem: Any, library: Any, name: str, own: str) -> tuple[float, float]:
    """Seconds a call of both."""
    many, ours, y = internals.many(), problem.callbacks.machine(own), problem.y0.copy()
    out = np.empty(problem.n_equations * problem.n)
    theirs = ctypes.cast(library[f"shim_{name}"], ctypes.c_void_p).value
    assert PROTOTYPE(theirs)(None, 0.0, y.ctypes.data, problem.yd0.ctypes.data, 1.0, out.ctypes.data) == 0
    best = [math.inf, math.inf]
    for _ in range(60):
        for k, (address, context) in enumerate(((ours.address, ours.context), (theirs, 0))):
            begun = time.perf_counter()
            many(address, context, 0.0, y.ctypes.data, problem.yd0.ctypes.data, 1.0, out.ctypes.data, 500)
            best[k] = min(best[k], (time.perf_counter() - begun) / 500)
    return best[0], best[1]


def main() -> None:
    ratios = []
    with tempfile.TemporaryDirectory() as made:
        for model in sys.argv[1:] or MODELS:
            for form in FORMS:
                p = rbdae.formulate(getattr(rbdae.models, model)(), form, redundant="minimum-norm")
                names = {"rhs": "rhs"} if p.kind == "ode" else {"residual": "residual", "jacobian": "jacobian_data"}
                library = of_c(p, Path(made), model, [*names])
                for name, own in names.items():
                    ours, theirs = measured(p, library, name, own)
                    ratios.append(theirs / ours)
                    times = f"{1e6 * ours:7.3f} us, C {1e6 * theirs:7.3f} us, {theirs / ours:.2f}"
                    print(f"{model:20} {form:10} {name:9} {times}", flush=True)
    print(f"geometric mean {math.exp(np.mean(np.log(ratios))):.2f}, largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()

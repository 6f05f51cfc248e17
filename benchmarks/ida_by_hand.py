"""What does the general machinery cost a whole IDA run?

Example C (linked bodies), index 2, quaternions, angular velocities, in scikit-sundae's IDA at 1e-6 to t = 0.5: rbdae's
residual and Jacobian, rbdae's residual alone, and the same residual written by hand under numba for just these two
bodies. Medians over repetitions; the ratios are what counts.

    python benchmarks/ida_by_hand.py
"""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np
from sksundae.ida import IDA

import rbdae

_J = (41.6, 11.6, 50.0)
_R1, _R2 = (1.0, 2.0, -3.0), (5.0, -6.0, -7.0)


@numba.njit(inline="always")
def _rotate(p, r):  # type: ignore[no-untyped-def]
    w, x, y, z = p[0], p[1], p[2], p[3]
    return (
        (w * w + x * x - y * y - z * z) * r[0] + 2 * (x * y - w * z) * r[1] + 2 * (x * z + w * y) * r[2],
        2 * (x * y + w * z) * r[0] + (w * w - x * x + y * y - z * z) * r[1] + 2 * (y * z - w * x) * r[2],
        2 * (x * z - w * y) * r[0] + 2 * (y * z + w * x) * r[1] + (w * w - x * x - y * y + z * z) * r[2],
    )


@numba.njit(inline="always")
def _cross(a, b):  # type: ignore[no-untyped-def]
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@numba.njit
def by_hand(t, y, yd, out):  # type: ignore[no-untyped-def]
    """The residual for just this mechanism."""
    la = (y[26], y[27], y[28])
    velocity = (0.0, 0.0, 0.0)
    for b in range(2):
        q, v = 7 * b, 14 + 6 * b
        p = y[q + 3 : q + 7]
        om = (y[v + 3], y[v + 4], y[v + 5])
        mass = 10.0 if b == 0 else 20.0
        r = _R1 if b == 0 else _R2
        sign = 1.0 if b == 0 else -1.0
        spring = 1e4 if b == 0 else 0.0
        for k in range(3):
            out[q + k] = yd[q + k] - y[v + k]
            out[v + k] = mass * yd[v + k] + spring * y[q + k] + sign * la[k]
        out[q + 3] = yd[q + 3] - 0.5 * (-p[1] * om[0] - p[2] * om[1] - p[3] * om[2])
        out[q + 4] = yd[q + 4] - 0.5 * (p[0] * om[0] - p[3] * om[1] + p[2] * om[2])
        out[q + 5] = yd[q + 5] - 0.5 * (p[3] * om[0] + p[0] * om[1] - p[1] * om[2])
        out[q + 6] = yd[q + 6] - 0.5 * (-p[2] * om[0] + p[1] * om[1] + p[0] * om[2])
        gyro = _cross(om, (_J[0] * om[0], _J[1] * om[1], _J[2] * om[2]))
        w, x, yy, z = p[0], p[1], p[2], p[3]
        body = (
            (w * w + x * x - yy * yy - z * z) * la[0] + 2 * (x * yy + w * z) * la[1] + 2 * (x * z - w * yy) * la[2],
            2 * (x * yy - w * z) * la[0] + (w * w - x * x + yy * yy - z * z) * la[1] + 2 * (yy * z + w * x) * la[2],
            2 * (x * z + w * yy) * la[0] + 2 * (yy * z - w * x) * la[1] + (w * w - x * x - yy * yy + z * z) * la[2],
        )
        moment = _cross(r, body)
        for k in range(3):
            out[v + 3 + k] = _J[k] * yd[v + 3 + k] + gyro[k] + sign * moment[k]
        arm = _rotate(p, _cross(om, r))
        velocity = (
            velocity[0] + sign * (y[v] + arm[0]),
            velocity[1] + sign * (y[v + 1] + arm[1]),
            velocity[2] + sign * (y[v + 2] + arm[2]),
        )
    for k in range(3):
        out[26 + k] = velocity[k]


def main() -> None:
    """Print the three times and their ratios."""
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2")
    ours, jacobian = problem.callbacks.residual, problem.callbacks.jacobian
    out, check = np.empty(problem.n), np.empty(problem.n)
    rng = np.random.default_rng(0)
    y, yd = problem.y0 + 0.1 * rng.standard_normal(problem.n), rng.standard_normal(problem.n)
    ours(0.0, y, yd, out)
    by_hand(0.0, y, yd, check)
    np.testing.assert_allclose(out, check, rtol=1e-11, atol=1e-10)

    def resfn(t: float, y: Any, yp: Any, res: Any) -> None:
        ours(t, y, yp, res)

    def resfn_hand(t: float, y: Any, yp: Any, res: Any) -> None:
        by_hand(t, y, yp, res)

    def jacfn(t: float, y: Any, yp: Any, res: Any, cj: float, JJ: Any) -> None:
        jacobian(t, y, yp, cj, JJ)

    atol = np.full(problem.n, 1e-6)
    atol[problem.layout.la] = 1e10  # multipliers stay out of the error test
    options: dict[str, Any] = {
        "rtol": 1e-6,
        "atol": atol,
        "algebraic_idx": np.flatnonzero(~problem.differential).tolist(),
        "max_num_steps": 100000,
    }
    cases = {
        "rbdae, residual and Jacobian": (resfn, {**options, "jacfn": jacfn}),
        "rbdae, residual alone": (resfn, options),
        "by hand, residual alone": (resfn_hand, options),
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    counts = {}
    for _ in range(9):
        for name, (function, keywords) in cases.items():
            start = time.perf_counter()
            solution = IDA(function, **keywords).solve(np.array([0.0, 0.5]), problem.y0, problem.yd0)
            times[name].append(time.perf_counter() - start)
            counts[name] = (solution.nfev, solution.njev, solution.success)
    base = float(np.median(times["by hand, residual alone"]))
    for name, values in times.items():
        t = float(np.median(values))
        print(f"{name:32s}{t * 1e3:9.2f} ms{t / base:8.2f} x   (residuals, Jacobians, ok: {counts[name]})")


if __name__ == "__main__":
    main()

"""With the rotation vector centred again after every step, a Runge-Kutta method is a Lie-group method: that of
Munthe-Kaas with the same tableau ([MK98]), step by step to rounding.

The other side is written here in fifteen lines: from R_n on, the rotation vector psi of R_n^T R obeys
psidot = dexp^-1(psi) Omega, and R_(n+1) = R_n exp(psi_(n+1)).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from inside import Vec
from scipy.integrate import DOP853, RK23, RK45
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.models import heavy_top

END = 0.5
METHODS: dict[str, Any] = {"RK23": RK23, "RK45": RK45, "DOP853": DOP853}


def inverse_dexp(psi: Vec) -> Any:
    """psidot = dexp^-1(psi) Omega for R = R_n exp(psi): I + psi^/2 + (1 - phi/2 cot(phi/2)) psi^ psi^/phi^2."""
    x, y, z = psi
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    phi = float(np.linalg.norm(psi))
    half = 0.5 * phi
    c = 1.0 / 12.0 + phi**2 / 720.0 if phi < 1e-2 else (1.0 - half / np.tan(half)) / phi**2
    return np.eye(3) + 0.5 * skew + c * skew @ skew


def munthe_kaas(tableau: Any, steps: int) -> tuple[Rotation, Vec]:
    """R and Omega of the heavy top at the end; its accelerations are those in quaternions."""
    problem = rbdae.formulate(heavy_top(), "index-0")
    h = END / steps
    R = Rotation.from_quat(problem.y0[[1, 2, 3, 0]])
    om = problem.y0[4:].copy()

    def acceleration(turn: Rotation, spin: Vec) -> Vec:
        return problem.rhs(0.0, np.concatenate([turn.as_quat()[[3, 0, 1, 2]], spin]))[4:]

    n = tableau.n_stages
    for _ in range(steps):
        slopes = np.zeros((n, 6))
        for i in range(n):
            psi, change = np.split(h * tableau.A[i, :i] @ slopes[:i], 2)
            spin = om + change
            slopes[i, :3] = inverse_dexp(psi) @ spin
            slopes[i, 3:] = acceleration(R * Rotation.from_rotvec(psi), spin)
        psi, change = np.split(h * tableau.B @ slopes, 2)
        R, om = R * Rotation.from_rotvec(psi), om + change
    return R, om


def run(method: str, steps: int, rotation: str, **arguments: Any) -> rbdae.Solution:
    """Steps of one size: no error is too large."""
    origin = "space" if rotation == "quaternion" else "start"
    problem = rbdae.formulate(heavy_top(), "index-0", rotation=rotation, reference=origin)
    h = END / steps
    loose = {"rtol": 0.5, "atol": 1e6, "first_step": h, "max_step": h * (1 + 1e-12)}
    return rbdae.solve(problem, (0.0, END), solver=f"scipy:{method}", **loose, **arguments)


def end(solution: rbdae.Solution) -> tuple[Rotation, Vec]:
    state = solution.states["top"]
    return state.orientation[-1], state.angular_velocity[-1]


def angle(one: Rotation, two: Rotation) -> float:
    return float((one.inv() * two).magnitude())


@pytest.mark.parametrize("method", METHODS)
def test_recentred_after_every_step_it_is_the_method_of_munthe_kaas(method):
    steps = 5 if method == "DOP853" else 40
    found = run(method, steps, "rotation-vector", on_singularity="switch", recentre="always")
    assert found.success and found.stats.steps == steps and found.stats.restarts == steps - 1
    R, om = munthe_kaas(METHODS[method], steps)
    turn, spin = end(found)
    assert angle(turn, R) < 1e-11
    assert np.abs(spin - om).max() < 1e-10
    # in quaternions the same steps end elsewhere: the test can tell one method from another
    other, _ = end(run(method, steps, "quaternion"))
    assert angle(other, R) > 1e-9

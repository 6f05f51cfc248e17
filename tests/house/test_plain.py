"""Kernels take numbers of any kind."""

from __future__ import annotations

import cases
import inside
import numpy as np
import pytest
from cases import Pairing

from rbdae.formulations import FORMULATIONS

CASES = [
    ("C", Pairing("index-2", "quaternion", "angular")),
    ("C", Pairing("null-space", "quaternion", "angular")),
    ("tied", Pairing("index-0", "directors", "coordinate")),
    ("skew-top", Pairing("ggl", "euler-313", "angular")),
]
IDS = [f"{s}-{p}" for s, p in CASES]


@pytest.mark.parametrize("system, pairing", CASES, ids=IDS)
def test_complex_steps_give_the_jacobian(system, pairing, rng):
    problem = cases.problem(system, pairing)
    workspace = inside.workspace(problem)
    residual = inside.in_python(workspace, FORMULATIONS[pairing.formulation].kernels.residual)
    yd = problem.yd0 + rng.standard_normal(problem.n)
    exact = problem.jacobian(problem.t0, problem.y0, yd, 0.0)
    # an entry that is wrong shows in any direction
    for direction in rng.standard_normal((3, problem.n)):
        out = np.zeros(problem.n_equations, dtype=complex)
        residual(problem.t0, problem.y0 + 1e-30j * direction, yd, out)
        np.testing.assert_allclose(out.imag / 1e-30, exact @ direction, rtol=0, atol=1e-11 * np.abs(exact).max())

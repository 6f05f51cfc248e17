"""Figure 10 of [NS]: Example A with Omega(0) = (0, 0, 500) by DOPRI5, energy of the null-space form
against the absolute index-0 form. Coarse tolerances, as the paper's default ones."""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest

import rbdae

PAPER = rbdae.Projection(velocities="tangential")
T_END = 0.5


@cache
def _curve(formulation: str, rotation: str, solver: str, tolerance: float, projection: bool) -> np.ndarray:
    """Relative error of the total energy over time."""
    if solver.startswith("assimulo") and "CI" not in os.environ:
        pytest.importorskip("assimulo")
    velocity = "angular" if formulation == "null-space" else "coordinate"
    system = rbdae.models.heavy_top(angular_velocity=(0.0, 0.0, 500.0))
    problem = rbdae.formulate(system, formulation, rotation=rotation, velocity=velocity)
    solution = rbdae.solve(
        problem, (0.0, T_END), solver=solver, rtol=tolerance, atol=tolerance, projection=PAPER if projection else None
    )
    assert solution.success, solution.message
    assert solution.t[-1] == T_END and len(solution.t) > 100
    energy = solution.energy.total
    return np.abs(energy - energy[0]) / energy[0]


@pytest.mark.parametrize("projection", [False, True], ids=["drifting", "projected"])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("rotation", ["quaternion", "directors"])
@pytest.mark.parametrize("solver", ["scipy:RK45", "assimulo:Dopri5"])
def test_null_space_conserves_energy_better(solver, rotation, tolerance, projection):
    """Measured: a factor of 3e3 and more. The kinetic energy is that of each form's own velocities."""
    absolute = _curve("index-0", rotation, solver, tolerance, projection)
    null_space = _curve("null-space", rotation, solver, tolerance, projection)
    assert null_space.max() > 0.0
    assert absolute.max() > 10.0 * null_space.max()
    # not one spike: so it is at the end, and over the second half
    assert absolute[-1] > 10.0 * null_space[-1]
    assert np.median(absolute[len(absolute) // 2 :]) > 10.0 * np.median(null_space[len(null_space) // 2 :])


@pytest.mark.parametrize("solver", ["scipy:RK45", "assimulo:Dopri5"])
def test_both_errors_shrink_with_the_tolerance(solver):
    """Neither form is wrong: it is the integrator's error that they turn into energy differently."""
    for formulation in ("index-0", "null-space"):
        coarse, fine = (_curve(formulation, "quaternion", solver, tol, True).max() for tol in (1e-3, 1e-6))
        assert fine < 0.03 * coarse


def test_absolute_form_loses_energy_steadily():
    """The paper's projection of the absolute form dissipates (section 6), that of the null space leaves velocities."""
    absolute = _curve("index-0", "quaternion", "scipy:RK45", 1e-4, True)
    t = np.linspace(0.0, T_END, len(absolute))
    assert np.polyfit(t, absolute, 1)[0] * T_END == pytest.approx(absolute[-1], rel=0.2)

"""Drift from the constraint manifold: Figure 6 of [NS], and what projection leaves of it."""

from __future__ import annotations

import os

import cases
import numpy as np
import pytest
from cases import Pairing
from codes import cached

import rbdae

if "CI" not in os.environ:
    pytest.importorskip("assimulo")

T_END = 100.0


@cached
def _radau(pairing: Pairing) -> rbdae.Solution:
    solution = rbdae.solve(cases.problem("A", pairing), (0.0, T_END), solver="assimulo:Radau5ODE", rtol=1e-9, atol=1e-9)
    assert solution.success, solution.message
    return solution


def _order(t: np.ndarray, drift: np.ndarray) -> float:
    """Slope of log(drift) over log(t) in the late part."""
    late = t > 0.3 * t[-1]
    return float(np.polyfit(np.log(t[late]), np.log(drift[late]), 1)[0])


each_rotation = pytest.mark.parametrize(
    "rotation", ["quaternion", pytest.param("directors", marks=pytest.mark.nightly)]
)  # the papers' items have Figure 6 of both


@each_rotation
def test_index_0_drifts_quadratically_and_its_velocities_linearly(rotation):
    solution = _radau(Pairing("index-0", rotation, "coordinate"))
    drift = solution.drift
    assert 1.8 < _order(solution.t, drift.position) < 2.2
    assert 0.85 < _order(solution.t, drift.velocity) < 1.15
    assert drift.position.max() > 1e-6
    assert drift.velocity.max() > 1e-8


@each_rotation
def test_null_space_drifts_linearly_and_its_velocities_not_at_all(rotation):
    solution = _radau(Pairing("null-space", rotation, "angular"))
    drift = solution.drift
    assert 0.9 < _order(solution.t, drift.position) < 1.1
    assert drift.position.max() > 1e-9
    assert drift.velocity.max() < 5e-14  # of angular velocities of 20 rad/s: round-off
    # no growth either: the second half is like the first
    half = len(drift.velocity) // 2
    assert np.median(drift.velocity[half:]) < 3 * np.median(drift.velocity[:half])
    absolute = _radau(Pairing("index-0", rotation, "coordinate")).drift
    assert absolute.position.max() > 5 * drift.position.max()
    assert absolute.velocity.max() > 1e5 * drift.velocity.max()


# ---------------------------------------------------------------- with projection

KEEPING = [
    ("rbdae:dopri5", "index-0", {}),
    ("rbdae:dop853", "hamiltonian-eliminated", {}),
    ("scipy:BDF", "index-0", {}),
    ("scipy:BDF", "hamiltonian-eliminated", {}),
    ("sundials:cvode", "index-0", {"lmm": "bdf"}),
    ("assimulo:LSODAR", "index-0", {}),
    ("assimulo:Radau5ODE", "hamiltonian-eliminated", {}),
    ("sundials:ida", "index-2", {}),
    ("scikits.odes:ddaspk", "index-2", {}),
    ("assimulo:ODASSL", "index-2", {"rtol": 1e-7}),  # at 1e-6 its steps, and so the energy, go by the last bits of rtol
    ("solve_dae:BDF", "index-2", {}),
]


@pytest.mark.parametrize("solver, formulation, options", KEEPING, ids=[f"{s}-{f}" for s, f, _ in KEEPING])
def test_projected_runs_keep_the_energy_of_a_fast_top(solver, formulation, options):
    """(63) takes away half of its change, or nothing; an angular velocity that stays, nine tenths and more."""
    cases.need(solver)
    system = rbdae.models.heavy_top(angular_velocity=(0.0, 0.0, 300.0))
    velocity = "momentum" if formulation.startswith("ham") else "coordinate"
    rotation = "directors" if formulation == "index-2" else "quaternion"
    problem = rbdae.formulate(system, formulation, rotation=rotation, velocity=velocity)
    changes, options = [], {"rtol": 1e-6, **options}
    for projection in (None, rbdae.Projection(velocities="tangential"), rbdae.Projection()):
        run = rbdae.solve(problem, (0.0, 0.1), solver=solver, atol=rbdae.scaled_atol(problem, options["rtol"]),
                          projection=projection, **options)  # fmt: skip
        assert run.success and run.stats.restarts == 0
        if projection is not None:
            assert run.drift.position.max() < 1e-12 and run.drift.velocity.max() < 1e-10  # of 300 rad/s
        changes.append(abs(float(run.energy.total[-1] / run.energy.total[0]) - 1.0))
    assert changes[2] < 0.1 * min(changes[:2])


def test_restarts_do_not_depend_on_the_size_of_velocities():
    """They are for the drift of positions, whose size is 1 whatever the speed: at 500 rad/s |p| was off by 2.5e-3."""
    cases.need("scikits.odes:cvode")
    system = rbdae.models.heavy_top(angular_velocity=(0.0, 0.0, 500.0))
    problem = rbdae.formulate(system, "index-0", velocity="coordinate")
    run = rbdae.solve(
        problem, (0.0, 0.2), solver="scikits.odes:cvode", lmm="bdf", rtol=1e-6, atol=1e-6, projection=True
    )
    assert run.success and run.stats.restarts > 0

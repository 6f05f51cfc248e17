"""The matrices of the equations by name: M, G, K, g, g_I, g_II, psi satisfy the equations that they stand in, and T, r
those of the null-space form, for every pairing."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
import pytest
from cases import Pairing, close
from inside import Vec

import rbdae
from rbdae.formulations import FORMULATIONS

SYSTEMS = cases.SYSTEMS | {"driven": cases.driven}
CHOSEN = cases.covering((s, p) for k, s in enumerate(("C", "tied", "driven")) for p in cases.turns(k))
ALPHA, BETA = 3.0, 5.0


def _problem(system: str, pairing: Pairing) -> rbdae.Problem:
    gains = {"alpha": ALPHA, "beta": BETA} if FORMULATIONS[pairing.formulation].parameters else {}
    return cases.formulate(SYSTEMS[system](), pairing, **gains)


def _moved(problem: rbdae.Problem, rng: np.random.Generator) -> Vec:
    """A state near the start, a little off the constraints."""
    return problem.y0 + 0.01 * rng.standard_normal(problem.n)


def _velocities(problem: rbdae.Problem, matrices: Any, y: Vec) -> Vec:
    """v of a state: the unknowns, M^-1 p of momenta, or T nu - r."""
    v = y[problem.layout.v]
    if matrices.T is not None:
        return np.asarray(matrices.T @ v - matrices.r)
    if FORMULATIONS[problem.formulation].unknowns == "momenta":
        return np.linalg.solve(matrices.M, v)
    return v


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, pairing", CHOSEN, ids=str)
def test_the_equations_hold_at_the_rates_of_index_0(system, pairing, rng):
    problem = _problem(system, pairing)
    y, t = _moved(problem, rng), 0.2
    found = problem.matrices(t, y)
    rates, la = problem.rates(t, y)
    v = _velocities(problem, found, y)
    if found.T is None:
        forces, vd = found.M @ rates[problem.layout.v], rates[problem.layout.v]
        if FORMULATIONS[pairing.formulation].unknowns == "momenta":
            forces, vd = vd, np.linalg.solve(found.M, vd)
    else:
        twin = cases.formulate(SYSTEMS[system](), ("index-0", pairing.rotation, pairing.velocity))
        state = np.concatenate([y[problem.layout.q], v])
        vd = twin.rates(t, state)[0][twin.layout.v]
        forces = found.M @ vd
        assert np.allclose(found.G @ found.T, 0.0, atol=1e-12 * np.abs(found.G).max(initial=1.0))
        assert close(found.T.T @ forces, found.T.T @ found.psi, 1e-9)
    size = max(1.0, np.abs(found.psi).max())
    assert np.abs(forces - found.psi + found.W @ la).max() < 1e-9 * size
    wanted = -found.g_II
    if FORMULATIONS[pairing.formulation].parameters:
        wanted = wanted - 2.0 * ALPHA * (found.G @ v + found.g_I) - BETA**2 * found.g
    assert np.abs(found.G @ vd - wanted).max(initial=0.0) < 1e-9 * max(1.0, np.abs(wanted).max(initial=0.0))


@pytest.mark.parametrize("system, pairing", CHOSEN, ids=str)
def test_constraints_kinematics_and_energy(system, pairing, rng):
    """G v + g_I is the rate of g, K v that of q, and v . M v / 2 the kinetic energy."""
    problem = _problem(system, pairing)
    y, t = _moved(problem, rng), 0.2
    found = problem.matrices(t, y)
    v = _velocities(problem, found, y)
    violations = problem.constraints(t, y)
    n = len(found.g)
    assert close(found.g, violations.position[len(violations.position) - n :], 1e-12)
    assert close(found.G @ v + found.g_I, violations.velocity[len(violations.velocity) - n :], 1e-10)
    assert close(found.K @ v, problem.rates(t, y)[0][problem.layout.q], 1e-12)
    assert np.array_equal(found.M, found.M.T) or close(found.M, found.M.T, 1e-14)
    assert close(0.5 * v @ found.M @ v, problem.energy(t, y).kinetic, 1e-10)


@pytest.mark.parametrize("pairing", [p for p in cases.PAIRINGS if p.formulation in ("index-2", "null-space")], ids=str)
def test_sparse_and_dense_are_the_same(pairing, rng):
    problem = cases.problem("branched", pairing)
    before = problem.sparse_jacobian(0.1, problem.y0, problem.yd0, 2.0).toarray()
    y = _moved(problem, rng)
    dense, sparse = (problem.matrices(0.1, y, sparse=s) for s in (False, True))
    for name in ("M", "G", "K"):
        assert np.array_equal(getattr(sparse, name).toarray(), getattr(dense, name)), name
    # the pattern of the Jacobian is another one
    assert np.array_equal(problem.sparse_jacobian(0.1, problem.y0, problem.yd0, 2.0).toarray(), before)


def test_large_systems_have_sparse_matrices():
    problem = rbdae.formulate(rbdae.models.chain(60), "index-2")
    found = problem.matrices(0.0, problem.y0)
    assert found.M.nnz <= 12 * 60 and found.G.nnz <= 24 * 60
    assert found.G.shape == (180, 360) and found.T is None

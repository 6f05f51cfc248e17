"""Absolute tolerances by the size of what they belong to."""

from __future__ import annotations

from functools import cache

import cases
import numpy as np
import pytest
from cases import PAIRINGS

import rbdae

T_END = 0.03


@cache
def _reference() -> object:
    problem = rbdae.formulate(rbdae.models.andrews(), "index-0")
    run = rbdae.solve(problem, (0.0, T_END), solver="scipy:DOP853", rtol=1e-12, atol=1e-12)
    return problem.natural(T_END, run.y[-1])


def _error(problem: rbdae.Problem, run: rbdae.Solution) -> float:
    return float(np.abs(problem.natural(T_END, run.y[-1]) - _reference())[:, :12].max())


def test_momenta_of_small_bodies_are_tested():
    """Andrews' mechanism in momenta near 1e-5: with one tolerance for all, the error is 1e3 times the tolerance."""
    problem = rbdae.formulate(rbdae.models.andrews(), "hamiltonian-eliminated")
    plain, scaled = (
        rbdae.solve(problem, (0.0, T_END), solver="scipy:DOP853", rtol=1e-8, atol=atol)
        for atol in (1e-8, rbdae.scaled_atol(problem, 1e-8))
    )
    assert plain.success and scaled.success
    assert _error(problem, scaled) < min(1e-6, 0.1 * _error(problem, plain))


def test_each_unknown_has_the_tolerance_of_what_it_is():
    system = rbdae.models.linked_bodies()
    problem = rbdae.formulate(system, "hamiltonian-momentum", rotation="directors")
    layout, atol = problem.layout, rbdae.scaled_atol(problem, 1e-6)
    assert atol.shape == (problem.n,) and np.all(atol[layout.q] == 1e-6)
    M = problem.matrices(0.0, problem.y0).M
    np.testing.assert_allclose(atol[layout.v], 1e-6 * np.abs(M).max(axis=1), rtol=1e-14)
    np.testing.assert_allclose(atol[layout.la], 1e-6 * np.abs(problem.y0[layout.la]).max(), rtol=1e-14)
    integrals = rbdae.formulate(system, "hiller-anantharaman")
    la = integrals.layout.la
    np.testing.assert_allclose(
        rbdae.scaled_atol(integrals, 1e-6)[la], 1e-6 * np.abs(integrals.yd0[la]).max(), rtol=1e-14
    )
    assert np.all(rbdae.scaled_atol(rbdae.formulate(system, "index-0"), 1e-6) == 1e-6)


@pytest.mark.plain
@pytest.mark.parametrize(
    "name, pairing",
    [
        pytest.param(name, p, id=f"{name}-{p}")
        for name in ("heavy_top", "tennis_racket", "bruels_cardona_top", "andrews", "bricard")
        for p in PAIRINGS
        if not p.angular
        # the director mass of a flat body has no inverse
        and (name, p.rotation, p.velocity) != ("bruels_cardona_top", "directors", "momentum")
    ],
)
def test_multipliers_that_are_zero_at_the_start_have_a_size(name, pairing):
    """Their tolerance was that of a multiplier that is rounding: 1e-21 of the tennis racket's in momenta."""
    problem = cases.formulate(rbdae.models.MODELS[name](), pairing, redundant="minimum-norm")
    if problem.layout.mu.stop == problem.layout.la.start:
        return
    atol, scales = rbdae.scaled_atol(problem, 1e-6), problem.model.scales
    found = atol[problem.layout.la.start : problem.layout.mu.stop]
    # from kg m^2 / s^2 of the lightest body to what the fastest carries
    least = problem.model.bodies["mass"][: problem.model.n].min() * (1e-3 * scales.length * scales.rate) ** 2
    assert np.all(found > 1e-6 * least) and np.all(found < 1e-6 * 1e8)


def test_a_multiplier_that_is_zero_does_not_make_the_steps_small():
    """A free body at index 1 in momenta of quaternions: 69,000 steps in place of 1,600, for a multiplier of 1e-11."""
    problem = rbdae.formulate(rbdae.models.tennis_racket(), "hamiltonian-differentiated")
    run = rbdae.solve(
        problem, (0.0, 0.05), solver="solve_dae:Radau", rtol=1e-10, atol=rbdae.scaled_atol(problem, 1e-10)
    )
    assert run.success and run.stats.steps < 300

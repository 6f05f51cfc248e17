"""Absolute tolerances by the size of what they belong to."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

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
    assert "use atol=rbdae.scaled_atol(problem, 1e-08)" in plain.message
    assert "scaled_atol" not in scaled.message


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


def test_momenta_that_are_not_small_are_not_spoken_of():
    problem = rbdae.formulate(rbdae.models.heavy_top(), "hamiltonian-eliminated")
    run = rbdae.solve(problem, (0.0, 0.05), solver="scipy:DOP853", rtol=1e-6, atol=1e-6)
    assert run.message == "scipy:DOP853 reached the end of the interval"


@pytest.mark.parametrize("wrong, error", [(0.0, ValueError), (np.nan, ValueError), (True, TypeError), ("a", TypeError)])
def test_a_tolerance_that_is_none_is_refused(wrong, error):
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    with pytest.raises(error, match=r"tolerance must be .*, got"):
        rbdae.scaled_atol(problem, wrong)

"""Chains of many links: nothing grows faster than the number of bodies, and the sparse solvers are used."""

from __future__ import annotations

import os
import tracemalloc
from functools import cache

import numpy as np
import pytest

import rbdae

TOLERANCE = 1e-6


def chain(n, formulation):
    return rbdae.formulate(rbdae.models.chain(n), formulation)


def needs(package):
    if not os.environ.get("CI"):
        pytest.importorskip(package)


def final(problem, solver, t_end=0.2, tol=TOLERANCE, **options):
    solution = rbdae.solve(problem, (0.0, t_end), solver=solver, rtol=tol, atol=tol, t_eval=[0.0, t_end], **options)
    assert solution.success, solution.message
    return solution


@cache
def _of_eighty():
    """The end of a long chain."""
    return final(chain(80, "index-0"), "scipy:DOP853", t_end=0.05, tol=1e-10).y[-1]


@pytest.mark.parametrize(
    ("solver", "package"),
    [("sksundae:ida", "sksundae"), ("solve_dae:BDF", "solve_dae")],
)
def test_sparse_solvers_run_long_chains(solver, package, monkeypatch):
    needs(package)
    problem = chain(80, "index-2")

    def dense(*arguments):
        raise AssertionError("the dense Jacobian was asked for")

    assert callable(problem.callbacks.jacobian_data)  # which is made of the dense one's kernel
    monkeypatch.setattr(problem.callbacks, "jacobian", dense)
    solution = final(problem, solver, t_end=0.05)
    v = problem.layout.v.stop
    assert np.abs(solution.y[-1][:v] - _of_eighty()).max() < 1e-3


def test_explicit_methods_allocate_nothing_quadratic():
    problem = chain(200, "index-0")
    final(problem, "scipy:DOP853", t_end=0.01)
    tracemalloc.start()
    try:
        final(problem, "scipy:DOP853", t_end=0.01)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 100 * problem.n


@pytest.mark.parametrize("formulation", ["index-1", "index-2", "ggl", "index-3"])
def test_pattern_grows_linearly(formulation):
    counts = [chain(n, formulation).sparsity.nnz for n in (20, 40, 60)]
    assert counts[1] - counts[0] == counts[2] - counts[1] > 0

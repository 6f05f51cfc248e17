"""scikit-sundae's IDA and CVODE on the toy pendulum, whose exact motion is known."""

from __future__ import annotations

import os

import pytest
import toy
from toy_runs import FINAL, FORMS, error, solve

from rbdae import solving
from rbdae.adapter import Unsupported

if not os.environ.get("CI"):
    pytest.importorskip("sksundae")


def native(problem, method, **options):
    return solving.adapter("sksundae").native(problem, method, **options)


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f"sparse-{f}")
def test_the_sparsity_does_not_replace_our_jacobian(form):
    problem = toy.Pendulum(form)
    solution = solve(problem, "sksundae:ida", linsolver="sparse")
    assert solution.success and error(solution) < FINAL[form]
    assert problem.calls["jacobian_data"] == solution.stats.jacobians > 0
    assert problem.calls["residual"] == solution.stats.evaluations  # differences would need more
    assert "It said" not in solution.message


def test_large_problems_are_sparse_by_default(monkeypatch):
    from rbdae_adapters import sksundae

    problem = toy.Pendulum("index-2")
    assert native(problem, "ida").options["linsolver"] == "dense"
    monkeypatch.setattr(sksundae, "SPARSE_FROM", problem.n)
    assert native(problem, "ida").options["linsolver"] == "sparse"


@pytest.mark.parametrize("linsolver", ["gmres", "bicgstab", "tfqmr"])
def test_krylov_solvers_get_products_with_our_jacobian(linsolver):
    problem = toy.Pendulum("index-0")
    solution = solve(problem, "sksundae:ida", tol=1e-8, linsolver=linsolver)
    assert solution.success and error(solution) < 1e-5
    assert problem.calls["jacobian_data"] > 0
    assert problem.calls["residual"] == solution.stats.evaluations
    with pytest.raises(Unsupported, match=f"{linsolver}.*preconditioner"):
        solve(toy.Pendulum("index-2"), "sksundae:ida", linsolver=linsolver)


def test_cvode_takes_no_sparse_solver():
    with pytest.raises(Unsupported, match="sparse"):
        solve(toy.Pendulum(), "sksundae:cvode", linsolver="sparse")


def test_orders_reach_the_package():
    low, high = (solve(toy.Pendulum("index-2"), "sksundae:ida", tol=1e-6, **more) for more in ({"max_order": 2}, {}))
    assert low.stats.steps > 2 * high.stats.steps

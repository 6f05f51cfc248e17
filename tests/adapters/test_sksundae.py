"""scikit-sundae's IDA and CVODE on the toy pendulum, whose exact motion is known."""

from __future__ import annotations

import os

import pytest
import toy
from toy_runs import FINAL, error, solve

from rbdae import solving

if not os.environ.get("CI"):
    pytest.importorskip("sksundae")


def native(problem, method, **options):
    return solving.adapter("sksundae").native(problem, method, **options)


@pytest.mark.parametrize("form", ["index-3", "index-0"])
def test_the_sparsity_does_not_replace_our_jacobian(form):
    problem = toy.Pendulum(form)
    solution = solve(problem, "sksundae:ida", linsolver="sparse")
    assert solution.success and error(solution) < FINAL[form]
    assert problem.calls["jacobian_data"] == solution.stats.jacobians > 0
    assert problem.calls["residual"] == solution.stats.evaluations  # differences would need more


def test_large_problems_are_sparse_by_default(monkeypatch):
    from rbdae_adapters import sksundae

    problem = toy.Pendulum("index-2")
    assert native(problem, "ida").options["linsolver"] == "dense"
    monkeypatch.setattr(sksundae, "SPARSE_FROM", problem.n)
    assert native(problem, "ida").options["linsolver"] == "sparse"


def test_cvode_has_no_sparse_solver():
    with pytest.raises(ValueError, match="sparse"):  # the package's own
        solve(toy.Pendulum(), "sksundae:cvode", linsolver="sparse")


def test_orders_reach_the_package():
    low, high = (solve(toy.Pendulum("index-2"), "sksundae:ida", tol=1e-6, **more) for more in ({"max_order": 2}, {}))
    assert low.stats.steps > 2 * high.stats.steps

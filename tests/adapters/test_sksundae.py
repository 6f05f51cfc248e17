"""scikit-sundae's IDA and CVODE on the toy pendulum, whose exact motion is known."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
import toy
from toy_runs import FINAL, FORMS, error, solve

from rbdae import solving
from rbdae.adapter import Reason

if not os.environ.get("CI"):
    pytest.importorskip("sksundae")


def native(problem, method, **options):
    return solving.adapter("sksundae").native(problem, method, **options)


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f"native-{f}")
@pytest.mark.parametrize("linsolver", ["dense", "sparse"])
def test_native_objects_go_straight_into_ida(form, linsolver):
    from sksundae.ida import IDA

    problem = toy.Pendulum(form)
    p = native(problem, "ida", rtol=1e-9, atol=1e-9, linsolver=linsolver, max_num_steps=10000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that jacfn takes precedence over differences
        found = IDA(p.resfn, **p.options).solve(np.array([p.t0, 0.5, 1.0]), p.y0, p.yd0)
    assert found.success
    assert problem.calls["jacobian" if linsolver == "dense" else "jacobian_data"] == found.njev > 0
    assert problem.calls["residual"] == found.nfev
    assert np.abs(found.y - toy.exact(found.t)[:, : problem.n])[:, :6].max() < 1e-5


@pytest.mark.parametrize("lmm", ["adams", "bdf"])
def test_native_objects_go_straight_into_cvode(lmm):
    from sksundae.cvode import CVODE

    problem = toy.Pendulum()
    p = native(problem, "cvode", rtol=1e-9, atol=1e-9, lmm=lmm, max_num_steps=10000)
    found = CVODE(p.rhsfn, **p.options).solve(np.array([p.t0, 0.5, 1.0]), p.y0)
    assert found.success
    assert problem.calls["rhs_jacobian"] == found.njev > 0
    assert np.abs(found.y - toy.exact(found.t)[:, :6]).max() < 1e-6


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f"sparse-{f}")
def test_the_sparsity_does_not_replace_our_jacobian(form):
    problem = toy.Pendulum(form)
    solution = solve(problem, "sksundae:ida", linsolver="sparse")
    assert solution.success and error(solution) < FINAL[form]
    assert problem.calls["jacobian_data"] == solution.stats.jacobians > 0
    assert problem.calls["residual"] == solution.stats.evaluations  # differences would need more
    assert "It said" not in solution.message
    wrong = toy.Pendulum(form)
    filled = wrong.callbacks.jacobian_data

    def lie(t, y, yp, c, data):
        filled(t, y, yp, c, data)
        data *= 0.3

    wrong.callbacks.jacobian_data = lie
    limit = 4 * solution.stats.steps
    misled = solve(wrong, "sksundae:ida", linsolver="sparse", max_num_steps=limit)
    assert not misled.success or misled.stats.evaluations > 1.3 * solution.stats.evaluations


@pytest.mark.parametrize("method", ["ida", "cvode"])
def test_differences_cost_more_than_our_jacobian(method):
    from sksundae.cvode import CVODE
    from sksundae.ida import IDA

    calls = []
    for drop in (False, True):
        problem = toy.Pendulum("index-0")
        p = native(problem, method, rtol=1e-8, atol=1e-8, max_num_steps=10000)
        options = {k: v for k, v in p.options.items() if not (drop and k == "jacfn")}
        times = np.array([0.0, 1.0, 2.0])
        if method == "ida":
            IDA(p.resfn, **options).solve(times, p.y0, p.yd0)
        else:
            CVODE(p.rhsfn, **options).solve(times, p.y0)
        calls.append(problem.calls["residual"] + problem.calls["rhs"])
    assert calls[1] > calls[0]


def test_large_problems_are_sparse_by_default(monkeypatch):
    from rbdae_adapters import sksundae

    problem = toy.Pendulum("index-2")
    assert native(problem, "ida").options["linsolver"] == "dense"
    monkeypatch.setattr(sksundae, "SPARSE_FROM", problem.n)
    assert native(problem, "ida").options["linsolver"] == "sparse"


def test_cvode_takes_adams_or_bdf_and_no_sparse_solver():
    adams, bdf = (solve(toy.Pendulum(), "sksundae:cvode", lmm=lmm) for lmm in ("adams", "bdf"))
    assert adams.stats.steps < bdf.stats.steps
    with pytest.raises(ValueError, match="sparse"):  # the package's own
        solve(toy.Pendulum(), "sksundae:cvode", linsolver="sparse")


def test_options_reach_the_package():
    with pytest.raises(ValueError, match="max_stepp"):  # the package's own
        solve(toy.Pendulum("index-2"), "sksundae:ida", max_stepp=0.004)
    solution = solve(toy.Pendulum("index-2"), "sksundae:ida", tol=1e-6, max_step=0.004)
    assert np.diff(solution.t).max() <= 0.004 + 1e-8
    coarse = solve(toy.Pendulum("index-2"), "sksundae:ida", tol=1e-6, max_order=2)
    assert coarse.stats.steps > 2 * solve(toy.Pendulum("index-2"), "sksundae:ida", tol=1e-6).stats.steps


@pytest.mark.parametrize("method", ["ida", "cvode"])
def test_what_ends_a_run(method):
    """A limit of steps, progress after each step, a function that raises: with the rows until then."""
    problem = toy.Pendulum("index-2" if method == "ida" else "index-0")
    seen = []
    limited = solve(problem, f"sksundae:{method}", max_num_steps=7, progress=seen.append)
    assert limited.reason is Reason.TOO_MANY_STEPS and limited.stats.steps == 7
    assert seen[:7] == list(limited.t[1:8])

    def trouble(t, y):
        if t > 0.5:
            raise ArithmeticError("a law of the user")
        return 1.0

    with pytest.raises(ArithmeticError, match="a law of the user"):
        solve(toy.Pendulum(problem.formulation, trouble=trouble), f"sksundae:{method}")

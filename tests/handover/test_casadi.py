"""CasADi's functions of a problem compute what the problem does, and its integrators run on them."""

from __future__ import annotations

import sys
import zlib

import casadi
import numpy as np
import pytest
import traced_cases
from cases import count

import rbdae

CASES = [case for case in traced_cases.drawn(7) if not case.system.startswith("user-")]


def agree(found, wanted, bound):
    """To the bound of the largest entry; where a guard does not hold all is NaN."""
    found = np.asarray(found).reshape(wanted.shape)
    assert np.isnan(found).all() or np.abs(found - wanted).max() <= bound * max(1.0, np.abs(wanted).max())


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES[: count(16, 400)], ids=str)
def test_values_and_jacobians_agree(case):
    problem = case.problem("auto")
    model, rng = problem.casadi(), np.random.default_rng(zlib.crc32(str(case).encode()))
    for state, (t, y, yd) in traced_cases.states(problem, rng):
        for name, rates in (("residual", (yd,)), ("rhs", ()))[: 1 + (problem.kind == "ode")]:
            function, given = getattr(model, name), (t, y, *rates, model.u0, model.p0)
            jacobian = function.factory("J", function.name_in(), [f"jac:{function.name_out(0)}:y"])
            found, slopes = function(*given), jacobian(*given)
            assert state == "off the manifold" or np.isfinite(np.asarray(slopes)).all()
            of_problem = (0.0,) if rates else ()
            agree(found, getattr(problem, name)(t, y, *rates), 1e-13)
            by_y = problem.jacobian(t, y, yd, *of_problem) if rates else problem.rhs_jacobian(t, y)
            agree(slopes, by_y, 1e-12)


@pytest.mark.parametrize(("form", "integrator"), [("index-1", "idas"), ("null-space", "cvodes"), ("index-0", "cvodes")])
def test_the_integrators_of_casadi_run(form, integrator):
    """The motion of a loop, its multipliers, and the derivative of its end by the start."""
    problem = rbdae.formulate(rbdae.models.planar_slider_crank(), form, rotation="bryant-321")
    model = problem.casadi()
    options = {"abstol": 1e-10, "reltol": 1e-10}
    run = casadi.integrator("run", integrator, model.dae, problem.t0, 0.5, options)
    end = run(x0=model.x0, z0=model.z0, u=model.u0, p=model.p0)
    y = np.asarray(model.unknowns(end["xf"], end["zf"])).ravel()
    wanted = rbdae.solve(problem, (0.0, 0.5), rtol=1e-11, atol=1e-11).y[-1]
    np.testing.assert_allclose(y, wanted, rtol=1e-6, atol=1e-6)
    assert np.linalg.norm(wanted - problem.y0) > 0.1


def test_results_without_a_guard_are_nan_with_their_derivatives():
    problem = rbdae.formulate(rbdae.models.bricard(), "null-space", redundant="minimum-norm")
    rhs = problem.casadi().rhs
    jacobian = rhs.factory("J", rhs.name_in(), ["jac:ode:y"])


def test_called_laws_and_a_missing_package_are_named(monkeypatch):
    with pytest.raises(ValueError, match=r"cannot be handed over: it calls Python: force 'user-1'"):
        rbdae.formulate(traced_cases.user_in_python(), "index-1").casadi().residual  # noqa: B018
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(ImportError, match=r"pip install rbdae\[handover\]"):
        rbdae.formulate(rbdae.models.heavy_top(), "index-0").casadi()

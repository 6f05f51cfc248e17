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

DRAWN = [case for case in traced_cases.drawn(7) if not case.system.startswith("user-")]


def jacobian(function):
    """By y, as CasADi derives it."""
    by_y = function.factory("J", function.name_in(), [f"jac:{function.name_out(0)}:y"])
    return lambda *given: np.array(by_y(*given))


@pytest.mark.sampled
@pytest.mark.parametrize("case", DRAWN[: count(16, 400)], ids=str)
def test_values_and_jacobians_agree(case):
    problem, rng = case.problem("auto"), np.random.default_rng(zlib.crc32(str(case).encode()))
    model = problem.casadi()
    for state, (t, y, yd) in traced_cases.states(problem, rng):
        of_all = {"residual": ((t, y, yd), problem.jacobian(t, y, yd, 0.0))}
        if problem.kind == "ode":
            of_all["rhs"] = (t, y), problem.rhs_jacobian(t, y)
        for name, (given, slopes) in of_all.items():
            function, wanted = getattr(model, name), getattr(problem, name)(*given)
            found = np.array(function(*given, model.u0, model.p0)).ravel()
            if state == "off the manifold" and np.isnan(found).any():
                continue  # a guard
            assert np.abs(found - wanted).max() <= 1e-13 * max(1.0, np.abs(wanted).max())
            difference = jacobian(function)(*given, model.u0, model.p0) - slopes
            assert np.abs(difference).max() <= 1e-12 * max(1.0, np.abs(slopes).max())


@pytest.mark.parametrize(("form", "integrator"), [("index-1", "idas"), ("null-space", "cvodes"), ("index-0", "cvodes")])
def test_integrators_run(form, integrator):
    problem = rbdae.formulate(rbdae.models.planar_slider_crank(), form, rotation="bryant-321")
    model, options = problem.casadi(), {"abstol": 1e-10, "reltol": 1e-10}
    run = casadi.integrator("run", integrator, model.dae, problem.t0, 0.5, options)
    end = run(x0=model.x0, z0=model.z0, u=model.u0, p=model.p0)
    y = np.array(model.unknowns(end["xf"], end["zf"])).ravel()
    np.testing.assert_allclose(y, rbdae.solve(problem, (0.0, 0.5), rtol=1e-11, atol=1e-11).y[-1], rtol=1e-6, atol=1e-6)


def test_parameters_are_arguments():
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    model, new = problem.casadi(parameters=["top.mass", "gravity.z"]), {"top.mass": 20.0, "gravity.z": -3.0}
    by_p = model.rhs.factory("P", model.rhs.name_in(), ["jac:ode:p"])
    for p, wanted in ((model.p0, problem), ([*new.values()], problem.with_parameters(new))):
        found = np.array(model.rhs(0.0, problem.y0, model.u0, p)).ravel()
        np.testing.assert_allclose(found, wanted.rhs(0.0, problem.y0), rtol=1e-12)
        slopes = np.array(by_p(0.0, problem.y0, model.u0, p))
        np.testing.assert_allclose(slopes, wanted.rhs_parameter_jacobian(0.0, problem.y0, [*new]), rtol=1e-11)


def test_where_a_guard_does_not_hold_results_and_derivatives_are_nan():
    problem = rbdae.formulate(rbdae.models.bricard(), "index-0", redundant="minimum-norm")
    rhs, y, u = problem.casadi().rhs, 1e-2 * problem.y0, []
    assert np.isnan(np.array(rhs(0.0, y, u, u))).all()
    assert np.isnan(jacobian(rhs)(0.0, y, u, u)[problem.rhs_jacobian(0.0, problem.y0) != 0.0]).all()


def test_called_laws_and_a_missing_package_are_named(monkeypatch):
    with pytest.raises(ValueError, match=r"cannot be handed over: it calls Python: force 'user-1'.*problem\.laws"):
        _ = rbdae.formulate(traced_cases.user_in_python(), "index-1").casadi().residual
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(ImportError, match=r"pip install rbdae\[handover\]"):
        rbdae.formulate(rbdae.models.heavy_top(), "index-0").casadi()

"""Native objects go straight into the packages: each of these is driven as its own documentation says."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import toy
from cases import INFOS, method, need

import rbdae
from rbdae import solving
from rbdae.adapter import Unsupported

TIMES = np.linspace(0.0, 1.0, 11)  # DASPK takes at most 500 steps a call
TOL = 1e-8


def _scipy(native: Any, name: str) -> Any:
    from scipy.integrate import solve_ivp

    more = {"jac": native.jac} if name in ("Radau", "BDF", "LSODA") else {}
    found = solve_ivp(native.fun, (0.0, 1.0), native.y0, native.method, t_eval=TIMES, rtol=TOL, atol=TOL, **more)
    return found.t, found.y.T


def _solve_dae(native: Any, name: str) -> Any:
    from solve_dae.integrate import solve_dae

    more = {"jac": native.jac, "method": native.method}
    found = solve_dae(native.fun, (0.0, 1.0), native.y0, native.yp0, rtol=TOL, atol=TOL, **more)
    assert found.success
    return found.t, found.y.T


def _sksundae(native: Any, name: str) -> Any:
    from sksundae.cvode import CVODE
    from sksundae.ida import IDA

    options = native.options
    if name == "cvode":
        found = CVODE(native.rhsfn, **options).solve(TIMES, native.y0)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that jacfn takes precedence over differences
            found = IDA(native.resfn, **options).solve(TIMES, native.y0, native.yd0)
    assert found.success
    return found.t, found.y


def _scikits_odes(native: Any, name: str) -> Any:
    from scikits_odes import dae
    from scikits_odes_sundials.cvode import CVODE

    options = native.options
    if name == "ddaspk":
        success, t, y, *_ = dae("ddaspk", native.resfn, **options).solve(TIMES, native.y0, native.yd0)
        assert success == 1
        return t, y
    if name == "cvode":
        found = CVODE(native.rhsfn, **options).solve(TIMES, native.y0)
    else:
        found = dae("ida", native.resfn, old_api=False, **options).solve(TIMES, native.y0, native.yd0)
    assert found.flag == 0, found.message
    return found.values.t, found.values.y


def _assimulo(native: Any, name: str) -> Any:
    """With its events, which its class for index 2 found at t = nan."""
    import assimulo.solvers

    found = []
    if name != "ODASSL":  # has no events
        native.state_events = lambda t, y, *_: np.array([y[:3] @ toy.ACROSS])
        native.handle_event = lambda solver, info: found.append(solver.t)
    solver = getattr(assimulo.solvers, name)(native)
    solver.verbosity = 50
    for option, value in native.options.items():
        setattr(solver, option, value)
    t, y, *yd = solver.simulate(1.0)
    if name != "ODASSL":
        assert len(found) == 1 and abs(toy.exact(found[0])[:3] @ toy.ACROSS) < 1e-6
    y = native.unknowns(np.array(y), np.array(yd[0])) if yd else np.array(y)
    return np.array(t)[-1:], y[-1:]  # the first state of ODASSL's is its last


DRIVERS: dict[str, Callable[[Any, str], Any]] = {
    "scipy": _scipy,
    "solve_dae": _solve_dae,
    "sksundae": _sksundae,
    "scikits.odes": _scikits_odes,
    "assimulo": _assimulo,
}
REFUSED = {("assimulo", "index-3"), ("solve_dae", "index-3")}
"""Assimulo has no index class for it; solve_dae needs first steps that are smaller than its own."""

CASES = [
    (solver, form)
    for solver, info in INFOS.items()
    if info.package in DRIVERS and not method(solver).fixed_step
    for form, index in toy.INDICES.items()
    if method(solver).accepts(toy.kind_of(form), index) and (info.package, form) not in REFUSED
]


def _native(problem: toy.Pendulum, solver: str, **options: Any) -> Any:
    package, _, name = solver.partition(":")
    given = {} if package in ("scipy", "solve_dae") else {"rtol": TOL, "atol": TOL}
    return solving.adapter(package).native(problem, name, **given, **options)


@pytest.mark.parametrize("solver, form", CASES)
def test_native_objects_go_straight_into_the_package(solver, form):
    need(solver)
    problem = toy.Pendulum(form)
    package, _, name = solver.partition(":")
    t, y = DRIVERS[package](_native(problem, solver), name)
    level = 1e-4 if form == "index-3" or solver == "scipy:RK23" else 1e-5
    assert np.abs(y[:, :6] - toy.exact(t)[:, :6]).max() < level
    ours = problem.calls["jacobian"] + problem.calls["rhs_jacobian"] + problem.calls["jacobian_data"]
    if name in ("Radau", "BDF", "ida", "cvode", "ddaspk", "Radau5ODE", "RodasODE"):
        assert ours > 0


@pytest.mark.parametrize("package", ["sksundae", "scikits.odes"])
def test_cvode_takes_adams_or_bdf(package):
    need(f"{package}:cvode")
    steps = []
    for lmm in ("adams", "bdf"):
        run = rbdae.solve(toy.Pendulum(), (0.0, 2.0), solver=f"{package}:cvode", rtol=1e-10, atol=1e-10, lmm=lmm)
        steps.append(run.stats.steps)
        DRIVERS[package](_native(toy.Pendulum(), f"{package}:cvode", lmm=lmm), "cvode")
    assert steps[0] < steps[1]


@pytest.mark.parametrize("sparse", [False, True])
def test_the_jacobians_of_solve_dae_are_both_derivatives(sparse):
    need("solve_dae:BDF")
    problem = toy.Pendulum("index-1")
    native = solving.adapter("solve_dae").native(problem, "BDF", sparse=sparse)
    by_y, by_yp = (J.toarray() if sparse else J for J in native.jac(0.0, native.y0, native.yp0))
    np.testing.assert_allclose(by_y + 3.0 * by_yp, problem.tangent(native.y0, native.yp0, 3.0), atol=1e-12)
    third = solving.adapter("solve_dae").native(toy.Pendulum("index-3"), "Radau")
    assert list(third.var_index) == [1] * 3 + [2] * 3 + [3]


def test_jacobians_of_assimulo_belong_to_its_native_unknowns(rng):
    need("assimulo:Radau5DAE")
    pendulum = toy.Pendulum("index-2")
    native = solving.adapter("assimulo").native(pendulum, "Radau5DAE")
    n, c, h = pendulum.n, 3.0, 1e-3
    assert native.algvar == [1] * n and native.y0[-1] == 0.0 and native.yd0[-1] == pendulum.y0[-1]
    np.testing.assert_array_equal(native.unknowns(native.y0, native.yd0), pendulum.y0)
    y, yd = rng.standard_normal(n), rng.standard_normal(n)
    J = native.jac(c, 0.0, y, yd)
    for d in np.eye(n) * h:  # exact but for rounding: the equations are of second degree
        difference = native.res(0.0, y + d, yd + c * d) - native.res(0.0, y - d, yd - c * d)
        np.testing.assert_allclose(J @ d, 0.5 * difference, rtol=0, atol=1e-12)


def test_native_objects_that_assimulo_cannot_solve_are_refused():
    need("assimulo:ODASSL")
    with pytest.raises(Unsupported, match="no index class for"):
        solving.adapter("assimulo").native(toy.Pendulum("index-3"), "Radau5DAE")
    with pytest.raises(ValueError, match="maxord"):  # its class refuses all orders
        solving.adapter("assimulo").native(toy.Pendulum("index-2"), "ODASSL", maxord=3)

"""scipy's solvers on the toy pendulum, whose exact motion is known."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import toy
from scipy.integrate import solve_ivp

import rbdae
from rbdae import solving
from rbdae.adapter import Reason, Unsupported

METHODS = ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]


def solve(problem, method, t_end=2.0, tol=1e-10, **arguments):
    tol = max(tol, 1e-8) if method == "RK23" else tol  # many steps
    return rbdae.solve(problem, (0.0, t_end), solver=f"scipy:{method}", rtol=tol, atol=tol, **arguments)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 2.0, 33)])
def test_follows_the_exact_motion(method, t_eval):
    solution = solve(toy.Pendulum(), method, t_eval=t_eval)
    assert solution.success
    assert solution.t[-1] == 2.0
    if t_eval is not None:
        assert np.array_equal(solution.t, t_eval)
    assert np.abs(solution.y - toy.exact(solution.t)[:, :6]).max() < (1e-6 if method == "RK23" else 5e-8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 2.0, 33)])
def test_projection_leaves_no_drift_and_costs_no_accuracy(method, t_eval):
    plain = solve(toy.Pendulum(), method, t_eval=t_eval)
    solution = solve(toy.Pendulum(), method, t_eval=t_eval, projection=toy.Options())
    assert plain.drift.position.max() > 1e-12
    assert solution.drift.position.max() < 1e-14
    assert solution.drift.velocity.max() < 1e-14
    error = np.abs(solution.y - toy.exact(solution.t)[:, :6]).max()
    assert error < max(5e-9, 3 * np.abs(plain.y - toy.exact(plain.t)[:, :6]).max())
    assert solution.stats.projections > 10
    assert solution.stats.restarts == 0
    assert solution.stats.steps < 1.1 * plain.stats.steps  # the step control did not suffer


def test_projected_explicit_methods_evaluate_their_first_stage_again():
    plain, projected = (solve(toy.Pendulum(), "RK45", projection=p) for p in (None, toy.Options()))
    extra = projected.stats.evaluations - 6 * projected.stats.steps
    assert extra >= projected.stats.projections - 1
    assert plain.stats.evaluations - 6 * plain.stats.steps < 5


@pytest.mark.parametrize("method", METHODS)
def test_statistics_count_what_was_called(method):
    problem = toy.Pendulum()
    solution = solve(problem, method, tol=1e-8)
    assert solution.stats.steps == len(solution.t) - 1
    assert solution.stats.evaluations == problem.calls["rhs"]
    assert solution.stats.rejected == -1
    if method in ("Radau", "BDF"):
        assert solution.stats.jacobians == problem.calls["rhs_jacobian"] > 0
        assert solution.stats.factorisations > 0


@pytest.mark.parametrize("method", METHODS)
def test_an_exception_in_a_callback_comes_out_as_itself(method):
    class Mine(Exception):
        pass

    def trouble(t, y):
        if t > 0.5:
            raise Mine("at half a second")
        return 1.0

    with pytest.raises(Mine, match=r"half a second"):
        solve(toy.Pendulum(trouble=trouble), method)


@pytest.mark.parametrize("method", METHODS)
def test_a_solver_that_fails_midway_gives_what_it_has(method):
    def trouble(t, y):
        return np.nan if t > 0.5 else 1.0

    with warnings.catch_warnings(record=True) as heard:
        solution = solve(toy.Pendulum(trouble=trouble), method, tol=1e-8)
    assert not solution.success
    assert not heard
    assert solution.reason is not Reason.FINISHED
    assert 0.3 < solution.t[-1] <= 0.5
    assert np.isfinite(solution.y).all()
    assert f"t = {solution.t[-1]:.9g}" in solution.message
    assert "It said" in solution.message or solution.reason is Reason.NOT_FINITE


def test_the_time_of_failure_is_told_when_output_times_end_before_it():
    solution = solve(toy.Pendulum(trouble=lambda t, y: np.nan if t > 0.5 else 1.0), "RK45", t_eval=[0.0, 0.1, 2.0])
    assert list(solution.t) == [0.0, 0.1]
    assert "stopped at t = 0." in solution.message and "t = 0.1 " not in solution.message


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("projection", [None, toy.Options()])
def test_events(method, projection):
    def lowest(t, y):
        return y[:3] @ toy.ACROSS

    lowest.direction = -1.0

    def turning(t, y):
        return y[3:6] @ toy.ACROSS - 1e-3

    turning.terminal = 2
    solution = solve(toy.Pendulum(), method, t_end=5.0, events=[lowest, turning], projection=projection)
    assert solution.success and solution.reason is Reason.EVENT
    del turning.terminal  # SciPy counts occurrences from 1.12 on
    reference = solve_ivp(
        toy.Pendulum().rhs,
        (0, 5),
        toy.Pendulum().y0,
        "DOP853",
        rtol=1e-12,
        atol=1e-12,
        events=[lowest, turning],
    )
    end = reference.t_events[1][1]
    for log, times in zip(solution.events, reference.t_events, strict=True):
        times = times[times <= end]
        assert np.allclose(log.t, times, atol=1e-6) and len(log.t) == len(times) > 0
        assert np.allclose(log.y, toy.exact(log.t)[:, :6], atol=1e-6)
    assert solution.t[-1] == solution.events[1].t[-1]
    assert np.abs(solution.y[-1] - toy.exact(solution.t[-1])[:6]).max() < 1e-6


def test_native_objects_go_straight_into_solve_ivp():
    problem = toy.Pendulum()
    native = solving.adapter("scipy").native(problem, "Radau")
    found = solve_ivp(native.fun, (native.t0, 1.0), native.y0, native.method, jac=native.jac, rtol=1e-8, atol=1e-8)
    assert problem.calls["rhs_jacobian"] > 0
    assert np.abs(found.y[:, -1] - toy.exact(1.0)[:6]).max() < 1e-7
    assert np.array_equal(native.jac(0.0, native.y0), problem.rhs_jacobian(0.0, native.y0))


def test_options_reach_the_package_and_unknown_ones_are_refused():
    solution = solve(toy.Pendulum(), "RK45", max_step=0.01, tol=1e-6)
    assert np.diff(solution.t).max() <= 0.01 + 1e-12
    limited = solve(toy.Pendulum(), "RK45", max_steps=7)
    assert limited.reason is Reason.TOO_MANY_STEPS and limited.stats.steps == 7
    with pytest.raises(Unsupported, match=r"max_stepp.*did you mean 'max_step'"):
        solve(toy.Pendulum(), "RK45", max_stepp=0.01)

"""What holds for every BDF code of SUNDIALS, by any package, and for DASPK, on the toy pendulum."""

from __future__ import annotations

import contextlib
import io
import os
import warnings

import numpy as np
import pytest
import toy
from toy_runs import FINAL, FORMS, error, solve

import rbdae
from rbdae.adapter import Reason

INFOS = {info.name: info for info in rbdae.solvers() if info.package in ("sksundae", "scikits.odes", "sundials")}

IN_HISTORY = ("sundials:ida", "sundials:cvode", "scikits.odes:ddaspk")
"""Solvers whose history is corrected in place; the others restart."""


def forms(solver):
    """The toy's forms that the solver takes."""
    return FORMS if "dae" in INFOS[solver].kinds else FORMS[:1]


def case(solver, *more):
    missing = not INFOS[solver].available and not os.environ.get("CI")
    return pytest.param(solver, *more, marks=pytest.mark.skipif(missing, reason=INFOS[solver].install))


def sampled_cases():
    """At the steps of a solver and at samples in turn; both at night."""
    for k, solver in enumerate(INFOS):
        for i, form in enumerate(forms(solver)):
            for j, name in enumerate(("steps", "samples")):
                away = [pytest.mark.nightly] * ((i + j + k) % 2)
                param = case(solver, form, name == "samples")
                yield pytest.param(*param.values, marks=[*param.marks, *away], id=f"{solver}-{form}-{name}")


def pytest_generate_tests(metafunc):
    if "sampled" in metafunc.fixturenames:
        metafunc.parametrize("solver, form, sampled", [*sampled_cases()])
    elif "form" in metafunc.fixturenames:
        metafunc.parametrize("solver, form", [case(s, f) for s in INFOS for f in forms(s)])
    else:
        metafunc.parametrize("solver", [case(s) for s in INFOS])


@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 2.0, 33)])
def test_follows_the_exact_motion(solver, form, t_eval):
    solution = solve(toy.Pendulum(form), solver, t_eval=t_eval)
    assert solution.success, solution.message
    assert solution.t[-1] == 2.0
    if t_eval is not None:
        assert np.array_equal(solution.t, t_eval)
    assert error(solution) < FINAL[form]


def test_error_follows_the_tolerance(solver, form):
    errors = [error(solve(toy.Pendulum(form), solver, tol=tol)) for tol in (1e-5, 1e-7, 1e-9)]
    assert errors[1] < 0.2 * errors[0] and errors[2] < 0.2 * errors[1]


def test_multipliers_are_right_between_steps(solver, form):
    if form == "index-0":
        pytest.skip("no multipliers")
    t_eval = np.linspace(0.5, 2.0, 31)
    solution = solve(toy.Pendulum(form), solver, t_eval=t_eval)
    level = {"index-1": 1e-5, "index-2": 2e-3, "index-3": 2e-2}[form]
    assert np.abs(solution.y[:, 6] - toy.exact(t_eval)[:, 6]).max() < level


def test_projection_leaves_no_drift_and_costs_no_accuracy(solver, form, sampled):
    # long enough for the drift of index 1 to be ten times what a restart is made for, 1e-7, on any processor
    t_end = 20.0 if form in ("index-0", "index-1") else 5.0
    plain, projected = (
        solve(
            toy.Pendulum(form),
            solver,
            t_end=t_end,
            tol=1e-8,
            t_eval=np.linspace(0.0, t_end, 33) if sampled else None,
            projection=p,
        )
        for p in (None, toy.Options())
    )
    assert max(plain.drift.position.max(), plain.drift.velocity.max()) > 1e-12
    assert projected.drift.position.max() < 1e-14
    assert projected.drift.velocity.max() < 1e-14
    assert error(projected) < max(1e-6, 8 * error(plain))
    assert projected.stats.restarts < 0.05 * projected.stats.steps
    if form in ("index-0", "index-1"):  # the others hold a constraint, so that nothing drifts far
        assert (projected.stats.restarts == 0) == (solver in IN_HISTORY)
        assert projected.stats.steps < 3 * plain.stats.steps


def test_our_jacobian_is_the_one_that_is_used(solver, form):
    problem = toy.Pendulum(form)
    solution = solve(problem, solver)
    name, function = ("rhs_jacobian", "rhs") if solver.endswith("cvode") else ("jacobian", "residual")
    if solver == "sundials:ida":
        name = "jacobian_data"
    assert problem.calls[name] == solution.stats.jacobians > 0
    assert problem.calls[function] - solution.stats.evaluations in (0, 1)  # no differences of residuals
    wrong = toy.Pendulum(form)
    filled = getattr(wrong.callbacks, name)

    def lie(*arguments):
        filled(*arguments)
        arguments[-1][: len(arguments[-1]) // 2] *= 0.3

    setattr(wrong.callbacks, name, lie)
    misled = solve(wrong, solver, **max_steps_of(solver, 4 * solution.stats.steps))
    assert not misled.success or misled.stats.evaluations > 1.3 * solution.stats.evaluations


def max_steps_of(solver, limit):
    return {"max_num_steps" if solver.startswith("s") and "odes" not in solver else "max_steps": limit}


def test_an_exception_in_a_callback_comes_out_as_itself(solver, form):
    class Mine(Exception):
        pass

    def trouble(t, y):
        if t > 0.5:
            raise Mine("at half a second")
        return 1.0

    with pytest.raises(Mine, match="half a second"):
        solve(toy.Pendulum(form, trouble=trouble), solver, tol=1e-6)


def test_an_exception_in_the_jacobian_comes_out_as_itself(solver):
    problem = toy.Pendulum()

    def broken(*arguments):
        raise KeyboardInterrupt

    problem.callbacks.jacobian = problem.callbacks.rhs_jacobian = problem.callbacks.jacobian_data = broken
    with pytest.raises(KeyboardInterrupt):
        solve(problem, solver, tol=1e-6)


def test_a_solver_that_fails_midway_gives_what_it_has(solver, form, capfd):
    def trouble(t, y):
        return np.nan if t > 0.5 else 1.0

    with warnings.catch_warnings(record=True) as heard:
        solution = solve(toy.Pendulum(form, trouble=trouble), solver, tol=1e-6)
    assert not solution.success
    assert not heard
    out, err = capfd.readouterr()
    assert not err
    assert all(line.startswith("[WARNING]") for line in out.splitlines())  # CVODE's own
    assert solution.reason is Reason.NOT_FINITE
    assert 0.3 < solution.t[-1] <= 0.5
    assert np.isfinite(solution.y).all()
    assert f"t = {solution.t[-1]:.9g}" in solution.message


@pytest.mark.parametrize("projection", [None, toy.Options()])
@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 5.0, 41)])
def test_events(solver, projection, t_eval):
    def lowest(t, y):
        return y[:3] @ toy.ACROSS

    lowest.direction = -1.0

    def turning(t, y):
        return y[3:6] @ toy.ACROSS - 1e-3

    turning.terminal = 2
    form = forms(solver)[-2:][0]
    solution = solve(
        toy.Pendulum(form), solver, t_end=5.0, events=[lowest, turning], projection=projection, t_eval=t_eval
    )
    assert solution.success and solution.reason is Reason.EVENT
    for log, of, count in zip(solution.events, (lowest, turning), (1, 2), strict=True):
        assert len(log.t) == count
        assert max(abs(of(t, toy.exact(t))) for t in log.t) < 1e-6
        assert np.abs(log.y - toy.exact(log.t)[:, : log.y.shape[1]])[:, :6].max() < 1e-6
    assert solution.t[-1] <= solution.events[1].t[-1]
    assert error(solution) < 1e-6


@pytest.mark.parametrize("span", [(-3.0, -1.0), (-1.0, 1.0), (2.0, 4.0)])
def test_the_clock_may_start_anywhere(solver, form, span):
    problem = toy.Pendulum(form)
    problem.t0 = span[0]
    times = np.linspace(*span, 9)
    solution = rbdae.solve(problem, span, solver=solver, rtol=1e-8, atol=1e-8, t_eval=times)
    assert solution.success, solution.message
    exact = toy.exact(times - span[0])[:, : problem.n]
    assert np.abs(solution.y - exact)[:, :6].max() < 2e-5


def test_statistics_count_what_was_called(solver, form):
    problem = toy.Pendulum(form)
    solution = solve(problem, solver, tol=1e-8)
    stats = solution.stats
    assert stats.steps == len(solution.t) - 1
    assert stats.rejected >= -1 and stats.factorisations >= -1
    assert stats.restarts == stats.projections == 0
    assert stats.seconds > 0.0
    restarted = solve(problem, solver, t_end=5.0, tol=1e-6, projection=toy.Options())
    called = problem.calls["rhs" if solver.endswith("cvode") else "residual"] - stats.evaluations
    assert called - restarted.stats.evaluations in range(2 + restarted.stats.restarts)


def test_a_limit_on_steps_ends_the_run(solver):
    solution = solve(toy.Pendulum(), solver, **max_steps_of(solver, 17))
    assert solution.reason is Reason.TOO_MANY_STEPS
    assert solution.stats.steps == 17


def test_unknown_options_are_refused_by_name(solver):
    with pytest.raises(ValueError, match="linsolvr"):
        solve(toy.Pendulum(), solver, linsolvr="dense")


def test_the_package_says_nothing(solver, form):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        solution = solve(toy.Pendulum(form), solver, tol=1e-6)
    assert said.getvalue() == ""
    assert "It said" not in solution.message

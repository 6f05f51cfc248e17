"""Assimulo on the toy pendulum in every form that its solvers take."""

from __future__ import annotations

import importlib.metadata
import os
import re

import numpy as np
import pytest
import toy
from random_systems import random_system as varied_system

import rbdae
from rbdae import solving
from rbdae.adapter import Reason, Unsupported
from rbdae_adapters.assimulo import AssimuloAdapter

if "CI" not in os.environ:
    pytest.importorskip("assimulo")

EXPLICIT = ["Radau5ODE", "RodasODE", "Dopri5", "LSODAR"]
FORMS = ["index-3", "index-2", "index-1", "index-0"]
PAIRS = [
    *((m, "index-0") for m in EXPLICIT),
    *(("Radau5DAE", f) for f in FORMS),
    *(("ODASSL", f) for f in FORMS if f != "index-3"),
    ("ODASSL", "overdetermined"),
]
# Errors of the whole trajectory at rtol = atol = 1e-10, between steps included. At index 3 the velocities of the first
# steps have order 1 ([HW96], section VII.4); the end of the interval is better, see END.
LEVEL = {("Radau5DAE", "index-3"): 1e-6}
END = {("Radau5DAE", "index-3"): 1e-7}


def solve(problem, method, t_end=2.0, tol=1e-10, **arguments):
    return rbdae.solve(problem, (0.0, t_end), solver=f"assimulo:{method}", rtol=tol, atol=tol, **arguments)


def errors(solution):
    return np.abs(solution.y[:, :6] - toy.exact(solution.t)[:, :6]).max(axis=1)


@pytest.mark.parametrize("method, form", PAIRS)
@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 2.0, 33)])
def test_follows_the_exact_motion(method, form, t_eval, capfd):
    solution = solve(toy.Pendulum(form), method, t_eval=t_eval)
    assert solution.success, solution.message
    assert solution.t[-1] == 2.0
    if t_eval is not None:
        assert np.array_equal(solution.t, t_eval)
    assert errors(solution).max() < LEVEL.get((method, form), 6e-8)
    assert errors(solution)[-1] < END.get((method, form), 4e-8)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method, form", PAIRS)
@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 2.0, 33)])
def test_projection_leaves_no_drift_and_costs_no_accuracy(method, form, t_eval):
    solution = solve(toy.Pendulum(form), method, t_eval=t_eval, projection=toy.Options())
    assert solution.success, solution.message
    assert solution.drift.position.max() < 1e-14
    assert solution.drift.velocity.max() < 1e-14
    assert errors(solution).max() < (1e-6 if form == "index-3" else 6e-8)
    assert solution.stats.restarts == 0


def test_dopri5_evaluates_its_first_stage_again_after_a_projection():
    plain, projected = (solve(toy.Pendulum(), "Dopri5", projection=p) for p in (None, toy.Options()))
    assert projected.stats.steps == plain.stats.steps
    assert projected.stats.evaluations == plain.stats.evaluations + projected.stats.projections - 1


@pytest.mark.parametrize("method, form", PAIRS)
def test_statistics_and_jacobians(method, form):
    problem = toy.Pendulum(form)
    solution = solve(problem, method, tol=1e-7)
    called = problem.calls["rhs"] + problem.calls["residual"]
    assert called == solution.stats.evaluations
    assert solution.stats.steps == len(solution.t) - 1
    ours = problem.calls["rhs_jacobian"] + problem.calls["jacobian"]
    if method in ("Radau5ODE", "RodasODE", "Radau5DAE"):
        assert solution.stats.jacobians * (2 if method == "Radau5DAE" else 1) == ours > 0
        assert solution.stats.factorisations > 0
    if method == "ODASSL":  # never calls ours
        assert ours == 0 and solution.stats.jacobians > 0
    assert solution.stats.rejected >= (-1 if method == "LSODAR" else 0)


def test_finite_differences_can_be_asked_for():
    problem = toy.Pendulum("index-2")
    solution = solve(problem, "Radau5DAE", usejac=False)
    assert solution.success and problem.calls["jacobian"] == 0
    assert errors(solution)[-1] < 1e-8


@pytest.mark.parametrize("method, form", PAIRS)
def test_an_exception_in_a_callback_comes_out_as_itself(method, form):
    def trouble(t, y):
        if t > 0.5:
            raise ZeroDivisionError("mine")  # which Assimulo takes for a recoverable error
        return 1.0

    with pytest.raises(ZeroDivisionError, match=r"mine"):
        solve(toy.Pendulum(form, trouble=trouble), method)


@pytest.mark.parametrize("method, form", PAIRS)
def test_an_exception_in_an_event_comes_out_as_itself(method, form):
    def event(t, y):
        if t > 0.5:
            raise LookupError("mine too")
        return 1.0

    with pytest.raises(LookupError, match=r"mine too"):
        solve(toy.Pendulum(form), method, events=event)


@pytest.mark.parametrize("method, form", PAIRS)
def test_a_solver_that_fails_midway_gives_what_it_has(method, form, capfd):
    def trouble(t, y):
        return np.nan if t > 0.5 else 1.0

    solution = solve(toy.Pendulum(form, trouble=trouble), method, tol=1e-8)
    assert not solution.success
    assert 0.3 < solution.t[-1] <= 0.5 + 1e-6
    assert np.isfinite(solution.y).all()
    assert f"t = {solution.t[-1]:.9g}" in solution.message
    assert "It said" in solution.message
    out, err = capfd.readouterr()
    assert not out
    assert all(line.startswith(("capi_return is NULL", "Call-back cb_")) for line in err.splitlines())  # f2py's own


def test_the_limit_on_steps_is_a_reason():
    for method, form, options in (
        ("Radau5ODE", "index-0", {"maxsteps": 20}),
        ("RodasODE", "index-0", {"maxsteps": 20}),
        ("Dopri5", "index-0", {"maxsteps": 20}),
        ("LSODAR", "index-0", {"maxsteps": 20}),
        ("Radau5DAE", "index-2", {"maxsteps": 20}),
        ("ODASSL", "index-2", {"max_steps": 20}),
    ):
        solution = solve(toy.Pendulum(form), method, **options)
        assert solution.reason is Reason.TOO_MANY_STEPS, solution.message
        assert 15 <= solution.stats.steps <= 21


@pytest.mark.parametrize("method, form", PAIRS)
@pytest.mark.parametrize("projection", [None, toy.Options()])
def test_events(method, form, projection):
    def lowest(t, y):
        return y[:3] @ toy.ACROSS

    def late(t, y):
        return t - 1.7

    late.terminal = True
    solution = solve(toy.Pendulum(form), method, events=[lowest, late], projection=projection)
    assert solution.reason is Reason.EVENT
    assert len(solution.events[0].t) == 2 or len(solution.events[0].t) == 1
    assert np.abs(toy.exact(solution.events[0].t)[:, :3] @ toy.ACROSS).max() < 5e-6
    assert solution.t[-1] == pytest.approx(1.7, abs=1e-12)


@pytest.mark.parametrize("method", ["ExplicitEuler", "ImplicitEuler"])
def test_the_euler_methods_have_order_one(method):
    coarse, fine = (solve(toy.Pendulum(), method, t_end=1.0, step=h) for h in (2e-3, 1e-3))
    ratio = errors(coarse)[-1] / errors(fine)[-1]
    assert 1.7 < ratio < 2.3 and errors(fine)[-1] < 0.05
    assert np.diff(fine.t).max() == pytest.approx(1e-3)
    held = solve(toy.Pendulum(), method, t_end=1.0, step=1e-3, projection=toy.Options())
    assert held.drift.position.max() < 1e-14
    with pytest.raises(ValueError, match=r"step="):
        solve(toy.Pendulum(), method)


@pytest.mark.parametrize("method", ["ExplicitEuler", "ImplicitEuler"])
@pytest.mark.parametrize("n", [40, 60])
def test_fixed_steps_end_with_the_run(method, n):
    """Seen: sums of steps stay below the end by rounding, a step of that size follows, and ImplicitEuler failed in it
    (t = 0.49999999999999484 of 0.5, with switches)."""
    step = 0.002
    end = sum([step] * n) * (1.0 + 4e-16)
    assert sum([step] * n) < end
    run = solve(toy.Pendulum(), method, t_end=end, step=step)
    assert run.t[-1] == end and len(run.t) == n + 1


def test_native_objects_go_straight_into_the_package():
    from assimulo.solvers import ODASSL, Radau5DAE, Radau5ODE

    adapter = solving.adapter("assimulo")
    pendulum = toy.Pendulum()
    explicit = adapter.native(pendulum, "Radau5ODE")
    solver = Radau5ODE(explicit)
    solver.verbosity, solver.rtol, solver.atol = 50, 1e-8, 1e-8
    _, y = solver.simulate(1.0)
    assert pendulum.calls["rhs_jacobian"] > 0
    assert np.abs(y[-1] - toy.exact(1.0)[:6]).max() < 1e-6

    pendulum = toy.Pendulum("index-1")
    implicit = adapter.native(pendulum, "Radau5DAE")
    assert implicit.algvar == [1] * 6 + [0]
    assert np.allclose(
        implicit.jac(2.0, 0.0, pendulum.y0, pendulum.yd0), pendulum.jacobian(0.0, pendulum.y0, pendulum.yd0, 2.0)
    )
    implicit.jac = None
    del implicit.jac
    solver = Radau5DAE(implicit)
    solver.verbosity, solver.rtol, solver.atol = 50, 1e-8, 1e-8
    _, y, _ = solver.simulate(1.0)
    assert np.abs(y[-1, :6] - toy.exact(1.0)[:6]).max() < 1e-6

    pendulum = toy.Pendulum("overdetermined")
    over = adapter.native(pendulum, "ODASSL")
    solver = ODASSL(over)
    solver.verbosity, solver.rtol, solver.atol = 50, 1e-8, 1e-8
    _, y, _ = solver.simulate(1.0)
    assert np.abs(y[-1, :6] - toy.exact(1.0)[:6]).max() < 1e-5


NATIVE = [(m, f) for m, f in PAIRS if f != "index-3" and (m, f) != ("Radau5DAE", "index-2")]


@pytest.mark.parametrize("method, form", NATIVE)
def test_native_objects_carry_what_assimulos_solvers_have_to_know(method, form):
    handed_over(method, form)


def test_assimulos_own_class_finds_events_at_index_2():
    """It found one at t = nan."""
    handed_over("Radau5DAE", "index-2")


def handed_over(method, form):
    """With tolerances, limits and index classes as they come, events are where they are."""
    import assimulo.solvers

    pendulum = toy.Pendulum(form)
    native = solving.adapter("assimulo").native(pendulum, method, rtol=1e-8, atol=1e-8)
    found = []
    if method != "ODASSL":  # has no events
        native.state_events = lambda t, y, *_: np.array([y[:3] @ toy.ACROSS])
        native.handle_event = lambda solver, info: found.append(solver.t)
    solver = getattr(assimulo.solvers, method)(native)
    solver.verbosity = 50
    for name, value in native.options.items():
        setattr(solver, name, value)
    t, y, *yd = solver.simulate(2.0)
    if yd:
        y = native.unknowns(np.array(y), np.array(yd[0]))
    assert np.abs(y[-1, :6] - toy.exact(t[-1])[:6]).max() < 1e-6
    if method != "ODASSL":
        assert len(found) in (1, 2)
        assert np.abs(toy.exact(np.array(found))[:, :3] @ toy.ACROSS).max() < 1e-6


def test_native_jacobians_belong_to_the_native_unknowns(rng):
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
    with pytest.raises(Unsupported, match="no index class for"):
        solving.adapter("assimulo").native(toy.Pendulum("index-3"), "Radau5DAE")
    with pytest.raises(ValueError, match="maxord"):  # its class refuses all orders
        solving.adapter("assimulo").native(toy.Pendulum("index-2"), "ODASSL", maxord=3)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_multipliers_as_derivatives_do_not_fail_at_the_start(tolerance):
    """They are of class 2, as those of `ggl`; in class 1 Newton's iteration asked more than rounding allows."""
    system, t_end = rbdae.models.spatial_slider_crank(), 0.2
    problem, other = (
        rbdae.formulate(system, form, velocity="coordinate") for form in ("hiller-anantharaman", "index-0")
    )
    run = solve(problem, "Radau5DAE", t_end, tolerance)
    assert run.success, run.message
    exact = rbdae.solve(other, (0.0, t_end), solver="scipy:DOP853", rtol=1e-11, atol=1e-11)
    apart = problem.natural(t_end, run.y[-1]) - other.natural(t_end, exact.y[-1])
    assert np.abs(apart).max() < 100 * tolerance


def test_the_first_step_at_index_2_is_not_one_that_no_test_sees():
    """With Assimulo's 0.01 s the error stayed at 2e-6 whatever the tolerance."""
    system = rbdae.models.heavy_top()
    problem, other = (rbdae.formulate(system, form, velocity="coordinate") for form in ("index-2", "index-0"))
    run = solve(problem, "Radau5DAE", 2.0, 1e-10)
    exact = rbdae.solve(other, (0.0, 2.0), solver="scipy:DOP853", rtol=1e-12, atol=1e-12)
    apart = problem.natural(2.0, run.y[-1])[:, :12] - other.natural(2.0, exact.y[-1])[:, :12]
    assert np.abs(apart).max() < 2e-7
    # a step of one's own stays one's own
    assert solve(problem, "Radau5DAE", 0.1, 1e-10, inith=1e-7).t[1] == pytest.approx(1e-7)


def test_options_reach_the_package_and_unknown_ones_are_refused():
    small = solve(toy.Pendulum(), "Dopri5", maxh=0.005, tol=1e-6)
    assert np.diff(small.t).max() <= 0.005 + 1e-12
    first = solve(toy.Pendulum(), "Radau5ODE", inith=1e-5)
    assert first.t[1] == pytest.approx(1e-5)
    with pytest.raises(Unsupported, match=r"no option 'max_h'.*did you mean 'maxh'"):
        solve(toy.Pendulum(), "Dopri5", max_h=0.1)
    with pytest.raises(ValueError, match="maxsteps='many'"):  # the package's own check
        solve(toy.Pendulum(), "Dopri5", maxsteps="many")


@pytest.mark.parametrize(
    "tolerance, options, stopped",
    [(1e-4, {}, r"at t = 0\.0[0-9]+ .*rad from their singular set there: use on_singularity='switch'"),
     (1e-8, {}, r"at t = 0\.0[0-9]+ .*came near a singular set .*use on_singularity='switch'"),
     (1e-6, {"inith": 0.5}, r"at t = 0 .*begin with a shorter step.* not finite at t = 0\.1")],
)  # fmt: skip
def test_rodas_beyond_a_chart_says_when_and_what_to_do(tolerance, options, stopped):
    """RODAS does not try a step again that leaves the chart: it was told by the package's raw words."""
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-0", rotation="linear", reference="start")
    run = rbdae.solve(problem, (0.0, 1.0), solver="assimulo:RodasODE", rtol=tolerance, atol=tolerance, **options)
    assert not run.success and np.isfinite(run.y).all()
    assert re.search(stopped, run.message), run.message


@pytest.mark.parametrize("inith", [None, 0.0])
def test_a_first_step_of_zero_is_none(inith):
    """ODASSL took it for a step: "no reason known"."""
    options = {} if inith is None else {"inith": inith}
    run = solve(toy.Pendulum("overdetermined"), "ODASSL", 0.1, 1e-8, **options)
    assert run.success, run.message


@pytest.mark.parametrize("made, t_end", [(lambda: varied_system(9), 0.1), (rbdae.models.double_pendulum, 1.0)])
def test_odassl_tells_unknowns_at_zero_from_noise(made, t_end):
    """Its Jacobian is made by differences, in proportion to tolerances for unknowns that are zero: with two sets of
    multipliers in a chart that is zero at the start it stopped at t = 8e-10. States that leave zero, pass it again and
    become large are those of another solver."""
    system, more = made(), {"consistent": "project"}
    problem = rbdae.formulate(system, "ggl", rotation="rodrigues", reference="start", velocity="spatial", **more)
    run = rbdae.solve(problem, (0.0, t_end), solver="assimulo:ODASSL", rtol=1e-9, atol=1e-9)
    assert run.success, run.message
    other = rbdae.formulate(system, "index-0", **more)
    exact = rbdae.solve(other, (0.0, t_end), solver="rbdae:dop853", rtol=1e-12, atol=1e-12)
    between = np.linspace(0.0, t_end, 50)
    apart = problem.natural(between, run(between)) - other.natural(between, exact(between))
    assert np.abs(apart[..., :12]).max() < 1e-6


def test_its_version_is_that_of_whatever_distribution_has_it(monkeypatch):
    """Seen: `rbdae.solvers()` died where Assimulo had come by `pip install assimulo-testing`."""
    monkeypatch.setattr(importlib.metadata, "packages_distributions", lambda: {"assimulo": ["assimulo-testing"]})
    monkeypatch.setattr(importlib.metadata, "version", {"assimulo-testing": "3.9.0b2"}.__getitem__)
    assert AssimuloAdapter().version() == "3.9.0b2"

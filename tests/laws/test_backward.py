"""Runs back in time: every solver leads forth and back to the start, and everything reads a run whose times fall."""

from __future__ import annotations

from functools import cache
from typing import Any

import cases
import numpy as np
import pytest

import rbdae
from rbdae._process import Pending
from rbdae.adapter import Reason
from rbdae.solving.watch import Watch, WatchedProblem

END = 0.4
TIMES = np.linspace(END, 0.0, 6)

# what a run of 0.4 s forth and back may lose at 1e-8, or at steps of 2 ms: three times and more of what was seen
LOST = {
    "rbdae:variational": 1e-6,  # what is solved for in a step
}
SYMMETRIC = 1e-10
"""Conserving steps of the size -h undo those of the size h."""
USUAL = 5e-6


def spinning(applied: bool = True, rate: Any = (1.0, 2.0, 0.5)) -> rbdae.System:
    """A body on a ball joint; its weight, and a torque that depends on time."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    body = system.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.0, 0.0, -0.5), angular_velocity=rate)
    system.add_joint(rbdae.joints.Spherical(system.ground, body, at_b=(0.0, 0.0, 0.5)))
    if applied:
        system.add_force(rbdae.forces.Torque(body, lambda t: (0.3 * np.cos(3.0 * t), 0.2 * t, 0.0)))
    return system


def _form(solver: str) -> tuple[str, str, str]:
    """A form that a solver takes."""
    method = cases.method(solver)
    if method.pairings:
        return min(method.pairings)
    if method.accepts("dae", 2):
        return ("index-2", "quaternion", "angular")
    return ("index-0", "quaternion", "angular")


@cache
def _forth(solver: str) -> tuple[rbdae.Problem, rbdae.Solution]:
    cases.need(solver)
    form, rotation, velocity = _form(solver)
    problem = rbdae.formulate(spinning(solver != "rbdae:variational"), form, rotation=rotation, velocity=velocity)
    run = rbdae.solve(problem, (0.0, END), solver=solver, **_asked(solver))
    assert run.success, run.message
    return problem, run


def _asked(solver: str) -> dict[str, Any]:
    return {"step": 2e-3} if cases.method(solver).fixed_step else {"rtol": 1e-8, "atol": 1e-8}


def _back(solver: str, **more: Any) -> rbdae.Solution:
    problem, forth = _forth(solver)
    here = problem.resumed(END, forth.y[-1], problem.selection)
    return rbdae.solve(here, (END, 0.0), solver=solver, **_asked(solver), **more)


def _level(solver: str) -> float:
    conserving = bool(cases.method(solver).pairings)
    return LOST.get(solver, SYMMETRIC if conserving else USUAL)


@pytest.mark.parametrize("solver", sorted(cases.ALL_INFOS))
def test_forth_and_back_leads_to_the_start(solver):
    problem, forth = _forth(solver)
    back, top = _back(solver), problem.labels.index("body.x")

    def crossing(t, y):
        return y[top] - 0.5 * (problem.y0[top] + forth.y[-1, top])

    d = problem.layout.n_differential
    assert back.success and back.t[0] == END and back.t[-1] == 0.0 and (np.diff(back.t) < 0.0).all(), back.message
    assert np.abs(back.y[-1] - problem.y0)[:d].max() < _level(solver)
    # between its steps it is the run forth, as far as both are accurate
    assert np.abs(back(TIMES) - forth(TIMES))[:, :d].max() < _level(solver) + (0.0 if solver in LOST else 1e-6)
    assert np.array_equal(back(back.t)[:, :d], back.y[:, :d])
    # the work is that from the first time on, so the balance holds as forth
    assert np.abs(back.energy.balance).max() < 3.0 * np.abs(forth.energy.balance).max() + 30.0 * USUAL
    rows = _back(solver, t_eval=TIMES, events=crossing)
    assert rows.success and np.array_equal(rows.t, TIMES), rows.message
    assert np.abs(rows.y - forth(TIMES))[:, :d].max() < _level(solver) + 1e-5
    found = [e for e in rows.events[0].t if 0.0 < e < END]
    assert found and sorted(found, reverse=True) == found
    assert max(abs(crossing(t, forth(t))) for t in found) < _level(solver) + 1e-5


@pytest.mark.parametrize("solver", [name for name in sorted(cases.INFOS) if not cases.method(name).fixed_step], ids=str)
def test_a_run_back_is_projected(solver):
    problem, _ = _forth(solver)
    back = _back(solver, projection=True, t_eval=TIMES)
    assert back.success, back.message
    assert back.drift.position.max() < 1e-12 and back.drift.velocity.max() < 1e-12
    d = problem.layout.n_differential
    assert np.abs(back.y[-1] - problem.y0)[:d].max() < _level(solver)


@pytest.mark.parametrize(
    "solver",
    ["rbdae:dop853", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("scipy:RK45", "assimulo:Radau5ODE"))],
)
@pytest.mark.parametrize("more", [{}, {"projection": True}], ids=["plain", "projected"])
def test_charts_are_switched_on_the_way_back(solver, more, tmp_path):
    """A state at a change is in the unknowns of the segment that it begins, at an earlier time."""
    cases.need(solver)
    problem = rbdae.formulate(
        spinning(rate=(6.0, 8.0, 5.0)), "index-0", rotation="rodrigues", reference="start", consistent="project"
    )
    asked = {"solver": solver, "rtol": 1e-9, "atol": 1e-9, "on_singularity": "switch", **more}
    forth = rbdae.solve(problem, (0.0, 3.0), **asked)
    last = forth.problem_at(3.0)
    here = last.resumed(3.0, forth.y[-1], last.selection)
    back = rbdae.solve(here, (3.0, 0.0), **asked)
    assert back.success and back.stats.restarts > 1, back.message
    times = np.unique(np.concatenate([np.linspace(0.0, 3.0, 40), back.t[::7]]))[::-1]
    for run in (back, rbdae.load(back.save(tmp_path / "run.npz"), here)):
        motion = _places(run, times)
        assert np.abs(motion - _places(forth, times)).max() < 1e-5
        assert np.abs(_natural(run, run.t, run.y) - _places(forth, run.t)).max() < 1e-5
        assert all(run.problem_at(t) is run.problem_at(t) for t in times)
    rows = rbdae.solve(here, (3.0, 0.0), **asked, t_eval=times[times < 3.0])
    assert np.abs(_natural(rows, rows.t, rows.y) - _places(forth, rows.t)).max() < 1e-5
    assert np.abs(back.energy.balance).max() < 1e-5


def _natural(run: rbdae.Solution, t: Any, y: Any) -> Any:
    return run.problem.natural(t, y).reshape(len(t), -1)


def _places(run: rbdae.Solution, t: Any) -> Any:
    return np.array([run.problem_at(s).natural(s, run(s)).ravel() for s in t])


def _mirrored(problem: rbdae.Problem) -> WatchedProblem:
    """The problem as adapters see it in a run back in time."""
    return WatchedProblem(problem, Watch(problem, Pending(), -1.0))


@np.errstate()  # watched callbacks change it until a run is over
def test_the_mirrored_equations_are_those_of_the_problem():
    """F(-tau, y, -z), its Jacobian by differences, and the right-hand side that makes it zero."""
    problem = rbdae.formulate(spinning(), "index-1", t0=0.3)
    mirrored = _mirrored(problem)
    assert mirrored.t0 == -0.3 and np.array_equal(mirrored.yd0, -problem.yd0)
    n, rng = problem.n, np.random.default_rng(5)
    y, z = problem.y0 + 0.1 * rng.standard_normal(n), rng.standard_normal(n)
    out, ends = np.empty(n), np.empty((2, n))
    mirrored.callbacks.residual(-0.3, problem.y0, -problem.yd0, out)
    assert np.abs(out).max() < 1e-12
    c, step = 0.7, 1e-6
    J, data = np.empty((n, n)), np.empty(problem.sparsity.nnz)
    mirrored.callbacks.jacobian(-0.3, y, z, c, J)
    mirrored.callbacks.jacobian_data(-0.3, y, z, c, data)
    pattern = problem.sparsity
    assert np.array_equal(type(pattern)((data, pattern.indices, pattern.indptr), pattern.shape).toarray(), J)
    for k in range(n):
        for row, sign in zip(ends, (1.0, -1.0), strict=True):
            there = np.zeros(n)
            there[k] = sign * step
            mirrored.callbacks.residual(-0.3, y + there, z + c * there, row)
        assert np.abs((ends[0] - ends[1]) / (2.0 * step) - J[:, k]).max() < 1e-6 * (1.0 + np.abs(J).max())
    ode = rbdae.formulate(spinning(), "index-0", t0=0.3)
    rates, tangent = np.empty(ode.n), np.empty((ode.n, ode.n))
    _mirrored(ode).callbacks.rhs(-0.3, ode.y0, rates)
    _mirrored(ode).callbacks.rhs_jacobian(-0.3, ode.y0, tangent)
    assert np.array_equal(rates, -ode.rhs(0.3, ode.y0)) and np.array_equal(tangent, -ode.rhs_jacobian(0.3, ode.y0))


@pytest.mark.parametrize("solver", ["rbdae:dop853", "sksundae:cvode"])
def test_a_failure_is_told_in_the_problems_own_time(solver):
    cases.need(solver)
    system = rbdae.System()
    body = system.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))

    def force(t, x, out):
        out[:] = 0.0
        out[0] = 1.0 if t > 0.25 else np.nan

    def jacobian(t, x, out):
        out[:] = 0.0

    system.add_force(rbdae.forces.UserForce(body, force, jacobian))
    problem = rbdae.formulate(system, "index-0", t0=1.0)
    run = rbdae.solve(problem, (1.0, 0.0), solver=solver)
    assert run.reason is Reason.NOT_FINITE and 0.2 < run.t[-1] < 0.4, run.message
    assert "t = -" not in run.message and "not finite at t = 0.2" in run.message


def test_stabilised_forms_are_refused_with_the_remedies():
    """gddot + 2 alpha gdot + beta^2 g = 0 lets violations grow back in time."""
    problem = rbdae.formulate(spinning(), "baumgarte-ode", t0=END)
    with pytest.raises(ValueError, match=r"alpha = 10 .*use projection=True, alpha=0\.0, or another formulation"):
        rbdae.solve(problem, (END, 0.0), solver="rbdae:dop853")
    run = rbdae.solve(problem, (END, 0.0), solver="rbdae:dop853", projection=True)
    assert run.success and run.drift.position.max() < 1e-12
    free = rbdae.formulate(spinning(), "baumgarte-ode", t0=END, alpha=0.0, beta=0.0)
    assert rbdae.solve(free, (END, 0.0), solver="rbdae:dop853").success

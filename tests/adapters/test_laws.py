"""Laws of every solver, on the toy pendulum, whose exact motion is known, in every form that the solver takes; and what
an adapter uses of a problem."""

from __future__ import annotations

import dataclasses
import importlib
import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toy
from cases import ALL_INFOS, INFOS, method, need

import rbdae
import rbdae_adapters
from rbdae import solving
from rbdae.adapter import Reason, Request, Unsupported
from rbdae.problem.contract import Solvable, SolvableCallbacks, StateProjector
from rbdae_adapters.toolkit import loosened

SOLVERS = [name for name in INFOS if not method(name).fixed_step]
CASES = [(s, form) for s in SOLVERS for form in toy.INDICES if method(s).accepts(toy.kind_of(form), toy.INDICES[form])]
BDF = [s for s in SOLVERS if s.startswith(("sksundae", "scikits", "sundials"))]
LAST = dict(CASES)
"""One form of each solver: the last in the order of indices, 3 to 0 and overdetermined."""

IN_HISTORY = ("sundials:ida", "sundials:cvode", "scikits.odes:ddaspk")
"""Multistep solvers whose history is corrected in place; the others restart."""

LEVEL = {"index-0": 1.5e-7, "index-1": 2e-7, "index-2": 2e-7, "index-3": 5e-6, "overdetermined": 6e-8}
"""Errors of the trajectory at 1e-10. At index 3 the velocities of the first steps have order 1 ([HW96], section VII.4):
of 25 first steps that differ by a thousandth, 24 end at 3e-8 to 1e-7, and one at 1e-6, with any linear solver."""

ONE_STEP_LEVEL = {"index-2": 6e-8, "index-3": 1e-6}

MULTIPLIERS = {"index-1": 1e-5, "index-2": 2e-3, "index-3": 2e-2, "overdetermined": 2e-3}

every_form = pytest.mark.parametrize("solver, form", CASES)
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def solve(problem: toy.Pendulum, solver: str, t_end: float = 2.0, tol: float = 1e-8, **more: Any) -> rbdae.Solution:
    need(solver)
    return rbdae.solve(problem, (0.0, t_end), solver=solver, rtol=tol, atol=tol, **more)


def error(solution: rbdae.Solution) -> float:
    """Largest error in positions and velocities."""
    return float(np.abs(solution.y[:, :6] - toy.exact(solution.t)[:, :6]).max())


def implicit(solver: str) -> bool:
    return solver.partition(":")[2] in ("ida", "cvode", "ddaspk", "BDF", "Radau", "Radau5DAE", "Radau5ODE", "RodasODE")


@every_form
def test_follows_the_exact_motion(solver, form, capfd):
    """At the steps and between them, its multipliers, too; errors follow tolerances, what is counted is what was
    called, and the package says nothing."""
    problem, times = toy.Pendulum(form), np.linspace(0.0, 2.0, 33)
    slow = solver == "scipy:RK23"  # many steps
    run = solve(problem, solver, tol=1e-8 if slow else 1e-10, t_eval=times)
    assert run.success and "It said" not in run.message, run.message
    assert np.array_equal(run.t, times) and run.steps.t[-1] == 2.0
    level = 1e-6 if slow else (LEVEL | (ONE_STEP_LEVEL if INFOS[solver].one_step else {}))[form]
    at_steps = float(np.abs(run.steps.y[:, :6] - toy.exact(run.steps.t)[:, :6]).max())
    assert max(error(run), at_steps) < level
    stats, calls = run.stats, problem.calls
    assert stats.steps == len(run.steps.t) - 1
    assert stats.seconds > 0.0 and stats.wall_seconds > 0.0 and stats.restarts == stats.projections == 0
    assert stats.rejected >= -1 and stats.factorisations >= -1
    assert calls["rhs"] + calls["residual"] - stats.evaluations in (0, 1)  # no differences of residuals beside
    ours = calls["jacobian"] + calls["jacobian_data"] + calls["rhs_jacobian"]
    pairs = 2 if solver.startswith("solve_dae") or solver == "assimulo:Radau5DAE" else 1
    if implicit(solver):
        assert ours == pairs * stats.jacobians > 0
    elif solver == "assimulo:ODASSL":
        assert ours == 0 < stats.jacobians
    if form != "index-0":
        late = run.t >= 0.5
        assert np.abs(run.y[late, 6] - toy.exact(run.t[late])[:, 6]).max() < MULTIPLIERS[form]
    coarse = solve(toy.Pendulum(form), solver, tol=1e-5)
    assert coarse.success and coarse.stats.steps == len(coarse.t) - 1
    assert error(run) < 0.01 * error(coarse)
    assert capfd.readouterr() == ("", "")


@every_form
def test_projection_leaves_no_drift_and_costs_no_accuracy(solver, form):
    # of multistep methods long enough for the drift of index 1 to be some times what a restart is made for, 1e-7
    drifts = form in ("index-0", "index-1") and not INFOS[solver].one_step
    t_end = 14.0 if drifts and solver in BDF else 2.0
    plain, projected = (solve(toy.Pendulum(form), solver, t_end, projection=p) for p in (None, toy.Options()))
    assert plain.success and projected.success
    assert max(plain.drift.position.max(), plain.drift.velocity.max()) > 1e-12
    assert max(projected.drift.position.max(), projected.drift.velocity.max()) < 1e-14
    assert error(projected) < max(1e-6, 8 * error(plain))
    assert projected.stats.projections > 5
    if INFOS[solver].one_step:
        assert projected.stats.restarts == 0
        assert projected.stats.steps < 1.1 * plain.stats.steps + 5  # the step control did not suffer
    else:
        assert projected.stats.restarts < 0.05 * projected.stats.steps
    if drifts and solver in BDF:  # the others hold a constraint, so that nothing drifts far
        assert (projected.stats.restarts == 0) == (solver in IN_HISTORY)
        assert projected.stats.steps < 3 * plain.stats.steps


@pytest.mark.parametrize("solver, stages", [("scipy:RK45", 6), ("assimulo:Dopri5", 6)])
def test_explicit_methods_evaluate_their_first_stage_again_after_a_projection(solver, stages):
    plain, projected = (solve(toy.Pendulum(), solver, tol=1e-10, projection=p).stats for p in (None, toy.Options()))
    assert plain.evaluations - stages * (plain.steps + max(plain.rejected, 0)) < 5
    extra = projected.evaluations - stages * (projected.steps + max(projected.rejected, 0))
    assert extra >= projected.projections - 1


@pytest.mark.parametrize("solver, form", [case for case in CASES if case[0] in BDF])
def test_our_jacobian_is_the_one_that_is_used(solver, form):
    """With a wrong one, steps fail."""
    right = solve(toy.Pendulum(form), solver, tol=1e-10)
    wrong = toy.Pendulum(form)
    name = "rhs_jacobian" if solver.endswith("cvode") else "jacobian_data" if solver == "sundials:ida" else "jacobian"
    filled = getattr(wrong.callbacks, name)

    def lie(*arguments):
        filled(*arguments)
        arguments[-1][: len(arguments[-1]) // 2] *= 0.3

    setattr(wrong.callbacks, name, lie)
    misled = solve(wrong, solver, tol=1e-10, **{limit_of(solver): 4 * right.stats.steps})
    assert not misled.success or misled.stats.evaluations > 1.3 * right.stats.evaluations


@every_form
def test_an_exception_comes_out_as_itself(solver, form):
    """Assimulo takes a ZeroDivisionError for a recoverable one."""

    def trouble(t: float, y: Any) -> float:
        if t > 0.5:
            raise ZeroDivisionError("at half a second")
        return 1.0

    with pytest.raises(ZeroDivisionError, match="half a second"):
        solve(toy.Pendulum(form, trouble=trouble), solver, tol=1e-6)
    if form == LAST[solver]:
        with pytest.raises(ZeroDivisionError, match="half a second"):
            solve(toy.Pendulum(form), solver, tol=1e-6, events=trouble)


@pytest.mark.parametrize("solver", BDF)
def test_an_exception_in_the_jacobian_comes_out_as_itself(solver):
    problem = toy.Pendulum()

    def broken(*arguments):
        raise KeyboardInterrupt

    problem.callbacks.jacobian = problem.callbacks.rhs_jacobian = problem.callbacks.jacobian_data = broken
    with pytest.raises(KeyboardInterrupt):
        solve(problem, solver, tol=1e-6)


def test_the_time_of_failure_is_told_when_output_times_end_before_it():
    problem = toy.Pendulum(trouble=lambda t, y: np.nan if t > 0.5 else 1.0)
    run = solve(problem, "scipy:RK45", t_eval=[0.0, 0.1, 2.0])
    assert list(run.t) == [0.0, 0.1]
    assert "stopped at t = 0." in run.message and "t = 0.1 " not in run.message


@pytest.mark.parametrize("at", ["steps", "samples of a projected run"])
@every_form
def test_events(solver, form, at):
    """Those of one direction, and those that end the run the second time; with their states."""

    def lowest(t, y):
        return y[:3] @ toy.ACROSS

    def turning(t, y):
        return y[3:6] @ toy.ACROSS - 1e-3

    lowest.direction, turning.terminal = -1.0, 2
    times = None if at == "steps" else np.linspace(0.0, 4.0, 33)
    options = None if at == "steps" else toy.Options()
    run = solve(toy.Pendulum(form), solver, 4.0, 1e-9, events=[lowest, turning], projection=options, t_eval=times)
    assert run.success and run.reason is Reason.EVENT
    level = 5e-6 if form == "index-3" or solver == "scipy:RK23" else 1e-6
    for log, of, count in zip(run.events, (lowest, turning), (1, 2), strict=True):
        assert len(log.t) == count
        assert max(abs(of(t, toy.exact(t))) for t in log.t) < level
        assert np.abs(log.y[:, :6] - toy.exact(log.t)[:, :6]).max() < level
    assert run.t[-1] == run.events[1].t[-1] if at == "steps" else run.t[-1] <= run.events[1].t[-1]
    assert error(run) < level


@pytest.mark.parametrize("start", [-3.0, -1.0])
@every_solver
def test_the_clock_may_start_before_zero(solver, start):
    problem = toy.Pendulum(LAST[solver])
    problem.t0 = start
    need(solver)
    times = np.linspace(start, start + 2.0, 9)
    run = rbdae.solve(problem, (start, start + 2.0), solver=solver, rtol=1e-8, atol=1e-8, t_eval=times)
    assert run.success, run.message
    assert np.abs(run.y[:, :6] - toy.exact(times - start)[:, :6]).max() < 2e-5


def limit_of(solver: str) -> str:
    """What the package calls its limit of steps."""
    if solver.startswith("assimulo"):
        return "max_steps" if solver.endswith("ODASSL") else "maxsteps"
    return "max_num_steps" if solver.startswith(("sksundae", "sundials")) else "max_steps"


def longest_of(solver: str) -> str:
    """What the package calls its longest step."""
    if solver.startswith("assimulo"):
        return "maxh"
    return "max_step_size" if solver in ("scikits.odes:ida", "scikits.odes:ddaspk") else "max_step"


@every_solver
def test_options_reach_the_package_and_unknown_ones_are_refused_by_name(solver):
    form = LAST[solver]
    short = solve(toy.Pendulum(form), solver, 0.5, 1e-6, **{longest_of(solver): 0.004})
    assert np.diff(short.t).max() <= 0.004 + 1e-8
    few = solve(toy.Pendulum(form), solver, tol=1e-10, **{limit_of(solver): 7})
    assert few.reason is Reason.TOO_MANY_STEPS and 4 <= few.stats.steps <= 8
    with pytest.raises(ValueError, match="max_stepp"):
        solve(toy.Pendulum(form), solver, max_stepp=0.004)


# ---------------------------------------------------------------- tolerances that are reported

LEAST = {
    ("solve_dae", 3): 1e-11,
    ("assimulo", 3): 1e-10,
    ("sksundae", 1): 1e-12,
    ("sksundae", 3): 1e-10,
    ("scikits.odes", 1): 1e-12,
    ("scikits.odes", 3): 1e-10,
}


@pytest.mark.parametrize("solver, form", [case for case in CASES if toy.kind_of(case[1]) == "dae"])
def test_tolerances_that_cannot_be_used_are_not_reported(solver, form):
    """Runs at 1e-10 and 1e-13 were the same at index 3, and did not say so."""
    least = LEAST.get((INFOS[solver].package, toy.INDICES[form]), 0.0)
    asked = 0.1 * least if least else 1e-10
    run = solve(toy.Pendulum(form), solver, 0.3, asked)
    assert run.rtol == pytest.approx(max(asked, least), rel=1e-14) and run.atol == pytest.approx(run.rtol, rel=1e-14)
    again = rbdae.solve(toy.Pendulum(form), (0.0, 0.3), solver=solver, rtol=run.rtol, atol=run.atol)
    assert np.array_equal(again.y, run.y) and np.array_equal(again.t, run.t) and again.rtol == run.rtol
    assert "in place of" not in again.message
    assert (f"rtol = {least:.3g} in place of {asked:.3g}" in run.message) == bool(least)


def test_tolerances_of_single_unknowns_keep_their_proportions():
    """Those of small momenta are small for a reason: they are not raised to what is the least for positions."""
    pendulum = toy.Pendulum("index-3")
    atol = np.array([1e-6] * 3 + [1e-14] * 3 + [1e4])
    assert loosened(pendulum, 1e-8, atol, 1e-10) == (1e-8, atol)
    rtol, raised = loosened(pendulum, 1e-12, 1e-6 * atol, 1e-10)
    assert rtol == 1e-10
    np.testing.assert_allclose(raised, 1e-4 * atol, rtol=1e-14)
    atol = [1e-11] * 3 + [1e-12] * 3 + [1e-9]
    need("assimulo:Radau5DAE")
    run = rbdae.solve(pendulum, (0.0, 0.1), solver="assimulo:Radau5DAE", rtol=1e-8, atol=atol)
    assert "atol = 1e-11 to 1e-08 in place of 1e-12 to 1e-09" in run.message and run.rtol == 1e-8


# ---------------------------------------------------------------- the contract


def names_of(protocol):
    """What a protocol asks for."""
    return {name for name in vars(protocol) if not name.startswith("_")}


class Only:
    """An object of which only some names can be used, and none set."""

    def __init__(self, inner, protocol, **instead):
        self.__dict__.update(_inner=inner, _protocol=protocol, _instead=instead)

    def __getattr__(self, name):
        if name not in names_of(self._protocol):
            if name in ("machine", "factors", "steps"):  # which a problem need not have
                raise AttributeError(name)
            raise AssertionError(f"{name!r} is not in {self._protocol.__name__}")
        return self._instead.get(name) or getattr(self._inner, name)

    def __setattr__(self, name, value):
        raise AssertionError(f"{name!r} was set")

    def __call__(self, *arguments):  # a projector
        return self._inner(*arguments)


@pytest.mark.parametrize("solver", ALL_INFOS)
@pytest.mark.parametrize("projected", [False, True])
def test_an_adapter_uses_of_a_problem_what_the_contract_names(solver, projected):
    """Its native objects, too; it reports plain numbers."""
    need(solver)
    adapter, how = solving.find_method(solver)
    problem = toy.Pendulum(LAST.get(solver, "index-0"))
    restricted: Any = Only(problem, Solvable, callbacks=Only(problem.callbacks, SolvableCallbacks))
    before = problem.y0.copy(), problem.yd0.copy()
    projector: Any = Only(toy.Projector(problem), StateProjector) if projected else None
    step = 1e-3 if how.fixed_step else None
    request = Request(0.0, 0.2, np.linspace(0.0, 0.2, 5), 1e-6, 1e-6, step=step, projector=projector)
    if how.pairings:  # made for forms of rbdae.formulate alone
        with pytest.raises(Unsupported, match=r"rbdae\.formulate|leave out projection"):
            adapter.run(restricted, how, request)
        with pytest.raises(Unsupported, match=r"rbdae\.formulate"):
            adapter.native(restricted, how.name)
        return
    assert adapter.native(restricted, how.name) is not None
    outcome = adapter.run(restricted, how, request)
    assert outcome.t[-1] == 0.2, outcome
    assert np.array_equal(problem.y0, before[0]) and np.array_equal(problem.yd0, before[1])
    for name, value in dataclasses.asdict(outcome.stats).items():
        assert type(value) is {"seconds": float, "wall_seconds": float, "code": str}.get(name, int), (name, type(value))
    json.dumps(dataclasses.asdict(outcome.stats))


def test_the_registry_is_that_of_the_distribution():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    entry_points = tomllib.loads(text)["project"]["entry-points"]["rbdae.adapters"]
    assert {name: f"{module}:ADAPTER" for name, module in rbdae_adapters.ADAPTERS.items()} == entry_points
    for name, module in rbdae_adapters.ADAPTERS.items():
        assert importlib.import_module(module).ADAPTER.package == name

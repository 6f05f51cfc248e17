"""The one-step methods in machine code: Hairer's step sequences, orders, and independence of how a run is cut."""

from __future__ import annotations

import numpy as np
import pytest
import toy
from inside import loops
from scipy.integrate import ode

import rbdae
from rbdae.adapter import Reason
from rbdae.machine.language.program import Program, callables
from rbdae.machine.language.words import Address, Vec
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.methods import DOP853, DOPRI5, METHODS

NAMES = sorted(METHODS)
MU = 0.012277471


def orbit(context: Address, t: float, y: Vec, yd: Vec, c: float, out: Vec) -> int:
    """The restricted three-body problem ([HNW93] section II.0)."""
    left = (y[0] + MU) ** 2 + y[1] ** 2
    right = (y[0] - 1.0 + MU) ** 2 + y[1] ** 2
    a = (1.0 - MU) / left**1.5
    b = MU / right**1.5
    out[0] = y[2]
    out[1] = y[3]
    out[2] = y[0] + 2.0 * y[3] - a * (y[0] + MU) - b * (y[0] - 1.0 + MU)
    out[3] = y[1] - 2.0 * y[2] - a * y[1] - b * y[1]
    return 0


START = np.array([0.994, 0.0, 0.0, -2.00158510637908252240537862224])
PERIOD = 17.0652165601579625588917206249


def linear(context: Address, t: float, y: Vec, yd: Vec, c: float, out: Vec) -> int:
    """y1 = exp(-t) sin(3 t), with an equation for its cosine, and y3 = t^2."""
    out[0] = -y[0] + 3.0 * y[1]
    out[1] = -y[1] - 3.0 * y[0]
    out[2] = 2.0 * t
    return 0


def exact(t):
    t = np.asarray(t)
    return np.stack([np.exp(-t) * np.sin(3 * t), np.exp(-t) * np.cos(3 * t), t**2], axis=-1)


class Native:
    """A native function with the signature of machine functions."""

    def __init__(self, function):
        (self._called,) = callables(Program((function,)), 1)
        self.address, self.context = self._called.address, 0

    def check(self):
        """There is no Python in it."""


@pytest.fixture(scope="module")
def functions():
    return {"orbit": Native(orbit), "linear": Native(linear)}


def controls(more):
    return loops.Controls(**more) if more else loops.USUAL


def loop(name, function, span, y0, tol, *, times=None, stepwise=False, **more):
    return loops.Loop(METHODS[name], function, span, y0, tol, tol, controls(more), times=times, stepwise=stepwise)


def finished(one, budget=None, room=None):
    """The loop at its end, interrupted after every `budget` evaluations, with `room` rows at a time."""
    pauses = 0
    if room is not None:
        one.s.room = room
    while True:
        if budget is not None:
            one.s.budget = budget
        status = one.run()
        if status == at.FINISHED:
            return one, pauses
        assert status in (at.PAUSED, at.FULL)
        if status == at.FULL:
            if room is None:
                one.grow()
            else:
                one.s.room += room
        elif budget is None:
            one.paused((0.0, 0))
        pauses += 1


def hairer(name, fun, y0, t_end, tol, **more):
    """Times and states of scipy's integrators, which are translations of Hairer's codes."""
    found = []
    one = ode(lambda t, y: fun(t, y)).set_integrator(name, rtol=tol, atol=tol, nsteps=10**6, **more)
    one.set_solout(lambda t, y: found.append((t, *y)) and None)
    one.set_initial_value(y0, 0.0).integrate(t_end)
    found = np.array(found)
    return found[:, 0], found[:, 1:]


def in_python(native):
    def fun(t, y):
        out = np.empty(len(y))
        native(None, t, y, y, 0.0, out)
        return out

    return fun


@pytest.mark.parametrize("tol", [1e-4, 1e-7, 1e-9])
def test_dopri5_takes_the_steps_of_hairers_code(functions, tol):
    times, states = hairer("dopri5", in_python(orbit), START, PERIOD, tol, beta=0.04)
    one, _ = finished(loop("dopri5", functions["orbit"], (0.0, PERIOD), START, tol))
    t, y = one.steps()
    assert len(t) == len(times) and one.s.rejected >= 5
    # rounding grows along the orbit, by some millions
    np.testing.assert_allclose(t, times, atol=1e-8)
    np.testing.assert_allclose(y, states, atol=1e-6)


@pytest.mark.parametrize("tol", [1e-6, 1e-10])
def test_dop853_takes_the_steps_of_hairers_code_where_none_is_rejected(functions, tol):
    """After a rejection scipy 1.17 takes the shortest step that is allowed, which Hairer's code does not."""
    more = {"safety": 0.5, "beta": 0.02, "first_step": 1e-3}
    times, states = hairer("dop853", in_python(linear), exact(0.0), 3.0, tol, dfactor=0.333, **more)
    one, _ = finished(loop("dop853", functions["linear"], (0.0, 3.0), exact(0.0), tol, **more))
    t, y = one.steps()
    assert len(t) == len(times) > 8 and one.s.rejected == 0
    # the error of short steps is rounding in part
    np.testing.assert_allclose(t, times, rtol=1e-6)
    np.testing.assert_allclose(y, states, atol=1e-5)
    np.testing.assert_allclose(y[-1], states[-1], atol=tol)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget, room", [(1, None), (17, 3), (None, 1)])
def test_a_run_in_several_calls_has_the_same_bits(functions, name, budget, room):
    whole, _ = finished(loop(name, functions["orbit"], (0.0, 3.0), START, 1e-8, times=np.linspace(0.0, 3.0, 50)))
    cut, pauses = finished(
        loop(name, functions["orbit"], (0.0, 3.0), START, 1e-8, times=np.linspace(0.0, 3.0, 50)), budget, room
    )
    assert pauses > 10
    for a, b in zip((*whole.steps(), whole.rows), (*cut.steps(), cut.rows), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_that_have_grown_are_those_of_one_memory(functions, monkeypatch):
    monkeypatch.setattr(loops, "FIRST_ROWS", 1 << 16)
    whole, none = finished(loop("dop853", functions["orbit"], (0.0, 300.0), START, 1e-8))
    assert none == 0

    monkeypatch.setattr(loops, "FIRST_ROWS", 100)
    grown, times = finished(loop("dop853", functions["orbit"], (0.0, 300.0), START, 1e-8))
    assert times >= 5
    for a, b in zip(whole.steps(), grown.steps(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert grown.steps()[1].flags.writeable and grown.steps()[1].flags.c_contiguous


# ---------------------------------------------------------------- order


@pytest.mark.parametrize("name, order, dense, h", [("dopri5", 5, 4, 0.1), ("dop853", 8, 7, 0.3)])
def test_orders(functions, name, order, dense, h):
    """Steps of fixed size: errors at the end, and between the steps."""
    ends, between = [], []
    times = np.linspace(0.0, 3.0, 301)
    for size in (h, h / 2):
        one, _ = finished(
            loop(name, functions["linear"], (0.0, 3.0), exact(0.0), 0.9, first_step=size, max_step=size, times=times)
        )
        t, y = one.steps()
        assert len(t) == round(3.0 / size) + 1
        ends.append(np.abs(y - exact(t))[:, :2].max())
        between.append(np.abs(one.rows - exact(times))[:, :2].max())
        assert np.abs(y - exact(t))[:, 2].max() < 1e-12  # t enters, with the right times
    assert np.log2(ends[0] / ends[1]) == pytest.approx(order, abs=0.4)
    assert np.log2(between[0] / between[1]) > dense + 0.6


def test_rates_at_the_end_of_a_projected_step_are_evaluated_once():
    """At the state that the projection leaves, where the next step begins; outputs need those before it, too."""
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0", velocity="coordinate")
    settings = {"solver": "rbdae:dop853", "rtol": 1e-6, "atol": 1e-6, "projection": True}
    run = rbdae.solve(problem, (0.0, 1.0), **settings)
    stats = run.stats
    assert stats.projections > 5
    assert stats.evaluations == 2 + 11 * (stats.steps + stats.rejected) + stats.steps - 1
    with_outputs = rbdae.solve(problem, (0.0, 1.0), t_eval=[1.0], **settings)
    assert with_outputs.stats.evaluations > stats.evaluations + 5
    np.testing.assert_array_equal(with_outputs.y[-1], run.y[-1])


@pytest.mark.parametrize("of", [DOPRI5, DOP853], ids=lambda of: of.name)
def test_coefficients(of):
    """Quadrature conditions up to the order, and simplifying ones of the last stages ([HNW93] section II.1, (1.11))."""
    c, b = np.array((0.0, *of.c)), np.array(of.b)
    for k in range(1, of.order + 1):
        assert b @ c ** (k - 1) == pytest.approx(1.0 / k, abs=1e-15 * np.abs(b).sum())
    for i, weights, when in (*of.stages, *of.later):
        times = np.array((0.0, *of.c, 1.0, *of.later_c))[: len(weights)]
        size = np.abs(weights).sum()
        assert sum(weights) == pytest.approx(when, abs=1e-14 * size)
        assert i == 2 or np.array(weights) @ times == pytest.approx(0.5 * when**2, abs=1e-14 * size)
    assert sum(of.error) == pytest.approx(0.0, abs=1e-14)
    assert all(sum(weights) == pytest.approx(0.0, abs=1e-9) for weights in of.dense)


# ---------------------------------------------------------------- options and reasons


def solve(problem, name, t_end=1.0, **more):
    return rbdae.solve(problem, (0.0, t_end), solver=f"rbdae:{name}", **more)


@pytest.mark.parametrize("name", NAMES)
def test_options(name):
    tight = solve(toy.Pendulum(), name, rtol=1e-8, atol=1e-8)
    assert np.diff(solve(toy.Pendulum(), name, max_step=0.01).t).max() <= 0.01 * (1 + 1e-12)
    assert solve(toy.Pendulum(), name, first_step=1e-4).t[1] == 1e-4
    few = solve(toy.Pendulum(), name, max_steps=5)
    assert few.reason is Reason.TOO_MANY_STEPS and "the limit was 5" in few.message and len(few.t) == 6
    for more in ({"safety": 0.5}, {"grow": 1.0, "first_step": 1e-2}, {"beta": 0.08}):
        other = solve(toy.Pendulum(), name, rtol=1e-8, atol=1e-8, **more)
        assert other.success and other.stats.steps != tight.stats.steps


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("told", [False, True])
def test_where_the_solution_ends(name, told):
    """y = 1/(1 - t): the step becomes too small, whichever way the run takes."""

    def square(t, y, out):
        out[:] = 0.0
        out[0] = y[0] ** 2

    problem = toy.Pendulum()
    problem.y0 = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    problem.callbacks.rhs = square
    solution = solve(problem, name, 2.0, **({"progress": lambda t: None} if told else {}))
    assert solution.reason in (Reason.STEP_TOO_SMALL, Reason.NOT_FINITE)
    assert solution.t[-1] == pytest.approx(1.0, abs=1e-4) and np.isfinite(solution.y).all()

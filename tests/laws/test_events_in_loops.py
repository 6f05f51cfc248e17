"""Events in runs that stay in machine code: the same ones, with the same bits, as where Python is asked after each
step."""

from __future__ import annotations

import cases
import numpy as np
import pytest
from inside import JIT

import rbdae
from rbdae.adapter import Reason

pytestmark = pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")

SOLVERS = {
    "rbdae:dopri5": ("index-0", {}),
    "rbdae:dop853": ("index-0", {}),
    "sundials:ida": ("index-2", {}),
    "sundials:cvode": ("index-0", {}),
}


def both(problem, span, **given):
    """The run in machine code, and the one that comes back to Python after each step for its progress."""
    return [
        rbdae.solve(problem, span, progress=progress, **{"rtol": 1e-7, "atol": 1e-7, **given})
        for progress in (False, lambda t: None)
    ]


def compare(free, other, bits=True):
    """The rows, the events, the end of two runs. Projected ones are the same but for rounding: near the constraints a
    loop projects by code of the model, and Python by the kernel of all models, which have the same bits on some
    processors alone."""
    assert free.reason == other.reason and free.message == other.message
    assert free.stats.steps == other.stats.steps and len(free.t) == len(other.t)
    for one, two in ((free, other), *zip(free.events, other.events, strict=True)):
        if bits:
            np.testing.assert_array_equal(one.t, two.t)
            np.testing.assert_array_equal(one.y, two.y)
        else:
            np.testing.assert_allclose(one.t, two.t, rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(one.y, two.y, rtol=1e-6, atol=1e-7)


def top(solver, code="traced"):
    return rbdae.formulate(rbdae.models.heavy_top(), SOLVERS[solver][0], code=code)


def event(value, **attributes):
    """A function of time and state with attributes."""

    def one(t, y):
        return value(t, y)

    for name, setting in attributes.items():
        setattr(one, name, setting)
    return one


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("outputs", [None, np.linspace(0.0, 3.0, 40)], ids=["steps", "outputs"])
@pytest.mark.parametrize("terminal", [0, 3])
@pytest.mark.parametrize("projection", [None, True], ids=["free", "projected"])
def test_events_are_those_of_runs_that_ask_after_each_step(solver, outputs, terminal, projection):
    cases.need(solver)
    events = [
        event(lambda t, y: np.sin(3.0 * t) - 0.5),
        event(lambda t, y: y[0], terminal=terminal),
        event(lambda t, y: y[1], direction=-1.0),
    ]
    free, other = both(top(solver), (0.0, 3.0), solver=solver, events=events, t_eval=outputs, projection=projection)
    assert len(free.events[0].t) > 0 and len(free.events[1].t) > 2
    assert free.reason is (Reason.EVENT if terminal else Reason.FINISHED)
    compare(free, other, bits=projection is None)
    plain = rbdae.solve(top(solver), (0.0, 3.0), solver=solver, projection=projection, rtol=1e-7, atol=1e-7)
    if outputs is None and not terminal:  # events do not change the steps
        np.testing.assert_array_equal(free.t, plain.t)
        np.testing.assert_array_equal(free.y, plain.y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_zeros_at_the_ends_of_steps_and_runs_are_counted_once(solver):
    """At the start, at the end, at the end of a step, and all the time."""
    cases.need(solver)
    problem = top(solver)
    step = rbdae.solve(problem, (0.0, 1.0), solver=solver, rtol=1e-7, atol=1e-7).t[7]
    events = [
        event(lambda t, y: t),
        event(lambda t, y: t - 1.0),
        event(lambda t, y: t - step),
        event(lambda t, y: 0.0),
        event(lambda t, y: (t - step) ** 2),
    ]
    free, other = both(problem, (0.0, 1.0), solver=solver, events=events)
    compare(free, other)
    assert [len(each.t) for each in free.events] == [0, 1, 1, 0, 1]
    assert free.events[1].t[0] == 1.0 and free.events[2].t[0] == step


@pytest.mark.parametrize("solver", SOLVERS)
def test_back_in_time(solver):
    cases.need(solver)
    events = [event(lambda t, y: y[0]), event(lambda t, y: t + 0.3, terminal=True, direction=-1.0)]
    free, other = both(top(solver), (0.0, -1.0), solver=solver, events=events)
    compare(free, other)
    assert free.reason is Reason.EVENT and abs(free.t[-1] + 0.3) < 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_event_that_is_not_a_number_and_one_that_raises(solver):
    cases.need(solver)
    bad = event(lambda t, y: np.nan if t > 0.4 else 1.0)
    free, other = both(top(solver), (0.0, 1.0), solver=solver, events=bad)
    compare(free, other)
    assert free.reason is Reason.NOT_FINITE and "nan" in free.message

    def raising(t, y):
        if t > 0.4:
            raise ZeroDivisionError("of the user")
        return 1.0

    with pytest.raises(ZeroDivisionError, match="of the user"):
        rbdae.solve(top(solver), (0.0, 1.0), solver=solver, events=raising)

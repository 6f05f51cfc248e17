"""What the adapters share, driven by a stepper that knows the exact solution."""

from __future__ import annotations

import doctest
from importlib import import_module

import numpy as np
import pytest
import toy

from rbdae.adapter import Reason, Request
from rbdae_adapters.toolkit import (
    MAX_STALLED,
    AbstractStepper,
    GaveUp,
    Recorder,
    drive,
)


class Exact(AbstractStepper):
    """Steps of size `h` along the exact pendulum, off the sphere by `drift`."""

    def __init__(self, h: float, drift: float = 0.0, last: float = np.inf) -> None:
        self.t, self.h, self.drift, self.last = 0.0, h, drift, last
        self.asked, self.replaced = 0, []

    def at(self, t):
        return toy.exact(t)[:6] * (1.0 + self.drift)

    def step(self):
        if self.t >= self.last:
            raise GaveUp(Reason.ERROR_TEST, "tired")
        self.t += self.h
        return self.t, self.at(self.t)

    def interpolant(self):
        self.asked += 1
        return self.at

    def replace(self, t, y):
        assert t == self.t
        self.replaced.append(y)

    def finish(self, stats):
        stats.evaluations = 7


def run(stepper, *, one_step=True, max_steps=None, tol=1e-6, **more):
    problem = toy.Pendulum()
    if more.pop("project", False):
        more["projector"] = toy.Projector(problem)
    request = Request(0.0, 1.0, more.pop("t_eval", None), tol, tol, **more)
    recorder = Recorder(problem, request, one_step=one_step)
    return drive(stepper, recorder, max_steps=max_steps)


def test_a_step_beyond_the_end_is_cut_by_dense_output():
    outcome = run(Exact(0.3))
    assert outcome.reason is Reason.FINISHED
    assert np.allclose(outcome.t, [0.0, 0.3, 0.6, 0.9, 1.0], atol=1e-12) and outcome.t[-1] == 1.0
    assert np.allclose(outcome.y, toy.exact(outcome.t)[:, :6], atol=1e-12)
    assert outcome.stats.steps == 4 and outcome.stats.evaluations == 7


def test_dense_output_is_made_only_where_it_is_needed():
    stepper = Exact(0.25)
    outcome = run(stepper, t_eval=np.array([0.0, 0.1, 0.2, 0.5, 1.0]))
    assert list(outcome.t) == [0.0, 0.1, 0.2, 0.5, 1.0]
    assert np.allclose(outcome.y, toy.exact(outcome.t)[:, :6], atol=1e-12)
    assert stepper.asked == 1


def test_one_step_methods_take_every_projected_state_back():
    stepper = Exact(0.25, drift=1e-9)
    outcome = run(stepper, project=True, t_eval=np.array([0.1, 0.5, 0.9]))
    assert len(stepper.replaced) == 3 and outcome.stats.restarts == 0  # the last step has no successor
    assert np.abs(toy.Pendulum().constraints(outcome.t, outcome.y).position).max() < 3e-15


def test_multistep_methods_restart_only_where_the_drift_is_large():
    small, large = Exact(0.25, drift=1e-9), Exact(0.25, drift=1e-3)
    few, many = (run(s, one_step=False, project=True) for s in (small, large))
    assert not small.replaced and few.stats.restarts == 0
    assert len(large.replaced) == many.stats.restarts == 3
    for outcome in (few, many):  # what is recorded is projected either way
        assert np.abs(toy.Pendulum().constraints(outcome.t, outcome.y).position).max() < 3e-15
        assert outcome.stats.projections == 4


def test_limits():
    outcome = run(Exact(0.01), max_steps=5)
    assert outcome.reason is Reason.TOO_MANY_STEPS and outcome.stats.steps == 5
    outcome = run(Exact(1e-18))
    assert outcome.reason is Reason.STEP_TOO_SMALL and str(MAX_STALLED) in outcome.detail


def test_a_state_that_is_not_finite_ends_the_run():
    stepper = Exact(0.25)
    stepper.at = lambda t: np.full(6, np.nan) if t > 0.6 else toy.exact(t)[:6]
    outcome = run(stepper)
    assert outcome.reason is Reason.NOT_FINITE and outcome.t[-1] == 0.5


def test_events_between_and_at_the_ends_of_steps():
    def between(t, y):
        return t - 0.3

    def exactly(t, y):
        return t - 0.5

    def down(t, y):
        return t - 0.6

    def twice(t, y):
        return (t - 0.1) * (t - 0.8)

    down.direction = -1.0
    twice.terminal = 2
    outcome = run(Exact(0.25), events=(between, exactly, down, twice))
    assert outcome.reason is Reason.EVENT
    assert [list(np.round(t, 12)) for t in outcome.t_events] == [[0.3], [0.5], [], [0.1, 0.8]]
    assert outcome.t[-1] == pytest.approx(0.8) and outcome.stopped == outcome.t[-1]
    assert np.allclose(outcome.y_events[0], toy.exact(np.array([0.3]))[:, :6])


def test_the_examples_in_the_docstrings_are_true():
    found = doctest.testmod(import_module("rbdae_adapters.toolkit.arguments"))
    assert found.attempted and not found.failed

"""Events by quantity: they happen where the closed form says, with every solver, in machine code as through Python."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
import pytest
from cases import Pairing
from scipy.integrate import solve_ivp
from scipy.special import ellipk
from wheel import FRICTION, SPIN, K, wheel
from wheel import time as _at

import rbdae
from rbdae import Event
from rbdae.adapter import Reason


def _run(problem: Any, end: float, solver: str, events: Any, **more: Any) -> rbdae.Solution:
    tolerance = 1e-7 if solver == "sundials:ida" else 1e-9
    return rbdae.solve(problem, (0.0, end), solver=solver, rtol=tolerance, atol=tolerance, events=events, **more)


FORMS = {
    "rbdae:dopri5": "index-0",
    "rbdae:dop853": "null-space",
    "rbdae:odex": "index-0",
    "scipy:DOP853": "index-0",
    "sundials:ida": "index-2",
    "sundials:cvode": "index-0",
    "assimulo:Dopri5": "null-space",
    "rbdae:energy-momentum": "hamiltonian",
    "scipy:Radau": "index-0",
    "scipy:LSODA": "index-0",
    "sksundae:ida": "index-2",
    "sksundae:cvode": "index-0",
    "scikits.odes:ida": "index-2",
    "scikits.odes:ddaspk": "index-2",
    "scikits.odes:cvode": "index-0",
    "assimulo:LSODAR": "index-0",
    "assimulo:Radau5DAE": "index-2",
    "assimulo:ODASSL": "index-2",
    "solve_dae:Radau": "index-2",
}
"""Solvers, and a form that each takes."""


@pytest.mark.parametrize("solver", [*FORMS][:7])
def test_an_angle_counts_its_turns_up_to_the_event(solver):
    """Ten turns, which end the run; a rate and a torque on the way. Twice the same: nothing is left in the event."""
    cases.need(solver)
    system, pin = wheel()
    problem = rbdae.formulate(system, FORMS[solver])
    events = [
        Event(pin.angle, above=20 * np.pi, terminal=True),
        Event(pin.rate, below=6.25),
        Event("grease.torque", crossing=-0.006255),
        Event(pin.angle, below=20.0),
    ]
    runs = [_run(problem, 50.0, solver, events) for _ in range(2)]
    for run in runs:
        assert run.reason is Reason.EVENT and run.t[-1] == run.events[0].t[0]
        found = [each.t.tolist() for each in run.events]
        wanted = [[_at(20 * np.pi)], [np.log(SPIN / 6.25) / K], [np.log(SPIN * FRICTION / 0.006255) / K], []]
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-2 if solver == "sundials:ida" else 3e-4)
        np.testing.assert_allclose(found[0], wanted[0], rtol=5e-5 if solver == "sundials:ida" else 1e-6)
        assert np.isclose(run.quantity(pin.angle)[-1], 20 * np.pi, rtol=1e-9)
    assert [each.t.tolist() for each in runs[0].events] == [each.t.tolist() for each in runs[1].events]


@pytest.mark.parametrize("solver", ["rbdae:dopri5", "rbdae:dop853", "sundials:cvode"])
def test_loops_in_machine_code_find_the_same_as_python(solver):
    """The same bits as a run that comes back to Python after every step."""
    cases.need(solver)
    system, pin = wheel()
    problem = rbdae.formulate(system, "index-0")
    events = [Event(pin.angle, crossing=7.0 * k) for k in range(1, 5)] + [Event(pin.rate, below=6.27)]
    free, asked = (_run(problem, 8.0, solver, events, progress=progress) for progress in (False, lambda t: None))
    for one, other in zip(free.events, asked.events, strict=True):
        assert len(one.t) == 1
        np.testing.assert_array_equal(one.t, other.t)
    np.testing.assert_array_equal(free.t, _run(problem, 8.0, solver, None).t)  # steps are those without events


def test_back_in_time_an_angle_falls():
    system, pin = wheel()
    problem = rbdae.formulate(system, "index-0")
    for solver in ("rbdae:dopri5", "scipy:RK45"):
        run = _run(problem, -30.0, solver, Event(pin.angle, below=-20.5 * np.pi, terminal=True))
        assert np.isclose(run.t[-1], _at(-20.5 * np.pi), rtol=1e-6)


def _swing() -> rbdae.System:
    system = rbdae.System()
    bob = system.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1), angular_velocity=(0, 2.0, 0))
    system.add_joint(rbdae.joints.Revolute(system.ground, bob, at_b=(0, 0, 1), axis_a=(0, 1, 0), name="pin"))
    return system


@pytest.mark.parametrize("kind", ["loops", "rotation vector"])
def test_events_beside_switches(kind):
    """Where a run selects its unknowns again, the turns go on, and no unknowns have to be translated."""
    if kind == "loops":
        system = cases.turning_four_bar("plain", pendulum=True)
        problem = cases.formulate(system, Pairing("null-space", "quaternion", "angular"))
        joint, given = system.joints[0].name, {}
    else:
        system, _ = wheel()
        problem = rbdae.formulate(system, "index-0", rotation="rotation-vector")
        joint, given = "revolute-1", {"on_singularity": "switch"}
    whole = _run(problem, 4.0, "rbdae:dopri5", None, **given)
    assert kind == "loops" or len(whole.segments.times) > 0
    angle = whole.joints[joint].angle
    target = 0.3 * angle[0] + 0.7 * angle[-1]
    for progress in (False, lambda t: None):
        run = _run(problem, 4.0, "rbdae:dopri5", Event(f"{joint}.angle", crossing=target), progress=progress, **given)
        assert len(run.events[0].t) == 1
        assert np.isclose(whole.quantity(f"{joint}.angle", run.events[0].t[0]), target, atol=1e-6)


def _throw(speed: float) -> tuple[rbdae.System, Any]:
    """A body on a vertical slide, thrown upwards from zero."""
    system = rbdae.System(gravity=(0, 0, -9.81))
    body = system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(0, 0, speed))
    axes = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    return system, system.add_joint(rbdae.joints.Prismatic(system.ground, body, **axes, name="z"))


def _of_family(solver: str, system: rbdae.System, end: float, events: Any, **more: Any) -> rbdae.Solution:
    cases.need(solver)
    step = {"step": 1e-2} if solver == "rbdae:energy-momentum" else {}
    return _run(rbdae.formulate(system, FORMS[solver]), end, solver, events, **step, **more)


@pytest.mark.parametrize("solver", FORMS)
def test_both_crossings_within_one_step_are_found(solver):
    """The whole part of a throw above a level, in one step of the solvers of high order; a function is looked at where
    steps end, which `max_step` keeps together."""
    system, slide = _throw(5.0)
    level = 0.9 * 25.0 / 2.0 / 9.81
    run = _of_family(
        solver, system, 1.02, [Event(slide.displacement, crossing=level), Event("z.displacement", above=level)]
    )
    wanted = (5.0 + np.array([-1.0, 1.0]) * np.sqrt(25.0 - 2.0 * 9.81 * level)) / 9.81
    np.testing.assert_allclose(run.events[0].t, wanted, rtol=1e-5)
    np.testing.assert_allclose(run.events[1].t, wanted[:1], rtol=1e-5)
    if solver != "rbdae:energy-momentum":  # its steps are as long as they are said to be
        z = list(run.problem.labels).index("b.z")
        run = _of_family(solver, system, 1.02, lambda t, y: y[z] - level, max_step=0.1)
        np.testing.assert_allclose(run.events[0].t, wanted, rtol=1e-5)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
@pytest.mark.parametrize("solver", ["rbdae:dop853", "rbdae:odex", "rbdae:dopri5", "scipy:DOP853", "sundials:ida"])
def test_no_passage_of_a_level_is_lost(solver, tolerance):
    """A pendulum passes levels below its amplitude twice in each period, whatever the steps."""
    cases.need(solver)
    amplitude, inertia = 1.0, 1.05
    system = rbdae.System(gravity=(0, 0, -9.81))
    rate = np.sqrt(2.0 * 9.81 * (1.0 - np.cos(amplitude)) / inertia)
    bob = system.add_body("bob", mass=1.0, inertia=3 * (0.05,), position=(0, 0, -1), angular_velocity=(rate, 0, 0))
    pin = system.add_joint(rbdae.joints.Revolute(system.ground, bob, at_b=(0, 0, 1), axis_a=(1, 0, 0), name="pin"))
    period = 4.0 * np.sqrt(inertia / 9.81) * ellipk(np.sin(amplitude / 2.0) ** 2)
    events = [Event(pin.angle, crossing=level) for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999, -0.999)]
    problem = rbdae.formulate(system, FORMS[solver])
    run = rbdae.solve(problem, (0.0, 10.0 * period), solver=solver, rtol=tolerance, atol=tolerance, events=events)
    assert [len(each.t) for each in run.events] == 7 * [20]


@pytest.mark.parametrize("solver", ["rbdae:dop853", "rbdae:odex", "scipy:DOP853", "sundials:ida"])
def test_no_passage_of_a_rate_an_acceleration_or_a_force_is_lost(solver):
    """A mass on a spring: they are sines."""
    cases.need(solver)
    system, slide = _throw(1.0)
    system.add_force(rbdae.forces.Motor(slide, force=lambda t, z, rate: 9.81 - 16.0 * z, name="spring"))
    events = [Event("z.rate", crossing=0.999), Event("z.acceleration", above=3.996), Event("spring.force", below=5.814)]
    problem = rbdae.formulate(system, FORMS[solver])
    run = rbdae.solve(problem, (0.0, 5.2 * np.pi), solver=solver, rtol=1e-9, atol=1e-9, events=events)
    assert [len(each.t) for each in run.events] == [21, 10, 11]


@pytest.mark.parametrize("solver", FORMS)
def test_what_holds_at_the_start_is_no_event_and_what_is_reached_at_the_end_is_one(solver):
    """For quantities and functions, but for rounding and the solver's error; once it has been left it is one."""
    system, slide = _throw(1.0)
    holds = Event(slide.displacement, crossing=0.0)  # comes back at 0.2039 s
    beside = Event(slide.displacement, crossing=1e-17)
    events = [lambda t, y: t, lambda t, y: t - 1.0, holds, beside, Event("z.rate", crossing=1.0)]
    events += [Event("z.rate", crossing=1.0 - 9.81 * end) for end in (1.0, 1.0 + 3e-10, 1.0 + 1e-8)]
    run = _of_family(solver, system, 1.0, events)
    assert [len(each.t) for each in run.events] == [0, 1, 1, 1, 0, 1, 1, 0]
    assert run.events[1].t[0] == run.events[6].t[0] == 1.0 and run.events[5].t[0] == pytest.approx(1.0, abs=1e-9)
    assert run.events[2].t[0] == pytest.approx(2.0 / 9.81, rel=1e-5)
    alone = _of_family(solver, system, 1.0, [events[6]])  # the others have it looked at
    assert alone.events[0].t.tolist() == [1.0]


@pytest.mark.parametrize("solver", FORMS)
def test_an_event_that_writes_into_y_changes_nothing(solver):
    system, _ = _throw(1.0)

    def event(t, y):
        y[:] = 7.0
        return 0.05 - t

    def same(t, y):
        return 0.05 - t

    written, plain = (_of_family(solver, system, 0.1, each) for each in (event, same))
    np.testing.assert_array_equal(written.y, plain.y)
    np.testing.assert_array_equal(written.events[0].y, plain.events[0].y)
    np.testing.assert_array_equal(written.problem.y0, plain.problem.y0)
    assert len(plain.events[0].t) == 1 and np.abs(written.problem.y0).max() < 7.0


def test_a_function_for_own_loops_is_zero_at_the_event_alone():
    """Of packages that look for zeros by themselves; the angle jumps at 0.5 and 1.5 s."""

    def run(problem: Any, event: Any) -> list[float]:
        found = solve_ivp(problem.rhs, (0.0, 2.5), problem.y0, method="DOP853", rtol=1e-9, atol=1e-9, events=event)
        return found.t_events[0].tolist()

    system, pin = wheel()
    problem = rbdae.formulate(system, "index-0")
    for turned, wanted in (({"above": 1.5}, 1.5), ({"crossing": 1.5 + 2.0 * np.pi}, 1.5 + 2.0 * np.pi)):
        np.testing.assert_allclose(run(problem, problem.event_function(pin.angle, **turned)), [_at(wanted)], rtol=1e-5)
    assert run(problem, problem.event_function("revolute-1.angle", below=1.5)) == []
    torque = problem.event_function("grease.torque", crossing=-0.006)
    assert torque(0.0, problem.y0) == pytest.approx(0.006 - 1e-3 * SPIN)
    with pytest.raises(ValueError, match="give one of above="):
        problem.event_function(pin.angle)


def test_events_of_one_problem_share_no_turns():
    """Functions that are asked in turn, one of them where nothing has turned, count as one alone does; so do runs that
    follow each other, where the second has what the first has left, and one inside of another."""
    system, pin = wheel()
    problem = rbdae.formulate(system, "index-0")
    run = _run(problem, 2.5, "rbdae:dop853", None)
    rows = list(zip(run.t.tolist(), run.y, strict=True))
    alone, one, at_start = (problem.event_function(pin.angle, above=1.5) for _ in range(3))
    wanted = [alone(*row) for row in rows]
    assert wanted[-1] > 2.0 * np.pi
    assert [(one(t, y), at_start(t, problem.y0)) for t, y in rows] == [(value, wanted[0]) for value in wanted]

    def turned(by, progress=False):
        events = [rbdae.Event(pin.angle, crossing=by)]
        run = rbdae.solve(problem, (0.0, 2.5), solver="rbdae:dop853", events=events, progress=progress)
        return run.events[0].t.tolist()

    first, second, inside = turned(1.5), turned(1.5 + 2.0 * np.pi), []
    assert len(first) == len(second) == len(problem.interpretation.events) == 1
    assert turned(1.5 + 2.0 * np.pi, lambda t: inside.append(turned(1.5)) if t < 1.0 else None) == second
    assert inside == [first] * len(inside) != []


def test_functions_are_events_as_they_were():
    problem = rbdae.formulate(_swing(), "index-0")

    def clock(t, y):
        return t

    event = Event(clock, above=0.4, terminal=True)
    assert event(0.5, problem.y0) == pytest.approx(0.1) and event.__name__ == "clock above 0.4"
    assert _run(problem, 1.0, "scipy:RK45", event).t[-1] == pytest.approx(0.4)
    both = _run(problem, 1.0, "rbdae:dopri5", [event, Event("pin.rate", crossing=0.0), lambda t, y: t - 0.2])
    assert both.t[-1] == pytest.approx(0.4) and both.events[2].t[0] == pytest.approx(0.2)
    assert both.options["events"].startswith("clock above 0.4, pin.rate crossing 0, ")


def test_wrong_events_are_refused():
    system = _swing()
    problem, pin = rbdae.formulate(system, "index-0"), system.joints[0]
    ball = rbdae.joints.Spherical(system.ground, system.bodies[0])
    for made in (lambda: Event(pin.angle, above=1.0, below=2.0), lambda: Event(ball.axis, above=1.0)):
        with pytest.raises(ValueError, match=r"below|vector"):
            made()
    for event in (Event("pin.angel", above=1.0), Event(ball.angle, above=1.0)):
        with pytest.raises(ValueError, match=r"pin\.angel|not in the system"):
            _run(problem, 1.0, "scipy:RK45", event)

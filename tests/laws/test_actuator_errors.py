"""What is wrong with actuators, controllers and blocks is refused with its name and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cases
import numpy as np
import pytest
from actuator_cases import mechanism
from scipy.special import gamma

import rbdae
from rbdae import actuators
from rbdae.adapter import Reason
from rbdae.joints import Cylindrical

S = mechanism()
PIN, _ = S.joints
FORMS = ("index-2", "index-0", "null-space")


def zero(t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
    return [0.0]


class Gain(rbdae.Block):
    """An output that is twice its input."""

    inputs = ("a",)
    outputs = ("o",)

    def law(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        return []

    def observe(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        return 2.0 * u.a


MADE: dict[str, tuple[Callable[[], Any], str]] = {
    "keyword": (lambda: actuators.DCMotor(PIN, volt=1.0), "unknown keyword of DCMotor 'volt'; did you mean 'voltage'"),
    "no source": (
        lambda: actuators.DCMotor(PIN, name="m"),
        "DCMotor 'm': input 'voltage' has no source; pass voltage=",
    ),
    "inductance": (
        lambda: actuators.DCMotor(PIN, voltage=1.0, inductance=-1e-3, name="m"),
        "DCMotor 'm': inductance must be positive, got -0.001",
    ),
    "torque": (lambda: actuators.PI(measured=PIN.torque, setpoint=1.0), "follows from the accelerations"),
    "two coordinates": (
        lambda: actuators.DCMotor(Cylindrical(*S.bodies), voltage=1.0),
        r"Cylindrical has the coordinates angle, displacement",
    ),
    "a body": (lambda: actuators.DCMotor(S.bodies[0], voltage=1.0), "acts along a joint, Points"),
    "no name": (lambda: rbdae.block(zero, states={"a b": 1.0}), "'a b' is no name of a number"),
    "one name twice": (lambda: rbdae.block(zero, states={"a": 1.0}, inputs={"a": 1.0}), "are called 'a'; rename one"),
    "arguments": (lambda: rbdae.block(lambda t, s: 1.0), r"law must be a function \(t, s, z, u, p\)"),
    "period": (lambda: rbdae.Sampled(0.0, lambda t, u, m: 1.0, ("o",)), "period must be positive"),
    "no block": (lambda: mechanism().add_block(PIN), r"add_block takes a rbdae\.Block"),
}


@pytest.mark.parametrize("what", MADE)
def test_what_is_made_wrongly_is_refused(what):
    make, words = MADE[what]
    with pytest.raises((TypeError, ValueError), match=words):
        make()


ONE, BOTH = {"states": {"x": 1.0}}, {"states": {"x": 1.0}, "algebraic": {"v": 0.5}}
LAWS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no derivative": (lambda t, s, z, u, p: ([0.0], [s.x - 1.0]), BOTH, "do not determine node.v: .*higher index"),
    "dependent": (
        lambda t, s, z, u, p: [z.v + z.w - 1.0, 2.0 * z.v + 2.0 * z.w - 2.0],
        {"algebraic": {"v": 0.0, "w": 0.0}},
        "do not determine node.v, node.w",
    ),
    "no solution": (lambda t, s, z, u, p: [z.v**2 + 1.0], {"algebraic": {"v": 0.5}}, "no solution of its equations"),
    "too many": (lambda t, s, z, u, p: [1.0, 2.0], ONE, "'node': sdot must be 1 number, got 2"),
    "no number": (lambda t, s, z, u, p: [float("nan")], ONE, "'node': function gives .* nan"),
    "not recorded, algebraic": (lambda t, s, z, u, p: ([0.0], [z.v - gamma(s.x)]), BOTH, "cannot be recorded"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", LAWS)
def test_laws_that_do_not_do_are_refused_in_every_form(what, form):
    law, of, words = LAWS[what]
    system = mechanism()
    system.add_block(rbdae.block(law, **of, name="node"))
    with pytest.raises(ValueError, match=words):
        rbdae.formulate(system, form)


def test_outputs_that_depend_on_each_other_are_refused():
    system = mechanism()
    system.add_block(Gain(a="second.o", name="first"))
    system.add_block(Gain(a="first.o", name="second"))
    with pytest.raises(ValueError, match="outputs of second -> first -> second depend on each other"):
        rbdae.formulate(system, "index-0")


def test_sources_that_are_not_in_the_system_are_refused():
    for source, words in (
        ("dc.curent", "unknown quantity 'dc.curent'; did you mean 'dc.current'"),
        ("pin.torque", "pi: measured cannot be .*follows from the accelerations"),
        (actuators.DCMotor(PIN, voltage=1.0).current, "not in the system; use what add_joint and add_force return"),
    ):
        system = mechanism()
        system.add_force(actuators.DCMotor(system.joints[0], voltage=1.0, name="dc"))
        system.add_block(actuators.PI(measured=source, setpoint=1.0, name="pi"))
        with pytest.raises(ValueError, match=words):
            rbdae.formulate(system, "index-0")


SAMPLED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "nan": (lambda t, u, m: np.nan, {}, "'control' at t = 0: o must be finite"),
    "two": (lambda t, u, m: (1.0, 2.0), {}, "'control' at t = 0: its law returns 2 outputs, and it has 1: o"),
    "none": (lambda t, u, m: None, {}, "'control' at t = 0: o must be a real number"),
    "memory": (lambda t, u, m: ([1.0], {"y": 1.0}), {"memory": {"x": 0.0}}, "unknown memory of Sampled 'control'"),
    "later": (lambda t, u, m: 1.0 if t < 0.015 else np.inf, {}, "'control' at t = 0.02: o must be finite"),
}


def controlled(law: Any, **of: Any) -> rbdae.Problem:
    system = mechanism()
    control = system.add_block(rbdae.Sampled(0.01, law, ("o",), inputs={"a": PIN.angle}, name="control", **of))
    system.add_force(actuators.Source(system.joints[0], effort=control.o))
    return rbdae.formulate(system, "index-0")


@pytest.mark.parametrize("what", SAMPLED)
def test_sampled_laws_are_checked_at_every_sample(what):
    law, of, words = SAMPLED[what]
    with pytest.raises((TypeError, ValueError), match=words):
        rbdae.solve(controlled(law, **of), (0.0, 0.03), solver="rbdae:dop853")


def test_no_run_with_a_sampled_controller_goes_back():
    with pytest.raises(ValueError, match=r"sampled controllers \(control\) cannot go back in time"):
        rbdae.solve(controlled(lambda t, u, m: 1.0), (0.0, -0.03), solver="rbdae:dop853")


@pytest.mark.parametrize(
    ("form", "solver"),
    [
        *(("index-0", "rbdae:dop853"), ("null-space", "rbdae:dop853"), ("null-space", "rbdae:odex")),
        *(("null-space", "scipy:RK45"), ("null-space", "sksundae:cvode"), ("null-space", "sundials:cvode")),
        *(("null-space", "assimulo:Dopri5"), ("null-space", "scikits.odes:cvode"), ("null-space", "solve_dae:Radau")),
    ],
)
def test_a_run_to_where_an_unknown_has_no_solution_has_what_came_before(form, solver):
    """Seen: an exception, and nothing was kept."""
    if not cases.INFOS[solver].available:
        pytest.skip(f"{solver} is not installed")
    system = mechanism()

    def law(t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        return [z.x**2 - (0.2 - t)]

    system.add_block(rbdae.block(law, algebraic={"x": 0.5}, inputs={"a": PIN.angle}, name="k"))
    system.add_force(actuators.Source(system.joints[0], effort="k.x"))
    run = rbdae.solve(rbdae.formulate(system, form), (0.0, 0.5), solver=solver, rtol=1e-8, atol=1e-8)
    assert not run.success and run.reason is Reason.NOT_CONVERGED, run.message
    assert len(run.t) > 1 and run.t[-1] <= 0.2 and np.isfinite(run.y).all()
    assert f"stopped at t = {run.t[-1]:.9g}" in run.message and "no solution of its equations for k.x" in run.message

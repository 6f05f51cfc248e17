"""Numbers of actuators and blocks as parameters: other ones without other code, and derivatives by them."""

from __future__ import annotations

from typing import Any

import cases
import inside
import numpy as np
import pytest
from actuator_cases import Maxwell

import rbdae
from rbdae.actuators import PI, DCMotor
from rbdae.joints import Revolute

NEW = {"dc.resistance": 2.2, "control.kp": 1.9, "static.voltage": 5.0, "static.constant": 0.07}


def machine(given: dict[str, float] | None = None, points: bool = False) -> rbdae.System:
    """A pendulum under two DC motors, one with an algebraic current; the voltage of the other one is controlled."""
    u = {"dc.resistance": 1.3, "control.kp": 0.7, "static.voltage": 9.0, "static.constant": 0.05} | (given or {})
    system = rbdae.System()
    still: dict[str, Any] = {"orientation": (1, 0, 0, 0), "velocity": (0, 0, 0), "angular_velocity": (0, 0, 0)}
    bob = system.add_body("bob", mass=1.5, inertia=(0.3, 0.2, 0.1), position=(0, 0, -1), **still)
    pin = system.add_joint(Revolute(system.ground, bob, at_b=(0, 0, 1), axis_a=(1, 0, 0), name="pin"))
    values = {"resistance": u["dc.resistance"], "inductance": 2e-3, "constant": 0.04}
    system.add_force(DCMotor(pin, voltage="control.out", name="dc", **values))
    values = {"resistance": 1.1, "constant": u["static.constant"]}
    system.add_force(DCMotor(pin, voltage=u["static.voltage"], name="static", inductance=0, **values))
    system.add_block(
        PI(measured=pin.rate, setpoint=2.5, kp=u["control.kp"], ki=0.3, low=-20.0, high=20.0, name="control")
    )
    if points:
        ends = rbdae.Points(bob, system.ground, at_a=(0.3, 0, 0), at_b=(1, 1, 1))
        system.add_force(Maxwell(ends, stiffness=40.0, viscosity=3.0, length=1.5, name="maxwell"))
    return system


def state(p: rbdae.Problem) -> Any:
    rng = np.random.default_rng(4)
    return p.y0 + 0.05 * rng.standard_normal(p.n), rng.standard_normal(p.n)


@pytest.mark.parametrize("code", ["auto", "plain", "folded"])
@pytest.mark.parametrize("form", ["index-2", "index-0"])
def test_other_numbers_are_those_of_a_system_of_its_own(form, code):
    """Whatever was computed before; algebraic unknowns belong to them, and quantities."""
    p = cases.formulated(machine(), form, code=code)
    y, yd = state(p)
    first, before = p.residual(0.3, y, yd), p.forces(0.3, y)["static"].current
    q, wanted = p.with_parameters(NEW), cases.formulated(machine(NEW), form, code=code)
    assert {name: q.parameters[name] for name in NEW} == NEW
    np.testing.assert_allclose(q.residual(0.3, y, yd), wanted.residual(0.3, y, yd), rtol=0, atol=1e-11)
    np.testing.assert_allclose(q.jacobian(0.3, y, yd, 1.3), wanted.jacobian(0.3, y, yd, 1.3), rtol=0, atol=1e-8)
    np.testing.assert_allclose(q.y0, wanted.y0, rtol=0, atol=1e-12)
    found, own = (of.forces(0.3, y)["static"] for of in (q, wanted))
    assert found.voltage == own.voltage == 5.0
    assert found.torque == pytest.approx(own.torque, rel=1e-12)
    assert found.current == pytest.approx(own.current, rel=1e-12)
    if p.kind == "ode":
        assert found.current == pytest.approx((5.0 - 0.07 * found.rate) / 1.1, rel=1e-12)
    else:
        assert q.y0[q.labels.index("static.current")] == pytest.approx(5.0 / 1.1, rel=1e-12)
    assert p.forces(0.3, y)["static"].current == before
    assert p.kind == "dae" or found.current != before  # of the equations of the state alone
    np.testing.assert_array_equal(p.residual(0.3, y, yd), first)


@pytest.mark.parametrize("form", ["index-2", "null-space"])
def test_a_gain_is_swept_without_other_code(form, monkeypatch):
    """Nothing is recorded or compiled, and the laws are not run again."""
    p = rbdae.formulate(machine(), form)
    y, yd = state(p)
    p.with_parameters(NEW).residual(0.3, y, yd)

    def refuse(*_: Any) -> None:
        raise AssertionError("something is compiled")

    inside.before_compilation(monkeypatch, 0, refuse)
    monkeypatch.setattr(DCMotor, "law", refuse)
    found = [p.with_parameters(NEW | {"control.kp": kp}).residual(0.3, y, yd) for kp in (2.1, 2.3, 2.5)]
    steps = np.diff(found, axis=0)
    assert np.abs(steps[0]).max() > 1.0
    np.testing.assert_allclose(steps[0], steps[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", ["index-2", "index-0"])
def test_derivatives_by_numbers_of_blocks(form):
    """Also through eliminated unknowns."""
    p = rbdae.formulate(machine(), form)
    y, yd = state(p)
    for name in NEW:
        v, h = p.parameters[name], 1e-4 * p.parameters[name]
        ends = [p.with_parameters({name: v + step}).residual(0.3, y, yd) for step in (h, -h)]
        found = p.parameter_jacobian(0.3, y, yd, [name])[:, 0]
        assert np.abs(found).max() > 1e-3
        np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * h), rtol=0, atol=1e-6 * np.abs(found).max())


def by_cases(t: float, s: Any, z: Any, u: Any, p: Any) -> list[Any]:
    """A law whose constant is a number of times, which no symbol can be."""
    return [-sum(s.x for _ in range(int(p.times))) * p.rate]


def test_a_law_that_needs_its_numbers_has_them():
    """It is formulated again; a derivative by them is refused by name."""
    system = machine()
    made = rbdae.block(by_cases, states={"x": 0.5}, parameters={"times": 2.0, "rate": 3.0}, name="cases")
    system.add_block(made)
    p = rbdae.formulate(system, "index-2")
    k = p.labels.index("cases.x")
    assert p.residual(0.0, p.y0, 0 * p.yd0)[k] == pytest.approx(3.0)
    q = p.with_parameters({"cases.times": 4.0})
    assert q.residual(0.0, p.y0, 0 * p.yd0)[k] == pytest.approx(6.0)
    with pytest.raises(ValueError, match="force 'cases': no derivative by the constants of its law"):
        p.parameter_jacobian(0.0, p.y0, p.yd0, ["cases.rate"])
    with pytest.raises(ValueError, match=r"unknown parameter 'dc\.resistence'; did you mean 'dc\.resistance'"):
        p.with_parameters({"dc.resistence": 1.0})


def test_sampled_controllers_read_blocks_with_their_numbers():
    """Of the problem that runs, whatever has run before."""
    system = machine()
    output = next(force for force in system.forces if force.name == "control").out
    system.add_block(rbdae.Sampled(1.0, lambda t, u, m: (u.read,), ("held",), inputs={"read": output}, name="sampled"))
    p = rbdae.formulate(system, "index-0")
    for problem, kp in ((p, 0.7), (p.with_parameters({"control.kp": 1.9}), 1.9), (p, 0.7)):
        held = rbdae.Simulator(problem, "rbdae:dop853").inputs["sampled.held"]
        assert held == pytest.approx(kp * 2.5, rel=1e-12)

"""Outputs: quantities as one function of (t, y, u), whose derivatives are those of differences."""

from __future__ import annotations

import cases
import numpy as np
import pytest
from cases import differences
from input_systems import pendulum

import rbdae
from rbdae.forces import SpringDamper, TorsionalSpringDamper

U = np.array([1.7])

NAMES = [
    "pin.angle", "pin.rate", "pin.torque", "pin.power", "spring.length", "spring.rate", "spring.force", "spring.power",
]  # fmt: skip

FORMS = [("index-0", "plain"), ("null-space", "folded"), ("index-2", "auto")]


def problem(form="index-0", code="auto"):
    system = pendulum(fan=False)
    (pin,), (body,) = system.joints, system.bodies
    points = {"at_a": (0.3, 0.2, 0.1), "at_b": (0.1, 0, 0.2)}
    system.add_force(
        SpringDamper(system.ground, body, stiffness=20.0, damping=3.0, length=0.5, name="spring", **points)
    )
    system.add_force(TorsionalSpringDamper(pin, stiffness=2.0, damping=0.4, angle=0.3, name="coil"))
    return cases.formulated(system, form, code=code)


@pytest.mark.parametrize(("form", "code"), FORMS)
def test_the_derivatives_are_those_of_differences(form, code):
    p = problem(form, code)
    outputs = p.outputs([*NAMES, "pin.acceleration"] if p.kind == "ode" else NAMES)
    t, y = 0.2, p.y0 + 0.03 * np.random.default_rng(3).standard_normal(p.n)
    J, B = outputs.jacobian(t, y, u=U), outputs.input_jacobian(t, y, u=U)
    wanted = differences(lambda x: outputs.values(t, x, u=U), y)
    np.testing.assert_allclose(J, wanted, rtol=0, atol=1e-11 * max(1.0, np.abs(wanted).max()))
    np.testing.assert_allclose(B, differences(lambda u: outputs.values(t, y, u=u), U), rtol=0, atol=1e-12)
    assert (np.abs(J).max(axis=1) > 0.05).all()
    assert outputs.labels[2:4] == ["pin.torque", "pin.power"]
    assert outputs.units[:4] == ["rad", "rad/s", "N m", "W"]
    assert B[2, 0] == pytest.approx(1.0, abs=1e-13)  # the motor's torque is the input
    np.testing.assert_allclose(outputs.jacobian(t, y), p.outputs(outputs.labels).jacobian(t, y, u=[0.5]), rtol=1e-13)


def test_the_values_are_the_quantities():
    p = problem("null-space")
    (pin,) = p.system.joints
    outputs = p.outputs([pin.angle, "pin.acceleration", pin.torque])
    t, rows = np.zeros(4), np.array([p.y0 + 0.1 * k * (np.arange(p.n) >= p.layout.v.start) for k in range(4)])
    found, joint = outputs.values(t, rows), p.joints(t, rows)["pin"]
    np.testing.assert_allclose(found, np.stack([joint.angle, joint.acceleration, joint.torque], axis=1), atol=1e-12)
    np.testing.assert_allclose(outputs.values(0.0, rows[2]), found[2], atol=1e-14)
    other = p.with_inputs({"torque": 3.0}).joints(0.0, rows[1])["pin"]
    wanted = [other.angle, other.acceleration, other.torque]
    np.testing.assert_allclose(outputs.values(0.0, rows[1], u={"torque": 3.0}), wanted, atol=1e-12)
    assert np.abs(found[1] - wanted).max() > 0.1


def test_values_at_no_number_are_none_and_no_rows_have_none():
    """Seen: a bare NotStraight, and NumPy's "shape mismatch"."""
    p = problem("null-space")
    for names in (["pin.angle"], ["pin.acceleration", "pin.angle"]):
        outputs = p.outputs(names)
        rows = np.array([p.y0, np.full(p.n, np.nan)])
        found = outputs.values(np.zeros(2), rows)
        assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()
        assert np.isnan(outputs.values(0.0, rows[1])).all()
        assert outputs.values(np.empty(0), np.empty((0, p.n))).shape == (0, len(names))


def test_outputs_without_a_derivative_are_refused_by_name():
    p = problem("index-2")
    (pin,) = p.system.joints
    with pytest.raises(ValueError, match=r"pin.acceleration has no derivative in 'index-2', where rates follow from"):
        p.outputs([pin.acceleration]).jacobian(0.0, p.y0)
    with pytest.raises(ValueError, match=r"unknown quantity 'pin\.angel'; did you mean 'pin\.angle'"):
        p.outputs(["pin.angel"])
    with pytest.raises(TypeError, match="quantities must be a list"):
        p.outputs("pin.angle")
    with pytest.raises(ValueError, match="unknown input 'torq'"):
        p.outputs(["pin.angle"]).values(0.0, p.y0, u={"torq": 1.0})
    system = pendulum(fan=False)
    (pin,) = system.joints
    system.add_joint(rbdae.drives.PrescribedAngle(pin, (lambda t: 0.3 * t, lambda t: 0.3, lambda t: 0.0)))
    driven = cases.formulated(system, "index-1", code="plain")
    assert np.isfinite(driven.outputs([pin.torque]).values(0.0, driven.y0)).all()
    with pytest.raises(ValueError, match="because a drive or an actuator acts along it"):
        driven.outputs([pin.torque]).jacobian(0.0, driven.y0)

"""Laws of the motion that read inputs: the values that all code sees, exact derivatives, what is refused."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import rbdae
from rbdae.forces import CalledBack, Coulomb, Limit, Motor, SpringDamper, TorsionalSpringDamper
from rbdae.joints import Prismatic, Revolute

FORMS = [("index-2", "generic"), ("index-0", "generic"), ("index-0", "auto"), ("null-space", "folded")]
U = {"gain": 1.3, "target": -0.5, "normal": 0.4}
SLOPE, LEVER = 0.1, 0.2


def push(t: float, angle: Any, rate: Any, u: Any) -> Any:
    return u.gain**2 * (u.target - angle) - u.gain * rate


def rising(t: Any) -> Any:
    return 1.0 + t


def pull(t: float, length: Any, rate: Any, u: Any) -> Any:
    return u.k * length**2 + math.sin(t) * rate


def pendulum(torque: Any = push, values: Any = (0.7, 0.3, 2.0), **inputs: Any) -> rbdae.System:
    """A pendulum with three laws, of which two read the same input, and friction under an input."""
    system = rbdae.System()
    given = dict(zip(U, (system.add_input(name, value) for name, value in zip(U, values, strict=True)), strict=True))
    bob = system.add_body("bob", mass=1.5, inertia=(0.3, 0.2, 0.1), position=(0, 0, -1), angular_velocity=(0.3, 0, 0))
    pin = system.add_joint(Revolute(system.ground, bob, at_b=(0, 0, 1), axis_a=(1, 0, 0), name="pin"))
    two = {name: given[name] for name in ("gain", "target")}
    system.add_force(Motor(pin, torque=torque, inputs=two, name="motor"))
    system.add_force(Coulomb(pin, 0.3, normal=given["normal"], radius=LEVER, velocity=SLOPE))
    system.add_force(SpringDamper(bob, at_b=(1, 1, 1), force=pull, inputs={"k": given["gain"]}))
    system.add_force(TorsionalSpringDamper(pin, stiffness=1.0, torque=push, inputs=two))
    return system


def by_numbers(u: dict[str, float]) -> rbdae.System:
    """The same with the numbers in its laws."""
    system = rbdae.System()
    bob = system.add_body("bob", mass=1.5, inertia=(0.3, 0.2, 0.1), position=(0, 0, -1), angular_velocity=(0.3, 0, 0))
    pin = system.add_joint(Revolute(system.ground, bob, at_b=(0, 0, 1), axis_a=(1, 0, 0), name="pin"))

    def torque(t: float, angle: Any, rate: Any) -> Any:
        return u["gain"] ** 2 * (u["target"] - angle) - u["gain"] * rate

    system.add_force(Motor(pin, torque=torque, name="motor"))
    system.add_force(Coulomb(pin, 0.3, normal=u["normal"], radius=LEVER, velocity=SLOPE))
    system.add_force(SpringDamper(bob, at_b=(1, 1, 1), force=lambda t, s, rate: u["gain"] * s**2 + math.sin(t) * rate))
    system.add_force(TorsionalSpringDamper(pin, stiffness=1.0, torque=torque))
    return system


def state(p: rbdae.Problem) -> Any:
    rng = np.random.default_rng(4)
    return p.y0 + 0.05 * rng.standard_normal(p.n), rng.standard_normal(p.n)


def slopes(f: Any, u: dict[str, float]) -> Any:
    """Derivatives by all inputs, differences of sixth order."""
    h, weights = 0.02, ((-1, -3), (9, -2), (-45, -1), (45, 1), (-9, 2), (1, 3))
    columns = [sum(a * f({**u, name: u[name] + k * h}) for a, k in weights) / (60 * h) for name in u]
    return np.array(columns).T


@pytest.mark.parametrize(("form", "code"), FORMS)
def test_all_code_sees_the_inputs_of_laws(form, code):
    """As if their numbers stood in the laws; derivatives by y and by u are those of differences."""
    p = rbdae.formulate(pendulum(), form, code=code)
    first = rbdae.formulate(by_numbers(U), form, code=code)
    t, (y, yd) = 0.3, state(p)
    wanted = first.residual(t, y, yd)
    assert np.abs(p.residual(t, y, yd) - wanted).max() > 0.1
    level = {"rtol": 0, "atol": 1e-13 * np.abs(wanted).max()}
    np.testing.assert_allclose(p.residual(t, y, yd, u=U), wanted, **level)
    np.testing.assert_allclose(p.with_inputs(U).residual(t, y, yd), wanted, **level)
    tangent = first.jacobian(t, y, yd, 1.3)
    np.testing.assert_allclose(p.jacobian(t, y, yd, 1.3, u=U), tangent, rtol=0, atol=1e-13 * np.abs(tangent).max())
    found = p.input_jacobian(t, y, yd, u=U)
    assert np.abs(found).max(axis=0).min() > 1e-3
    np.testing.assert_allclose(found, slopes(lambda u: p.residual(t, y, yd, u=u), U), rtol=0, atol=1e-8)
    if p.kind == "ode":
        found = p.input_jacobian(t, y, u=U)
        np.testing.assert_allclose(found, slopes(lambda u: p.rhs(t, y, u=u), U), rtol=0, atol=1e-8)


def test_an_input_of_a_law_may_be_a_function_of_the_time():
    p = rbdae.formulate(pendulum(), "index-0")
    q = p.with_inputs({**U, "gain": rising})
    y, _ = state(p)
    wanted = p.rhs(0.3, y, u=U)
    np.testing.assert_allclose(q.rhs(0.3, y), wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())
    assert q.input_jacobian(0.3, y).shape == (p.n, 2)
    columns = p.input_jacobian(0.3, y, u=U)[:, 1:]
    np.testing.assert_allclose(q.input_jacobian(0.3, y), columns, rtol=0, atol=1e-12)
    again = pickle.loads(pickle.dumps(q))
    np.testing.assert_array_equal(again.rhs(0.3, y), q.rhs(0.3, y))


def derivatives(t: float, angle: float, rate: float, u: Any) -> tuple[float, ...]:
    return -(u.gain**2), -u.gain, 2 * u.gain * (u.target - angle) - rate, u.gain**2


@pytest.mark.parametrize("timed", [False, True])
def test_laws_with_inputs_may_be_called_back(timed):
    """With derivatives by the inputs, too, or by differences; some of the inputs may be functions of the time."""
    p = rbdae.formulate(pendulum(), "index-1")
    y, yd = state(p)
    given = {"gain": rising} if timed else {}
    for law, level in (
        (CalledBack(push, derivatives=derivatives), 1e-12),
        (CalledBack(push, difference_step=1e-5), 1e-8),
    ):
        q = rbdae.formulate(pendulum(law), "index-1").with_inputs({**U, **given})
        np.testing.assert_allclose(q.residual(0.3, y, yd), p.residual(0.3, y, yd, u=U), rtol=0, atol=1e-12)
        np.testing.assert_allclose(q.jacobian(0.3, y, yd, 1.3), p.jacobian(0.3, y, yd, 1.3, u=U), rtol=0, atol=level)
        columns = p.input_jacobian(0.3, y, yd, u=U)[:, timed:]
        np.testing.assert_allclose(q.input_jacobian(0.3, y, yd), columns, rtol=0, atol=level)


def test_a_run_and_a_simulator_drive_laws():
    """A slide on a track that brakes it by Coulomb friction, v' = -mu N / m far above v0, with N from outside."""
    system = rbdae.System(gravity=(0, 0, 0))
    normal = system.add_input("normal", unit="N")
    body = system.add_body("body", mass=2.0, inertia=(1, 1, 1), velocity=(0, 0, 3.0))
    track = system.add_joint(Prismatic(system.ground, body, axis_a=(0, 0, 1), name="track"))
    system.add_force(Coulomb(track, 0.5, normal=normal, velocity=0.01))
    p = rbdae.formulate(system, "null-space")
    found = rbdae.solve(p, (0.0, 1.0), inputs={"normal": lambda t: 8.0 * t}, rtol=1e-9, atol=1e-9)
    assert found.joints["track"].rate[-1] == pytest.approx(3.0 - 0.5 * 8.0 / 2.0 / 2.0, abs=1e-7)
    assert np.abs(found.energy.balance).max() < 1e-6
    sim = rbdae.Simulator(p, "rbdae:dop853", dt=0.1, rtol=1e-9, atol=1e-9)
    for k in range(5):
        sim.step({"normal": 2.0 * k})
    assert sim.joints["track"].rate == pytest.approx(3.0 - 0.5 * 2.0 * 10 * 0.1 / 2.0, abs=1e-7)


def test_steps_that_keep_energy_have_the_inputs_of_laws():
    """The law of an input is that of the same number."""
    runs = []
    for system in (pendulum(values=tuple(U.values())), by_numbers(U)):
        p = rbdae.formulate(system, "hamiltonian", velocity="momentum")
        runs.append(rbdae.solve(p, (0.0, 0.1), solver="rbdae:energy-momentum", step=0.01))
    np.testing.assert_allclose(runs[0].y, runs[1].y, rtol=0, atol=1e-12)
    assert runs[0].stats.evaluations == runs[1].stats.evaluations
    assert np.abs(runs[0].energy.balance).max() < 1e-12


BAD: list[tuple[Any, str]] = [
    (lambda pin, u: Motor(pin, torque=push, inputs=[u]), "inputs must be a mapping by name"),
    (lambda pin, u: Motor(pin, torque=push, inputs={"a b": u}), "'a b' is no name of a number"),
    (lambda pin, u: Motor(pin, torque=push, inputs={"gain": 2.0}), r"inputs\['gain'\] must be an input of the system"),
    (lambda pin, u: Motor(pin, torque=push, inputs={}), "1 to 9 inputs, got 0"),
    (lambda pin, u: Motor(pin, torque=u, inputs={"gain": u}), "inputs= belong to a law"),
    (lambda pin, u: Motor(pin, torque=lambda t: t, inputs={"gain": u}), r"a function \(t, angle, rate, u\) of its inp"),
    (lambda pin, u: Motor(pin, torque=lambda t, s, rate, u: u.gian, inputs={"gain": u}), "did you mean 'gain'"),
    (lambda pin, u: Motor(pin, torque=push), r"a function \(t\) or \(t, angle, rate\)"),
    (
        lambda pin, u: Motor(pin, torque=CalledBack(push, derivatives=lambda t, s, rate: 0.0), inputs={"gain": u}),
        r"derivatives must be a function \(t, s, rate, u\)",
    ),
    (lambda pin, u: Motor(pin, torque=rbdae.System().add_input("gain")), "input 'gain' does not belong to this system"),
    (
        lambda pin, u: Motor(pin, torque=push, inputs={"gain": rbdae.System().add_input("gain"), "target": u}),
        "force 'motor-1': input 'gain' does not belong to this system",
    ),
    (lambda pin, u: Coulomb(pin, 0.1, normal=rbdae.System().add_input("n", -1.0), radius=1.0), "not be negative"),
    (lambda pin, u: Limit(pin, u, stiffness=1.0), "low must be a real number"),
]


@pytest.mark.parametrize(("make", "words"), BAD, ids=[str(k) for k in range(len(BAD))])
def test_what_is_no_law_of_inputs_is_refused_by_name(make, words):
    system = rbdae.System()
    u = system.add_input("u", 0.2)
    body = system.add_body("body", mass=1.0, inertia=(1, 1, 1))
    pin = system.add_joint(Revolute(system.ground, body, name="pin"))
    with pytest.raises((TypeError, ValueError, AttributeError), match=words):
        system.add_force(make(pin, u))
        rbdae.formulate(system, "index-0").rhs(0.0, np.ones(13))

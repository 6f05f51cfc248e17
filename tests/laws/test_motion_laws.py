"""Loads that are laws of the motion, u(t, angle, rate): what they must agree with, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from by_numba import needs_numba, njit
from force_cases import P, Q, axial, two_bodies

import rbdae
from rbdae.forces import CalledBack, Motor, SpringDamper, TorsionalSpringDamper, TranslationalSpringDamper
from rbdae.joints import Planar, Revolute, Universal

K, D, REST = 20.0, 2.0, 0.4


def pulling(t: float, s: float, rate: float) -> float:
    """A spring and a damper as a law."""
    return -K * (s - REST) - D * rate


def sprung(by_law: bool) -> rbdae.System:
    """A spring and a damper about, along and between: an angle, a displacement, a distance."""
    system, a, b = two_bodies()
    joint = axial(a, b, "cylindrical")
    values: dict[str, Any] = {"stiffness": K, "damping": D}
    if by_law:
        made: list[Any] = [
            Motor(joint, torque=pulling),
            TranslationalSpringDamper(joint, force=pulling),
            SpringDamper(a, b, force=lambda t, length, rate: -pulling(t, length, rate), at_a=P, at_b=Q),
        ]
    else:
        made = [
            TorsionalSpringDamper(joint, **values, angle=REST),
            TranslationalSpringDamper(joint, **values, displacement=REST),
            SpringDamper(a, b, **values, length=REST, at_a=P, at_b=Q),
        ]
    for force in made:
        system.add_force(force)
    return system


def test_a_linear_law_is_a_spring_with_a_damper(rng):
    """Right-hand sides and their Jacobians, windings included, and power."""
    spring, law = (rbdae.formulate(sprung(by_law), "index-0") for by_law in (False, True))
    assert [label.replace("torsion", "motor") for label in spring.labels] == list(law.labels)
    for _ in range(3):
        y = spring.y0 + 0.3 * rng.standard_normal(spring.n)
        np.testing.assert_allclose(law.rhs(0.3, y), spring.rhs(0.3, y), rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(law.rhs_jacobian(0.3, y), spring.rhs_jacobian(0.3, y), rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("rotation", ["quaternion", "directors"])
def test_a_linear_law_is_a_spring_in_the_steps_that_keep_energy(rotation):
    """The law is that of the mean displacement and of the increment over the step, as those of springs and dampers are;
    of the same convergence, so the tangent is exact. The work is counted."""
    spring, law = (
        rbdae.solve(
            rbdae.formulate(sprung(by_law), "hamiltonian", rotation=rotation, velocity="momentum"),
            (0.0, 0.1),
            solver="rbdae:energy-momentum",
            step=0.01,
        )
        for by_law in (False, True)
    )
    np.testing.assert_allclose(law.y, spring.y, rtol=0, atol=1e-12)
    assert law.stats.evaluations == spring.stats.evaluations
    size = np.ptp(law.energy.total)
    assert np.ptp(law.energy.work) > 0.9 * size
    assert np.abs(law.energy.balance).max() < 1e-12 * size


def wheel(make: Any, **values: Any) -> rbdae.System:
    """A wheel, J = 2, on an axle that does not move."""
    system = rbdae.System(gravity=(0, 0, 0))
    body = system.add_body("wheel", mass=1.0, inertia=(2.0, 2.0, 2.0), **values)
    pin = system.add_joint(Revolute(system.ground, body, name="pin"))
    system.add_force(make(pin))
    return system


def run(system: rbdae.System, end: float, **more: Any) -> rbdae.Solution:
    problem = rbdae.formulate(system, more.pop("form", "index-0"))
    return rbdae.solve(problem, (0.0, end), solver="scipy:DOP853", rtol=1e-10, atol=1e-10, **more)


def test_a_motor_with_its_characteristic():
    """J wdot = k (w0 - w): w = w0 (1 - exp(-k t / J)). It does not depend on the angle, and has no state."""
    found = run(wheel(lambda pin: Motor(pin, torque=lambda t, angle, rate: 3.0 * (40.0 - rate))), 2.0)
    assert not any("motor" in label for label in found.problem.labels)
    wanted = 40.0 * (1.0 - np.exp(-1.5 * found.t))
    np.testing.assert_allclose(found.states["wheel"].angular_velocity[:, 2], wanted, atol=3e-8)
    work = 0.5 * 2.0 * wanted**2
    np.testing.assert_allclose(found.energy.work, work, atol=1e-5)


def test_the_angle_of_a_law_counts_turns():
    """J phiddot = -k phi, ten turns out and back; phi is the state "motor-1.phi"."""
    system = wheel(lambda pin: Motor(pin, torque=lambda t, angle, rate: -2.0 * angle), angular_velocity=(0, 0, 62.8))
    found = run(system, 3.0)
    assert found.problem.labels[-1] == "motor-1.phi"
    np.testing.assert_allclose(found.y[:, -1], 62.8 * np.sin(found.t), atol=1e-6)
    np.testing.assert_allclose(found.states["wheel"].angular_velocity[:, 2], 62.8 * np.cos(found.t), atol=1e-6)


@njit
def by_numba(t, angle, rate):
    return -2.0 * math.sin(angle) - 0.3 * rate * abs(rate)


def by_hand(t: float, angle: float, rate: float) -> float:
    return -2.0 * math.sin(angle) - 0.3 * rate * abs(rate)


def test_a_law_may_be_called_back(rng):
    """With differences, or with the derivatives of what it computes."""
    ways = [by_hand, CalledBack(by_hand), CalledBack(by_hand, difference_step=1e-4)]
    problems = [rbdae.formulate(wheel(lambda pin, law=law: Motor(pin, torque=law)), "index-1") for law in ways]
    y, yd = problems[0].y0 + 0.3 * rng.standard_normal((2, problems[0].n))
    residuals = [problem.residual(0.3, y, yd) for problem in problems]
    jacobians = [problem.jacobian(0.3, y, yd, 2.0) for problem in problems]
    assert all(np.array_equal(residual, residuals[0]) for residual in residuals)
    np.testing.assert_allclose(jacobians[1], jacobians[0], atol=1e-13)
    np.testing.assert_allclose(jacobians[2], jacobians[0], atol=1e-6)


@needs_numba
def test_a_law_by_numba_is_recorded_from_its_source():
    both = (by_numba, by_hand)
    one, other = (rbdae.formulate(wheel(lambda pin, law=law: Motor(pin, torque=law)), "index-0") for law in both)
    assert all(way == "recorded" for way in one.laws.values())
    y = one.y0 + 0.2
    assert np.array_equal(one.rhs(0.0, y), other.rhs(0.0, y))
    assert np.array_equal(one.rhs_jacobian(0.0, y), other.rhs_jacobian(0.0, y))


def test_a_motor_on_another_coordinate():
    """Forces on x and y of a planar joint, as springs of two frequencies; a torque about the second arm of a cross."""
    system = rbdae.System(gravity=(0, 0, 0))
    body = system.add_body("body", mass=2.0, inertia=(2.0, 2.0, 2.0), velocity=(3.0, 4.0, 0.0))
    plane = system.add_joint(Planar(system.ground, body, normal_a=(0, 1, 0)))
    for name, k in (("x", 2.0), ("y", 8.0)):
        system.add_force(Motor(plane, force=lambda t, s, rate, k=k: -k * s, coordinate=name))
    found = run(system, 2.0)
    wanted = np.column_stack([2.0 * np.sin(2.0 * found.t) * 0.75, 4.0 * np.sin(found.t)])
    np.testing.assert_allclose(found.states["body"].position[:, :2], wanted, atol=1e-8)

    with pytest.raises(ValueError, match=r"Motor.*'x'.*angle"):
        Motor(plane, torque=1.0, coordinate="x")

    system = rbdae.System(gravity=(0, 0, 0))
    body = system.add_body("body", mass=1.0, inertia=(2.0, 2.0, 2.0))
    cross = system.add_joint(Universal(system.ground, body, axis_a=(0, 0, 1), axis_b=(1, 0, 0)))
    system.add_force(Motor(cross, torque=lambda t, angle, rate: 4.0 - rate, coordinate="angle_b"))
    found = run(system, 1.0)
    wanted = 4.0 * (1.0 - np.exp(-0.5 * found.t))
    np.testing.assert_allclose(found.states["body"].angular_velocity[:, 0], wanted, atol=1e-8)


def test_a_function_of_the_time_stays_one():
    """Its other arguments have defaults, as those have that are made in a loop."""
    system = wheel(lambda pin: Motor(pin, torque=lambda t, k=3.0, w=2.0: k * math.cos(w * t)))
    found = run(system, 1.0)
    np.testing.assert_allclose(found.states["wheel"].angular_velocity[:, 2], 0.75 * np.sin(2.0 * found.t), atol=1e-9)

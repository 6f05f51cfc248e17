"""Potentials of the user's forces: energies, the discrete gradient of conserving steps, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conserving_systems import relative_energy
from test_conserving_forces import ENDS, check_order_and_tangent, momentum_error, problem_of, run

import rbdae
from rbdae.forces import UserForce
from rbdae.joints import Revolute


def spring(t: float, x: Any, out: Any) -> None:
    """-dV/dZ of V = d . d + (d . d)^2 / 4."""
    d = ENDS @ x[:24]
    out[:] = -(2.0 + d @ d) * (ENDS.T @ d)


def spring_energy(t: float, x: Any, out: Any) -> None:
    d = ENDS @ x[:24]
    out[0] = d @ d + 0.25 * (d @ d) ** 2


def well(t: float, x: Any, out: Any) -> None:
    """-dV/dZ of V = -5 / |x2 - x1|."""
    r = x[12:15] - x[:3]
    out[:] = 0.0
    out[:3] = 5.0 * r / (r @ r) ** 1.5
    out[12:15] = -out[:3]


def well_energy(t: float, x: Any, out: Any) -> None:
    r = x[12:15] - x[:3]
    out[0] = -5.0 / (r @ r) ** 0.5


AXIS = np.array((0.0, 0.6, 0.8))
SPRING: dict[str, Any] = {"force": spring, "potential": spring_energy}
WELL: dict[str, Any] = {"force": well, "potential": well_energy}


def bodies(n: int = 2) -> rbdae.System:
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    for k in range(n):
        system.add_body(
            f"b{k}",
            mass=1.0 + k,
            inertia=(2.0 + k, 2.5 + k, 3.0 + k),
            position=(2.0 * k + 1.5 * (n == 1), 0.1 * k, 0.0),
            velocity=(0.1, 1.2 * k + 1.3 * (n == 1), 0.3),
            angular_velocity=(0.3, -0.2 + k, 0.1 + 2.0 * k),
        )
    return system


def with_spring(**changes: Any) -> rbdae.System:
    """Two bodies on a hinge, free in space, with a spring between points beside their centres."""
    system = bodies()
    ends = {"at_a": (1.0, 0.05, 0.0), "at_b": (-1.0, -0.05, 0.0), "axis_a": AXIS, "axis_b": AXIS}
    system.add_joint(Revolute(*system.bodies, **ends))
    system.add_force(UserForce(system.bodies, **(SPRING | changes)))
    return system


def test_the_slopes_of_a_recorded_potential_are_recorded(rng):
    """They are minus the force without rates, called and recorded."""
    problem = problem_of(with_spring())
    assert set(problem.laws.values()) == {"recorded"}
    (slopes,) = (each for each in problem.model.functions if each.owner.endswith("potential, derivatives"))
    Z, wanted, found = rng.standard_normal(24), np.zeros(24), np.zeros(24)
    spring(0.0, np.concatenate([Z, np.zeros(24)]), wanted)
    slopes.plain(0.0, Z, found)
    for values in (found, slopes.law.at(0.0, Z)[0]):
        np.testing.assert_allclose(values, -wanted, rtol=1e-13, atol=1e-13)


def free_spring() -> rbdae.System:
    system = bodies()
    system.add_force(UserForce(system.bodies, **SPRING))
    return system


def with_well() -> rbdae.System:
    """Two bodies, that attract each other."""
    system = bodies()
    system.add_force(UserForce(system.bodies, **WELL))
    return system


def about_ground() -> rbdae.System:
    """One body, about a fixed centre."""
    system = bodies(1)
    system.add_force(UserForce(system.bodies[0], **WELL))
    return system


SYSTEMS: dict[str, Any] = {"hinge": with_spring, "spring": free_spring, "well": with_well, "ground": about_ground}


# ---------------------------------------------------------------- conservation


@pytest.mark.parametrize("name", SYSTEMS)
def test_energy_and_momentum_are_exact(name):
    """300 steps in which the potential takes a part of the energy. About the ground momentum is not kept, nor asked."""
    found = run(problem_of(SYSTEMS[name]()), 9.0, 0.03)
    assert found.success and found.stats.code == "machine"
    assert found.stats.evaluations <= 4.2 * found.stats.steps
    assert np.ptp(found.energy.potential) > 0.05 * found.energy.kinetic.max()
    assert relative_energy(found) < 1e-12
    if name != "ground":
        assert momentum_error(found) < 1e-12


# ---------------------------------------------------------------- order, tangents, rest


@pytest.mark.parametrize("name", [*SYSTEMS])
def test_order_two_and_the_exact_tangent(name):
    check_order_and_tangent(SYSTEMS[name])


def test_a_system_at_rest_stays_there():
    """No increment, no direction of the correction: nothing is divided by zero."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    a = system.add_body("a", mass=1.0, inertia=(1.0, 2.0, 2.5), position=(0.0, 0.0, 0.0))
    b = system.add_body("b", mass=2.0, inertia=(1.0, 2.0, 2.5), position=(1.2, 0.0, 0.0))
    system.add_force(UserForce((a, b), **SPRING))
    found = run(problem_of(system), 0.5, 0.01)
    assert found.success
    assert np.abs(found.y - found.y[0]).max() < 1e-14


# ---------------------------------------------------------------- what is refused


def test_a_potential_of_another_force_is_refused():
    def opposite(t: float, x: Any, out: Any) -> None:
        spring_energy(t, x, out)
        out *= -1.0

    def stiffer(t: float, x: Any, out: Any) -> None:
        spring_energy(t, x, out)
        out *= 1.01

    for wrong in (opposite, stiffer):
        with pytest.raises(ValueError, match=r"force 'user-1': potential does not belong to the force"):
            problem_of(with_spring(potential=wrong))


def test_potentials_of_two_bodies_are_of_their_relative_position():
    def weight(t: float, x: Any, out: Any) -> None:
        out[:] = 0.0
        out[2] = out[14] = -3.0

    def height(t: float, x: Any, out: Any) -> None:
        out[0] = 3.0 * (x[2] + x[14])

    with pytest.raises(ValueError, match="when both bodies move as one"):
        problem_of(with_spring(force=weight, potential=height))


def test_a_python_error_in_a_potential_is_raised():
    calls = []

    def failing(t: float, x: Any, out: Any) -> None:
        calls.append(t)
        if t > 0.1:
            raise RuntimeError("no potential there")
        spring_energy(t, x, out)

    problem = problem_of(with_spring(potential=failing))
    with pytest.raises(RuntimeError, match="no potential there"):
        run(problem, 1.0, 0.01)
    assert calls

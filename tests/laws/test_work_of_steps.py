"""The work of fixed-step runs is that of their own steps: `energy.balance` is round-off where schemes keep energy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import test_conserving as schemes
import test_conserving_forces as forces
from codes import cached

import rbdae
from rbdae.drives import PrescribedAngle
from rbdae.forces import Bushing, Friction, Motor, SpringDamper, TranslationalSpringDamper, UserForce
from rbdae.joints import Cylindrical

LEVEL = 2e-12
"""Of the balance, relative to the largest kinetic energy. Measured: 5e-15 in steps, 4e-13 in composed ones."""

SCHEMES = [name for name, scheme in schemes.SCHEMES.items() if scheme.energy]
"""Those whose energy docs/conserving.md calls exact with joints and forces."""


# ---------------------------------------------------------------- systems


def _potential(t: float, x: Any, out: Any) -> None:
    """Of two points, and of time."""
    d = forces.ENDS @ x[:24]
    out[0] = (1.0 + 0.5 * np.sin(3.0 * t)) * (d @ d) + 0.25 * (d @ d) ** 2


def _its_force(t: float, x: Any, out: Any) -> None:
    """With a damper beside the potential."""
    d, rate = forces.ENDS @ x[:24], forces.ENDS @ x[24:]
    out[:] = -forces.ENDS.T @ ((2.0 + np.sin(3.0 * t) + d @ d) * d + 0.4 * rate)


def _with(*make: Any, joint: Any = None) -> Any:
    """The pair of bodies with forces."""

    def build() -> rbdae.System:
        system = forces.pair() if joint is None else forces.pair(joint)
        a, b = system.bodies
        for one in make:
            system.add_force(one(a, b, system.joints[0]))
        return system

    return build


ENDS: dict[str, Any] = {"at_a": (0.3, 0.5, 0.0), "at_b": (0.0, 0.7, 0.2)}


def _everything() -> rbdae.System:
    """A drive, a motor, dampers, a spring, and a user's potential."""
    system = forces.pair()
    a, b = system.bodies
    c = system.add_body(
        "c", mass=1.5, inertia=(1.0, 1.2, 0.9), position=(4.0, 0.0, 0.0), angular_velocity=(0.3, 0.5, 0.0)
    )
    hinge = system.add_joint(rbdae.joints.Revolute(b, c, **forces.HINGE))
    system.add_joint(PrescribedAngle(system.joints[0], forces.SWING))
    system.add_force(Motor(hinge, torque=lambda t: 2.0 * np.sin(5.0 * t)))
    system.add_force(Friction(hinge, 0.3))
    system.add_force(SpringDamper(a, c, stiffness=40.0, length=3.0, damping=2.0, **ENDS))
    system.add_force(Bushing(a, b, stiffness=3.0, damping=1.0, rotational_stiffness=2.0, rotational_damping=0.5))
    system.add_force(UserForce((a, b), _its_force, potential=_potential))
    return system


SYSTEMS: dict[str, Any] = {
    **forces.SYSTEMS,
    "damper": _with(lambda a, b, j: SpringDamper(a, b, damping=2.0, **ENDS)),
    "bushing": _with(lambda a, b, j: Bushing(a, b, stiffness=5.0, damping=(1.0, 2.0, 3.0), rotational_damping=0.4)),
    "actuator": _with(
        lambda a, b, j: TranslationalSpringDamper(j, stiffness=30.0, damping=1.0, force=np.cos), joint=Cylindrical
    ),
    "potential of time": _with(lambda a, b, j: UserForce((a, b), _its_force, potential=_potential)),
    "everything": _everything,
}


@cached
def _problem(name: str, scheme: str) -> rbdae.Problem:
    return schemes.problem_of(SYSTEMS[name](), scheme)


def _run(name: str, scheme: str, end: float = 0.2, step: float = 0.02, **more: Any) -> rbdae.Solution:
    found = schemes.run(_problem(name, scheme), scheme, end, step, **more)
    assert found.success, found.message
    return found


def _in_balance(found: rbdae.Solution, level: float = LEVEL) -> None:
    energy = found.energy
    assert np.ptp(energy.work) > 1e-4 * energy.kinetic.max()
    assert np.abs(energy.balance).max() < level * energy.kinetic.max()


# each system with the schemes in turns; all with all at night
DRAWN = [(name, SCHEMES[(3 * k) % len(SCHEMES)]) for k, name in enumerate(SYSTEMS)]


@pytest.mark.parametrize(("name", "scheme"), DRAWN)
def test_what_the_energy_changes_by_is_the_work_of_the_steps(name, scheme):
    _in_balance(_run(name, scheme))


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "scheme"), [*itertools.product(SYSTEMS, SCHEMES)])
def test_every_scheme_with_every_system(name, scheme):
    _in_balance(_run(name, scheme, 1.0))


@pytest.mark.parametrize("scheme", ["QUAT.EM-R", pytest.param("DIR.EM", marks=pytest.mark.nightly)])
def test_composed_steps_are_in_balance_between_their_ends_too(scheme):
    """There states are ends of steps of their own."""
    found = _run("everything", scheme, order=4, end=0.1, t_eval=np.linspace(0.0, 0.1, 8))
    _in_balance(found)


def test_output_times_and_events_leave_the_work_alone():
    """At output times between steps the balance is of second order, at the steps it is round-off. A terminal event
    ends within a step, and so does the work."""
    whole = _run("everything", "QUAT.EM-R")
    times = np.union1d(np.linspace(0.0, 0.2, 6), [0.111, 0.137])
    outputs = _run("everything", "QUAT.EM-R", t_eval=times)
    same = np.isin(np.round(times / 0.02, 9), np.arange(11))
    size = whole.energy.kinetic.max()
    np.testing.assert_allclose(
        outputs.energy.work[same], np.interp(times[same], whole.t, whole.energy.work), rtol=0, atol=LEVEL * size
    )
    assert np.abs(outputs.energy.balance[same]).max() < LEVEL * size
    assert np.abs(outputs.energy.balance).max() < 1e-2 * size

    def high(t: float, y: Any) -> float:
        return t - 0.133

    high.terminal = True
    ended = _run("everything", "QUAT.EM-R", events=high)
    n = len(ended.t) - 1
    np.testing.assert_allclose(ended.energy.work[:n], whole.energy.work[:n], rtol=0, atol=LEVEL * size)
    assert abs(ended.energy.balance[-1]) < 1e-2 * size


def test_the_work_converges_to_the_integral_of_the_power():
    """Of second order, towards the quadrature along DOP853's run."""
    exact = rbdae.solve(
        rbdae.formulate(_everything(), "index-0", consistent="project"), (0.0, 0.2), solver="rbdae:dop853",
        rtol=1e-11, atol=1e-11,
    ).energy  # fmt: skip
    assert np.abs(exact.balance).max() < 1e-9 * exact.kinetic.max()
    errors = [abs(_run("everything", "QUAT.EM-R", step=h).energy.work[-1] - exact.work[-1]) for h in (0.02, 0.01)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


# ---------------------------------------------------------------- potentials of users


@pytest.mark.parametrize("solver", ["rbdae:energy-momentum", "rbdae:dop853"])
def test_a_potential_of_the_user_does_no_work(solver):
    """Its power was integrated along the dense output: 4.5e-3 J where the energy is kept to 7e-14."""

    def potential(t: float, z: Any, out: Any) -> None:
        d = z[0:3]
        out[0] = 15.0 * (d @ d) + 2.0 * (d @ d) ** 2

    def law(t: float, z: Any, out: Any) -> None:
        out[:] = 0.0
        d = z[0:3]
        out[0:3] = -(30.0 + 8.0 * (d @ d)) * d

    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    body = system.add_body(
        "b", mass=2, inertia=(0.2, 0.3, 0.25), position=(0.5, 0, 0), velocity=(0, 1, 0), angular_velocity=(1, 2, 3)
    )
    system.add_force(UserForce(body, law, potential=potential))
    fixed = solver != "rbdae:dop853"
    form = {"velocity": "momentum"} if fixed else {"velocity": "angular"}
    problem = rbdae.formulate(system, "hamiltonian" if fixed else "index-0", **form)
    found = rbdae.solve(problem, (0.0, 0.5), solver=solver, **({"step": 0.01} if fixed else {"rtol": 1e-10}))
    assert np.abs(found.energy.work).max() == 0.0
    assert np.abs(found.energy.balance).max() < (1e-12 if fixed else 1e-5)


def test_a_potential_of_time_does_work_in_any_run():
    """dV/dt at rest, by the trapezium rule on many times, beside the damper's; V depends on time."""
    system = SYSTEMS["potential of time"]()
    problem = rbdae.formulate(system, "index-0", consistent="project")
    t = np.linspace(0.0, 0.1, 401)
    found = rbdae.solve(problem, (0.0, 0.1), solver="rbdae:dop853", rtol=1e-11, atol=1e-11, t_eval=t)
    Z = problem.natural(found.t, found.y).reshape(len(t), 2, 24)
    d, rate = (Z[:, :, k : k + 12].reshape(len(t), 24) @ forces.ENDS.T for k in (0, 12))
    power = 1.5 * np.cos(3.0 * t) * (d * d).sum(1) - 0.4 * (rate * rate).sum(1)
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(t))])
    assert np.abs(found.energy.work - work).max() < 1e-6 * np.abs(work).max()
    assert np.abs(found.energy.balance).max() < 1e-8 * found.energy.kinetic.max()

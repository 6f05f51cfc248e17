"""`solution.energy.balance`: the change of energy minus the work of what has no potential, which is the run's error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cases
import force_cases
import numpy as np
import pytest
import toy

import rbdae
from rbdae.forces import (
    Bushing,
    Contact,
    Coulomb,
    Force,
    Friction,
    Limit,
    Motor,
    SpringDamper,
    Torque,
    TorsionalSpringDamper,
    TranslationalSpringDamper,
    UserForce,
)
from rbdae.joints import Prismatic, Revolute

TOLERANCE = 1e-9


def _run(system: rbdae.System, form: str = "index-0", *, end: float = 0.5, solver: str = "scipy:DOP853", **more: Any):
    cases.need(solver)
    where = {key: more.pop(key) for key in ("rotation", "velocity", "t0") if key in more}
    problem = rbdae.formulate(system, form, **where, consistent="project")
    tolerance = more.pop("tolerance", TOLERANCE)
    span = (problem.t0, problem.t0 + end)
    out = rbdae.solve(problem, span, solver=solver, rtol=tolerance, atol=tolerance, **more)
    assert out.success, out.message
    return out


def _size(run: rbdae.Solution) -> float:
    return float(run.energy.kinetic.max() + np.ptp(run.energy.potential))


@pytest.mark.parametrize(
    "form, rotation, velocity, solver, most",
    [
        ("index-0", "bryant-321", "angular", "scipy:DOP853", 30),
        ("null-space", "quaternion", "angular", "scipy:DOP853", 30),
        ("hamiltonian-eliminated", "directors", "momentum", "scipy:DOP853", 30),
        ("index-1", "directors", "coordinate", "scikits.odes:ida", 1e3),
        ("index-3", "quaternion", "coordinate", "assimulo:Radau5DAE", 1e3),
        ("hiller-anantharaman", "quaternion", "angular", "sksundae:ida", 1e3),
    ],
)
def test_drives_are_in_balance_in_every_form(form, rotation, velocity, solver, most):
    """The energy changes by the work of the drives: a wrong sign, or multipliers of another scale, would double it."""
    more = {"rotation": rotation, "velocity": velocity, "solver": solver}
    run = _run(rbdae.models.driven_pendulum(), form, tolerance=1e-8, **more)
    assert np.ptp(run.energy.work) > 0.05 * _size(run)
    assert np.abs(run.energy.balance).max() < most * 1e-8 * _size(run)


def test_every_kind_of_drive_is_in_balance():
    run = _run(cases.driven(), t0=0.3)
    assert np.ptp(run.energy.work) > 0.1 * _size(run)
    assert np.abs(run.energy.balance).max() < 30 * TOLERANCE * _size(run)


def test_forces_with_internal_states_are_in_balance():
    run = _run(cases.STATE_SYSTEMS["struts"](), end=0.2)
    assert np.ptp(run.energy.work) > 0.01 * _size(run)
    assert np.abs(run.energy.balance).max() < 30 * TOLERANCE * _size(run)


# ---------------------------------------------------------------- each alone

P, Q = force_cases.P, force_cases.Q
D = np.array((1.0, 0.3, 2.0))


def _points(states: Any, *where: Any) -> tuple[Any, Any]:
    """Velocity and position of a point of b relative to one of a, in space."""
    x, v = [], []
    for name, at in zip("ab", where, strict=True):
        body = states[name]
        arm = body.orientation.apply(at)
        spin = body.orientation.apply(body.angular_velocity)
        x.append(body.position + arm)
        v.append(body.velocity + np.cross(spin, arm))
    return v[1] - v[0], x[1] - x[0]


def _spins(states: Any) -> tuple[Any, Any]:
    """Angular velocities of a and b in space."""
    a, b = (states[name].orientation.apply(states[name].angular_velocity) for name in "ab")
    return a, b


def _about(states: Any, axis: Any) -> Any:
    """The angular velocity of b relative to a about an axis of a."""
    a, b = _spins(states)
    return np.einsum("mi,mi->m", b - a, states["a"].orientation.apply(axis))


def _on_a(states: Any, vectors: Any) -> Any:
    """Components in the frame of a."""
    return states["a"].orientation.inv().apply(vectors)


def _in_line(states: Any) -> Any:
    v, x = _points(states, P, Q)
    return np.einsum("mi,mi->m", v, x) / np.linalg.norm(x, axis=1)


def _twist(states: Any) -> Any:
    """The rate of theta = sin(phi) n, the vector of R_b^T R_a from where it began."""
    A, B = (states[name].orientation.as_matrix() for name in "ab")
    w = np.subtract(*_spins(states))
    zero = np.zeros(len(w))
    W = np.array([[zero, -w[:, 2], w[:, 1]], [w[:, 2], zero, -w[:, 0]], [-w[:, 1], w[:, 0], zero]])
    rate = np.einsum("mji,jkm,mkl,ln->min", B, W, A, A[0].T @ B[0])
    return 0.5 * np.array([rate[:, i - 1, i - 2] - rate[:, i - 2, i - 1] for i in range(3)]).T


def _user_damper(t: float, x: Any, out: Any) -> None:
    out[:] = 0.0
    out[0:3] = -0.7 * x[24:27]


HINGE: dict[str, Any] = {"at_a": P, "at_b": Q, "axis_a": force_cases.AXIS_A[:, 2], "axis_b": force_cases.AXIS_B[:, 2]}


def _hinged(make: Any) -> Any:
    """Forces about, or along, the axis of a joint that the system has."""

    def build(kind: Any) -> rbdae.System:
        system, a, b = force_cases.two_bodies()
        joint = system.add_joint(kind(a, b, **HINGE))
        system.add_force(make(joint))
        return system

    return build


def _free(make: Any) -> Any:
    def build(kind: Any) -> rbdae.System:
        system, a, b = force_cases.two_bodies()
        system.add_force(make(a, b))
        return system

    return build


def _wave(t: Any) -> Any:
    return 3.0 + np.cos(2.0 * t)


AXIS = force_cases.AXIS_A[:, 2]
ALONE: dict[str, tuple[Any, Any, Any]] = {
    "bushing's damper": (
        None,
        _free(lambda a, b: Bushing(a, b, stiffness=20.0, damping=D, at_a=P, at_b=Q)),
        lambda t, s: -(_points(s, P, Q)[0] ** 2 @ D),
    ),
    "bushing's damper about axes": (
        None,
        _free(lambda a, b: Bushing(a, b, stiffness=20.0, rotational_damping=0.8)),
        lambda t, s: -0.8 * (_twist(s) ** 2).sum(1),
    ),
    "damper": (
        None,
        _free(lambda a, b: SpringDamper(a, b, stiffness=20.0, damping=2.0, length=0.5, at_a=P, at_b=Q)),
        lambda t, s: -2.0 * _in_line(s) ** 2,
    ),
    "actuator": (
        None,
        _free(lambda a, b: SpringDamper(a, b, stiffness=20.0, length=0.5, force=_wave, at_a=P, at_b=Q)),
        lambda t, s: -_wave(t) * _in_line(s),
    ),
    "torsional damper": (
        Revolute,
        _hinged(lambda j: TorsionalSpringDamper(j, stiffness=20.0, damping=2.0)),
        lambda t, s: -2.0 * _about(s, AXIS) ** 2,
    ),
    "torque of a torsional spring": (
        Revolute,
        _hinged(lambda j: TorsionalSpringDamper(j, stiffness=20.0, torque=_wave)),
        lambda t, s: _wave(t) * _about(s, AXIS),
    ),
    "damper along a joint": (
        Prismatic,
        _hinged(lambda j: TranslationalSpringDamper(j, stiffness=20.0, damping=2.0)),
        lambda t, s: -2.0 * _along(s) ** 2,
    ),
    "force along a joint": (
        Prismatic,
        _hinged(lambda j: TranslationalSpringDamper(j, stiffness=20.0, force=_wave)),
        lambda t, s: _wave(t) * _along(s),
    ),
    "friction": (Revolute, _hinged(lambda j: Friction(j, 1.3)), lambda t, s: -1.3 * _about(s, AXIS) ** 2),
    "friction along a joint": (Prismatic, _hinged(lambda j: Friction(j, 0.7)), lambda t, s: -0.7 * _along(s) ** 2),
    "motor": (Revolute, _hinged(lambda j: Motor(j, torque=_wave)), lambda t, s: _wave(t) * _about(s, AXIS)),
    "constant motor": (Revolute, _hinged(lambda j: Motor(j, torque=2.0)), lambda t, s: 2.0 * _about(s, AXIS)),
    "force of time": (
        None,
        _free(lambda a, b: Force(a, lambda t: (_wave(t), 0.0, 0.0))),
        lambda t, s: _wave(t) * s["a"].velocity[:, 0],
    ),
    "thrust": (
        None,
        _free(lambda a, b: Force(a, (0.0, 2.0, 0.0), frame="body")),
        lambda t, s: 2.0 * _on_a(s, s["a"].velocity)[:, 1],
    ),
    "torque": (None, _free(lambda a, b: Torque(a, (0.0, 2.0, 1.0))), lambda t, s: _spins(s)[0] @ (0.0, 2.0, 1.0)),
    "body torque": (
        None,
        _free(lambda a, b: Torque(a, (0.0, 2.0, 1.0), frame="body")),
        lambda t, s: s["a"].angular_velocity @ (0.0, 2.0, 1.0),
    ),
    "dry friction": (
        Prismatic,
        _hinged(lambda j: Coulomb(j, 0.3, normal=5.0, velocity=0.5)),
        lambda t, s: -1.5 * np.tanh(_along(s) / 0.5) * _along(s),
    ),
    "stop": (
        Prismatic,
        _hinged(lambda j: Limit(j, high=-10.0, stiffness=3.0, exponent=1.0)),
        lambda t, s: -3.0 * (_apart(s) + 10.0) * _along(s),
    ),
    "contact": (
        None,
        _free(lambda a, b: Contact(a, b, radius=10.0, stiffness=3.0, exponent=1.0, at_a=P, at_b=Q)),
        lambda t, s: 3.0 * (10.0 - np.linalg.norm(_points(s, P, Q)[1], axis=1)) * _in_line(s),
    ),
    "user": (
        None,
        _free(lambda a, b: UserForce((a, b), _user_damper)),
        lambda t, s: -0.7 * ((s["a"].velocity + _offset(s)) ** 2).sum(1),
    ),
}
"""Forces whose work is that of one element: joint, system, and the power by what its docstring says."""


def _along(states: Any) -> Any:
    """The rate of the displacement of a prismatic joint along its axis, which both bodies have."""
    v, x = _points(states, P, Q)
    turning = np.cross(_spins(states)[0], x)
    return np.einsum("mi,mi->m", v - turning, states["a"].orientation.apply(AXIS))


def _apart(states: Any) -> Any:
    """That displacement."""
    return np.einsum("mi,mi->m", _points(states, P, Q)[1], states["a"].orientation.apply(AXIS))


def _offset(states: Any) -> Any:
    """What the centre of mass of a, where a user's force has its point, moves beside the origin."""
    return np.cross(_spins(states)[0], states["a"].orientation.apply((0.2, 0.3, -0.1)))


def test_every_force_is_alone_somewhere():
    forces = {getattr(rbdae.forces, name) for name in rbdae.forces.__all__}
    bases = {rbdae.forces.AbstractForce, rbdae.forces.AbstractPairForce}
    made = {one for one in forces if isinstance(one, type) and issubclass(one, rbdae.forces.AbstractForce)} - bases
    assert made == {type(force) for joint, build, _ in ALONE.values() for force in build(joint).forces}


@pytest.mark.parametrize("name", [*ALONE])
def test_the_work_of_each_alone_is_its_power_over_time(name):
    """Simpson's rule on 400 times, with the power from velocities as its docstring has it: a damper that counts as
    conservative has no work."""
    joint, build, power = ALONE[name]
    run = _run(build(joint), end=0.2, t_eval=np.linspace(0.0, 0.2, 401))
    values = power(run.t, run.states)
    h = run.t[1] - run.t[0]
    work = h / 3.0 * np.cumsum(values[:-2:2] + 4.0 * values[1:-1:2] + values[2::2])
    assert np.abs(run.energy.work[2::2] - work).max() < 1e-6 * np.abs(work).max()
    assert np.abs(run.energy.balance).max() < 1e-2 * np.abs(work).max()


# ---------------------------------------------------------------- closed forms


def test_a_torque_with_a_jump_is_integrated():
    """On for half a second: the steps that meet the jump are no obstacle."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    wheel = system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0), angular_velocity=(0.0, 0.0, 3.0))
    axle = system.add_joint(Revolute(system.ground, wheel, axis_a=(0, 0, 1), axis_b=(0, 0, 1)))
    system.add_force(Motor(axle, torque=lambda t: 2.0 * float(t < 0.5)))
    run = _run(system, end=1.0, tolerance=1e-7)
    np.testing.assert_allclose(run.energy.work[-1], 2.0 * (1.5 + 0.125), rtol=1e-5)


def test_every_segment_is_read_with_its_own_chart():
    """A force at a point of a tumbling body whose chart is centred again five times: its power depends on the attitude.
    Read by a neighbour's chart, the balance is off by a sixth of the work."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    still = {"position": (0.0, 0.0, 0.0), "velocity": (0.0, 0.0, 0.0)}
    ball = system.add_body("ball", mass=1.0, inertia=(1.0, 1.5, 2.0), angular_velocity=(6.0, 2.0, -3.0), **still)
    system.add_force(Force(ball, lambda t: (3.0, -1.0, 2.0), at=(0.3, -0.2, 0.5)))
    run = _run(system, end=2.0, rotation="rodrigues", on_singularity="switch")
    assert run.stats.restarts == 5
    assert np.abs(run.energy.balance).max() < 30 * TOLERANCE * _size(run)


def test_output_times_and_files_change_nothing(tmp_path):
    whole = _run(rbdae.models.driven_pendulum(), solver="scipy:RK45")
    run = _run(rbdae.models.driven_pendulum(), solver="scipy:RK45", t_eval=[0.11, 0.23, 0.5])
    k = np.argmin(np.abs(whole.t - 0.5))
    bound = 10 * TOLERANCE * _size(whole)
    first = np.interp(0.11, whole.t, whole.energy.balance)
    assert abs(run.energy.balance[-1] - (whole.energy.balance[k] - first)) < bound
    assert run.energy.balance[0] == 0.0 and run.energy.work.shape == (3,)
    again = rbdae.load(run.save(tmp_path / "run"), run.problem)
    assert np.array_equal(again.energy.balance, run.energy.balance)


# ---------------------------------------------------------------- what it sees


def test_it_sees_energy_that_comes_from_nowhere():
    """A jump of the velocities by a part in a million between two runs that are read as one."""
    run = _run(rbdae.models.driven_pendulum())
    y = run.y.copy()
    half = len(y) // 2
    y[half:, run.problem.layout.v] *= 1.0 + 1e-6
    kinetic = run.energy.kinetic
    balance = replace(run, y=y).energy.balance
    jump = 2e-6 * kinetic[half]
    assert abs(balance[half] - jump) < 0.1 * jump
    assert np.abs(balance[: half - 1]).max() < 0.01 * jump


def test_a_problem_that_does_not_know_its_forces_is_refused_by_name():
    run = rbdae.solve(toy.Pendulum(), (0.0, 0.1), solver="scipy:RK45")
    assert run.energy.total.shape == run.t.shape
    with pytest.raises(TypeError, match=r"only a rbdae.Problem knows the work .* not <toy.Pendulum"):
        _ = run.energy.balance

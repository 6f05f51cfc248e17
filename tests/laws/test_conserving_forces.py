"""Conserving steps with forces along angles, drives, the user's forces and redundant loops: balances, momentum, order.

Work is computed here from the states alone: angles over turns from orientations, energies from velocities.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Any

import cases
import numpy as np
import pytest
import test_conserving as schemes
from conserving import newton_slopes, taken
from inside import dropping

import rbdae
from rbdae.drives import DrivenRod, PointMotion, PrescribedAngle, PrescribedDisplacement
from rbdae.forces import Friction, Motor, TorsionalSpringDamper, UserForce
from rbdae.joints import Cylindrical, Revolute

AXIS = np.array((0.0, 0.6, 0.8))
HINGE: dict[str, Any] = {"at_a": (1.0, 0.0, 0.0), "at_b": (-1.0, 0.0, 0.0), "axis_a": AXIS, "axis_b": AXIS}
MASSES = (1.0, 2.0)
INERTIAS = np.array(((2.0, 2.5, 3.0), (3.0, 3.75, 4.5)))


def pair(joint: Any = Revolute, spin: float = 2.0) -> rbdae.System:
    """Two bodies, free in space, on one joint, about whose axis they turn."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    a, b = (
        system.add_body(
            f"b{k}",
            mass=MASSES[k],
            inertia=INERTIAS[k],
            position=(2.0 * k, 0.0, 0.0),
            velocity=(0.1, 0.2 * k, 0.3),
            angular_velocity=np.array((0.3, -0.2, 0.1)) + (spin * AXIS if k else 0.0),
        )
        for k in range(2)
    )
    system.add_joint(joint(a, b, **HINGE))
    return system


problem_of = partial(schemes.problem_of, scheme="QUAT.EM-R")


def run(system: rbdae.System | rbdae.Problem, t_end: float, step: float, **options: Any) -> rbdae.Solution:
    return schemes.run(system, "QUAT.EM-R", t_end, step, **options)


def kinetic(states: Any) -> Any:
    """Kinetic energies from velocities."""
    out = 0.0
    for k in range(2):
        s = states[f"b{k}"]
        out = out + 0.5 * MASSES[k] * (s.velocity**2).sum(1) + 0.5 * (s.angular_velocity**2 @ INERTIAS[k])
    return out


def angle(found: rbdae.Solution) -> Any:
    """The angle of the hinge at the steps, over turns; between steps it is less than half a turn."""
    joint = found.problem.system.joints[0]
    a, b = (found.states[name].orientation for name in ("b0", "b1"))
    one, two = a.apply(joint.normal_a.copy()), b.apply(joint.normal_b.copy())
    across = a.apply(np.cross(joint.axis_a, joint.normal_a))
    return np.unwrap(np.arctan2((across * two).sum(1), (one * two).sum(1)))


def momentum_error(found: rbdae.Solution) -> float:
    L = found.momentum.angular
    P = found.momentum.linear
    return float(max(np.abs(L - L[0]).max() / np.linalg.norm(L[0]), np.abs(P - P[0]).max() / np.linalg.norm(P[0])))


# ---------------------------------------------------------------- angles


def test_a_torsional_spring_over_turns():
    """Energy with the potential of the angle that is counted here, momentum, and the winding: a soft spring is wound
    up by more than two turns, and unwinds."""
    system = pair(spin=9.0)
    system.add_force(TorsionalSpringDamper(system.joints[0], stiffness=0.8, angle=0.3))
    found = run(system, 20.0, 0.02)
    phi = angle(found)
    assert np.ptp(phi) > 4.0 * math.pi
    total = kinetic(found.states) + 0.4 * (phi - 0.3) ** 2
    assert np.abs(total - total[0]).max() < 1e-12 * total[0]
    assert np.abs(found.energy.total - total).max() < 1e-12 * total[0]
    assert momentum_error(found) < 1e-12
    np.testing.assert_allclose(found.y[:, found.problem.layout.s][:, 0], phi, rtol=0, atol=1e-12)
    assert found.stats.evaluations <= 3.2 * found.stats.steps


ANGULAR: dict[str, tuple[Any, Any]] = {
    "motor": (
        lambda joint: [Motor(joint, torque=lambda t: 3.0 * math.sin(2.0 * t))],
        lambda t, h, d, mean: 3.0 * math.sin(2.0 * (t + 0.5 * h)) * d,
    ),
    "constant motor": (lambda joint: [Motor(joint, torque=1.5)], lambda t, h, d, mean: 1.5 * d),
    "friction": (lambda joint: [Friction(joint, 0.7)], lambda t, h, d, mean: -0.7 * d * d / h),
    "spring": (
        lambda joint: [TorsionalSpringDamper(joint, stiffness=40.0, damping=2.0, angle=-0.4, torque=math.cos)],
        lambda t, h, d, mean: math.cos(t + 0.5 * h) * d - 2.0 * d * d / h - 40.0 * (mean + 0.4) * d,
    ),
    "all": (
        lambda joint: [
            TorsionalSpringDamper(joint, stiffness=4.0, damping=0.2, angle=-0.4, torque=lambda t: math.cos(3.0 * t)),
            Motor(joint, torque=lambda t: 2.0 * t),
            Friction(joint, 0.1),
        ],
        lambda t, h, d, mean: (
            (math.cos(3.0 * (t + 0.5 * h)) + 2.0 * (t + 0.5 * h)) * d - 0.3 * d * d / h - 4.0 * (mean + 0.4) * d
        ),
    ),
}
"""Forces about the axis of a joint, and their work in a step from t, with the increment d and the mean of the angle."""


def with_forces(name: str) -> rbdae.System:
    system = pair()
    for force in ANGULAR[name][0](system.joints[0]):
        system.add_force(force)
    return system


@pytest.mark.parametrize("name", [*ANGULAR])
def test_the_work_of_forces_about_an_axis(name):
    """The change of the kinetic energy is the torque times the increment of the angle, in each of 300 steps; internal
    forces leave momentum alone."""
    h, work = 0.02, ANGULAR[name][1]
    found = run(with_forces(name), 300 * h, h)
    phi, T = angle(found), kinetic(found.states)
    done = [work(t, h, two - one, 0.5 * (one + two)) for t, one, two in zip(found.t, phi, phi[1:], strict=False)]
    assert np.abs(np.diff(T) - done).max() < 1e-12 * T.max()
    assert abs(T[-1] - T[0] - sum(done)) < 1e-12 * T.max()
    assert np.abs(done).sum() > 0.1 * T[0]
    assert momentum_error(found) < 1e-12


# ---------------------------------------------------------------- drives


SWING = (lambda t: 0.5 * math.sin(2.0 * t), lambda t: math.cos(2.0 * t), lambda t: -2.0 * math.sin(2.0 * t))
TURN = (lambda t: 3.0 * t + 0.5 * t * t, lambda t: 3.0 + t, lambda t: 1.0)
LENGTH = (
    lambda t: 2.0 + 0.3 * math.sin(2.0 * t),
    lambda t: 0.6 * math.cos(2.0 * t),
    lambda t: -1.2 * math.sin(2.0 * t),
)
CIRCLE = (
    lambda t: np.array((0.2 * math.cos(t) - 0.2, 0.2 * math.sin(t), 0.1 * t)),
    lambda t: np.array((-0.2 * math.sin(t), 0.2 * math.cos(t), 0.1)),
    lambda t: np.array((-0.2 * math.cos(t), -0.2 * math.sin(t), 0.0)),
)


def with_angle(law: Any) -> rbdae.System:
    system = pair()
    system.add_joint(PrescribedAngle(system.joints[0], law))
    return system


def with_displacement() -> rbdae.System:
    system = pair(Cylindrical)
    system.add_joint(PrescribedDisplacement(system.joints[0], SWING))
    return system


def with_rod() -> rbdae.System:
    system = pair()
    a, b = system.bodies
    system.add_joint(DrivenRod(a, b, LENGTH, at_a=(0.0, 1.0, 0.0), at_b=(0.0, 1.0, 0.0)))
    return system


def with_point() -> rbdae.System:
    system = pair()
    system.add_joint(PointMotion(system.bodies[0], system.ground, CIRCLE))
    return system


DRIVEN: dict[str, tuple[Any, Any, Any]] = {
    "swing": (lambda: with_angle(SWING), SWING[0], lambda s0, s1: -2.0 * math.sin(0.5 * (s1 - s0))),
    "turn": (lambda: with_angle(TURN), TURN[0], lambda s0, s1: -2.0 * math.sin(0.5 * (s1 - s0))),
    "displacement": (with_displacement, SWING[0], lambda s0, s1: s1 - s0),
    "rod": (with_rod, LENGTH[0], lambda s0, s1: 0.5 * (s1**2 - s0**2)),
    "point": (with_point, CIRCLE[0], lambda s0, s1: s1 - s0),
}
"""Systems whose last joint is a drive, its law, and the increments of what its multipliers belong to."""


@pytest.mark.parametrize("name", [*DRIVEN])
def test_the_work_of_drives(name):
    """In each of 200 steps the energy changes by the multiplier of the drive times the increment of what it prescribes,
    the joint beside it does no work, and the drive holds at the ends; a drive between the bodies leaves the momentum
    of both alone."""
    make, law, increment = DRIVEN[name]
    problem = problem_of(make())
    h = 0.02
    t, y, la = taken(problem, "QUAT.EM-R", h, 200)
    states = problem.states(t, y)
    T = kinetic(states)
    s = np.reshape([law(time) for time in t], (len(t), -1))
    q = np.array([[increment(*ends) for ends in zip(*two, strict=True)] for two in pairwise(s)])
    work = -(la[:, -q.shape[1] :] * q).sum(1)
    assert np.abs(np.diff(T) - work).max() < 3e-12 * T.max()
    assert np.abs(work).sum() > 0.1 * T[0]
    assert np.abs(problem.constraints(t, y).position).max() < 1e-13
    if name != "point":
        L = problem.momentum(t, y).angular
        assert np.abs(L - L[0]).max() < 1e-12 * np.linalg.norm(L[0])


# ---------------------------------------------------------------- the user's forces

ENDS = np.zeros((3, 24))
"""The vector between a point of the first body and one of the second, as rows over the natural coordinates."""
for _k in range(3):
    ENDS[_k, [_k, 3 + _k, 12 + _k, 15 + _k]] = 1.0, 0.5, -1.0, 0.7


def nonlinear(t: float, x: Any, out: Any) -> None:
    """A spring with stiffness 2 + d . d - sin t, and a damper along it, between the two points."""
    d, rate = ENDS @ x[:24], ENDS @ x[24:]
    out[:] = -ENDS.T @ ((2.0 + d @ d - math.sin(t) + 0.3 * (d @ rate)) * d)


def with_user_force() -> rbdae.System:
    system = pair()
    system.add_force(UserForce(system.bodies, nonlinear))
    return system


def test_the_work_of_a_users_force():
    """F at the mean, its rates and the middle of the step: work F . dZ in each step, and momentum, as F comes from
    vectors between the bodies."""
    h = 0.02
    found = run(with_user_force(), 200 * h, h)
    Z = found.problem.natural(found.t, found.y)[:, :, :12].reshape(len(found.t), 24)
    done = []
    for t, one, two in zip(found.t, Z, Z[1:], strict=False):
        F = np.zeros(24)
        nonlinear(t + 0.5 * h, np.concatenate([0.5 * (one + two), (two - one) / h]), F)
        done.append(F @ (two - one))
    T = kinetic(found.states)
    assert np.abs(np.diff(T) - done).max() < 1e-12 * T.max()
    assert np.abs(done).sum() > 0.1 * T[0]
    assert momentum_error(found) < 1e-12


# ---------------------------------------------------------------- order, tangents, code

SYSTEMS: dict[str, Any] = {
    "spring": lambda: with_forces("spring"),
    "about an axis": lambda: with_forces("all"),
    "user": with_user_force,
    **{f"drive: {name}": make for name, (make, _, _) in DRIVEN.items()},
}


def check_order_and_tangent(make: Any) -> None:
    """Of second order towards DOP853; the slope of u -> u - A^-1 r(u) is zero where r = 0 if and only if A = dr/du."""
    problem = rbdae.formulate(make(), "index-0", consistent="project")
    exact = rbdae.solve(problem, (0.0, 0.4), solver="rbdae:dop853", rtol=1e-12, atol=1e-12).states
    of, errors = problem_of(make()), []
    for h in (0.01, 0.005):
        found = run(of, 0.4, h)
        assert found.stats.evaluations <= 4.2 * found.stats.steps
        apart = [
            getattr(found.states[b], x)[-1] - getattr(exact[b], x)[-1] for b in exact for x in ("position", "velocity")
        ]
        errors.append(np.abs(apart).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert np.abs(newton_slopes(of, "QUAT.EM-R", 0.1)).max() < 1e-9


@pytest.mark.parametrize("name", [*SYSTEMS])
def test_order_two_and_the_exact_tangent(name):
    check_order_and_tangent(SYSTEMS[name])


@pytest.mark.parametrize("name", ["about an axis", "user", "drive: turn", "drive: rod"])
def test_compositions_are_of_order_four(name):
    """Stages of negative size take windings, laws and drives backwards in time. Positions: velocities have a part of
    second order off the constraints."""
    problem = rbdae.formulate(SYSTEMS[name](), "index-0", consistent="project")
    exact = rbdae.solve(problem, (0.0, 0.8), solver="rbdae:dop853", rtol=1e-13, atol=1e-13).states["b1"].position[-1]
    runs = [run(SYSTEMS[name](), 0.8, h, order=4) for h in (0.04, 0.02)]
    errors = [np.abs(found.states["b1"].position[-1] - exact).max() for found in runs]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.1)


@pytest.mark.parametrize("name", ["about an axis", "user", "drive: turn", "drive: displacement"])
def test_plain_code_takes_the_same_steps(name):
    one, two = (run(problem_of(SYSTEMS[name](), code=code), 0.3, 0.01) for code in ("auto", "plain"))
    assert (one.stats.code, two.stats.code) == ("machine", "plain")
    np.testing.assert_allclose(one.y, two.y, rtol=0, atol=1e-11 * np.abs(one.y).max())


@pytest.mark.parametrize("name", ["all", "drive: turn", "drive: rod"])
def test_director_momenta_have_the_same_balances(name):
    """DIR.EM: the work about the axis in each step, drives at the ends, momentum; its kinetic energy is that of nine
    director velocities."""
    h = 0.02
    system = with_forces("all") if name == "all" else SYSTEMS[name]()
    found = run(problem_of(system, rotation="directors"), 200 * h, h)
    assert found.stats.evaluations <= 3.2 * found.stats.steps
    assert np.abs(found.drift.position).max() < 1e-12
    L = found.momentum.angular
    assert np.abs(L - L[0]).max() < 1e-12 * np.linalg.norm(L[0])
    if name == "all":
        phi, T = angle(found), found.energy.kinetic
        work = ANGULAR["all"][1]
        ends = zip(found.t, pairwise(phi), strict=False)
        done = [work(t, h, two - one, 0.5 * (one + two)) for t, (one, two) in ends]
        assert np.abs(np.diff(T) - done).max() < 1e-12 * T.max()


# ---------------------------------------------------------------- redundant loops


def test_redundant_loops_keep_energy():
    """The dropped equation of Bricard's mechanism holds, too, and energy, also where others are dropped in the run. It
    has one degree of freedom: energy and constraints leave no other motion."""
    best = problem_of(rbdae.models.bricard(), redundant="minimum-norm")
    one, two = run(best, 2.4, 4e-3), run(dropping(best, (16,)), 2.4, 4e-3)
    assert (one.stats.restarts, two.stats.restarts) == (0, 1)
    for found in (one, two):
        E = found.energy
        assert np.abs(E.total - E.total[0]).max() < 1e-13 * E.kinetic.max()
        assert np.abs(found.drift.position).max() < 1e-13
    np.testing.assert_allclose(two.y, one.y, rtol=0, atol=1e-10 * np.abs(one.y).max())


def test_a_redundant_four_bar_moves_as_its_twin():
    """Three of the twenty equations follow from the others."""
    one, two = (
        run(problem_of(cases.turning_four_bar(closing, pendulum=True), redundant=redundant), 2.0, 5e-3)
        for closing, redundant in (("plain", "error"), ("redundant", "minimum-norm"))
    )
    assert len(two.problem.redundant) == 3
    np.testing.assert_allclose(two.y, one.y, rtol=0, atol=1e-10 * np.abs(one.y).max())
    E = two.energy
    assert np.abs(E.total - E.total[0]).max() < 1e-12 * E.kinetic.max()
    assert np.abs(two.drift.position).max() < 1e-12

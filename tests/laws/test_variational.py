"""QUAT.VI, the variational integrator of [BS09], Appendix E: its equations, momentum, energy, order, limits."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from conserving import left, newton_slopes, rotation
from conserving_systems import JOINTS, chain, momentum_error, relative_energy
from inside import JIT
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.adapter import Reason, Unsupported
from rbdae.forces import SpringDamper
from rbdae.joints import Spherical

INERTIA = np.array([[2.0, 0.1, -0.2], [0.1, 2.5, 0.3], [-0.2, 0.3, 3.0]])
CENTER = np.array([0.1, -0.2, 0.3])
MASS, GRAVITY = 4.0, np.array([0.0, 0.0, -9.81])


def pendulum(**options: Any) -> rbdae.System:
    """A body on a pivot, in no principal axes."""
    system = rbdae.System(gravity=GRAVITY)
    given = {"orientation": Rotation.from_rotvec((0.4, 0.3, -0.8)), "angular_velocity": (1.0, -2.0, 3.0), **options}
    system.add_body("body", mass=MASS, inertia=INERTIA, pivot=(0.0, 0.0, 0.0), center_of_mass=CENTER, **given)
    return system


def problem_of(system: rbdae.System, formulation: str = "hamiltonian-eliminated", **options: Any) -> rbdae.Problem:
    return rbdae.formulate(system, formulation, velocity="momentum", **options)


def run(system: rbdae.System | rbdae.Problem, t_end: float, step: float, **options: Any) -> rbdae.Solution:
    problem = problem_of(system) if isinstance(system, rbdae.System) else system
    return rbdae.solve(problem, (problem.t0, problem.t0 + t_end), solver="rbdae:variational", step=step, **options)


def gradient(q: Any) -> Any:
    """Of V(q) = -m g . R(q) c, quadratic in q: differences are exact."""

    def potential(q: Any) -> Any:
        return -MASS * GRAVITY @ rotation(q) @ CENTER

    return np.array([0.5 * (potential(q + e) - potential(q - e)) for e in np.eye(4)])


def mass(q: Any) -> Any:
    """M4~(q) = 4 G(q)^T J G(q) of Remark 4.1."""
    G = left(q).T[1:]
    return 4.0 * G.T @ INERTIA @ G


def test_steps_solve_the_printed_equations():
    """(E1) of three nodes, and the line of the start, with multipliers along q; the state's momentum is D2 L_d."""
    h = 0.05
    found = run(pendulum(), 10 * h, h)
    q, p = found.y[:, :4], found.y[:, 4:]

    def first(q0: Any, q1: Any) -> Any:
        return mass(q1) @ q0 / h - 0.5 * h * gradient(0.5 * (q0 + q1))

    def second(q0: Any, q1: Any) -> Any:
        return mass(q0) @ q1 / h - 0.5 * h * gradient(0.5 * (q0 + q1))

    def across(q: Any, v: Any) -> float:
        return float(np.abs(v - q * (q @ v)).max())

    size = np.abs(p).max()
    for n in range(1, 10):
        assert across(q[n], second(q[n - 1], q[n]) + first(q[n], q[n + 1])) < 1e-12 * size
        assert across(q[n], second(q[n - 1], q[n]) - p[n]) < 1e-12 * size
        assert across(q[n], first(q[n], q[n + 1]) + p[n]) < 1e-12 * size
    assert across(q[0], first(q[0], q[1]) + p[0]) < 1e-12 * size
    assert np.abs((q * p).sum(axis=1)).max() < 1e-13 * size


def point(x: Any, q: Any, at: Any) -> Any:
    return x + rotation(q) @ np.asarray(at)


def test_joints_are_constraints_of_the_printed_equations():
    """What (E1) leaves at a node is in the span of the gradients of |q| = 1 and of a ball joint."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    given = {"mass": MASS, "inertia": INERTIA}
    a = system.add_body("a", **given, velocity=(1.0, 0.5, -0.2), angular_velocity=(1.0, 2.0, -1.0))
    b = system.add_body("b", **given, position=(2.0, 0.0, 0.0))
    system.add_joint(Spherical(a, b, at_a=(1.0, 0.2, 0.0), at_b=(-1.0, 0.2, 0.0)))
    h = 0.05
    y = run(problem_of(system, consistent="project"), 6 * h, h).y
    nodes = [[(row[7 * k : 7 * k + 3], row[7 * k + 3 : 7 * k + 7]) for k in range(2)] for row in y]

    def slopes(q: Any, at: Any) -> Any:
        return np.array([(point(0.0, q + e, at) - point(0.0, q - e, at)) / 2.0 for e in np.eye(4)]).T

    for before, now, after in zip(nodes, nodes[1:], nodes[2:], strict=False):
        left_over, G = [], np.zeros((5, 14))
        for k, at in enumerate(((1.0, 0.2, 0.0), (-1.0, 0.2, 0.0))):
            (x0, q0), (x1, q1), (x2, q2) = before[k], now[k], after[k]
            left_over += [*(MASS * (2.0 * x1 - x0 - x2) / h), *((mass(q0) + mass(q2)) @ q1 / h)]
            sign = 1.0 - 2.0 * k
            G[:3, 7 * k : 7 * k + 3], G[:3, 7 * k + 3 : 7 * k + 7] = sign * np.eye(3), sign * slopes(q1, at)
            G[3 + k, 7 * k + 3 : 7 * k + 7] = q1
        rest = np.array(left_over)
        assert np.abs(rest).max() > 1.0
        assert np.abs(rest - G.T @ np.linalg.lstsq(G.T, rest, rcond=None)[0]).max() < 1e-11 * MASS / h


@pytest.mark.parametrize("joint", ["", "universal", "prismatic"])
def test_the_tangent_is_exact(joint):
    """u -> u - A^-1 r(u) has no slope where r = 0 if and only if A = dr/du: by complex steps, relative to I."""
    system = chain(joint, springs=False) if joint else pendulum()
    problem = problem_of(system, consistent="project")
    assert np.abs(newton_slopes(problem, "QUAT.VI", 0.1)).max() < 1e-9


def test_the_free_body_keeps_energy_and_momentum():
    """Energy, too: y . J^-1 y of y = e0 J e + e x J e is the same for -e, because e . (e x J e) = 0."""
    found = run(rbdae.models.free_body(), 200.0, 0.01)
    assert found.success and found.stats.steps == 20_000
    assert relative_energy(found) < 1e-12
    assert momentum_error(found) < 1e-12
    assert np.abs(np.linalg.norm(found.y[:, :4], axis=1) - 1.0).max() < 1e-14


@pytest.mark.parametrize("joint", [*JOINTS])
def test_joints_keep_momentum(joint):
    """And the constraints of positions and velocities; energy errs without a trend, and the order is two."""
    problem = problem_of(chain(joint, springs=False), consistent="project")
    found = run(problem, 20.0, 0.02)
    assert momentum_error(found) < 1e-12
    assert np.abs(found.drift.position).max() < 1e-12 and np.abs(found.drift.velocity).max() < 1e-12
    assert relative_energy(found) < 1e-3
    exact = rbdae.solve(problem, (0.0, 0.5), solver="rbdae:dop853", rtol=1e-12, atol=1e-12).y[-1]
    errors = [np.abs(run(problem, 0.5, h).y[-1] - exact).max() for h in (0.01, 0.005)]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_a_closed_loop_with_weight_has_no_trend_of_energy():
    found = run(problem_of(rbdae.models.spatial_slider_crank()), 2.0, 1e-3)
    error = np.abs(found.energy.total - found.energy.total[0]) / found.energy.kinetic.max()
    assert found.success and error[1000:].max() < 1.5 * error[:1000].max() < 1.5e-3
    assert np.abs(found.drift.position).max() < 1e-12 and np.abs(found.drift.velocity).max() < 1e-10


def test_a_top_keeps_the_vertical_momentum_and_has_no_trend_of_energy():
    """A pendulum that is no top of Lagrange's: with a trend quarters of the run would err by 1 to 4."""
    errors = []
    for h in (0.02, 0.01):
        found = run(pendulum(), 200.0, h)
        L, e = found.momentum.angular[:, 2], found.energy
        assert np.abs(L - L[0]).max() < 1e-12 * np.abs(found.momentum.angular).max()
        error = np.abs(e.total - e.total[0]) / e.kinetic.max()
        parts = error.reshape(-1)[: len(error) // 4 * 4].reshape(4, -1).max(axis=1)
        assert parts.max() < 2.0 * parts.min()
        errors.append(error[: round(5.0 / h)].max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_order_two():
    """Towards DOP853, at the end and between steps, momenta, too; a free body in the gravity has its parabola."""
    times = np.array([0.25, 0.4975, 0.5])
    exact = rbdae.solve(problem_of(pendulum()), (0.0, 0.5), solver="rbdae:dop853", rtol=1e-13, atol=1e-13, t_eval=times)
    errors = [np.abs(run(pendulum(), 0.5, h, t_eval=times).y - exact.y).max() for h in (0.01, 0.005)]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    system = rbdae.System(gravity=GRAVITY)
    system.add_body("body", mass=MASS, inertia=INERTIA, velocity=(1.0, 2.0, 3.0), angular_velocity=(1.0, -2.0, 3.0))
    state = run(system, 1.0, 0.05).states["body"]
    np.testing.assert_allclose(state.position[-1], np.array((1.0, 2.0, 3.0)) + 0.5 * GRAVITY, rtol=0, atol=1e-13)
    np.testing.assert_allclose(state.velocity[-1], np.array((1.0, 2.0, 3.0)) + GRAVITY, rtol=0, atol=1e-12)


def test_figure_3_and_the_largest_step():
    """The gyro top of [BS09], section 5.2: sin(theta) = h Om_3 has no solution beyond h = 1 / 140.6 = 0.00711."""
    s, c = math.sin(math.pi / 3), math.cos(math.pi / 3)
    exact = np.array((s * math.sin(10.0), -s * math.cos(10.0), c))
    found = run(rbdae.models.gyro_top(), 1.0, 1e-3).states["top"].center_of_mass[-1] / 0.075
    assert np.linalg.norm(found - exact) == pytest.approx(6.2e-3, rel=0.02)
    assert run(rbdae.models.gyro_top(), 1.0, 0.0071).success
    failed = run(rbdae.models.gyro_top(), 1.0, 0.0072)
    assert not failed.success and failed.reason == Reason.NOT_CONVERGED
    assert "sin(theta) = step * Omega, so there is none beyond step * Omega = 1" in failed.message


@pytest.mark.parametrize("system", [pendulum, lambda: chain("revolute", springs=False)], ids=["body", "joint"])
def test_time_reversal(system, tmp_path):
    problem = problem_of(system(), consistent="project")
    n = problem.n // 2
    there = run(problem, 2.0, 0.02)
    there.save(tmp_path / "there.npz")
    y = rbdae.load(tmp_path / "there.npz").y[-1].copy()
    y[n:] *= -1.0
    end = run(dataclasses.replace(problem, start=dataclasses.replace(problem.start, y0=y)), 2.0, 0.02).y[-1].copy()
    end[n:] *= -1.0
    np.testing.assert_allclose(end, there.y[0], rtol=0, atol=1e-12 * np.abs(there.y).max())


def test_the_frame_makes_no_difference():
    """A rotation about the vertical of the start rotates the motion."""
    turn = Rotation.from_rotvec((0.0, 0.0, 0.7))
    start = Rotation.from_rotvec((0.4, 0.3, -0.8))
    one, two = run(pendulum(), 2.0, 0.05), run(pendulum(orientation=turn * start), 2.0, 0.05)
    expected = turn * one.states["body"].orientation
    assert (expected.inv() * two.states["body"].orientation).magnitude().max() < 1e-12


@pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")
@pytest.mark.parametrize("system", [pendulum, lambda: chain("universal", springs=False)], ids=["body", "joint"])
def test_generic_code_takes_the_same_steps_in_all_forms(system):
    runs = [
        run(problem_of(system(), form, code=code, consistent="project"), 0.5, 0.01)
        for form in ("hamiltonian-eliminated", "hamiltonian")
        for code in ("traced", "generic")
    ]
    for other in runs[1:]:
        np.testing.assert_allclose(
            other.y[:, : runs[0].y.shape[1]], runs[0].y, rtol=0, atol=1e-12 * np.abs(runs[0].y).max()
        )


def test_what_is_refused():
    with pytest.raises(Unsupported, match=r"QUAT.VI has no discrete form of drives"):
        run(rbdae.models.driven_pendulum(), 1.0, 0.01)
    sprung = pendulum()
    sprung.add_force(SpringDamper(sprung.ground, sprung.bodies[0], stiffness=1.0, length=1.0, at_b=(1.0, 0.0, 0.0)))
    with pytest.raises(Unsupported, match=r"QUAT.VI has no discrete form of applied forces"):
        run(sprung, 1.0, 0.01)
    with pytest.raises(Unsupported, match=r"takes .* with rotation='quaternion', velocity='momentum'"):
        run(problem_of(pendulum(), rotation="directors"), 1.0, 0.01)

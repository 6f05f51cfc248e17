"""`rbdae_papers.step_equations`: equations of a step, on steps that the solvers have taken, and by differences."""

from __future__ import annotations

import math
from typing import Any

import cases
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.rotations import quaternions
from rbdae_papers import step_equations as equations
from rbdae_papers.step_values import invariants, step_momenta, step_multipliers

INERTIA = (50.0, 42.0, 10.0)
WEIGHT, CENTER = np.array((0.0, 0.0, -110.9 * 9.81)), np.array((0.0, 0.0, 0.1))
"""Of the top of [NS], Example A, about its tip."""


def solution(solver: str, step: float, n: int = 20, **options: Any) -> Any:
    problem = rbdae.formulate(rbdae.models.heavy_top(), "hamiltonian-eliminated", velocity="momentum")
    return rbdae.solve(problem, (0.0, n * step), solver=solver, step=step, **options)


def slope(q: Any) -> Any:
    return equations.weight_gradient(q, WEIGHT, CENTER)


def middle(q: Any) -> Any:
    return slope(0.5 * (q[:-1] + q[1:]))


@pytest.fixture(scope="module")
def energy_momentum() -> Any:
    return solution("rbdae:energy-momentum", 0.01, variant="paper")


@pytest.fixture(scope="module")
def variational() -> Any:
    return solution("rbdae:variational", 0.01)


def test_invariants_are_momenta_of_the_body_and_rotations_leave_them(energy_momentum):
    """[BS09] (46)-(48) along a run, and (41)-(43)."""
    q, p = energy_momentum.y[:, :4], energy_momentum.y[:, 4:]
    size = np.abs(p).max()
    pi, eta = equations.invariants(q, p)
    Omega = energy_momentum.states["top"].angular_velocity
    np.testing.assert_allclose(pi[:, 0], 0.0, rtol=0, atol=1e-14 * size)
    np.testing.assert_allclose(pi[:, 1:], 2.0 * Omega * INERTIA, rtol=0, atol=1e-13 * size)
    np.testing.assert_allclose(eta, 1.0, rtol=0, atol=1e-15 * 3)
    L = energy_momentum.momentum.angular
    np.testing.assert_allclose(quaternions.momentum_map(q, p), L, rtol=0, atol=1e-14 * size)
    kinetic = equations.kinetic_energy(pi, INERTIA)
    np.testing.assert_allclose(kinetic, energy_momentum.energy.kinetic, rtol=1e-13)
    r = np.roll(Rotation.from_rotvec((0.3, -1.1, 0.7)).as_quat(), 1)
    turned = equations.invariants(quaternions.product(r, q), quaternions.product(r, p))
    np.testing.assert_allclose(turned.pi, pi, rtol=0, atol=1e-14 * size)


def test_masses(rng):
    """[BS09] (30)-(33), and T of (48) off the constraint q . p = 0."""
    J = cases.INERTIA
    q, p = rng.standard_normal(4), rng.standard_normal(4)
    q /= np.linalg.norm(q)
    G, E = quaternions.G(q), 0.5 * np.trace(J) * np.eye(3) - J
    M = equations.mass_matrix(q, J)
    np.testing.assert_allclose(M, 4.0 * np.trace(E) * np.eye(4) - 4.0 * G.T @ E @ G, rtol=0, atol=1e-14)
    np.testing.assert_allclose(M, 2.0 * np.trace(J) * np.outer(q, q) + 4.0 * G.T @ J @ G, rtol=0, atol=1e-14)
    inverse = equations.inverse_mass_matrix(q, J)
    np.testing.assert_allclose(M @ inverse, np.eye(4), rtol=0, atol=1e-14)
    assert equations.kinetic_energy(equations.invariants(q, p).pi, J) == pytest.approx(0.5 * p @ inverse @ p, rel=1e-13)


def test_the_gradient_of_a_weight_is_that_of_the_potential(energy_momentum, rng):
    """By differences of the problem's potential energy, off the unit sphere, too: V is quadratic there."""
    problem = energy_momentum.problem
    q = rng.standard_normal(4)

    def potential(x: Any) -> Any:
        return np.array([-WEIGHT @ (quaternions.norm(x) ** 2 * quaternions.rotate(x, CENTER))])

    np.testing.assert_allclose(slope(q), cases.differences(potential, q, 1e-3)[0], rtol=0, atol=1e-9 * 110.9)
    states = energy_momentum.y
    V = 0.5 * (states[:, :4] * slope(states[:, :4])).sum(-1)
    np.testing.assert_allclose(V, problem.energy(energy_momentum.t, states).potential, rtol=1e-12)


def test_the_rates_are_those_of_the_problem(energy_momentum):
    """[BS09] (49) with the multiplier of Remark 4.2."""
    q, p = energy_momentum.y[:, :4], energy_momentum.y[:, 4:]
    found = equations.hamiltonian_rates(q, p, INERTIA, slope(q))
    wanted = np.array(
        [energy_momentum.problem.rhs(t, y) for t, y in zip(energy_momentum.t, energy_momentum.y, strict=True)]
    )
    for part, other in zip(found, (wanted[:, :4], wanted[:, 4:]), strict=True):
        np.testing.assert_allclose(part, other, rtol=0, atol=1e-13 * np.abs(other).max())


def test_steps_of_quat_em_solve_the_printed_equations_with_the_multiplier_of_remark_4_3(energy_momentum):
    """[BS09] (51)-(53): without the multiplier what is left is along q_mean, and not small."""
    q, p = energy_momentum.y[:, :4], energy_momentum.y[:, 4:]
    size, V = np.abs(p).max(), middle(q)
    la = equations.step_multiplier(q[:-1], q[1:], V)
    given = {"inertia": INERTIA, "step": 0.01, "gradient": V}
    found = equations.energy_momentum_residual(q[:-1], p[:-1], q[1:], p[1:], multiplier=la, **given)
    assert np.abs(found.q).max() < 1e-14 and np.abs(found.p).max() < 1e-13 * size
    without = equations.energy_momentum_residual(q[:-1], p[:-1], q[1:], p[1:], **given)
    assert np.abs(without.p).max() > 1e-3 * size
    rows = np.einsum("kij,kj->ki", quaternions.G(0.5 * (q[:-1] + q[1:])), without.p)
    assert np.abs(rows).max() < 1e-13 * size
    # of a small step it is the multiplier of Remark 4.2
    errors = []
    for h in (0.01, 0.005):
        nodes = solution("rbdae:energy-momentum", h, 2, variant="paper")
        between = nodes(0.5 * h)[:4]
        exact = -between @ slope(between)
        steps = nodes.y[:2, :4]
        errors.append(abs(equations.step_multiplier(steps[0], steps[1], middle(steps)[0]) - exact))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


def test_the_tangent_of_appendix_d(energy_momentum):
    """[BS09] (D1), (D2) by differences, far from the solution, where G(R_p) counts."""
    y = energy_momentum.y
    q0, p0 = y[10, :4], y[10, 4:]
    u = np.concatenate([(0.4, -0.3, 0.9), p0 + 50.0 * np.array((1.0, -2.0, 0.5, 1.5))])
    hessian = np.array([slope(e) for e in np.eye(4)])

    def residual(u: Any) -> Any:
        q1 = quaternions.product(quaternions.from_rotation_vector(u[:3]), q0)
        qh = 0.5 * (q0 + q1)
        found = equations.energy_momentum_residual(q0, p0, q1, u[3:], inertia=INERTIA, step=0.01, gradient=slope(qh))
        return np.concatenate([found.q, quaternions.G(qh) @ found.p])

    q1 = quaternions.product(quaternions.from_rotation_vector(u[:3]), q0)
    K = equations.energy_momentum_tangent(
        q0, p0, u[:3], u[3:], inertia=INERTIA, step=0.01, gradient=slope(0.5 * (q0 + q1)), hessian=hessian
    )
    scale = np.array([1.0, 1.0, 1.0, *[np.abs(p0).max()] * 4])
    slopes = cases.differences(lambda x: residual(x * scale), u / scale, 1e-3)
    np.testing.assert_allclose((K * scale)[:4], slopes[:4], rtol=0, atol=1e-9)
    np.testing.assert_allclose((K * scale)[4:], slopes[4:], rtol=0, atol=1e-9 * np.abs(slopes[4:]).max())


def test_nodes_of_quat_vi_have_a_multiplier_along_q(variational):
    """[BS09] (E1) with la_n; the momenta of the run are those at both ends without their parts along q."""
    q, p = variational.y[:, :4], variational.y[:, 4:]
    V, size, h = middle(q), np.abs(p).max(), 0.01
    given: dict[str, Any] = {"inertia": INERTIA, "step": h}
    ends = equations.discrete_momenta(q[:-1], q[1:], gradient=V, **given)
    left_over = ends.end[:-1] - ends.start[1:]
    la = equations.node_multiplier(q[:-2], q[1:-1], q[2:], gradients=(V[:-1], V[1:]), **given)
    assert np.abs(left_over - h * la[:, None] * q[1:-1]).max() < 1e-13 * size
    assert np.abs(left_over).max() > 1e-2 * size
    for found, nodes, momenta in ((ends.start, q[:-1], p[:-1]), (ends.end, q[1:], p[1:])):
        across = found - (found * nodes).sum(-1)[:, None] * nodes
        assert np.abs(across - momenta).max() < 1e-13 * size


def test_the_discrete_momentum_map(variational):
    """J^- is the same in all steps of a free body, and its vertical component with weight."""
    q = variational.y[:, :4]
    J = equations.discrete_momentum_map(q[:-1], q[1:], inertia=INERTIA, step=0.01, gradient=middle(q))
    size = np.abs(J).max()
    assert np.ptp(J[:, 2]) < 1e-12 * size and np.ptp(J[:, 0]) > 1e-2 * size
    np.testing.assert_allclose(J, variational.momentum.angular[:-1], rtol=0, atol=1e-12 * size)
    problem = rbdae.formulate(rbdae.models.free_body(), "hamiltonian-eliminated", velocity="momentum")
    free = rbdae.solve(problem, (0.0, 0.2), solver="rbdae:variational", step=0.01).y[:, :4]
    J = equations.discrete_momentum_map(free[:-1], free[1:], inertia=(6.0, 8.0, 3.0), step=0.01)
    assert np.ptp(J, axis=0).max() < 1e-12 * np.abs(J).max()


def test_runs_have_multipliers_and_momenta_of_their_steps(energy_momentum, variational, tmp_path):
    """Those of the equations; of a body among others, in a run back in time with a shorter last step, too."""
    q = energy_momentum.y[:, :4]
    la = equations.step_multiplier(q[:-1], q[1:], middle(q))
    np.testing.assert_allclose(step_multipliers(energy_momentum)["top"], la, rtol=1e-12)
    q, V = variational.y[:, :4], middle(variational.y[:, :4])
    given: dict[str, Any] = {"inertia": INERTIA, "step": 0.01}
    la = equations.node_multiplier(q[:-2], q[1:-1], q[2:], gradients=(V[:-1], V[1:]), **given)
    J = equations.discrete_momentum_map(q[:-1], q[1:], gradient=V, **given)
    rbdae_run = rbdae.load(variational.save(tmp_path / "run.npz"), variational.problem)
    for run in (variational, rbdae_run, solution("rbdae:variational", 0.01, t_eval=[0.0, 0.2])):
        np.testing.assert_allclose(step_multipliers(run)["top"], la, rtol=1e-9)
        np.testing.assert_allclose(step_momenta(run)["top"], J, rtol=0, atol=1e-11 * np.abs(J).max())
    system = rbdae.models.heavy_top()
    system.add_body(
        "stone", mass=2.0, inertia=(1.0, 2.0, 2.5), velocity=(1.0, 0.0, 2.0), angular_velocity=(3.0, 1.0, 2.0)
    )
    problem = rbdae.formulate(system, "hamiltonian")
    back = rbdae.solve(problem, (0.0, -0.024), solver="rbdae:energy-momentum", variant="paper", step=0.005)
    at = [k for k, label in enumerate(problem.labels) if label.startswith("top.p")]
    q, p = back.y[:, at[:4]], back.y[:, at[4:]]
    la, V = step_multipliers(back)["top"], middle(q)
    for k, h in enumerate(np.diff(back.t)):
        found = equations.energy_momentum_residual(
            q[k], p[k], q[k + 1], p[k + 1], inertia=INERTIA, step=float(h), gradient=V[k], multiplier=la[k]
        )
        assert np.abs(found.p).max() < 1e-13 * np.abs(p).max()
    assert len(la) == 5 and np.diff(back.t)[-1] == pytest.approx(-0.004) and not step_multipliers(back)["stone"].any()
    back = rbdae.solve(problem, (0.0, -0.024), solver="rbdae:variational", step=0.005)
    for body, fixed in (("top", [2]), ("stone", [0, 1, 2])):
        J = step_momenta(back)[body]
        assert J.shape == (5, 3) and np.ptp(J[:, fixed], axis=0).max() < 1e-12 * np.abs(J).max()
    spin = 2.0 * back.states["stone"].angular_velocity * (1.0, 2.0, 2.5)
    pi, eta = invariants(problem, back.y)["stone"]
    np.testing.assert_allclose(pi[:, 1:], spin, rtol=0, atol=1e-13 * np.abs(spin).max())
    assert np.abs(eta - 1.0).max() < 1e-14


def midpoint_step(case: int, h: float) -> tuple[Any, Any]:
    """The first step of a run, and the equations of its start."""
    problem = rbdae.formulate(rbdae.models.rotations_top(case=case), "index-0")
    run = rbdae.solve(problem, (0.0, h), solver="rbdae:midpoint", variant="average-momentum", step=h)
    top = run.states["top"]
    start = equations.MidpointState(
        top.position[0], top.orientation[0].as_matrix(), top.velocity[0], top.angular_velocity[0]
    )
    return run, equations.MidpointStep(
        start, h, 5.0, np.array((0.8, 0.8, 1.8)), np.array((0.0, 0.0, 1.3)), np.array((0.0, 0.0, -9.81 * 5.0))
    )


@pytest.mark.parametrize("case", [1, 2])
def test_a_midpoint_step_is_that_of_the_solver(case):
    """[GR95] (341), section 11.5 with the average of momenta (310)."""
    run, step = midpoint_step(case, 1e-3)
    u = step.solved()
    assert np.abs(step.residual(u)).max() < 1e-6  # of terms of the size 2 m x / h^2 = 1e7 N
    end, top = step.end(u), run.states["top"]
    np.testing.assert_allclose(end.x, top.position[1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(end.R, top.orientation[1].as_matrix(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(end.v, top.velocity[1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(end.Omega, top.angular_velocity[1], rtol=0, atol=1e-10)


def test_the_midpoint_tangent(rng):
    """[GR95] (343), (344) by differences, far from the solution, about no principal axes."""
    h = 0.1
    R = Rotation.from_rotvec((0.4, -0.8, 0.3)).as_matrix()
    start = equations.MidpointState(rng.standard_normal(3), R, rng.standard_normal(3), rng.standard_normal(3))
    step = equations.MidpointStep(start, h, 2.0, cases.INERTIA, np.array((0.3, -0.5, 1.1)), np.array((1.0, 2.0, -3.0)))
    u = np.array([0.3, -1.0, 0.7, 0.4, -0.3, 0.5, 2.0, -30.0, 40.0])
    slopes = -cases.differences(step.residual, u, 1e-3)
    np.testing.assert_allclose(step.tangent(u), slopes, rtol=0, atol=1e-9 * np.abs(slopes).max())


def test_the_equations_of_the_top():
    """[GR95] (292)-(294), (299)-(301) at the start of case 2: lambda from the first line balances the second."""
    problem = rbdae.formulate(rbdae.models.rotations_top(case=2), "index-0")
    y = problem.y0
    top, energy, momentum = problem.states(0.0, y)["top"], problem.energy(0.0, y), problem.momentum(0.0, y)
    R, Om, J, X = top.orientation.as_matrix(), top.angular_velocity, np.diag((0.8, 0.8, 1.8)), (0.0, 0.0, 1.3)
    assert np.abs(top.position - R @ X).max() < 1e-14
    assert energy.kinetic == pytest.approx(0.5 * Om @ J @ Om + 2.5 * top.velocity @ top.velocity, rel=1e-13)
    assert energy.potential == pytest.approx(5.0 * 9.81 * top.position[2], rel=1e-13)
    np.testing.assert_allclose(momentum.linear, 5.0 * top.velocity, rtol=1e-13)
    np.testing.assert_allclose(momentum.angular, R @ J @ Om + np.cross(top.position, 5.0 * top.velocity), rtol=1e-12)
    rates = problem.rhs(0.0, y)
    acceleration, change = rates[7:10], rates[10:13]
    la = 5.0 * acceleration + np.array((0.0, 0.0, 9.81 * 5.0))
    rest = J @ change + np.cross(Om, J @ Om) + np.cross(X, R.T @ la)
    assert np.abs(rest).max() < 1e-11 * np.abs(la).max()

"""Projection in the metric of the identity, [NS] (64); orthonormal frames, Remark 6.3; momenta with both
constraints."""

from __future__ import annotations

import cases
import numpy as np
import pytest
from cases import Pairing
from inside import Mat, Vec

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae.rotations import quaternions
from rbdae_papers.null_space.orthonormal import orthonormalised

IDENTITY = rbdae.Projection(metric="identity")
METHODS = ("spurrier-klumpp", "polar", "gram-schmidt", "logarithm")


def _pushed(problem: rbdae.Problem, rng: np.random.Generator) -> Vec:
    y = problem.y0.copy()
    v = problem.layout.v
    y[v] += 0.5 * rng.standard_normal(v.stop - v.start)
    return y


@pytest.mark.parametrize("system", ["skew-top", "C", "tied"])
@pytest.mark.parametrize(
    "pairing",
    [
        Pairing("index-2", "directors", "coordinate"),
        Pairing("index-1", "quaternion", "coordinate"),
        Pairing("index-0", "quaternion", "angular"),
        Pairing("projected-1", "quaternion", "coordinate"),
    ],
    ids=str,
)
def test_velocities_are_the_nearest_in_the_metric_asked_for(system, pairing, rng):
    """(62, V): M (v - v*) is a combination of the constraints' gradients, with M = I or the mass matrix."""
    problem = cases.problem(system, pairing)
    y = _pushed(problem, rng)
    v = problem.layout.v
    out, by_mass = problem.project(0.0, y, IDENTITY), problem.project(0.0, y)
    assert np.abs(problem.constraints(0.0, out).velocity).max(initial=0.0) < 1e-12
    found = problem.matrices(0.0, out)
    for state, M in ((out, np.eye(v.stop - v.start)), (by_mass, found.M)):
        moved = M @ (state - y)[v]
        eta = np.linalg.lstsq(found.G.T, moved, rcond=None)[0]
        assert np.abs(moved - found.G.T @ eta).max() < 1e-11 * max(1.0, np.abs(M).max())
    constrained = pairing.velocity != "angular" or problem.system.joints
    single = pairing.rotation == "quaternion" and not problem.system.joints
    # of a single quaternion M p = 0, so that both are (63, V)
    assert (np.abs(out - by_mass).max() > 1e-3) == bool(constrained and not single)
    assert np.array_equal(problem.project(0.0, out, IDENTITY), out)


def test_director_velocities_are_those_of_the_algorithm(rng):
    """[NS] section 6, (V) (a)-(c): Dphi(p) (I - p p^T) Dphi(p)^+ ddot*, which is the solution of (64, V)."""
    problem = rbdae.formulate(cases.skew_top(), "index-0", rotation="directors", velocity="coordinate")
    y = _pushed(problem, rng)
    p = quaternions.from_matrix(y[:9].reshape(3, 3).T)
    D = cases.differences(lambda q: quaternions.to_matrix(q).T.reshape(9) * (q @ q), p, 1e-3)
    rate = np.linalg.pinv(D) @ y[9:]
    wanted = D @ (rate - p * (p @ rate))
    np.testing.assert_allclose(problem.project(0.0, y, IDENTITY)[9:], wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("system", ["C", "tied", "branched"])
def test_positions_reach_the_joints_by_either_metric(system, rng):
    problem = cases.problem(system, Pairing("index-0", "directors", "coordinate"))
    y = problem.y0.copy()
    q = problem.layout.q
    y[q] += 1e-3 * rng.standard_normal(q.stop)
    ends = [problem.project(0.0, y, rbdae.Projection(metric=m, max_iterations=30)) for m in ("mass", "identity")]
    for end in ends:
        g = problem.constraints(0.0, end)
        assert max(np.abs(g.position).max(), np.abs(g.velocity).max()) < 1e-12
    assert np.abs(ends[1] - ends[0]).max() > 1e-5


# ---------------------------------------------------------------- orthonormal frames


def _drifted(eps: float, rng: np.random.Generator) -> tuple[Mat, Mat]:
    """(I + S) R, S symmetric of the size eps, and R."""
    R = cases.Rotation.random(20, random_state=3).as_matrix()
    S = rng.standard_normal((20, 3, 3))
    return (np.eye(3) + eps * (S + np.swapaxes(S, -1, -2))) @ R, R


@pytest.mark.parametrize("method", METHODS)
def test_frames_are_rotations_and_rotations_stay(method, rng):
    M, R = _drifted(1e-3, rng)
    for stack in (M, M[0], M.reshape(4, 5, 3, 3)):
        found = orthonormalised(stack, method)
        assert found.shape == stack.shape
        assert np.abs(found @ np.swapaxes(found, -1, -2) - np.eye(3)).max() < 3e-14
        assert np.linalg.det(found).min() > 0.0
    np.testing.assert_allclose(orthonormalised(R, method), R, rtol=0, atol=3e-13)


def test_a_stack_is_every_matrix_alone(rng):
    """Few matrices are taken one by one, many entry by entry; each component is the largest one of some."""
    R = cases.Rotation.random(40, random_state=7).as_matrix()
    M = R + 1e-3 * rng.standard_normal(R.shape)
    largest = np.abs(cases.Rotation.from_matrix(R).as_quat()).argmax(axis=1)
    assert set(largest) == {0, 1, 2, 3}
    alone = np.array([orthonormalised(matrix) for matrix in M])
    np.testing.assert_allclose(orthonormalised(M), alone, rtol=0, atol=3e-15)
    np.testing.assert_allclose(orthonormalised(M.reshape(5, 8, 3, 3)), alone.reshape(5, 8, 3, 3), rtol=0, atol=3e-15)


def test_only_the_polar_factor_solves_the_nonlinear_system(rng):
    """[NS] (64, P): d + G_d^T chi = d*, that is M = (I + chi) R. Spurrier and Klumpp's frame errs at first order,
    against Lemma 6.2; the logarithm at second."""
    order = {}
    for method in METHODS:
        errors = []
        for eps in (1e-3, 1e-5):
            M, R = _drifted(eps, np.random.default_rng(5))
            errors.append(np.abs(orthonormalised(M, method) - R).max())
        order[method] = np.log(errors[0] / max(errors[1], 1e-300)) / np.log(100.0) if errors[0] > 1e-11 else np.inf
    assert order["polar"] == np.inf
    assert abs(order["logarithm"] - 2.0) < 0.2
    assert abs(order["spurrier-klumpp"] - 1.0) < 0.1 and abs(order["gram-schmidt"] - 1.0) < 0.1


def test_which_of_them_are_isotropic(rng):
    """Remark 6.3: turning space, or the body, first or afterwards."""
    M, _ = _drifted(1e-2, rng)
    Q = cases.Rotation.from_rotvec((0.3, -0.5, 0.8)).as_matrix()
    space = {m: np.abs(orthonormalised(Q @ M, m) - Q @ orthonormalised(M, m)).max() for m in METHODS}
    body = {m: np.abs(orthonormalised(M @ Q, m) - orthonormalised(M, m) @ Q).max() for m in METHODS}
    assert {m for m in METHODS if space[m] < 1e-13} == {"polar", "gram-schmidt"}
    assert {m for m in METHODS if body[m] < 1e-13} == {"polar"}


# ---------------------------------------------------------------- momenta


def test_the_momentum_map_is_the_angular_momentum(rng):
    """[BS09] (45), (35): E(q) p / 2 = R J Omega for unit quaternions, and its part along q does not count."""
    problem = rbdae.formulate(cases.skew_top(), "hamiltonian")
    y = problem.y0
    q, p = y[:4], y[4:8]
    body = problem.system.bodies[0]
    s = problem.states(0.0, y)["top"]
    wanted = s.orientation.apply(problem.model.bodies["inertia"][0] @ s.angular_velocity)
    np.testing.assert_allclose(quaternions.momentum_map(q, p), wanted, rtol=0, atol=1e-13)
    np.testing.assert_allclose(quaternions.momentum_map(q, p + 3.0 * q), wanted, rtol=0, atol=1e-13)
    np.testing.assert_allclose(quaternions.momentum_map(q, p), 0.5 * quaternions.E(q) @ p, rtol=0, atol=1e-15)
    stack = quaternions.momentum_map(np.stack([q] * 3), p)
    assert stack.shape == (3, 3) and body.pivot is not None


@pytest.mark.parametrize("rotation", ["quaternion", "directors"])
@pytest.mark.parametrize("constraint", ["both", "overdetermined"])
def test_momenta_with_both_constraints(constraint, rotation):
    """mu = 0 at the start, the other multipliers are those of one constraint, and both constraints hold in a run."""
    problem = rbdae.formulate(cases.linked_bodies(), "hamiltonian", rotation=rotation, constraint=constraint)
    one = rbdae.formulate(cases.linked_bodies(), "hamiltonian", rotation=rotation)
    form = FORMULATIONS[problem.formulation]
    assert form.corrected == (constraint == "both") and not problem.y0[problem.layout.mu].any()
    size = np.abs(one.multipliers(0.0, one.y0)).max()
    assert np.abs(problem.run_multipliers(0.0, problem.y0) - one.multipliers(0.0, one.y0)).max() < 1e-12 * size
    solver = {"both": "sksundae:ida", "overdetermined": "assimulo:ODASSL"}[constraint]
    cases.need(solver)
    run = rbdae.solve(problem, (0.0, 0.1), solver=solver, rtol=1e-9, atol=rbdae.scaled_atol(problem, 1e-9))
    assert run.success, run.message
    g = problem.constraints(run.t, run.y)
    assert np.abs(g.position).max() < 1e-7
    assert np.abs(g.velocity).max() < 1e-5

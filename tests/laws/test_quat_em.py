"""QUAT.EM as [BS09], section 4, and its Appendix D have it: invariants, reduced equations, multiplier, tangent.

The top of [NS], Example A: three different moments of inertia about the tip. Its potential, homogeneous of degree two
in q, is V = W (q0^2 - q1^2 - q2^2 + q3^2), W = m g L.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from conserving import left, right
from scipy.spatial.transform import Rotation

import rbdae

J = np.diag((50.0, 42.0, 10.0))
W = 110.9 * 9.81 * 0.1
H = 0.01
INVERSE = np.diag((1.0 / 7.0, 1.0 / 50.0, 1.0 / 42.0, 1.0 / 10.0))
"""Of J4; J0 has no influence on the motion."""
HESSIAN = 2.0 * W * np.diag((1.0, -1.0, -1.0, 1.0))
"""Of V: its gradient is this times q."""


def G(q: Any) -> Any:
    """(3, 4), with Q_l(q) = [q, G(q)^T]."""
    return left(q)[:, 1:].T


def E(q: Any) -> Any:
    """(3, 4), with Q_r(q) = [q, E(q)^T]."""
    return right(q)[:, 1:].T


def barred(q: Any) -> Any:
    """[q, -G(q)^T]."""
    return left(q) * np.array([1, -1, -1, -1])


def pi(q: Any, p: Any) -> Any:
    """(46)."""
    return left(q).T @ p


def exponential(v: Any) -> Any:
    """(6): exp of (0, v / 2)."""
    size = np.sqrt(v @ v)
    return np.array([np.cos(0.5 * size), *(np.sin(0.5 * size) / size * v)])


@pytest.fixture(scope="module")
def steps() -> Any:
    """The problem, and (q, p) at twenty steps of QUAT.EM."""
    problem = rbdae.formulate(rbdae.models.heavy_top(), "hamiltonian-eliminated", velocity="momentum")
    found = rbdae.solve(problem, (0.0, 20 * H), solver="rbdae:energy-momentum", variant="paper", step=H)
    return found, [(y[:4], y[4:]) for y in found.y]


def test_the_invariants(steps):
    """(46), (47), (48): pi = (0, 2 J Omega) and eta = 1; T and the momentum map of (45). All but the latter are the
    same after a rotation of space."""
    found, states = steps
    r = np.roll(Rotation.from_rotvec((0.3, -1.1, 0.7)).as_quat(), 1)  # the scalar first
    Omega, energy, L = found.states["top"].angular_velocity, found.energy, found.momentum.angular
    for k, (q, p) in enumerate(states):
        size = np.linalg.norm(p)
        np.testing.assert_allclose(pi(q, p), [0.0, *(2.0 * J @ Omega[k])], rtol=0, atol=1e-14 * size)
        assert abs(q @ q - 1.0) < 1e-15 * 3
        kinetic = pi(q, p) @ INVERSE @ pi(q, p) / 8.0
        assert kinetic == pytest.approx(energy.kinetic[k], rel=1e-13)
        assert W * (q[0] ** 2 - q[1] ** 2 - q[2] ** 2 + q[3] ** 2) == pytest.approx(energy.potential[k], rel=1e-12)
        np.testing.assert_allclose(0.5 * E(q) @ p, L[k], rtol=0, atol=1e-14 * size)
        np.testing.assert_allclose(pi(left(r) @ q, left(r) @ p), pi(q, p), rtol=0, atol=1e-14 * size)
        turned = Rotation.from_quat(np.roll(r, -1)).apply(0.5 * E(q) @ p)
        np.testing.assert_allclose(0.5 * E(left(r) @ q) @ left(r) @ p, turned, rtol=0, atol=1e-14 * size)


def test_the_equations_of_motion_in_invariants(steps):
    """(49), with lambda = -q . grad V on the unit sphere, the limit of remark 4.3."""
    found, states = steps
    for t, (q, p) in zip(found.t, states, strict=True):
        qd = left(q) @ INVERSE @ pi(q, p) / 4.0
        pd = -barred(p) @ INVERSE @ pi(q, p) / 4.0 - HESSIAN @ q + (q @ HESSIAN @ q) * q
        rates = found.problem.rhs(t, np.concatenate([q, p]))
        np.testing.assert_allclose(rates[:4], qd, rtol=0, atol=1e-13 * np.abs(qd).max())
        np.testing.assert_allclose(rates[4:], pd, rtol=0, atol=1e-13 * np.abs(pd).max())


def parts(q0: Any, p0: Any, q1: Any, p1: Any) -> tuple[Any, Any]:
    """R_q and R_p of Appendix D, which are (52) without the multiplier."""
    qh, ph = 0.5 * (q0 + q1), 0.5 * (p0 + p1)
    Rq = q1 - q0 - H / 8.0 * left(qh) @ INVERSE @ (left(q0).T @ p0 + left(q1).T @ p1)
    Rp = p1 - p0 + H / 8.0 * left(ph) @ INVERSE @ (left(p0).T @ q0 + left(p1).T @ q1) + H * HESSIAN @ qh
    return Rq, Rp


def test_steps_solve_the_reduced_equations_and_the_multiplier_is_that_of_remark_4_3(steps):
    """(52), (53), (54); q . p = 0 after each step, and the identity from which the multiplier follows."""
    _, states = steps
    for (q0, p0), (q1, p1) in pairwise(states):
        Rq, Rp = parts(q0, p0, q1, p1)
        qh, ph, size = 0.5 * (q0 + q1), 0.5 * (p0 + p1), np.linalg.norm(p1)
        assert np.abs(Rq).max() < 1e-14
        assert np.abs(G(qh) @ Rp).max() < 1e-13 * size
        assert abs(q1 @ p1) < 1e-14 * size
        assert abs(qh @ (p1 - p0) + ph @ (q1 - q0)) < 1e-14 * size
        la = -qh @ HESSIAN @ qh / (qh @ qh)
        assert np.abs(Rp + H * la * qh).max() < 1e-13 * size
        assert np.abs(Rp).max() > 1e-3 * size  # the multiplier is not small
        v = np.array(Rotation.from_quat(np.roll(left(q1) @ (q0 * [1, -1, -1, -1]), -1)).as_rotvec())
        np.testing.assert_allclose(left(exponential(v)) @ q0, q1, rtol=0, atol=1e-14)


def tangent(q0: Any, p0: Any, v: Any, p1: Any) -> Any:
    """K of (D1); its G(p_p) is G(R_p)."""
    q1 = left(exponential(v)) @ q0
    qh, ph = 0.5 * (q0 + q1), 0.5 * (p0 + p1)
    omega = 0.5 * INVERSE @ (left(q0).T @ p0 + left(q1).T @ p1)
    kappa = 0.5 * INVERSE @ (left(p0).T @ q0 + left(p1).T @ q1)
    _, Rp = parts(q0, p0, q1, p1)
    size = np.sqrt(v @ v)
    hat = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    Hv = (
        np.sin(size) / size * np.eye(3)
        + (1.0 - np.cos(size)) / size**2 * hat
        + (1.0 - np.sin(size) / size) / size**2 * np.outer(v, v)
    )
    moved = 0.5 * E(q1).T @ Hv  # (D2)
    Kqq = np.eye(4) - H / 8.0 * (right(omega) + left(qh) @ INVERSE @ barred(p1).T)
    Kqp = -H / 8.0 * left(qh) @ INVERSE @ left(q1).T
    Kpq = G(qh) @ (H / 8.0 * left(ph) @ INVERSE @ left(p1).T + H / 2.0 * HESSIAN) - 0.5 * G(Rp)
    Kpp = G(qh) @ (np.eye(4) + H / 8.0 * (right(kappa) + left(ph) @ INVERSE @ barred(q1).T))
    return np.block([[Kqq @ moved, Kqp], [Kpq @ moved, Kpp]])


def residual(q0: Any, p0: Any, v: Any, p1: Any) -> Any:
    q1 = left(exponential(v)) @ q0
    Rq, Rp = parts(q0, p0, q1, p1)
    return np.concatenate([Rq, G(0.5 * (q0 + q1)) @ Rp])


def test_the_tangent_of_appendix_d(steps):
    """By complex steps, far from the solution; and Newton's method with it ends where the step does."""
    found, states = steps
    (q0, p0), (q1, p1) = states[10:12]
    u = np.concatenate([(0.4, -0.3, 0.9), p0 + 50.0 * np.array((1.0, -2.0, 0.5, 1.5))])
    slopes = np.empty((7, 7))
    for i in range(7):
        w = u.astype(complex)
        w[i] += 1e-30j
        slopes[:, i] = residual(q0, p0, w[:3], w[3:]).imag / 1e-30
    K = tangent(q0, p0, u[:3], u[3:])
    for rows in (slice(0, 4), slice(4, 7)):
        for columns in (slice(0, 3), slice(3, 7)):
            block = slopes[rows, columns]
            np.testing.assert_allclose(K[rows, columns], block, rtol=0, atol=1e-13 * np.abs(block).max())
    u = np.concatenate([H * found.states["top"].orientation[10].apply(found.states["top"].angular_velocity[10]), p0])
    sizes = []
    for _ in range(6):
        change = np.linalg.solve(tangent(q0, p0, u[:3], u[3:]), -residual(q0, p0, u[:3], u[3:]))
        sizes.append(np.abs(change[:3]).max())
        u = u + change
    assert sizes[0] > 1e-6 and sizes[2] < 1e-11 and sizes[3] < 1e-14
    np.testing.assert_allclose(left(exponential(u[:3])) @ q0, q1, rtol=0, atol=1e-13)
    np.testing.assert_allclose(u[3:], p1, rtol=0, atol=1e-13 * np.linalg.norm(p1))

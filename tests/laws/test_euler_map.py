"""What [NS] has beside its formulations: the Euler map and its inverse, mass matrices of quaternion rates, plane
rotations, r, condition numbers."""

from __future__ import annotations

import cases
import numpy as np
import pytest
from cases import close, differences

import rbdae
from rbdae.rotations import quaternions
from rbdae_papers.null_space import euler_map
from rbdae_papers.null_space.benefits import skeel_condition

INERTIA = np.array([[3.0, 0.2, -0.1], [0.2, 2.5, 0.3], [-0.1, 0.3, 1.8]])


def test_euler_map(rng):
    p = rng.standard_normal((4, 4))
    found = euler_map.euler_map(p).reshape(4, 3, 3)
    assert close(np.swapaxes(found, -1, -2), quaternions.to_matrix(p), 1e-13)
    for one in p:
        D = euler_map.euler_differential(one)
        assert close(D, differences(euler_map.euler_map, one), 1e-10)
        assert close(D @ one, 2.0 * euler_map.euler_map(one), 1e-13)
    assert close(euler_map.euler_differential(p)[2], euler_map.euler_differential(p[2]), 1e-15)


def test_the_inverse_of_the_differential(rng):
    """(55), (56), (50), (53), and (54) with its factor 2."""
    p = rng.standard_normal(4)
    D, inverse = euler_map.euler_differential(p), euler_map.euler_pseudoinverse(p)
    assert close(inverse, np.linalg.pinv(D), 1e-13)
    assert close(D.T @ D, 4.0 * (2.0 * p @ p * np.eye(4) + np.outer(p, p)), 1e-13)
    assert close(2.0 * inverse @ euler_map.euler_map(p), p, 1e-13)
    pdot = rng.standard_normal(4)
    assert close(inverse @ (D @ pdot), pdot, 1e-13)
    R = euler_map.euler_map(p).reshape(3, 3)  # rows are directors
    zero = np.zeros(3)
    Td = np.column_stack([np.r_[zero, R[2], -R[1]], np.r_[-R[2], zero, R[0]], np.r_[R[1], -R[0], zero]])  # (24)
    assert close(inverse @ Td, 0.5 * quaternions.G(p).T, 1e-13)
    with pytest.raises(ValueError, match="p = 0"):
        euler_map.euler_pseudoinverse(np.zeros(4))


def test_many_bodies(rng):
    p = rng.standard_normal((3, 4))
    U, inverse = euler_map.system_differential(p), euler_map.system_pseudoinverse(p)
    assert U.shape == (36, 21) and close(inverse, np.linalg.pinv(U), 1e-13)
    q = rng.standard_normal((3, 7))
    q[:, 3:] = p

    def directors(x):
        rows = x.reshape(3, 7)
        return np.hstack([rows[:, :3], euler_map.euler_map(rows[:, 3:])]).ravel()

    assert close(U, differences(directors, q.ravel()), 1e-10)
    with pytest.raises(ValueError, match="shape"):
        euler_map.system_differential(p[0])


@pytest.mark.parametrize("radial", [0.0, 0.7, 3.65])
def test_mass_matrix(radial, rng):
    """The kinetic energy with any I0, and its inverse on the tangents."""
    p = rng.standard_normal(4)
    pdot = rng.standard_normal(4)
    M = euler_map.mass_matrix(p, INERTIA, radial)
    omega = 2.0 * quaternions.product(quaternions.conjugate(p), pdot)
    energy = 0.5 * omega[1:] @ INERTIA @ omega[1:] + 0.5 * radial * omega[0] ** 2
    assert 0.5 * pdot @ M @ pdot == pytest.approx(energy, rel=1e-12)
    assert (
        close(M @ p, 4.0 * radial * p * (p @ p), 1e-12) if radial else np.abs(M @ p).max() < 1e-13 * (p @ p) ** 1.5 * 30
    )
    unit = p / np.linalg.norm(p)
    if radial == 0.0:
        assert close(M @ euler_map.tangential_inverse_mass(p, INERTIA), np.eye(4) - np.outer(unit, unit), 1e-12)
        saddle = np.block([[euler_map.mass_matrix(unit, INERTIA), unit[:, None]], [unit[None], np.zeros((1, 1))]])
        wanted = np.linalg.inv(saddle)
        assert close(euler_map.tangential_inverse_mass(unit, INERTIA), wanted[:4, :4], 1e-12)
        assert close(wanted[:4, 4], unit, 1e-12)
    assert close(euler_map.mass_matrix(p, [1.0, 2.0, 3.0]), euler_map.mass_matrix(p, np.diag([1.0, 2.0, 3.0])), 1e-15)
    E = 0.5 * np.trace(INERTIA) * np.eye(3) - INERTIA  # Remark 5.3: half of the trace, of directors
    D = euler_map.euler_differential(unit)
    assert close(D.T @ np.kron(E, np.eye(3)) @ D, euler_map.mass_matrix(unit, INERTIA, 0.5 * np.trace(INERTIA)), 1e-13)
    with pytest.raises(ValueError, match="radial_inertia must not be negative"):
        euler_map.mass_matrix(p, INERTIA, -1.0)
    with pytest.raises(ValueError, match="three moments"):
        euler_map.mass_matrix(p, np.eye(2))


def test_plane_rotations(rng):
    """Remark 4.5: complex numbers, which square to directors."""
    angle, omega = 0.8, 1.7
    z = np.array([np.cos(angle / 2), np.sin(angle / 2)])
    p = euler_map.from_plane(z)
    R = quaternions.to_matrix(p)
    assert close(euler_map.plane_directors(z), R[1:, 1:], 1e-14)
    assert R[2, 1] == pytest.approx(np.sin(angle)) and close(R[0], [1.0, 0.0, 0.0], 1e-15)
    wanted = quaternions.rate_from_material(p, [omega, 0.0, 0.0])
    assert close(euler_map.from_plane(euler_map.plane_rate(z, omega)), wanted, 1e-14)


def test_matrices_of_the_paper(rng):
    """r = G^# g_I is the least, and moves as ours does but for what T takes; the saddle-point matrix solves (4)."""
    problem = cases.formulate(cases.driven(), ("null-space", "quaternion", "angular"))
    t, y = 0.3, problem.y0
    m = problem.matrices(t, y, sparse=False)
    least = m.least_r
    assert np.abs(m.g_I).max() > 0.1
    assert close(m.G @ least, m.g_I, 1e-12) and close(m.G @ m.r, m.g_I, 1e-12)
    assert np.abs(m.T.T @ least).max() < 1e-12 * np.abs(m.T).max() * np.abs(least).max() * 10
    difference = least - m.r
    assert close(m.T @ np.linalg.lstsq(m.T, difference, rcond=None)[0], difference, 1e-11)
    assert np.linalg.norm(least) < np.linalg.norm(m.r) or np.abs(difference).max() < 1e-12
    sparse = problem.matrices(t, y, sparse=True)
    assert close(sparse.saddle, m.saddle, 1e-14) and close(sparse.least_r, least, 1e-13)
    assert close(m.reduced_mass, m.T.T @ m.M @ m.T, 1e-13)
    n = len(m.M)
    x = np.linalg.solve(m.saddle, np.concatenate([m.psi, -m.g_II]))
    assert close(x[n:], problem.rates(t, y)[1], 1e-9)
    with pytest.raises(ValueError, match="only null-space forms"):
        _ = rbdae.formulate(rbdae.models.heavy_top(), "index-1").matrices(0.0, np.zeros(7)).reduced_mass


def test_skeel_condition():
    assert skeel_condition(np.diag([1e-3, 5.0, 2e7])) == pytest.approx(1.0, rel=1e-14)
    A = np.array([[1.0, 2.0], [3.0, 4.0]])  # |A^-1| |A| = [2 1; 1.5 0.5] [1 2; 3 4]
    assert skeel_condition(A) == pytest.approx(13.0, rel=1e-13)
    assert skeel_condition(np.diag([1e6, 1e-6]) @ A) == pytest.approx(13.0, rel=1e-13)
    B = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # |B^-1| |B| has a row 1 4 6, and columns up to 7
    assert skeel_condition(B) == pytest.approx(11.0, rel=1e-13)
    with pytest.raises(ValueError, match="A must be"):
        skeel_condition(np.ones((2, 3)))
    problem, full = (rbdae.formulate(rbdae.models.heavy_top(), form) for form in ("null-space", "index-0"))
    reduced = problem.matrices(0.0, problem.y0).reduced_mass
    assert skeel_condition(reduced) == pytest.approx(1.0)
    quaternion = rbdae.formulate(full.system, "index-0", velocity="coordinate")
    assert skeel_condition(quaternion.matrices(0.0, quaternion.y0).saddle) > 1.5

"""`rbdae.rotations.quaternions`: identities of the papers, 60 digits near thresholds, scipy's `Rotation`."""

from __future__ import annotations

import numpy as np
import precise
import pytest
from precise import MP, derivative, error, exact, rounded
from scipy.spatial.transform import Rotation

from rbdae.rotations import quaternions as Q

ANGLES = [1e-300, 1e-12, 1e-8, 1e-4, 0.1, 1.0, 2.5, np.pi - 1e-8, np.pi - 1e-12]


def T(A):
    return np.swapaxes(A, -1, -2)


def times(A, x):
    return (A @ x[..., None])[..., 0]


@pytest.fixture
def pair(rng):
    return rng.standard_normal((2, 7, 4))


def test_units(rng):
    """[GR95] (210), [NS] section 4: i j = k and its companions."""
    e, i, j, k = np.eye(4)
    for a, b, c in ((i, j, k), (j, k, i), (k, i, j)):
        assert (Q.product(a, b) == c).all() and (Q.product(b, a) == -c).all()
        assert (Q.product(a, a) == -e).all()


def test_products_and_matrices(pair):
    """[GR95] (212), (241), (242); [NS] (30); [BS09] (1), (9), (10), (A4)."""
    p, q = pair
    out = Q.product(p, q)
    assert np.abs(times(Q.left_matrix(p), q) - out).max() < 1e-14
    assert np.abs(times(Q.right_matrix(q), p) - out).max() < 1e-14
    written = p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])
    assert np.abs(out[:, 1:] - written).max() < 1e-14
    for matrix in (Q.left_matrix, Q.right_matrix):
        inverse = T(matrix(p)) / Q.norm(p)[:, None, None] ** 2
        assert np.abs(matrix(p) @ inverse - np.eye(4)).max() < 1e-14
        assert np.abs(matrix(Q.conjugate(p)) - T(matrix(p))).max() == 0.0


def test_E_and_G(pair, rng):
    """[BS09] (10), (12), (13), (A1), (A2); [GR95] (200), (201), (248), (251); [SNS15] (7)-(12), with G, L for E, G."""
    p, q = pair
    for matrix in (Q.E, Q.G):
        A = matrix(q)
        size = Q.norm(q)[:, None, None] ** 2
        assert A.shape == (7, 3, 4)
        assert np.abs(times(A, q)).max() < 1e-14
        assert np.abs(A @ T(A) - size * np.eye(3)).max() < 1e-14
        assert np.abs(T(A) @ A - size * np.eye(4) + q[:, :, None] * q[:, None, :]).max() < 1e-14
        assert np.abs(times(A, p) + times(matrix(p), q)).max() < 1e-14
    assert np.abs(Q.E(q) @ T(Q.G(q)) - Q.to_matrix(q)).max() < 1e-14
    assert np.abs(Q.E(q) @ T(Q.G(p)) - Q.E(p) @ T(Q.G(q))).max() < 1e-14
    assert (Q.left_matrix(q)[..., 1:] == T(Q.G(q))).all() and (Q.left_matrix(q)[..., 0] == q).all()
    assert (Q.right_matrix(q)[..., 1:] == T(Q.E(q))).all()
    a, b = rng.standard_normal((2, 3))
    for matrix, other in ((Q.left_matrix, Q.E), (Q.right_matrix, Q.G)):
        # (A3); a+ q = E(q)^T a and a- q = G(q)^T a
        assert np.abs(times(matrix(Q.pure(a)), q) - times(T(other(q)), np.broadcast_to(a, (7, 3)))).max() < 1e-14
    a_, b_, ab = (Q.right_matrix(Q.pure(x)) for x in (a, b, np.cross(a, b)))
    assert np.abs(a_ @ b_ + (a @ b) * np.eye(4) + ab).max() < 1e-14  # (A5), second line


def test_inverse_conjugate_norm(pair):
    """[GR95] (213), (214); [BS09] section 2.1."""
    p, q = pair
    one = np.array((1.0, 0.0, 0.0, 0.0))
    assert np.abs(Q.product(q, Q.inverse(q)) - one).max() < 1e-14
    assert np.abs(Q.conjugate(Q.product(p, q)) - Q.product(Q.conjugate(q), Q.conjugate(p))).max() < 1e-14
    assert np.abs(Q.norm(Q.product(p, q)) - Q.norm(p) * Q.norm(q)).max() < 1e-14
    assert np.abs(Q.product(q, Q.conjugate(q)) - Q.norm(q)[:, None] ** 2 * one).max() < 1e-14
    for scale in (1e-300, 1e300):
        assert np.abs(Q.norm(scale * q) / scale - Q.norm(q)).max() < 1e-14
        assert np.abs(Q.inverse(scale * q) * scale - Q.inverse(q)).max() < 1e-13


def test_rotations_of_vectors(pair, rng):
    """[GR95] (219), (222), (226), (245), (246); [NS] (26)-(29); [BS09] (7), (8)."""
    p, q = pair
    x = rng.standard_normal((7, 3))
    by_product = Q.product(Q.product(q, Q.pure(x)), Q.conjugate(q)) / Q.norm(q)[:, None] ** 2
    assert np.abs(by_product[:, 0]).max() < 1e-14
    assert np.abs(Q.rotate(q, x) - by_product[:, 1:]).max() < 1e-14
    assert np.abs(Q.rotate_back(q, Q.rotate(q, x)) - x).max() < 1e-14
    assert np.abs(times(Q.to_matrix(q), x) - Q.norm(q)[:, None] ** 2 * Q.rotate(q, x)).max() < 1e-13
    assert np.abs(Q.to_matrix(Q.product(p, q)) - Q.to_matrix(p) @ Q.to_matrix(q)).max() < 1e-12
    assert np.abs(Q.to_matrix(0.5 * q) - 0.25 * Q.to_matrix(q)).max() < 1e-15
    block = Q.left_matrix(q) @ T(Q.right_matrix(q))
    assert np.abs(block[:, 1:, 1:] - Q.to_matrix(q)).max() < 1e-14
    assert np.abs(block[:, 0, 1:]).max() < 1e-14
    assert np.abs(Q.to_rotation(q).apply(x) - Q.rotate(q, x)).max() < 1e-14


@pytest.mark.parametrize("angle", ANGLES)
def test_exponential_logarithm_and_angles(angle, rng):
    """[BS09] (5), (6), [GR95] (194): relative to the angle, by 60 digits."""
    n = rng.standard_normal(3)
    n /= np.linalg.norm(n)
    w = angle * n
    size = precise.length(exact(w))
    reference = np.append([MP.cos(size / 2)], exact(w) / size * MP.sin(size / 2))
    for q in (Q.from_rotation_vector(w), Q.exponential(Q.pure(0.5 * w))):
        assert error(q[0], reference[0], 1.0) < 1e-15
        assert error(q[1:], reference[1:]) < 1e-15
    q = Q.from_rotation_vector(w)
    assert error(Q.from_axis_angle(n, angle)[1:], reference[1:]) < 1e-15
    assert np.abs(Q.to_rotation_vector(q) - w).max() < 1e-15 * angle
    assert np.abs(Q.to_rotation_vector(-3.0 * q) - w).max() < 1e-15 * angle
    axis, found = Q.to_axis_angle(q)
    assert np.abs(axis - n).max() < 1e-15
    assert abs(found - angle) < 1e-15 * angle
    log = Q.logarithm(2.0 * q)
    assert abs(log[0] - np.log(2.0)) < 1e-15
    assert np.abs(2.0 * log[1:] - w).max() < 1e-15 * angle
    # the logarithm, other than the rotation vector, tells q from -q; its condition near -1 is 1 / angle
    far = Q.logarithm(-q)
    assert np.abs(Q.exponential(far) + q).max() < 1e-15
    assert np.abs(2.0 * far[1:] + (2.0 * np.pi - angle) * n).max() < 3e-15
    half = Q.half(q)
    assert error(half[1:], exact(w) / size * MP.sin(size / 4)) < 1e-15
    assert np.abs(Q.product(half, half) - q).max() < 1e-15


def test_exponentials_of_any_quaternion(pair):
    """[BS09] (5): the series."""
    q = 0.7 * pair[0]
    term = out = np.broadcast_to((1.0, 0.0, 0.0, 0.0), q.shape)
    for k in range(1, 40):
        term = Q.product(term, q) / k
        out = out + term
    assert np.abs(Q.exponential(q) - out).max() < 1e-13
    inside = 0.5 * q / Q.norm(q)[:, None]
    assert np.abs(Q.logarithm(Q.exponential(inside)) - inside).max() < 1e-14


@pytest.mark.parametrize("angle", [0.0, *ANGLES, np.pi])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (1e-9, 1, -1e-9)])
def test_spurrier_klumpp(axis, angle):
    """[GR95] (202)-(205), [NS] section 6: every case of the largest component, at both ends."""
    q = Q.from_axis_angle(axis, angle)
    n = exact(axis) / precise.length(exact(axis))
    for R in (Rotation.from_rotvec(rounded(n) * angle), rounded(precise.rotation(n, MP.mpf(angle)))):
        found = Q.from_matrix(R)
        assert found[0] >= 0.0
        # at half a turn q and -q are one
        assert min(np.abs(found - q).max(), np.abs(found + q).max()) < 1e-15
    found = Q.from_matrix(rounded(precise.rotation(n, MP.mpf(angle))))
    assert np.abs(found[1:] - q[1:]).max() < 1e-15 * max(angle, 1e-1) or angle > 3.0
    trace = np.trace(Q.to_matrix(q))
    e = 0.5 * np.sqrt(np.maximum(0.0, 1.0 + 2.0 * np.diag(Q.to_matrix(q)) - trace))
    assert np.abs(np.abs(found[1:]) - e).max() < 1e-7  # (202), "not optimal": it loses half of the digits


def test_rates(rng):
    """[BS09] (3), (4), (13), (14); [NS] lemma 4.1, (41); [GR95] (208), (230), (233), (235), (238), (249), (250)."""
    a, b, c = exact(rng.standard_normal((3, 4)))

    def q(t):
        out = a + t * b + t * t / 2 * c
        return out / MP.sqrt(sum(out * out))

    def R(t):
        p = q(t)
        e = precise.spin(p[1:])
        return exact(np.eye(3)) + 2 * p[0] * e + 2 * e @ e

    zero = MP.mpf(0)
    dR, Rt = derivative(R)(zero), R(zero).T
    now, rate, second = (rounded(f(zero)) for f in (q, derivative(q), derivative(derivative(q))))
    Omega, omega = precise.vect(Rt @ dR), precise.vect(dR @ Rt)
    assert error(Q.material_angular_velocity(now, rate), Omega) < 3e-15
    assert error(Q.spatial_angular_velocity(now, rate), omega) < 3e-15
    assert error(2.0 * Q.G(now) @ rate, Omega) < 3e-15
    assert error(2.0 * Q.E(now) @ rate, omega) < 3e-15
    assert error(Q.rate_from_material(now, rounded(Omega)), derivative(q)(zero)) < 3e-15
    assert error(Q.rate_from_spatial(now, rounded(omega)), derivative(q)(zero)) < 3e-15
    assert error(0.5 * Q.G(now).T @ rounded(Omega), derivative(q)(zero)) < 3e-15
    assert error(2.0 * Q.E(now) @ Q.G(rate).T, dR) < 1e-14
    assert error(2.0 * Q.E(rate) @ Q.G(now).T, dR) < 1e-14
    dOmega = derivative(lambda t: precise.vect(R(t).T @ derivative(R)(t)))(zero)
    assert error(Q.second_rate(now, rounded(Omega), rounded(dOmega)), exact(second)) < 1e-14
    part = Q.material_angular_velocity(now, rate + 3.0 * now)
    assert np.abs(part - rounded(Omega)).max() < 1e-14

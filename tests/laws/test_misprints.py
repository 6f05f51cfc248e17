"""Misprints of docs/references.md that no function meets: the formulas as they are right, and not as printed."""

from __future__ import annotations

import cases
import numpy as np

from rbdae.rotations import linear, quaternions

J = cases.INERTIA


def nullspace(p):
    """The columns tau_n of T_p = G(p)^T / 2, [NS] (41)."""
    return 0.5 * quaternions.G(p).T


def test_the_columns_of_the_null_space_have_length_one_half(rng):
    """[NS] calls them orthonormal: they are orthogonal."""
    p = rng.standard_normal(4)
    p /= np.linalg.norm(p)
    T = nullspace(p)
    np.testing.assert_allclose(T.T @ T, 0.25 * np.eye(3), rtol=0, atol=1e-15)


def test_the_inverse_of_the_saddle_off_the_unit_sphere(rng):
    """[NS] (39): the border of the inverse of (38) is p / |p|^2, with the mass of (32) and its inverse in it."""
    p = 1.7 * np.array([0.5, -0.1, 0.7, 0.5])
    Q, J4 = quaternions.left_matrix(p), np.zeros((4, 4))
    J4[1:, 1:] = J
    M = 4.0 * Q @ J4 @ Q.T
    saddle = np.block([[M, p[:, None]], [p[None], np.zeros((1, 1))]])
    inverse4 = np.zeros((4, 4))
    inverse4[1:, 1:] = np.linalg.inv(J)
    block = 0.25 * Q @ inverse4 @ Q.T / (p @ p) ** 2

    def bordered(border):
        return np.block([[block, border[:, None]], [border[None], np.zeros((1, 1))]])

    assert np.abs(saddle @ bordered(p / (p @ p)) - np.eye(5)).max() < 1e-14
    assert np.abs(saddle @ bordered(p) - np.eye(5)).max() > 1.0


def test_the_derivatives_of_the_columns(rng):
    """[NS], proof of Lemma 4.2: dtau_1/dp tau_2 = -tau_3 / 2 and dtau_n/dp tau_n = -p / 4."""
    p = rng.standard_normal(4)
    p /= np.linalg.norm(p)
    T = nullspace(p)
    moved = [[nullspace(T[:, k])[:, n] for k in range(3)] for n in range(3)]  # tau_n is linear in p
    for n in range(3):
        np.testing.assert_allclose(moved[n][n], -0.25 * p, rtol=0, atol=1e-15)
    np.testing.assert_allclose(moved[0][1], -0.5 * T[:, 2], rtol=0, atol=1e-15)


def test_linear_parameters_cannot_tell_an_angle_from_its_supplement():
    """[GR95], section 9: phi and pi - phi have the same s; the chart is right below half of pi."""
    axis = np.array([0.6, 0.0, 0.8])
    s = axis * np.sin(1.2)
    np.testing.assert_allclose(s, axis * np.sin(np.pi - 1.2), rtol=0, atol=1e-15)
    q = quaternions.from_axis_angle(axis, 1.2)
    np.testing.assert_allclose(linear.matrix(s), quaternions.to_matrix(q), rtol=0, atol=1e-15 * 4)

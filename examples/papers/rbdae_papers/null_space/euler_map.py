"""The Euler map d = phi(p) from quaternions to directors, its differential and the pseudoinverse; the mass matrix of
quaternion rates with any radial inertia; plane rotations. [NS] sections 4 and 5.

Directors d (..., 9) are the stacked columns of R. Everything is homogeneous in p, and also holds off the unit sphere.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import block_diag

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations import checks, vectors
from rbdae.rotations.quaternions import left


def euler_map(p: ArrayLike) -> Vec:
    """d = phi(p), (..., 9), of p (..., 4): the columns of R(p) = |p|^2 times a rotation. [NS] (26)-(28), (47)."""
    p = checks.vectors("euler_map", "p", p, 4)
    return np.asarray(0.5 * np.einsum("...ij,...j->...i", _differential(p), p))


def euler_differential(p: ArrayLike) -> Mat:
    """Dphi(p), (..., 9, 4), of p (..., 4): ddot = Dphi(p) pdot; linear in p, Dphi(p) p = 2 phi(p). [NS] (48)."""
    return _differential(checks.vectors("euler_differential", "p", p, 4))


def euler_pseudoinverse(p: ArrayLike) -> Mat:
    """The Moore-Penrose inverse of Dphi(p), (..., 4, 9), of p (..., 4), in closed form. [NS] (55), by (56).

    pdot = euler_pseudoinverse(p) ddot, (50); p = 2 euler_pseudoinverse(p) phi(p), where (54) has 1.

    Raises
    ------
    ValueError
        for p = 0
    """
    p = checks.vectors("euler_pseudoinverse", "p", p, 4)
    size = np.sum(p * p, axis=-1)[..., None, None]
    if not np.all(size > 0.0):
        raise ValueError("euler_pseudoinverse: p = 0 is no rotation, and its differential has no rank; give another p")
    outer = p[..., :, None] * p[..., None, :]
    factor = (np.eye(4) / 2.0 - outer / (6.0 * size)) / (4.0 * size)
    return np.asarray(factor @ np.swapaxes(_differential(p), -1, -2))


def system_differential(p: ArrayLike) -> Mat:
    """U, (12 n, 7 n), of p (n, 4): (xdot, ddot) of n bodies is U times their (xdot, pdot). [NS] (59)."""
    return _by_bodies("system_differential", p, euler_differential)


def system_pseudoinverse(p: ArrayLike) -> Mat:
    """The Moore-Penrose inverse of U, (7 n, 12 n), of p (n, 4): T_p = U^# T_d gives null-space matrices in quaternions.
    [NS] (61)."""
    return _by_bodies("system_pseudoinverse", p, euler_pseudoinverse)


def mass_matrix(p: ArrayLike, inertia: ArrayLike, radial_inertia: float = 0.0) -> Mat:
    """M(p) = 4 Q(p) diag(I0, I) Q(p)^T, (..., 4, 4), of p (..., 4): the kinetic energy is pdot . M pdot / 2. [NS] (31).

    Parameters
    ----------
    p : (..., 4)
    inertia : (3,) or (3, 3), kg m^2
        About the reference point: principal moments, or the matrix.
    radial_inertia : kg m^2, not negative
        I0, without influence on motions with |p| = 1. [NS] has 0, for which M has the kernel p; [BS09] half the trace.
    """
    p = checks.vectors("mass_matrix", "p", p, 4)
    radial = _check.number("mass_matrix", "radial_inertia", radial_inertia)
    if radial < 0.0:
        raise ValueError(f"mass_matrix: radial_inertia must not be negative, got {radial!r}; pass e.g. 0.0")
    return _turned(p, _inertia("mass_matrix", inertia), radial)


def tangential_inverse_mass(p: ArrayLike, inertia: ArrayLike) -> Mat:
    """M^#(p), (..., 4, 4), with M M^# = I - p p^T for unit quaternions: the block of the inverse of [M p; p^T 0] in the
    place of M, for I0 = 0. [NS] (39); arguments as for `mass_matrix`, with a regular inertia."""
    p = checks.vectors("tangential_inverse_mass", "p", p, 4)
    try:
        inverse: Mat = np.asarray(np.linalg.inv(_inertia("tangential_inverse_mass", inertia)), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"tangential_inverse_mass: inertia must be regular, got {_check.show(inertia)}; give every moment"
        ) from None
    return np.asarray(_turned(p, inverse, 0.0) / (16.0 * np.sum(p * p, axis=-1)[..., None, None] ** 2))


def from_plane(z: ArrayLike) -> Vec:
    """p = (p0, p1, 0, 0), (..., 4), of (..., 2): a rotation about the first axis by twice the argument of the complex
    number p0 + i p1. [NS] Remark 4.5."""
    z = checks.vectors("from_plane", "z", z, 2)
    return np.concatenate([z, np.zeros_like(z)], axis=-1)


def plane_directors(z: ArrayLike) -> Mat:
    """Components of d2 and d3 along the second and third axis, (..., 2, 2), as columns, of z (..., 2): the square of
    the complex number, and i times it. [NS] Remark 4.5."""
    z = checks.vectors("plane_directors", "z", z, 2)
    a, b = z[..., 0], z[..., 1]
    c, s = a * a - b * b, 2.0 * a * b
    return np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)


def plane_rate(z: ArrayLike, omega: ArrayLike) -> Vec:
    """zdot = i z omega / 2, (..., 2), of z (..., 2) and the angular velocity omega (...) in 1/s: the null-space matrix
    (-p1, p0) / 2 of |z| = 1. [NS] Remark 4.5."""
    z = checks.vectors("plane_rate", "z", z, 2)
    rate = checks.numbers("plane_rate", "omega", omega)
    turned = np.stack([-z[..., 1], z[..., 0]], axis=-1)
    return np.asarray(0.5 * turned * rate[..., None])


def _differential(p: Vec) -> Mat:
    return np.moveaxis(vectors.euler_differential(np.moveaxis(p, -1, 0)), (0, 1), (-2, -1))


def _by_bodies(owner: str, p: ArrayLike, block: Callable[[ArrayLike], Mat]) -> Mat:
    p = checks.vectors(owner, "p", p, 4)
    if p.ndim != 2:
        raise ValueError(f"{owner}: p must have the shape (n, 4), got {p.shape}")
    return np.asarray(block_diag(*(part for one in block(p) for part in (np.eye(3), one))))


def _turned(p: Vec, J: Mat, radial: float) -> Mat:
    Q = left(p)
    inner = np.zeros((4, 4))
    inner[0, 0], inner[1:, 1:] = radial, J
    return np.asarray(4.0 * Q @ inner @ np.swapaxes(Q, -1, -2))


def _inertia(owner: str, value: ArrayLike) -> Mat:
    return _check.symmetric(owner, "inertia", value, (3,), (3, 3), remedy="pass three moments, or the matrix")

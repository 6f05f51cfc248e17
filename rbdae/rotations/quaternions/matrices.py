"""Quaternions as matrices: products from the left and from the right, and the matrices E and G in them."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations import checks


def left_matrix(p: ArrayLike) -> Mat:
    """Q_l(p) = [p, G(p)^T], (..., 4, 4), of p (..., 4): Q_l(p) q = p q.

    [BS09] (9), (10); Q(p) of [NS] (30); A of [GR95] (242).
    """
    return left(checks.vectors("left_matrix", "p", p, 4))


def right_matrix(q: ArrayLike) -> Mat:
    """Q_r(q) = [q, E(q)^T], (..., 4, 4), of q (..., 4): Q_r(q) p = p q.

    [BS09] (9), (10); B of [GR95] (242).
    """
    return right(checks.vectors("right_matrix", "q", q, 4))


def E(q: ArrayLike) -> Mat:
    """E = [-q, q0 I + q^], (..., 3, 4), of q (..., 4), with omega = 2 E(q) qdot (spatial).

    E of [BS09] (10), H of [GR95] (201) and (248), G of [SNS15] (8). E(q) q = 0, E E^T = |q|^2 I, R(q) = E(q) G(q)^T.
    """
    return np.ascontiguousarray(np.swapaxes(right(checks.vectors("E", "q", q, 4))[..., 1:], -1, -2))


def G(q: ArrayLike) -> Mat:
    """G = [-q, q0 I - q^], (..., 3, 4), of q (..., 4), with Omega = 2 G(q) qdot (material).

    G of [BS09] (10) and [GR95] (201), L of [SNS15] (9), and T_p = G^T / 2 of [NS] (41). G(q) q = 0, G G^T = |q|^2 I.
    """
    return np.ascontiguousarray(np.swapaxes(left(checks.vectors("G", "q", q, 4))[..., 1:], -1, -2))


def left(p: Vec) -> Mat:
    """Q_l of checked quaternions."""
    return _bordered(p, 1.0)


def right(q: Vec) -> Mat:
    """Q_r of checked quaternions."""
    return _bordered(q, -1.0)


def _bordered(q: Vec, sign: float) -> Mat:
    """[[q0, -q^T], [q, q0 I + sign q^]]."""
    out = np.empty((*q.shape, 4))
    for i in range(4):
        out[..., i, i] = q[..., 0]
    for i in range(1, 4):
        j, k = i % 3 + 1, (i + 1) % 3 + 1
        out[..., i, 0] = q[..., i]
        out[..., 0, i] = -q[..., i]
        out[..., k, j] = sign * q[..., i]
        out[..., j, k] = -sign * q[..., i]
    return out

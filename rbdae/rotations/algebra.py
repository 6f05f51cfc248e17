"""Algebra of directors: d = (d1, d2, d3) stacks the columns of R, om^ is the matrix with om^ x = om x x."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array


def angular_velocity(D: Array, rates: Array) -> Array:
    """Omega, the axial vector of W = R^-1 Rdot, of directors and their rates in rows, D = R^T.

    With the inverse, not the transpose: then the angular velocity is the unknown Omega also where the frame has drifted
    from an orthonormal one (R^T Rdot is off by the fourth power of a quaternion's norm). The rows of det R R^-1 are
    d2 x d3, d3 x d1, d1 x d2.
    """
    dual = np.array([cross(D[1], D[2]), cross(D[2], D[0]), cross(D[0], D[1])])
    W = dual @ rates.T
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) * (0.5 / (dual[0] @ D[0]))


def director_tangents(d: Array, K: Array) -> None:
    """K[:9, :3] = T_d(d), [NS] (24): spin(d, om) = K om."""
    for k in range(3):
        K[k, 0] = 0.0
        K[k, 1] = -d[6 + k]
        K[k, 2] = d[3 + k]
        K[3 + k, 0] = d[6 + k]
        K[3 + k, 1] = 0.0
        K[3 + k, 2] = -d[k]
        K[6 + k, 0] = -d[3 + k]
        K[6 + k, 1] = d[k]
        K[6 + k, 2] = 0.0


def spin(d: Array, om: Array, out: Array) -> None:
    """out = R om^, stacked by columns: out1 = om3 d2 - om2 d3 and so on."""
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    for k in range(3):
        out[k] = o3 * d[3 + k] - o2 * d[6 + k]
        out[3 + k] = o1 * d[6 + k] - o3 * d[k]
        out[6 + k] = o2 * d[k] - o1 * d[3 + k]


def spin_transposed(d: Array, f: Array, out: Array) -> None:
    """out[:3] = T_d(d)^T f, the torque of forces f on the directors: spin(d, om) . f = om . out."""
    t0 = 0.0 * f[0]
    t1 = t0
    t2 = t0
    for k in range(3):
        t0 += d[6 + k] * f[3 + k] - d[3 + k] * f[6 + k]
        t1 += d[k] * f[6 + k] - d[6 + k] * f[k]
        t2 += d[3 + k] * f[k] - d[k] * f[3 + k]
    out[0] = t0
    out[1] = t1
    out[2] = t2


def turn(Q: Array, d: Array) -> None:
    """d = Q d for each of the three directors; Q (3, 3)."""
    for n in range(0, 9, 3):
        x = d[n]
        y = d[n + 1]
        z = d[n + 2]
        for k in range(3):
            d[n + k] = Q[k, 0] * x + Q[k, 1] * y + Q[k, 2] * z


def add_spin(d: Array, om: Array, out: Array) -> None:
    """out += R om^."""
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    for k in range(3):
        out[k] += o3 * d[3 + k] - o2 * d[6 + k]
        out[3 + k] += o1 * d[6 + k] - o3 * d[k]
        out[6 + k] += o2 * d[k] - o1 * d[3 + k]


def add_products(X: Array, Y: Array, out: Array, row: int, scale: float, step: int) -> None:
    """out[row:row + 6] += scale (x_k . y_k, then x_i . y_j + x_j . y_i), [NS] (19), over the rows of R, with `step` = 1
    between their numbers, or over its columns (3)."""
    for k in range(3):
        i = 0 if k == 0 else (2 if k == 1 else 1)
        j = 1 if k == 0 else (0 if k == 1 else 2)
        for c in range(3):
            n = (4 - step) * c
            out[row + k] += scale * X[n + step * k] * Y[n + step * k]
            out[row + 3 + k] += scale * (X[n + step * i] * Y[n + step * j] + X[n + step * j] * Y[n + step * i])

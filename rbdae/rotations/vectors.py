"""Vectors, quaternions and frames, on numbers of any kind: floats, symbols, and arrays along further axes.

Quaternions are scalar first. A frame D (3, 3) has the directors as its columns: D = R on the internal constraints.
Stacked they are d = (d1, d2, d3), (9,). om^ is the matrix with om^ x = om x x.
"""

from __future__ import annotations

import math

import numpy as np

from rbdae._arrays import Mat, Vec, cross
from rbdae.graph.functions import Array, select


def frame(d: Array) -> Array:
    """D (3, 3) of stacked directors."""
    return d.reshape(3, 3).T


def stacked(D: Array) -> Array:
    """The columns of D one after the other, (9,)."""
    return D.T.ravel()


def skew(w: Array) -> Array:
    """w^ (3, 3)."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def axial(S: Array) -> Array:
    """sum_i e_i x S e_i, with S : om^ = om . axial(S): the moment of forces S on the axes of a frame."""
    return np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])


def reciprocal(D: Array) -> Array:
    """D^-T: its columns are the cross products of the directors over their determinant."""
    d1, d2, d3 = D.T
    C = np.array([cross(d2, d3), cross(d3, d1), cross(d1, d2)]).T
    return C / (d1 @ C[:, 0])


def angular_velocity(D: Array, rates: Array) -> Array:
    """Omega, the axial vector of W = R^-1 Rdot, of directors and their rates in rows, D = R^T.

    With the inverse, not the transpose: then the angular velocity is the unknown Omega also where the frame has drifted
    from an orthonormal one (R^T Rdot is off by the fourth power of a quaternion's norm). The rows of det R R^-1 are
    d2 x d3, d3 x d1, d1 x d2.
    """
    dual = np.array([cross(D[1], D[2]), cross(D[2], D[0]), cross(D[0], D[1])])
    return axial(dual @ rates.T) * (0.5 / (dual[0] @ D[0]))


# ---------------------------------------------------------------- quaternions


def shorter(p: Vec) -> Vec:
    """p or -p (..., 4), which are the same rotation, with p0 >= 0: the shorter way, at most half a turn."""
    return np.where(p[..., :1] < 0.0, -p, p)


def product(p: Array, q: Array) -> Array:
    """p o q; [NS] (30), [BS09] (1)."""
    a, b, c, d = p
    w, x, y, z = q
    return np.array(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y + c * w + d * x - b * z,
            a * z + d * w + b * y - c * x,
        ]
    )


def conjugate(p: Array) -> Array:
    """conj(p)."""
    return np.array([p[0], -p[1], -p[2], -p[3]])


def pure(v: Array) -> Array:
    """(0, v)."""
    return np.array([0.0, *v])


def euler_map(p: Array) -> Array:
    """R(p) of [NS] (26), whose columns are phi(p) of (47); homogeneous of degree two, also off the unit sphere."""
    a, b, c, d = p
    return np.array(
        [
            [a * a + b * b - c * c - d * d, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)],
            [2.0 * (b * c + a * d), a * a - b * b + c * c - d * d, 2.0 * (c * d - a * b)],
            [2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a - b * b - c * c + d * d],
        ]
    )


def euler_differential(p: Array) -> Array:
    """Dphi(p) (9, 4), [NS] (48): linear in p, with Dphi(p) p = 2 phi(p)."""
    a, b, c, d = 2.0 * p[0], 2.0 * p[1], 2.0 * p[2], 2.0 * p[3]
    return np.array(
        [
            [a, b, -c, -d],
            [d, c, b, a],
            [-c, d, -a, b],
            [-d, c, b, -a],
            [a, -b, c, -d],
            [b, a, d, c],
            [c, d, a, b],
            [-b, -a, d, c],
            [a, -b, -c, d],
        ]
    )


def euler_pull_back(p: Array, F: Array) -> Array:
    """Dphi(p)^T f of forces F (3, 3) on the directors: S(F) p with the constant symmetric Hessian S of F : R(p)."""
    x, y, z = F[2, 1] - F[1, 2], F[0, 2] - F[2, 0], F[1, 0] - F[0, 1]
    xy, zx, yz = F[1, 0] + F[0, 1], F[2, 0] + F[0, 2], F[2, 1] + F[1, 2]
    f, g, h = F[0, 0], F[1, 1], F[2, 2]
    S = np.array([[f + g + h, x, y, z], [x, f - g - h, xy, zx], [y, xy, g - f - h, yz], [z, zx, yz, h - f - g]])
    return 2.0 * (S @ p)


def largest_row(R: Array) -> Array:
    """The row of 4 p p^T with the largest diagonal entry, for a rotation matrix R(p) or one near to it: p, of another
    norm. It chooses without a branch. [GR95] (203)-(205), [NS] section 6, after [Klu76] and [Spu78]."""
    (a, b, c), (d, e, f), (g, h, i) = R
    trace = a + e + i
    x, y, z = h - f, c - g, d - b
    rows = [
        [1.0 + trace, x, y, z],
        [x, 1.0 + 2.0 * a - trace, d + b, g + c],
        [y, d + b, 1.0 + 2.0 * e - trace, h + f],
        [z, g + c, h + f, 1.0 + 2.0 * i - trace],
    ]
    out, largest = rows[0], trace
    for row, size in zip(rows[1:], (a, e, i), strict=True):
        larger = size > largest
        out = [select(larger, *both) for both in zip(row, out, strict=True)]
        largest = select(larger, size, largest)
    return np.array(out)


# ---------------------------------------------------------------- at the boundary, on floats

_FEW = 12
"""Rotations up to which the work of NumPy's calls is the larger one."""


def rotation_matrices(p: Mat) -> Mat:
    """R(p) of unit quaternions (..., 4) as (..., 3, 3); [NS] (26)."""
    p = np.asarray(p, dtype=float)
    if p.ndim == 1:
        return np.asarray(euler_map(p.tolist()))
    if p.ndim == 2 and len(p) < _FEW:  # on Python's numbers: quicker
        return np.array([euler_map(each) for each in p.tolist()]).reshape(-1, 3, 3)
    return np.ascontiguousarray(np.moveaxis(euler_map(np.moveaxis(p, -1, 0)), (0, 1), (-2, -1)))


def spurrier_klumpp(R: Mat) -> Vec:
    """Unit quaternions (..., 4) of rotation matrices (..., 3, 3), exact or nearly so."""
    p = largest_row(np.ascontiguousarray(np.moveaxis(R, (-2, -1), (0, 1))))
    return np.ascontiguousarray(np.moveaxis(p / np.sqrt(np.sum(p * p, axis=0)), 0, -1))


def unit_quaternion(R: Mat) -> Vec:
    """The unit quaternion of a rotation matrix (3, 3), with nonnegative scalar part."""
    p: Vec = largest_row(np.asarray(R, dtype=float).tolist())  # on Python's numbers: quicker
    p /= math.sqrt(p @ p)
    return -p if p[0] < 0.0 else p

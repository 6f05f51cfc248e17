"""The Euler map d = phi(p) from quaternions to directors, and its derivatives; scalar first.

d = (d1, d2, d3) stacks the columns of R. phi is quadratic: Dphi is linear, Dphi(p) p = 2 phi(p), and the Hessian of
f . phi is constant. [NS] (47), (48).
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat
from rbdae.graph.functions import Array


def euler_map(p: Array, d: Array) -> None:
    """d = phi(p), [NS] (47); homogeneous of degree two, so also correct off the unit sphere."""
    p0 = p[0]
    p1 = p[1]
    p2 = p[2]
    p3 = p[3]
    d[0] = p0 * p0 + p1 * p1 - p2 * p2 - p3 * p3
    d[1] = 2.0 * (p1 * p2 + p0 * p3)
    d[2] = 2.0 * (p1 * p3 - p0 * p2)
    d[3] = 2.0 * (p1 * p2 - p0 * p3)
    d[4] = p0 * p0 - p1 * p1 + p2 * p2 - p3 * p3
    d[5] = 2.0 * (p2 * p3 + p0 * p1)
    d[6] = 2.0 * (p1 * p3 + p0 * p2)
    d[7] = 2.0 * (p2 * p3 - p0 * p1)
    d[8] = p0 * p0 - p1 * p1 - p2 * p2 + p3 * p3


def euler_differential(p: Array, D: Array) -> None:
    """D[:, :4] = Dphi(p), [NS] (48); linear in p."""
    a = 2.0 * p[0]
    b = 2.0 * p[1]
    c = 2.0 * p[2]
    e = 2.0 * p[3]
    D[0, 0] = a
    D[0, 1] = b
    D[0, 2] = -c
    D[0, 3] = -e
    D[1, 0] = e
    D[1, 1] = c
    D[1, 2] = b
    D[1, 3] = a
    D[2, 0] = -c
    D[2, 1] = e
    D[2, 2] = -a
    D[2, 3] = b
    D[3, 0] = -e
    D[3, 1] = c
    D[3, 2] = b
    D[3, 3] = -a
    D[4, 0] = a
    D[4, 1] = -b
    D[4, 2] = c
    D[4, 3] = -e
    D[5, 0] = b
    D[5, 1] = a
    D[5, 2] = e
    D[5, 3] = c
    D[6, 0] = c
    D[6, 1] = e
    D[6, 2] = a
    D[6, 3] = b
    D[7, 0] = -b
    D[7, 1] = -a
    D[7, 2] = e
    D[7, 3] = c
    D[8, 0] = a
    D[8, 1] = -b
    D[8, 2] = -c
    D[8, 3] = e


def euler_differential_transposed(p: Array, f: Array, out: Array) -> None:
    """out[:4] = Dphi(p)^T f, through the symmetric Hessian S(f) (see `euler_hessian`)."""
    s0 = f[0] + f[4] + f[8]
    s1 = f[0] - f[4] - f[8]
    s2 = f[4] - f[0] - f[8]
    s3 = f[8] - f[0] - f[4]
    s01 = f[5] - f[7]
    s02 = f[6] - f[2]
    s03 = f[1] - f[3]
    s12 = f[1] + f[3]
    s13 = f[2] + f[6]
    s23 = f[5] + f[7]
    out[0] = 2.0 * (s0 * p[0] + s01 * p[1] + s02 * p[2] + s03 * p[3])
    out[1] = 2.0 * (s01 * p[0] + s1 * p[1] + s12 * p[2] + s13 * p[3])
    out[2] = 2.0 * (s02 * p[0] + s12 * p[1] + s2 * p[2] + s23 * p[3])
    out[3] = 2.0 * (s03 * p[0] + s13 * p[1] + s23 * p[2] + s3 * p[3])


def euler_hessian(f: Array, S: Array) -> None:
    """S[:4, :4] with S p = Dphi(p)^T f: the Hessian of f . phi(p), constant because phi is quadratic."""
    S[0, 0] = 2.0 * (f[0] + f[4] + f[8])
    S[1, 1] = 2.0 * (f[0] - f[4] - f[8])
    S[2, 2] = 2.0 * (f[4] - f[0] - f[8])
    S[3, 3] = 2.0 * (f[8] - f[0] - f[4])
    S[0, 1] = 2.0 * (f[5] - f[7])
    S[0, 2] = 2.0 * (f[6] - f[2])
    S[0, 3] = 2.0 * (f[1] - f[3])
    S[1, 2] = 2.0 * (f[1] + f[3])
    S[1, 3] = 2.0 * (f[2] + f[6])
    S[2, 3] = 2.0 * (f[5] + f[7])
    S[1, 0] = S[0, 1]
    S[2, 0] = S[0, 2]
    S[3, 0] = S[0, 3]
    S[2, 1] = S[1, 2]
    S[3, 1] = S[1, 3]
    S[3, 2] = S[2, 3]


_FEW = 8
"""Up to this number of quaternions, matrices are computed one by one on Python's numbers, which is quicker."""


def _few_matrices(p: list[list[float]]) -> Mat:
    """Rotation matrices (n, 3, 3), by the same operations."""
    kernel = euler_map
    d = 9 * [0.0]
    rows: list[float] = []
    for each in p:
        kernel(each, d)
        rows += (d[0], d[3], d[6], d[1], d[4], d[7], d[2], d[5], d[8])
    return np.array(rows).reshape(-1, 3, 3)


def rotation_matrices(p: Mat) -> Mat:
    """R(p) of unit quaternions (..., 4), scalar first, as (..., 3, 3); [NS] (26)."""
    p = np.asarray(p, dtype=float)
    if p.ndim == 2 and len(p) <= _FEW:
        return _few_matrices(p.tolist())
    if p.ndim == 1:
        return np.asarray(_few_matrices([p.tolist()])[0])
    d = np.empty((9, *p.shape[:-1]))
    euler_map(np.moveaxis(p, -1, 0), d)
    columns = d.reshape(3, 3, *p.shape[:-1])
    return np.ascontiguousarray(np.moveaxis(columns, (1, 0), (-2, -1)))

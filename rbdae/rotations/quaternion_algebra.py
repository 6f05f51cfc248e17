"""Quaternion algebra on four scalars and 4 x 4 blocks; scalar first.

L(p) x = p o x, R(p) x = x o p, C x = conj(x); [NS] (30), [BS09] (9), (10).
"""

from __future__ import annotations

import math

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array, select, sqrt


def left(p: Array, L: Array) -> None:
    """L[:4, :4] with L x = p o x."""
    L[0, 0] = p[0]
    L[0, 1] = -p[1]
    L[0, 2] = -p[2]
    L[0, 3] = -p[3]
    L[1, 0] = p[1]
    L[1, 1] = p[0]
    L[1, 2] = -p[3]
    L[1, 3] = p[2]
    L[2, 0] = p[2]
    L[2, 1] = p[3]
    L[2, 2] = p[0]
    L[2, 3] = -p[1]
    L[3, 0] = p[3]
    L[3, 1] = -p[2]
    L[3, 2] = p[1]
    L[3, 3] = p[0]


def conjugate_product(p: Array, x: Array, out: Array) -> None:
    """out[:4] = conj(p) o x = L(p)^T x."""
    out[0] = p[0] * x[0] + p[1] * x[1] + p[2] * x[2] + p[3] * x[3]
    out[1] = p[0] * x[1] - p[1] * x[0] - p[2] * x[3] + p[3] * x[2]
    out[2] = p[0] * x[2] - p[2] * x[0] - p[3] * x[1] + p[1] * x[3]
    out[3] = p[0] * x[3] - p[3] * x[0] - p[1] * x[2] + p[2] * x[1]


def add_product(p: Array, x: Array, scale: float, out: Array) -> None:
    """out[:4] += scale p o x."""
    out[0] += scale * (p[0] * x[0] - p[1] * x[1] - p[2] * x[2] - p[3] * x[3])
    out[1] += scale * (p[0] * x[1] + p[1] * x[0] + p[2] * x[3] - p[3] * x[2])
    out[2] += scale * (p[0] * x[2] + p[2] * x[0] + p[3] * x[1] - p[1] * x[3])
    out[3] += scale * (p[0] * x[3] + p[3] * x[0] + p[1] * x[2] - p[2] * x[1])


def extended(radial: float, J: Array, x: Array, out: Array) -> None:
    """out[:4] = diag(radial, J) x, the extended inertia."""
    x0 = x[0]
    x1 = x[1]
    x2 = x[2]
    x3 = x[3]
    out[0] = radial * x0
    out[1] = J[0, 0] * x1 + J[0, 1] * x2 + J[0, 2] * x3
    out[2] = J[1, 0] * x1 + J[1, 1] * x2 + J[1, 2] * x3
    out[3] = J[2, 0] * x1 + J[2, 1] * x2 + J[2, 2] * x3


def rate(p: Array, om: Array, pd: Array) -> None:
    """pd[:4] = T_p(p) om, half of p o om."""
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    pd[0] = 0.5 * (-p[1] * o1 - p[2] * o2 - p[3] * o3)
    pd[1] = 0.5 * (p[0] * o1 - p[3] * o2 + p[2] * o3)
    pd[2] = 0.5 * (p[3] * o1 + p[0] * o2 - p[1] * o3)
    pd[3] = 0.5 * (-p[2] * o1 + p[1] * o2 + p[0] * o3)


def normalise(p: Array, work: Array) -> None:
    """Scale p[:4] to norm one, [NS] (63)."""
    n = 1.0 / sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
    for k in range(4):
        p[k] *= n


def quaternion_tangents(p: Array, K: Array) -> None:
    """K[:4, :3] = T_p(p), [NS] (41)."""
    K[0, 0] = -0.5 * p[1]
    K[0, 1] = -0.5 * p[2]
    K[0, 2] = -0.5 * p[3]
    K[1, 0] = 0.5 * p[0]
    K[1, 1] = -0.5 * p[3]
    K[1, 2] = 0.5 * p[2]
    K[2, 0] = 0.5 * p[3]
    K[2, 1] = 0.5 * p[0]
    K[2, 2] = -0.5 * p[1]
    K[3, 0] = -0.5 * p[2]
    K[3, 1] = 0.5 * p[1]
    K[3, 2] = 0.5 * p[0]


def spurrier_klumpp(d: Array, p: Array) -> None:
    """p[:4] of an exact or nearly exact rotation matrix: the largest of the four components comes from a square root
    ([NS], section 6, after [Klu76] and [Spu78])."""
    trace = d[0] + d[4] + d[8]
    if trace >= d[0] and trace >= d[4] and trace >= d[8]:
        p[0] = 0.5 * sqrt(1.0 + trace)
        f = 0.25 / p[0]
        p[1] = f * (d[5] - d[7])
        p[2] = f * (d[6] - d[2])
        p[3] = f * (d[1] - d[3])
    elif d[0] >= d[4] and d[0] >= d[8]:
        p[1] = sqrt(0.5 * d[0] + 0.25 * (1.0 - trace))
        f = 0.25 / p[1]
        p[0] = f * (d[5] - d[7])
        p[2] = f * (d[3] + d[1])
        p[3] = f * (d[6] + d[2])
    elif d[4] >= d[8]:
        p[2] = sqrt(0.5 * d[4] + 0.25 * (1.0 - trace))
        f = 0.25 / p[2]
        p[0] = f * (d[6] - d[2])
        p[1] = f * (d[3] + d[1])
        p[3] = f * (d[7] + d[5])
    else:
        p[3] = sqrt(0.5 * d[8] + 0.25 * (1.0 - trace))
        f = 0.25 / p[3]
        p[0] = f * (d[1] - d[3])
        p[1] = f * (d[6] + d[2])
        p[2] = f * (d[7] + d[5])


def largest_row(d: Array, p: Array) -> None:
    """p[:4] of the same, of another norm: the row of 4 p p^T with the largest diagonal, without branches, which fall in
    one way for one body and in another for the next."""
    trace = d[0] + d[4] + d[8]
    a0 = 1.0 + trace
    a1 = d[5] - d[7]
    a2 = d[6] - d[2]
    a3 = d[1] - d[3]
    p[0] = a0
    p[1] = a1
    p[2] = a2
    p[3] = a3
    b0 = d[3] + d[1]
    b1 = d[6] + d[2]
    b2 = d[7] + d[5]
    largest = trace
    more = d[0] > largest
    _take(p, more, a1, 1.0 + 2.0 * d[0] - trace, b0, b1)
    largest = select(more, d[0], largest)
    more = d[4] > largest
    _take(p, more, a2, b0, 1.0 + 2.0 * d[4] - trace, b2)
    largest = select(more, d[4], largest)
    more = d[8] > largest
    _take(p, more, a3, b1, b2, 1.0 + 2.0 * d[8] - trace)


def _take(p: Array, more: bool, x0: float, x1: float, x2: float, x3: float) -> None:
    """p = x where `more` holds."""
    p[0] = select(more, x0, p[0])
    p[1] = select(more, x1, p[1])
    p[2] = select(more, x2, p[2])
    p[3] = select(more, x3, p[3])


def unit_quaternion(R: Mat) -> Vec:
    """The unit quaternion of a rotation matrix (3, 3), scalar first and nonnegative."""
    components = [0.0, 0.0, 0.0, 0.0]
    spurrier_klumpp(np.asarray(R, dtype=float).T.reshape(9).tolist(), components)  # on Python's numbers: quicker
    p = np.array(components)
    p /= math.sqrt(p.dot(p))  # bitwise equal to numpy's norm, in a fifth of the time
    return -p if p[0] < 0.0 else p

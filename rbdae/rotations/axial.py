"""The common part of charts whose parameters point along the axis of rotation: a = f(phi) n.

With t = |a|^2 and the skew matrix a^ (a^ x = a x x),

    R = I + alpha a^ + beta a^ a^              alpha = sin(phi) / f,  beta = (1 - cos(phi)) / f^2
    K = kappa I + a^ / 2 + gamma a a^T         kappa = (f / 2) cot(phi / 2),  gamma = (f' - kappa) / f^2
    T = alpha I - beta a^ + delta a a^T        delta = (1 / f' - alpha) / f^2

where adot = K Omega and Omega = T adot, and with their transposes the spatial omega: a chart is five functions of t. A
slope is a derivative with respect to t. From (46), (104) and (105) of [GR95], as its (165)-(171), (183)-(192),
(256)-(266), (269)-(273) are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.compiler.access import Array
from rbdae.compiler.jit import jit


@jit
def square(a: Array) -> Any:
    """t = |a|^2."""
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


@jit
def rotation(a: Array, alpha: Any, beta: Any, d: Array) -> None:
    """d = R, stacked by columns."""
    x = a[0]
    y = a[1]
    z = a[2]
    bx = beta * x
    by = beta * y
    bz = beta * z
    d[0] = 1.0 - by * y - bz * z
    d[1] = bx * y + alpha * z
    d[2] = bx * z - alpha * y
    d[3] = bx * y - alpha * z
    d[4] = 1.0 - bx * x - bz * z
    d[5] = by * z + alpha * x
    d[6] = bx * z + alpha * y
    d[7] = by * z - alpha * x
    d[8] = 1.0 - bx * x - by * y


@jit
def rotation_tangent(a: Array, alpha: Any, beta: Any, alpha_slope: Any, beta_slope: Any, D: Array) -> None:
    """D[:9, :3] = dR/da."""
    x = a[0]
    y = a[1]
    z = a[2]
    for j in range(3):
        u = 2.0 * alpha_slope * a[j]
        w = 2.0 * beta_slope * a[j]
        D[0, j] = -w * (y * y + z * z)
        D[1, j] = w * x * y + u * z
        D[2, j] = w * x * z - u * y
        D[3, j] = w * x * y - u * z
        D[4, j] = -w * (x * x + z * z)
        D[5, j] = w * y * z + u * x
        D[6, j] = w * x * z + u * y
        D[7, j] = w * y * z - u * x
        D[8, j] = -w * (x * x + y * y)
    bx = beta * x
    by = beta * y
    bz = beta * z
    D[1, 0] += by
    D[2, 0] += bz
    D[3, 0] += by
    D[4, 0] -= 2.0 * bx
    D[5, 0] += alpha
    D[6, 0] += bz
    D[7, 0] -= alpha
    D[8, 0] -= 2.0 * bx
    D[0, 1] -= 2.0 * by
    D[1, 1] += bx
    D[2, 1] -= alpha
    D[3, 1] += bx
    D[5, 1] += bz
    D[6, 1] += alpha
    D[7, 1] += bz
    D[8, 1] -= 2.0 * by
    D[0, 2] -= 2.0 * bz
    D[1, 2] += alpha
    D[2, 2] += bx
    D[3, 2] -= alpha
    D[4, 2] -= 2.0 * bz
    D[5, 2] += by
    D[6, 2] += bx
    D[7, 2] += by


@jit
def rate(a: Array, om: Array, kappa: Any, gamma: Any, ad: Array) -> None:
    """ad = K om."""
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    g = gamma * (a[0] * o1 + a[1] * o2 + a[2] * o3)
    ad[0] = kappa * o1 + 0.5 * (a[1] * o3 - a[2] * o2) + g * a[0]
    ad[1] = kappa * o2 + 0.5 * (a[2] * o1 - a[0] * o3) + g * a[1]
    ad[2] = kappa * o3 + 0.5 * (a[0] * o2 - a[1] * o1) + g * a[2]


@jit
def rate_tangents(
    a: Array, om: Array, kappa: Any, gamma: Any, kappa_slope: Any, gamma_slope: Any, K: Array, A: Array
) -> None:
    """K[:3, :3] = K and A[:3, :3] = d(K om)/da."""
    x = a[0]
    y = a[1]
    z = a[2]
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    dot = x * o1 + y * o2 + z * o3
    for i in range(3):
        for j in range(3):
            K[i, j] = gamma * a[i] * a[j]
            A[i, j] = 2.0 * (kappa_slope * om[i] + gamma_slope * dot * a[i]) * a[j] + gamma * a[i] * om[j]
        K[i, i] += kappa
        A[i, i] += gamma * dot
    K[0, 1] -= 0.5 * z
    K[0, 2] += 0.5 * y
    K[1, 0] += 0.5 * z
    K[1, 2] -= 0.5 * x
    K[2, 0] -= 0.5 * y
    K[2, 1] += 0.5 * x
    A[0, 1] += 0.5 * o3
    A[0, 2] -= 0.5 * o2
    A[1, 0] -= 0.5 * o3
    A[1, 2] += 0.5 * o1
    A[2, 0] += 0.5 * o2
    A[2, 1] -= 0.5 * o1


_EPSILON = np.cross(np.eye(3)[:, None], np.eye(3)[None, :])  # e_i x e_j
_EYE = np.eye(3)


def tangents(a: Vec, values: tuple[Vec, Vec, Vec], slopes: tuple[Vec, Vec, Vec], frame: str) -> tuple[Mat, Mat]:
    """T (3, 3, ...) and dT/da (3, 3, 3, ...) of arrays a (3, ...), from alpha, beta, delta and their slopes; with the
    spatial frame the transposes."""
    alpha, beta, delta = values if frame == "material" else (values[0], -values[1], values[2])
    alpha_slope, beta_slope, delta_slope = slopes if frame == "material" else (slopes[0], -slopes[1], slopes[2])
    skew = -np.einsum("ijk,k...->ij...", _EPSILON, a)
    eye = _EYE.reshape(3, 3, *(a.ndim - 1) * (1,))
    square = a[:, None] * a
    T = alpha * eye - beta * skew + delta * square
    D = 2.0 * (alpha_slope * eye - beta_slope * skew + delta_slope * square)[:, :, None] * a
    D += np.einsum("ijk,...->ijk...", _EPSILON, beta)
    D += np.einsum("ik,j...->ijk...", _EYE, delta * a) + np.einsum("jk,i...->ijk...", _EYE, delta * a)
    return T, D


def _half_angle(p0: float, p1: float, p2: float, p3: float) -> tuple[Vec, Vec, Vec]:
    """The half angle of one quaternion: the same operations on numbers, a fifth of the time."""
    if math.copysign(1.0, p0) < 0.0:
        p0, p1, p2, p3 = -p0, -p1, -p2, -p3
    m = max(abs(p1), abs(p2), abs(p3)) or 1.0
    p1, p2, p3 = p1 / m, p2 / m, p3 / m
    norm = math.sqrt(p1 * p1 + p2 * p2 + p3 * p3)
    over = norm or 1.0
    return np.array((p0,)), np.array((m * norm,)), np.array((p1 / over, p2 / over, p3 / over))


def half_angle(p: Vec) -> tuple[Vec, Vec, Vec]:
    """cos(phi / 2), sin(phi / 2) (..., 1) and the axis n (..., 3), zero for no rotation, of unit quaternions (..., 4);
    the one of p and -p with phi <= pi. Rotations by angles as small as numbers are keep their digits."""
    if p.shape == (4,) and p.dtype == np.float64 and math.isfinite(sum(numbers := p.tolist())):
        return _half_angle(*numbers)
    p = np.where(np.signbit(p[..., :1]), -p, p)
    largest = np.max(np.abs(p[..., 1:]), axis=-1, keepdims=True)
    m = np.where(largest > 0.0, largest, 1.0)
    norm = np.linalg.norm(p[..., 1:] / m, axis=-1, keepdims=True)
    return p[..., :1], m * norm, p[..., 1:] / m / np.where(norm > 0.0, norm, 1.0)

"""Common part of charts with parameters along the axis of rotation: a = f(phi) n.

With t = |a|^2 and the skew matrix a^ (a^ x = a x x),

    R = I + alpha a^ + beta a^ a^              alpha = sin(phi) / f,  beta = (1 - cos(phi)) / f^2
    K = kappa I + a^ / 2 + gamma a a^T         kappa = (f / 2) cot(phi / 2),  gamma = (f' - kappa) / f^2
    T = alpha I - beta a^ + delta a a^T        delta = (1 / f' - alpha) / f^2

where adot = K Omega and Omega = T adot; the transposes belong to the spatial omega. A chart is five functions of t.
From (46), (104) and (105) of [GR95], like its (165)-(171), (183)-(192), (256)-(266), (269)-(273).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from rbdae._arrays import Vec
from rbdae.graph.functions import Array
from rbdae.rotations.chart import NEAR_SINGULAR

Coefficients: TypeAlias = Callable[[Any], Any]
"""Coefficients as functions of t, a kernel."""


def square(a: Array) -> Any:
    """t = |a|^2."""
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


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


def rate(a: Array, om: Array, kappa: Any, gamma: Any, ad: Array) -> None:
    """ad = K om."""
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    g = gamma * (a[0] * o1 + a[1] * o2 + a[2] * o3)
    ad[0] = kappa * o1 + 0.5 * (a[1] * o3 - a[2] * o2) + g * a[0]
    ad[1] = kappa * o2 + 0.5 * (a[2] * o1 - a[0] * o3) + g * a[1]
    ad[2] = kappa * o3 + 0.5 * (a[0] * o2 - a[1] * o1) + g * a[2]


def kernels(sines: Coefficients, cotangents: Coefficients) -> dict[str, Any]:
    """The fields of a `Chart` that follow from (alpha, beta, delta) and (kappa, gamma), kernels of t."""

    def in_place(a: Array, d: Array) -> None:
        alpha, beta, _ = sines(square(a))
        rotation(a, alpha, beta, d)

    def turning(a: Array, om: Array, ad: Array) -> None:
        kappa, gamma = cotangents(square(a))
        rate(a, om, kappa, gamma, ad)

    return {"rotation": in_place, "rate": turning, "centre": (0.0, 0.0, 0.0), "inverted": np.negative}


def tangent(sines: Coefficients) -> Callable[[Any], Any]:
    """T (3, 3) of symbols a, from (alpha, beta, delta)."""

    def of(a: Any) -> Any:
        alpha, beta, delta = sines(square(a))
        x, y, z = a
        skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]], dtype=object)
        return np.eye(3) * alpha - skew * beta + np.multiply.outer(a, a) * delta  # arrays first: symbols take numbers

    return of


def too_near(size: float, phi: float, singularity: str) -> str:
    """Why a rotation by phi has no parameters, or "" if K is small enough to keep digits."""
    if size * NEAR_SINGULAR < 1.0:
        return ""
    return f"a rotation by {phi:.6g} rad is at the singularity of the {singularity}, or too near to it"


def beyond(phi: float, singularity: str) -> str:
    """Why a rotation by phi has no parameters."""
    return f"a rotation by {phi:.6g} rad is at or beyond the singularity of the {singularity}"


def _half_angle(p0: float, p1: float, p2: float, p3: float) -> tuple[Vec, Vec, Vec]:
    """`half_angle` of one quaternion: the same operations on numbers, in a fifth of the time."""
    if math.copysign(1.0, p0) < 0.0:
        p0, p1, p2, p3 = -p0, -p1, -p2, -p3
    m = max(abs(p1), abs(p2), abs(p3)) or 1.0
    p1, p2, p3 = p1 / m, p2 / m, p3 / m
    norm = math.sqrt(p1 * p1 + p2 * p2 + p3 * p3)
    over = norm or 1.0
    return np.array((p0,)), np.array((m * norm,)), np.array((p1 / over, p2 / over, p3 / over))


def half_angle(p: Vec) -> tuple[Vec, Vec, Vec]:
    """cos(phi / 2), sin(phi / 2) (..., 1) and the axis n (..., 3), zero for the identity, of unit quaternions (..., 4),
    with the sign of p that gives phi <= pi. Even the smallest angles keep their digits."""
    if p.shape == (4,) and p.dtype == np.float64 and math.isfinite(sum(numbers := p.tolist())):
        return _half_angle(*numbers)
    p = np.where(np.signbit(p[..., :1]), -p, p)
    largest = np.max(np.abs(p[..., 1:]), axis=-1, keepdims=True)
    m = np.where(largest > 0.0, largest, 1.0)
    norm = np.linalg.norm(p[..., 1:] / m, axis=-1, keepdims=True)
    return p[..., :1], m * norm, p[..., 1:] / m / np.where(norm > 0.0, norm, 1.0)

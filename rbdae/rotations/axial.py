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
from rbdae.rotations.vectors import cross, skew

Coefficients: TypeAlias = Callable[[Any], Any]
"""Coefficients as functions of t."""


def square(a: Array) -> Any:
    """t = |a|^2."""
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


def fields(sines: Coefficients, cotangents: Coefficients) -> dict[str, Any]:
    """The fields of a `Chart` that follow from (alpha, beta, delta) and (kappa, gamma)."""

    def rotation(a: Array) -> Array:
        t = square(a)
        alpha, beta, _ = sines(t)
        return np.eye(3) * (1.0 - beta * t) + skew(a) * alpha + np.multiply.outer(a * beta, a)

    def rate(a: Array, om: Array) -> Array:
        kappa, gamma = cotangents(square(a))
        return om * kappa + 0.5 * cross(a, om) + a * (gamma * (a @ om))

    def tangent(a: Array) -> Array:
        alpha, beta, delta = sines(square(a))
        return np.eye(3) * alpha - skew(a) * beta + np.multiply.outer(a, a) * delta

    return {
        "rotation": rotation, "rate": rate, "tangent": tangent, "centre": (0.0, 0.0, 0.0), "inverted": np.negative,
    }  # fmt: skip


def too_near(size: float, phi: float, singularity: str) -> str:
    """Why a rotation by phi has no parameters, or "" if K is small enough to keep digits."""
    if size * NEAR_SINGULAR < 1.0:
        return ""
    return f"a rotation by {phi:.6g} rad is at the singularity of the {singularity}, or too near to it"


def beyond(phi: float, singularity: str) -> str:
    """Why a rotation by phi has no parameters."""
    return f"a rotation by {phi:.6g} rad is at or beyond the singularity of the {singularity}"


def is_before_turning(size: float) -> bool:
    """Whether parameters of a length below one, sin(phi) or sin(phi / 2), are off the length one by enough digits."""
    return size < 1.0 and math.sqrt((1.0 - size) * (1.0 + size)) > NEAR_SINGULAR


def half_angle(p: Vec) -> tuple[Vec, Vec, Vec]:
    """cos(phi / 2), sin(phi / 2) (..., 1) and the axis n (..., 3), zero for the identity, of unit quaternions (..., 4),
    with the sign of p that gives phi <= pi. Even the smallest angles keep their digits."""
    p = np.where(np.signbit(p[..., :1]), -p, p)
    largest = np.max(np.abs(p[..., 1:]), axis=-1, keepdims=True)
    m = np.where(largest > 0.0, largest, 1.0)
    norm = np.linalg.norm(p[..., 1:] / m, axis=-1, keepdims=True)
    return p[..., :1], m * norm, p[..., 1:] / m / np.where(norm > 0.0, norm, 1.0)

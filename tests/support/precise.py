"""Rotations and rigid-body motions with 60 digits, as an independent reference: object arrays of mpmath numbers.

Derivatives are central differences with a step of 1e-14: good to 27 digits, and they know no formula of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

MP = mpmath.mp.clone()
MP.dps = 60
STEP = MP.mpf(10) ** -14


def exact(x: Any) -> Any:
    """Floating-point numbers without rounding."""
    return np.vectorize(MP.mpf, otypes=[object])(np.asarray(x, dtype=float))


def rounded(x: Any) -> Any:
    """The nearest floating-point numbers."""
    return np.vectorize(float, otypes=[float])(np.asarray(x, dtype=object))


def spin(u: Any) -> Any:
    zero = MP.mpf(0)
    return np.array([[zero, -u[2], u[1]], [u[2], zero, -u[0]], [-u[1], u[0], zero]], dtype=object)


def vect(A: Any) -> Any:
    return np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]], dtype=object) / 2


def length(u: Any) -> Any:
    return MP.sqrt(sum(x * x for x in u))


def rotation(axis: Any, angle: Any) -> Any:
    """By Rodrigues' formula, from an axis that need not have unit length."""
    n = spin(axis / length(axis))
    return exact(np.eye(3)) + MP.sin(angle) * n + (1 - MP.cos(angle)) * (n @ n)


def exponential(psi: Any) -> Any:
    """By Taylor's series with scaling and squaring, which knows neither sines nor axes."""
    A = spin(psi) / 256
    term = out = exact(np.eye(3))
    for k in range(1, 40):
        term = term @ A / k
        out = out + term
    for _ in range(8):
        out = out @ out
    return out


def derivative(f: Callable[..., Any], k: int = 0) -> Callable[..., Any]:
    """With respect to the argument k."""

    def df(*t: Any) -> Any:
        up, down = list(t), list(t)
        up[k], down[k] = t[k] + STEP, t[k] - STEP
        return (f(*up) - f(*down)) / (2 * STEP)

    return df


def error(value: Any, reference: Any, scale: float = 0.0) -> float:
    """The largest error, relative to the largest entry of the reference or to `scale` if that is larger."""
    difference = exact(value) - reference
    size = max(max(abs(x) for x in np.ravel(reference)), MP.mpf(scale))
    return float(max(abs(x) for x in np.ravel(difference)) / (size or 1))

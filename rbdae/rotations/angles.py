"""Common part of charts of three angles: rotations about three axes, each moved by the previous ones.

    R = exp(a1 e_i^) exp(a2 e_j^) exp(a3 e_k^)

Axes are numbers from 0 to 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array, cos, sin
from rbdae.rotations.chart import NEAR_SINGULAR
from rbdae.rotations.quaternions.algebra import multiplied

Axes = tuple[int, int, int]


def cosines_and_sines(a: Array) -> Any:
    """c1, s1, c2, s2, c3, s3."""
    return cos(a[0]), sin(a[0]), cos(a[1]), sin(a[1]), cos(a[2]), sin(a[2])


def rate(a: Array, om: Array, k: int, sine: Any, cosine: Any, ad: Array) -> None:
    """ad = K om, with the sine and cosine of the angle between the first and the third axis, e_k.

    The third rotation mixes the components of om across e_k; the component across the second axis turns the first.
    """
    s3 = sin(a[2])
    c3 = cos(a[2])
    p = om[(k + 1) % 3]
    q = om[(k + 2) % 3]
    u = (s3 * p + c3 * q) / sine
    ad[0] = u
    ad[1] = c3 * p - s3 * q
    ad[2] = om[k] - cosine * u


def completed(k: int, a1: Vec, a2: Vec, x: Vec, y: Vec, R: Mat) -> Vec:
    """The angles (..., 3) of R, from two of them and the second axis (x, y, 0). The third is the remaining rotation, so
    that the angles are consistent also in gimbal lock."""
    across, along = (k + 2) % 3, (k + 1) % 3
    a3 = np.arctan2(-x * R[..., 0, across] - y * R[..., 1, across], x * R[..., 0, along] + y * R[..., 1, along])
    return np.stack([a1, a2, a3], axis=-1)


def locked(sine: float, at: str, angles: str) -> str:
    """Why angles cannot be used, from the sine between the first and the third axis, or ""."""
    return "" if abs(sine) > NEAR_SINGULAR else f"{at} is a singularity (gimbal lock) of the {angles}"


def nearest(mirror: float, a: Vec, b: Vec) -> Vec:
    """The angles of a rotation nearest to b, up to full turns, and up to half a turn of the first and third with the
    second reflected, mirror - a2."""
    mirrored = np.array((a[0] + np.pi, mirror - a[1], a[2] + np.pi))
    both = [x + 2.0 * np.pi * np.round((b - x) / (2.0 * np.pi)) for x in (a, mirrored)]
    return min(both, key=lambda x: float(np.abs(x - b).sum()))


def quaternion(axes: Axes, a: Vec) -> Vec:
    """The unit quaternion (..., 4) of angles (..., 3), with nonnegative scalar part."""
    turns = np.zeros((3, *a.shape[:-1], 4))
    for m, axis in enumerate(axes):
        turns[m, ..., 0], turns[m, ..., 1 + axis] = np.cos(0.5 * a[..., m]), np.sin(0.5 * a[..., m])
    p = multiplied(multiplied(turns[0], turns[1]), turns[2])
    return np.where(p[..., :1] < 0.0, -p, p)

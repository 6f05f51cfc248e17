"""Common part of charts of three angles: rotations about three axes, each moved by the previous ones.

    R = exp(a1 e_i^) exp(a2 e_j^) exp(a3 e_k^)

Axes are numbers from 0 to 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array, asin, cos, sin
from rbdae.rotations.chart import NEAR_SINGULAR


def turn(axis: int, angle: Any) -> Array:
    """exp(angle e_axis^)."""
    c, s = cos(angle), sin(angle)
    return np.roll(np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]), axis, axis=(0, 1))


def fields(i: int, j: int, k: int) -> dict[str, Any]:
    """The fields of a `Chart` of rotations about three axes. Its equations are seen from the third axis: what is across
    the second one turns the first, by 1 / the sine of the angle between the first and the third."""
    m = 3 - j - k

    def rotation(a: Array) -> Array:
        return turn(i, a[0]) @ turn(j, a[1]) @ turn(k, a[2])

    def rate(a: Array, om: Array) -> Array:
        first, across = turn(j, a[1])[i], turn(k, a[2]) @ om
        u = across[m] / first[m]
        return np.array([u, across[j], om[k] - first[k] * u])

    def distance(a: Array) -> Any:
        return asin(abs((cos if i != k else sin)(a[1])))

    return {"rotation": rotation, "rate": rate, "distance": distance}


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

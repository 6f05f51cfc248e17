"""The conformal rotation vector c = 4 n tan(phi / 4).

    R = F F,  F = (c0 I + c^ + c c^T / 4) / (4 - c0),  c0 = (16 - c^2) / 8,
    cdot = (4 - c0) F Omega / 2 = (c0 Omega + c x Omega + c (c . Omega) / 4) / 2

with the material angular velocity Omega; all rational. Singular at phi = 2 pi, where c is unbounded; the inverse map
gives phi <= pi, |c| <= 4. [GR95] (252)-(266).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array, atan, sqrt
from rbdae.rotations import axial
from rbdae.rotations.chart import Chart
from rbdae.rotations.functions import ChartFunctions
from rbdae.rotations.signatures import *  # noqa: F403


def _parameters(p: Vec, R: Mat) -> Vec:
    e0, s, n = axial.half_angle(p)
    return 4.0 * s / (1.0 + e0) * n


def _nearest(a: Vec, b: Vec) -> Vec:
    """The nearer of a and of the opposite rotation about the same axis."""
    square = float(a @ a)
    opposite = -16.0 / square * a if square > 0.0 else a
    return opposite if np.linalg.norm(opposite - b) < np.linalg.norm(a - b) else a


def _singular(a: Vec) -> str:
    c = float(np.linalg.norm(a))
    return axial.too_near(1.0 + 0.0625 * c * c, 4.0 * np.arctan(0.25 * c), "conformal rotation vector, phi = 2 pi")


def _sines(t: Any) -> Any:
    u = 0.0625 * t
    w = 1.0 / (1.0 + u)
    return (1.0 - u) * w * w, 0.5 * w * w, 0.125 * w * w


def _cotangents(t: Any) -> Any:
    return 1.0 - 0.0625 * t, 0.125


def _distance(a: Array) -> Any:
    return 2.0 * np.pi - 4.0 * atan(0.25 * sqrt(axial.square(a)))


def _quaternion(a: Vec) -> Vec:
    u = 0.0625 * np.sum(a * a, axis=-1, keepdims=True)
    return np.concatenate([(1.0 - u) / (1.0 + u), 0.5 * a / (1.0 + u)], axis=-1)


CONFORMAL = Chart(
    name="conformal",
    source="[GR95] (252)-(266)",
    names=("c1", "c2", "c3"),
    parameters=_parameters,
    singular=_singular,
    distance=_distance,
    quaternion=_quaternion,
    nearest=_nearest,
    **axial.fields(_sines, _cotangents),
)
_NOTES = {
    "matrix": "[GR95] (254), (256)",
    "parameters": "|c| <= 4; [GR95] (252), (253)",
    "quaternion": "(c0, c) / (4 - c0), [GR95] (252); c0 by (254)",
    "tangent": "[GR95] (265), (266)",
    "inverse_tangent": "[GR95] (266) inverted",
    "distance": "to phi = 2 pi",
}
ChartFunctions(__name__, CONFORMAL, "conformal rotation vectors", notes=_NOTES).publish()

"""Rodrigues parameters b = n tan(phi / 2).

    R = I + 2 (b^ + b^ b^) / (1 + b^2),  bdot = (Omega + b x Omega + b (b . Omega)) / 2

with the material angular velocity Omega; all rational. Singular at phi = pi, where b is unbounded.
[GR95] (176)-(192).
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

# stands for b at phi = pi, where b does not exist: `singular` refuses it
_LARGEST = 1e150


def _parameters(p: Vec, R: Mat) -> Vec:
    e0, s, n = axial.half_angle(p)
    return s / np.maximum(e0, 1.0 / _LARGEST) * n


def _singular(a: Vec) -> str:
    b = float(np.linalg.norm(a))
    return axial.too_near(0.5 * (1.0 + b * b), 2.0 * np.arctan(b), "Rodrigues parameters, phi = pi")


def _sines(t: Any) -> Any:
    beta = 2.0 / (1.0 + t)
    return beta, beta, 0.0


def _cotangents(t: Any) -> Any:
    return 0.5, 0.5


def _distance(a: Array) -> Any:
    return np.pi - 2.0 * atan(sqrt(axial.square(a)))


def _quaternion(a: Vec) -> Vec:
    e0 = 1.0 / np.sqrt(1.0 + np.sum(a * a, axis=-1, keepdims=True))
    return np.concatenate([e0, e0 * a], axis=-1)


RODRIGUES = Chart(
    name="rodrigues",
    source="[GR95] (176)-(192)",
    names=("b1", "b2", "b3"),
    parameters=_parameters,
    singular=_singular,
    distance=_distance,
    quaternion=_quaternion,
    **axial.fields(_sines, _cotangents),
)
_NOTES = {
    "matrix": "[GR95] (181)-(183)",
    "parameters": "by less than pi; [GR95] (185), (197), for (186), (187)",
    "quaternion": "(1, b) / sqrt(1 + b^2); [GR95] (197)",
    "tangent": "[GR95] (191), (192)",
    "inverse_tangent": "the inverse of [GR95] (192)",
    "distance": "to phi = pi",
}
ChartFunctions(__name__, RODRIGUES, "Rodrigues parameters", notes=_NOTES).publish()

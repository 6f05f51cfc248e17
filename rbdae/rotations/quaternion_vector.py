"""The vector part of the unit quaternion, e = n sin(phi / 2), with the scalar part e0 = sqrt(1 - e^2) > 0.

    R = I + 2 e0 e^ + 2 e^ e^,  edot = (e0 Omega + e x Omega) / 2

with the material angular velocity Omega: three of the four rows of the quaternion's rates, [NS] (41). Singular at
phi = pi, |e| = 1, where e turns back: K is singular and its derivative unbounded. [NS] Remark 4.4, [GR95] (199).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array, asin, maximum, sqrt
from rbdae.rotations import axial
from rbdae.rotations.chart import Chart
from rbdae.rotations.functions import ChartFunctions
from rbdae.rotations.signatures import *  # noqa: F403


def _parameters(p: Vec, R: Mat) -> Vec:
    _, s, n = axial.half_angle(p)
    return s * n


def _singular(a: Vec) -> str:
    e = float(np.linalg.norm(a))
    if axial.is_before_turning(e):
        return ""
    return f"|e| = {e:.6g} is at or beyond the singularity of the quaternion's vector part, |e| = 1, phi = pi"


def _sines(t: Any) -> Any:
    e0 = sqrt(1.0 - t)
    return 2.0 * e0, 2.0, 2.0 / e0


def _cotangents(t: Any) -> Any:
    return 0.5 * sqrt(1.0 - t), 0.0


def _distance(a: Array) -> Any:
    return 2.0 * asin(sqrt(maximum(1.0 - axial.square(a), 0.0)))


def _quaternion(a: Vec) -> Vec:
    return np.concatenate([np.sqrt(1.0 - np.sum(a * a, axis=-1, keepdims=True)), a], axis=-1)


QUATERNION_VECTOR = Chart(
    name="quaternion-vector",
    source="[NS] Remark 4.4",
    names=("e1", "e2", "e3"),
    parameters=_parameters,
    singular=_singular,
    distance=_distance,
    quaternion=_quaternion,
    **axial.fields(_sines, _cotangents),
)
_NOTES = {
    "matrix": "[NS] Remark 4.4, [GR95] (199)",
    "parameters": "by less than pi; [GR95] (194)",
    "quaternion": "the scalar part is sqrt(1 - e^2); [NS] Remark 4.4",
    "tangent": "[GR95] (208) on e0(e)",
    "inverse_tangent": "three rows of [NS] (41)",
    "distance": "to phi = pi",
}
ChartFunctions(__name__, QUATERNION_VECTOR, "vector parts", notes=_NOTES).publish()

"""The vector part of the unit quaternion, e = n sin(phi / 2), with the scalar part e0 = sqrt(1 - e^2) > 0.

    R = I + 2 e0 e^ + 2 e^ e^,  edot = (e0 Omega + e x Omega) / 2

with the material angular velocity Omega: three of the four rows of the quaternion's rates, [NS] (41). Singular at
phi = pi, |e| = 1, where e turns back: K is not regular and its derivative not bounded. [NS] Remark 4.4, [GR95] (199).
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.compiler.access import Address, asin, matrix_at, maximum, sqrt, vector_at
from rbdae.rotations.axial import half_angle, rate, rate_tangents, rotation, rotation_tangent, square, tangents
from rbdae.rotations.chart import NEAR_SINGULAR, Chart
from rbdae.rotations.functions import ChartFunctions


def _parameters(p: Vec, R: Mat) -> Vec:
    _, s, n = half_angle(p)
    return s * n


def _singular(a: Vec) -> str:
    e = float(np.linalg.norm(a))
    if e < 1.0 and np.sqrt((1.0 - e) * (1.0 + e)) > NEAR_SINGULAR:
        return ""
    return f"|e| = {e:.6g} is at or beyond the singularity of the quaternion's vector part, |e| = 1, phi = pi"


def _rotation(a_at: Address, d_at: Address) -> None:
    a = vector_at(a_at)
    rotation(a, 2.0 * sqrt(1.0 - square(a)), 2.0, vector_at(d_at))


def _rotation_tangent(a_at: Address, D_at: Address, step: int) -> None:
    a = vector_at(a_at)
    e0 = sqrt(1.0 - square(a))
    rotation_tangent(a, 2.0 * e0, 2.0, -1.0 / e0, 0.0, matrix_at(D_at, step))


def _rate(a_at: Address, om_at: Address, ad_at: Address) -> None:
    a = vector_at(a_at)
    rate(a, vector_at(om_at), 0.5 * sqrt(1.0 - square(a)), 0.0, vector_at(ad_at))


def _rate_tangents(a_at: Address, om_at: Address, K_at: Address, K_step: int, A_at: Address, A_step: int) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    e0 = sqrt(1.0 - square(a))
    rate_tangents(a, om, 0.5 * e0, 0.0, -0.25 / e0, 0.0, K, A)


def _distance(a_at: Address, out_at: Address) -> None:
    vector_at(out_at)[0] = 2.0 * asin(sqrt(maximum(1.0 - square(vector_at(a_at)), 0.0)))


QUATERNION_VECTOR = Chart(
    name="quaternion-vector",
    source="[NS] Remark 4.4",
    names=("e1", "e2", "e3"),
    parameters=_parameters,
    singular=_singular,
    rotation=_rotation,
    rotation_tangent=_rotation_tangent,
    rate=_rate,
    rate_tangents=_rate_tangents,
    centre=(0.0, 0.0, 0.0),
    distance=_distance,
)


# ---------------------------------------------------------------- functions for users


def _quaternion(a: Vec) -> Vec:
    return np.concatenate([np.sqrt(1.0 - np.sum(a * a, axis=-1, keepdims=True)), a], axis=-1)


def _tangents(a: Vec, frame: str) -> tuple[Mat, Mat]:
    """[GR95] (208) with e0dot = -e . edot / e0."""
    e0 = np.sqrt(1.0 - np.sum(a * a, axis=0))
    one = np.ones_like(e0)
    return tangents(a, (2.0 * e0, 2.0 * one, 2.0 / e0), (-1.0 / e0, 0.0 * one, 1.0 / (e0 * e0 * e0)), frame)


_NOTES = {
    "matrix": "[NS] Remark 4.4, [GR95] (199)",
    "parameters": "by less than pi; [GR95] (194)",
    "quaternion": "the scalar part is sqrt(1 - e^2); [NS] Remark 4.4",
    "tangent": "[GR95] (208) on e0(e)",
    "inverse_tangent": "three rows of [NS] (41)",
    "distance": "to phi = pi",
}
_OF = ChartFunctions(__name__, QUATERNION_VECTOR, "vector parts", _tangents, _quaternion, notes=_NOTES)
matrix, matrix_derivative, parameters = _OF.matrix, _OF.matrix_derivative, _OF.parameters
quaternion, half_rotation, compose = _OF.quaternion, _OF.half_rotation, _OF.compose
tangent, tangent_derivative, tangent_rate = _OF.tangent, _OF.tangent_derivative, _OF.tangent_rate
inverse_tangent, inverse_tangent_rate = _OF.inverse_tangent, _OF.inverse_tangent_rate
inverse_tangent_derivative, distance, is_singular = _OF.inverse_tangent_derivative, _OF.distance, _OF.is_singular

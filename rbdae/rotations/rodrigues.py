"""Rodrigues parameters b = n tan(phi / 2).

    R = I + 2 (b^ + b^ b^) / (1 + b^2),  bdot = (Omega + b x Omega + b (b . Omega)) / 2

with the material angular velocity Omega; all rational. Singular at phi = pi, where b is not bounded.
[GR95] (176)-(192).
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.compiler.access import Address, atan, matrix_at, sqrt, vector_at
from rbdae.rotations.axial import half_angle, rate, rate_tangents, rotation, rotation_tangent, square, tangents
from rbdae.rotations.chart import NEAR_SINGULAR, Chart
from rbdae.rotations.functions import ChartFunctions

# stands for b at phi = pi, where there is none: `singular` refuses it
_LARGEST = 1e150


def _parameters(p: Vec, R: Mat) -> Vec:
    e0, s, n = half_angle(p)
    return s / np.maximum(e0, 1.0 / _LARGEST) * n


def _singular(a: Vec) -> str:
    b = float(np.linalg.norm(a))
    if 0.5 * (1.0 + b * b) * NEAR_SINGULAR < 1.0:
        return ""
    phi = 2.0 * np.arctan(b)
    return f"a rotation by {phi:.6g} rad is at the singularity of the Rodrigues parameters, phi = pi, or too near to it"


def _rotation(a_at: Address, d_at: Address) -> None:
    a = vector_at(a_at)
    beta = 2.0 / (1.0 + square(a))
    rotation(a, beta, beta, vector_at(d_at))


def _rotation_tangent(a_at: Address, D_at: Address, step: int) -> None:
    a = vector_at(a_at)
    beta = 2.0 / (1.0 + square(a))
    slope = -0.5 * beta * beta
    rotation_tangent(a, beta, beta, slope, slope, matrix_at(D_at, step))


def _rate(a_at: Address, om_at: Address, ad_at: Address) -> None:
    a = vector_at(a_at)
    rate(a, vector_at(om_at), 0.5, 0.5, vector_at(ad_at))


def _rate_tangents(a_at: Address, om_at: Address, K_at: Address, K_step: int, A_at: Address, A_step: int) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    rate_tangents(a, om, 0.5, 0.5, 0.0, 0.0, K, A)


def _distance(a_at: Address, out_at: Address) -> None:
    vector_at(out_at)[0] = np.pi - 2.0 * atan(sqrt(square(vector_at(a_at))))


RODRIGUES = Chart(
    name="rodrigues",
    source="[GR95] (176)-(192)",
    names=("b1", "b2", "b3"),
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
    e0 = 1.0 / np.sqrt(1.0 + np.sum(a * a, axis=-1, keepdims=True))
    return np.concatenate([e0, e0 * a], axis=-1)


def _tangents(a: Vec, frame: str) -> tuple[Mat, Mat]:
    """[GR95] (192)."""
    beta = 2.0 / (1.0 + np.sum(a * a, axis=0))
    slope = -0.5 * beta * beta
    return tangents(a, (beta, beta, 0.0 * beta), (slope, slope, 0.0 * beta), frame)


_NOTES = {
    "matrix": "[GR95] (181)-(183)",
    "parameters": "by less than pi; [GR95] (185), (197), for (186), (187)",
    "quaternion": "(1, b) / sqrt(1 + b^2); [GR95] (197)",
    "tangent": "[GR95] (191), (192)",
    "inverse_tangent": "the inverse of [GR95] (192)",
    "distance": "to phi = pi",
}
_OF = ChartFunctions(__name__, RODRIGUES, "Rodrigues parameters", _tangents, _quaternion, notes=_NOTES)
matrix, matrix_derivative, parameters = _OF.matrix, _OF.matrix_derivative, _OF.parameters
quaternion, half_rotation, compose = _OF.quaternion, _OF.half_rotation, _OF.compose
tangent, tangent_derivative, tangent_rate = _OF.tangent, _OF.tangent_derivative, _OF.tangent_rate
inverse_tangent, inverse_tangent_rate = _OF.inverse_tangent, _OF.inverse_tangent_rate
inverse_tangent_derivative, distance, is_singular = _OF.inverse_tangent_derivative, _OF.distance, _OF.is_singular

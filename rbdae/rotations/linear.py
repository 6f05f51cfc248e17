"""The linear parameters s = n sin(phi).

    R = I + s^ + s^ s^ / (1 + s0),  s0 = cos(phi) = sqrt(1 - s^2),
    sdot = ((1 + s0) Omega + s x Omega - s (s . Omega) / (1 + s0)) / 2

with the material angular velocity Omega. Singular at phi = pi / 2, |s| = 1, where s turns back: K is not regular and
its derivative not bounded. Three numbers cannot tell phi from pi - phi, so the chart ends there. [GR95] (267)-(275),
where the singularity is said to be at pi.
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.compiler.access import Address, asin, matrix_at, maximum, sqrt, vector_at
from rbdae.rotations.axial import half_angle, rate, rate_tangents, rotation, rotation_tangent, square, tangents
from rbdae.rotations.chart import NEAR_SINGULAR, Chart
from rbdae.rotations.functions import ChartFunctions


def _parameters(p: Vec, R: Mat) -> Vec:
    """Beyond phi = pi / 2 there are none: |s| - 1 then says how far beyond, for `singular`."""
    e0, s, n = half_angle(p)
    return np.where(s < e0, 2.0 * e0 * s, 1.0 + 2.0 * np.arctan2(s, e0) - 0.5 * np.pi) * n


def _singular(a: Vec) -> str:
    s = float(np.linalg.norm(a))
    if s < 1.0 and np.sqrt((1.0 - s) * (1.0 + s)) > NEAR_SINGULAR:
        return ""
    phi = 0.5 * np.pi + max(s - 1.0, 0.0)
    return f"a rotation by {phi:.6g} rad is at or beyond the singularity of the linear parameters, phi = pi / 2"


def _rotation(a_at: Address, d_at: Address) -> None:
    a = vector_at(a_at)
    rotation(a, 1.0, 1.0 / (1.0 + sqrt(1.0 - square(a))), vector_at(d_at))


def _rotation_tangent(a_at: Address, D_at: Address, step: int) -> None:
    a = vector_at(a_at)
    s0 = sqrt(1.0 - square(a))
    beta = 1.0 / (1.0 + s0)
    rotation_tangent(a, 1.0, beta, 0.0, 0.5 * beta * beta / s0, matrix_at(D_at, step))


def _rate(a_at: Address, om_at: Address, ad_at: Address) -> None:
    a = vector_at(a_at)
    half = 0.5 + 0.5 * sqrt(1.0 - square(a))
    rate(a, vector_at(om_at), half, -0.25 / half, vector_at(ad_at))


def _rate_tangents(a_at: Address, om_at: Address, K_at: Address, K_step: int, A_at: Address, A_step: int) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    s0 = sqrt(1.0 - square(a))
    half = 0.5 + 0.5 * s0
    rate_tangents(a, om, half, -0.25 / half, -0.25 / s0, -0.0625 / (s0 * half * half), K, A)


def _distance(a_at: Address, out_at: Address) -> None:
    vector_at(out_at)[0] = asin(sqrt(maximum(1.0 - square(vector_at(a_at)), 0.0)))


LINEAR = Chart(
    name="linear",
    source="[GR95] (267)-(275)",
    names=("s1", "s2", "s3"),
    parameters=_parameters,
    singular=_singular,
    rotation=_rotation,
    rotation_tangent=_rotation_tangent,
    rate=_rate,
    rate_tangents=_rate_tangents,
    centre=(0.0, 0.0, 0.0),
    distance=_distance,
    whole=False,
)


# ---------------------------------------------------------------- functions for users


def _quaternion(a: Vec) -> Vec:
    e0 = np.sqrt(0.5 + 0.5 * np.sqrt(1.0 - np.sum(a * a, axis=-1, keepdims=True)))
    return np.concatenate([e0, 0.5 * a / e0], axis=-1)


def _tangents(a: Vec, frame: str) -> tuple[Mat, Mat]:
    """[GR95] (273) with - s^."""
    s0 = np.sqrt(1.0 - np.sum(a * a, axis=0))
    w = 1.0 / (1.0 + s0)
    delta = w / s0
    one = np.ones_like(s0)
    slopes = (0.0 * one, 0.5 * w * delta, 0.5 * (1.0 + 2.0 * s0) * delta * delta / s0)
    return tangents(a, (one, w, delta), slopes, frame)


_NOTES = {
    "matrix": "[GR95] (268), (269)",
    "parameters": "by less than pi / 2; [GR95] (267)",
    "quaternion": "(cos(phi / 2), n sin(phi / 2)); [GR95] (194), (198)",
    "half_rotation": "(269) of Euler parameters in place of s",
    "tangent": "[GR95] (272), (273) with - s^",
    "inverse_tangent": "the inverse of [GR95] (273)",
    "distance": "to phi = pi / 2",
}
_OF = ChartFunctions(__name__, LINEAR, "linear parameters", _tangents, _quaternion, notes=_NOTES)
matrix, matrix_derivative, parameters = _OF.matrix, _OF.matrix_derivative, _OF.parameters
quaternion, half_rotation, compose = _OF.quaternion, _OF.half_rotation, _OF.compose
tangent, tangent_derivative, tangent_rate = _OF.tangent, _OF.tangent_derivative, _OF.tangent_rate
inverse_tangent, inverse_tangent_rate = _OF.inverse_tangent, _OF.inverse_tangent_rate
inverse_tangent_derivative, distance, is_singular = _OF.inverse_tangent_derivative, _OF.distance, _OF.is_singular

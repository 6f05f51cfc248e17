"""The Cartesian rotation vector Psi = n phi.

    R = exp(Psi^),  Psidot = Omega + Psi x Omega / 2 + gamma Psi x (Psi x Omega),
    gamma = (1 - (phi / 2) cot(phi / 2)) / phi^2

with the material angular velocity Omega. Singular at phi = 2 pi, where K is not bounded; the inverse map goes to
phi <= pi. [GR95] (164)-(175).
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.compiler.access import Address, matrix_at, sqrt, vector_at
from rbdae.compiler.plain import plain
from rbdae.rotations.axial import half_angle, rate, rate_tangents, rotation, rotation_tangent, square, tangents
from rbdae.rotations.chart import NEAR_SINGULAR, Chart
from rbdae.rotations.coefficients import cotangents, cubics, sines
from rbdae.rotations.functions import ChartFunctions


def _parameters(p: Vec, R: Mat) -> Vec:
    e0, s, n = half_angle(p)
    return 2.0 * np.arctan2(s, e0) * n


def _nearest(a: Vec, b: Vec) -> Vec:
    """a and, about the same axis, full turns more."""
    phi = float(np.linalg.norm(a))
    if phi == 0.0:
        return a
    turns = np.round((a @ b / phi - phi) / (2.0 * np.pi))
    return a * (1.0 + 2.0 * np.pi * turns / phi)


def _singular(a: Vec) -> str:
    phi = float(np.linalg.norm(a))
    if phi == 0.0 or (phi < 2.0 * np.pi and np.sin(0.5 * phi) > NEAR_SINGULAR * 0.5 * phi):
        return ""
    return f"a rotation by {phi:.6g} rad is at or beyond the singularity of the rotation vector, |Psi| = 2 pi"


def _rotation(a_at: Address, d_at: Address) -> None:
    a = vector_at(a_at)
    alpha, beta, _, _ = sines(square(a))
    rotation(a, alpha, beta, vector_at(d_at))


def _rotation_tangent(a_at: Address, D_at: Address, step: int) -> None:
    a = vector_at(a_at)
    alpha, beta, alpha_slope, beta_slope = sines(square(a))
    rotation_tangent(a, alpha, beta, alpha_slope, beta_slope, matrix_at(D_at, step))


def _rate(a_at: Address, om_at: Address, ad_at: Address) -> None:
    a = vector_at(a_at)
    kappa, gamma, _, _ = cotangents(square(a))
    rate(a, vector_at(om_at), kappa, gamma, vector_at(ad_at))


def _rate_tangents(a_at: Address, om_at: Address, K_at: Address, K_step: int, A_at: Address, A_step: int) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    kappa, gamma, kappa_slope, gamma_slope = cotangents(square(a))
    rate_tangents(a, om, kappa, gamma, kappa_slope, gamma_slope, K, A)


def _distance(a_at: Address, out_at: Address) -> None:
    vector_at(out_at)[0] = 2.0 * np.pi - sqrt(square(vector_at(a_at)))


ROTATION_VECTOR = Chart(
    name="rotation-vector",
    source="[GR95] (164)-(175)",
    names=("psi1", "psi2", "psi3"),
    parameters=_parameters,
    singular=_singular,
    rotation=_rotation,
    rotation_tangent=_rotation_tangent,
    rate=_rate,
    rate_tangents=_rate_tangents,
    centre=(0.0, 0.0, 0.0),
    distance=_distance,
    nearest=_nearest,
)


# ---------------------------------------------------------------- functions for users


def _quaternion(a: Vec) -> Vec:
    t = 0.25 * np.sum(a * a, axis=-1, keepdims=True)
    return np.concatenate([np.cos(np.sqrt(t)), 0.5 * plain(sines)(t)[0] * a], axis=-1)


def _tangents(a: Vec, frame: str) -> tuple[Mat, Mat]:
    """[GR95] (171)."""
    t = np.sum(a * a, axis=0)
    alpha, beta, alpha_slope, beta_slope = plain(sines)(t)
    delta, delta_slope = cubics(t)
    return tangents(a, (alpha, beta, delta), (alpha_slope, beta_slope, delta_slope), frame)


_NOTES = {
    "matrix": "[GR95] (165)-(167)",
    "parameters": "|Psi| <= pi; [GR95] (164)",
    "quaternion": "(cos(phi / 2), n sin(phi / 2)); [GR95] (194)",
    "half_rotation": "the rotation by half the vector",
    "tangent": "[GR95] (170), (171)",
    "tangent_rate": "[GR95] (174)",
    "inverse_tangent": "the inverse of [GR95] (171)",
    "distance": "to |Psi| = 2 pi",
}
_OF = ChartFunctions(__name__, ROTATION_VECTOR, "rotation vectors", _tangents, _quaternion, notes=_NOTES)
matrix, matrix_derivative, parameters = _OF.matrix, _OF.matrix_derivative, _OF.parameters
quaternion, half_rotation, compose = _OF.quaternion, _OF.half_rotation, _OF.compose
tangent, tangent_derivative, tangent_rate = _OF.tangent, _OF.tangent_derivative, _OF.tangent_rate
inverse_tangent, inverse_tangent_rate = _OF.inverse_tangent, _OF.inverse_tangent_rate
inverse_tangent_derivative, distance, is_singular = _OF.inverse_tangent_derivative, _OF.distance, _OF.is_singular

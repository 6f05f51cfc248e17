"""The conformal rotation vector c = 4 n tan(phi / 4).

    R = F F,  F = (c0 I + c^ + c c^T / 4) / (4 - c0),  c0 = (16 - c^2) / 8,
    cdot = (4 - c0) F Omega / 2 = (c0 Omega + c x Omega + c (c . Omega) / 4) / 2

with the material angular velocity Omega; all rational. Singular at phi = 2 pi, where c is not bounded; the inverse map
goes to phi <= pi, |c| <= 4. [GR95] (252)-(266).
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.compiler.access import Address, atan, matrix_at, sqrt, vector_at
from rbdae.rotations import rodrigues, stacks
from rbdae.rotations.axial import half_angle, rate, rate_tangents, rotation, rotation_tangent, square, tangents
from rbdae.rotations.chart import NEAR_SINGULAR, Chart
from rbdae.rotations.functions import ChartFunctions


def _parameters(p: Vec, R: Mat) -> Vec:
    e0, s, n = half_angle(p)
    return 4.0 * s / (1.0 + e0) * n


def _nearest(a: Vec, b: Vec) -> Vec:
    """a and, about the same axis, the rotation the other way round."""
    square = float(a @ a)
    other = -16.0 / square * a if square > 0.0 else a
    return other if np.linalg.norm(other - b) < np.linalg.norm(a - b) else a


def _singular(a: Vec) -> str:
    c = float(np.linalg.norm(a))
    if (1.0 + 0.0625 * c * c) * NEAR_SINGULAR < 1.0:
        return ""
    phi = 4.0 * np.arctan(0.25 * c)
    return (
        f"a rotation by {phi:.6g} rad is at the singularity of the conformal rotation vector, phi = 2 pi, or too near "
        "to it"
    )


def _rotation(a_at: Address, d_at: Address) -> None:
    a = vector_at(a_at)
    u = 0.0625 * square(a)
    w = 1.0 / (1.0 + u)
    rotation(a, (1.0 - u) * w * w, 0.5 * w * w, vector_at(d_at))


def _rotation_tangent(a_at: Address, D_at: Address, step: int) -> None:
    a = vector_at(a_at)
    u = 0.0625 * square(a)
    w = 1.0 / (1.0 + u)
    w3 = 0.0625 * w * w * w
    rotation_tangent(a, (1.0 - u) * w * w, 0.5 * w * w, (u - 3.0) * w3, -w3, matrix_at(D_at, step))


def _rate(a_at: Address, om_at: Address, ad_at: Address) -> None:
    a = vector_at(a_at)
    rate(a, vector_at(om_at), 1.0 - 0.0625 * square(a), 0.125, vector_at(ad_at))


def _rate_tangents(a_at: Address, om_at: Address, K_at: Address, K_step: int, A_at: Address, A_step: int) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    rate_tangents(a, om, 1.0 - 0.0625 * square(a), 0.125, -0.0625, 0.0, K, A)


def _distance(a_at: Address, out_at: Address) -> None:
    vector_at(out_at)[0] = 2.0 * np.pi - 4.0 * atan(0.25 * sqrt(square(vector_at(a_at))))


CONFORMAL = Chart(
    name="conformal",
    source="[GR95] (252)-(266)",
    names=("c1", "c2", "c3"),
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
    u = 0.0625 * np.sum(a * a, axis=-1, keepdims=True)
    out: Vec = np.concatenate([1.0 - u, 0.5 * a], axis=-1) / (1.0 + u)
    return out


def _tangents(a: Vec, frame: str) -> tuple[Mat, Mat]:
    """[GR95] (266)."""
    u = 0.0625 * np.sum(a * a, axis=0)
    w = 1.0 / (1.0 + u)
    w2, w3 = w * w, 0.0625 * w * w * w
    return tangents(a, ((1.0 - u) * w2, 0.5 * w2, 0.125 * w2), ((u - 3.0) * w3, -w3, -0.25 * w3), frame)


_NOTES = {
    "matrix": "[GR95] (254), (256)",
    "parameters": "|c| <= 4; [GR95] (252), (253)",
    "quaternion": "(c0, c) / (4 - c0), [GR95] (252); c0 by (254)",
    "tangent": "[GR95] (265), (266)",
    "inverse_tangent": "[GR95] (266) inverted",
    "distance": "to phi = 2 pi",
}
_OF = ChartFunctions(__name__, CONFORMAL, "conformal rotation vectors", _tangents, _quaternion, notes=_NOTES)
matrix, matrix_derivative, parameters = _OF.matrix, _OF.matrix_derivative, _OF.parameters
quaternion, compose = _OF.quaternion, _OF.compose
tangent, tangent_derivative, tangent_rate = _OF.tangent, _OF.tangent_derivative, _OF.tangent_rate
inverse_tangent, inverse_tangent_rate = _OF.inverse_tangent, _OF.inverse_tangent_rate
inverse_tangent_derivative, distance, is_singular = _OF.inverse_tangent_derivative, _OF.distance, _OF.is_singular


def half_rotation(a: ArrayLike) -> Mat:
    """F (..., 3, 3) with R = F F; [GR95] (257), (259), and (258) with c^ c^ / 4."""
    return rodrigues.matrix(0.25 * stacks.checked(CONFORMAL, a))

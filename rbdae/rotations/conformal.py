"""The conformal rotation vector c = 4 n tan(phi / 4).

    R = F F,  F = (c0 I + c^ + c c^T / 4) / (4 - c0),  c0 = (16 - c^2) / 8,
    cdot = (4 - c0) F Omega / 2 = (c0 Omega + c x Omega + c (c . Omega) / 4) / 2

with the material angular velocity Omega; all rational. Singular at phi = 2 pi, where c is not bounded; the inverse map
goes to phi <= pi, |c| <= 4. [GR95] (252)-(266).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae._arrays import ArrayLike, Bools, Mat, Vec
from rbdae.compiler.access import Address, atan, matrix_at, sqrt, vector_at
from rbdae.rotations import functions
from rbdae.rotations.axial import half_angle, rate, rate_tangents, rotation, rotation_tangent, square, tangents
from rbdae.rotations.chart import NEAR_SINGULAR, Chart
from rbdae.rotations.functions import Frame
from rbdae.rotations.rodrigues import RODRIGUES

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


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


def matrix(a: ArrayLike) -> Mat:
    """R (..., 3, 3) of conformal rotation vectors (..., 3); [GR95] (254), (256)."""
    return functions.matrix(CONFORMAL, a)


def matrix_derivative(a: ArrayLike) -> Mat:
    """dR/da (..., 3, 3, 3), the derivatives along the last axis; of [GR95] (254), (256)."""
    return functions.matrix_derivative(CONFORMAL, a)


def parameters(rotation: Rotation | ArrayLike) -> Vec:
    """c (..., 3) with |c| <= 4 of a `Rotation` or of matrices (..., 3, 3); [GR95] (252), (253)."""
    return functions.parameters(CONFORMAL, rotation)


def quaternion(a: ArrayLike) -> Vec:
    """The unit quaternion (..., 4) (c0, c) / (4 - c0), [GR95] (252); c0 by (254)."""
    return _quaternion(functions.checked(CONFORMAL, a))


def half_rotation(a: ArrayLike) -> Mat:
    """F (..., 3, 3) with R = F F; [GR95] (257), (259), and (258) with c^ c^ / 4."""
    return functions.matrix(RODRIGUES, 0.25 * functions.checked(CONFORMAL, a))


def tangent(a: ArrayLike, frame: Frame = "material") -> Mat:
    """T (..., 3, 3): Omega = T adot, or omega = T adot in the frame "spatial"; [GR95] (265), (266)."""
    return functions.tangent(CONFORMAL, _tangents, a, frame)


def tangent_derivative(a: ArrayLike, frame: Frame = "material") -> Mat:
    """dT/da (..., 3, 3, 3), the derivatives along the last axis."""
    return functions.tangent_derivative(CONFORMAL, _tangents, a, frame)


def tangent_rate(a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
    """Tdot (..., 3, 3): the angular acceleration is T addot + Tdot adot."""
    return functions.tangent_rate(CONFORMAL, _tangents, a, adot, frame)


def inverse_tangent(a: ArrayLike, frame: Frame = "material") -> Mat:
    """K (..., 3, 3): adot = K Omega, or adot = K omega in the frame "spatial"; [GR95] (266) inverted."""
    return functions.inverse_tangent(CONFORMAL, a, frame)


def inverse_tangent_derivative(a: ArrayLike, frame: Frame = "material") -> Mat:
    """dK/da (..., 3, 3, 3), the derivatives along the last axis."""
    return functions.inverse_tangent_derivative(CONFORMAL, a, frame)


def inverse_tangent_rate(a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
    """Kdot (..., 3, 3): addot is K Omegadot + Kdot Omega."""
    return functions.inverse_tangent_rate(CONFORMAL, a, adot, frame)


def compose(a: ArrayLike, b: ArrayLike) -> Vec:
    """The parameters (..., 3) of R(a) R(b), b first; through quaternions, [GR95] (226)."""
    return functions.compose(CONFORMAL, _quaternion, a, b)


def distance(a: ArrayLike) -> Vec:
    """The angle (...) in radians to the singular set, phi = 2 pi."""
    return functions.distance(CONFORMAL, a)


def is_singular(a: ArrayLike) -> Bools:
    """Whether `a` (..., 3) is at the singular set or beyond, (...)."""
    return functions.is_singular(CONFORMAL, a)

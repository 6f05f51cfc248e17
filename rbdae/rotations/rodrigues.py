"""Rodrigues parameters b = n tan(phi / 2).

    R = I + 2 (b^ + b^ b^) / (1 + b^2),  bdot = (Omega + b x Omega + b (b . Omega)) / 2

with the material angular velocity Omega; all rational. Singular at phi = pi, where b is not bounded.
[GR95] (176)-(192).
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

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


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


def matrix(a: ArrayLike) -> Mat:
    """R (..., 3, 3) of Rodrigues parameters (..., 3); [GR95] (181)-(183)."""
    return functions.matrix(RODRIGUES, a)


def matrix_derivative(a: ArrayLike) -> Mat:
    """dR/da (..., 3, 3, 3), the derivatives along the last axis; of [GR95] (181)-(183)."""
    return functions.matrix_derivative(RODRIGUES, a)


def parameters(rotation: Rotation | ArrayLike) -> Vec:
    """b (..., 3) of a `Rotation` or of matrices (..., 3, 3) by less than pi; [GR95] (185), (197), for (186), (187)."""
    return functions.parameters(RODRIGUES, rotation)


def quaternion(a: ArrayLike) -> Vec:
    """The unit quaternion (..., 4) (1, b) / sqrt(1 + b^2); [GR95] (197)."""
    return _quaternion(functions.checked(RODRIGUES, a))


def half_rotation(a: ArrayLike) -> Mat:
    """F (..., 3, 3) with R = F F; [GR95] (274), (275)."""
    return functions.half_rotation(quaternion(a))


def tangent(a: ArrayLike, frame: Frame = "material") -> Mat:
    """T (..., 3, 3): Omega = T adot, or omega = T adot in the frame "spatial"; [GR95] (191), (192)."""
    return functions.tangent(RODRIGUES, _tangents, a, frame)


def tangent_derivative(a: ArrayLike, frame: Frame = "material") -> Mat:
    """dT/da (..., 3, 3, 3), the derivatives along the last axis."""
    return functions.tangent_derivative(RODRIGUES, _tangents, a, frame)


def tangent_rate(a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
    """Tdot (..., 3, 3): the angular acceleration is T addot + Tdot adot."""
    return functions.tangent_rate(RODRIGUES, _tangents, a, adot, frame)


def inverse_tangent(a: ArrayLike, frame: Frame = "material") -> Mat:
    """K (..., 3, 3): adot = K Omega, or adot = K omega in the frame "spatial"; the inverse of [GR95] (192)."""
    return functions.inverse_tangent(RODRIGUES, a, frame)


def inverse_tangent_derivative(a: ArrayLike, frame: Frame = "material") -> Mat:
    """dK/da (..., 3, 3, 3), the derivatives along the last axis."""
    return functions.inverse_tangent_derivative(RODRIGUES, a, frame)


def inverse_tangent_rate(a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
    """Kdot (..., 3, 3): addot is K Omegadot + Kdot Omega."""
    return functions.inverse_tangent_rate(RODRIGUES, a, adot, frame)


def compose(a: ArrayLike, b: ArrayLike) -> Vec:
    """The parameters (..., 3) of R(a) R(b), b first; through quaternions, [GR95] (226)."""
    return functions.compose(RODRIGUES, _quaternion, a, b)


def distance(a: ArrayLike) -> Vec:
    """The angle (...) in radians to the singular set, phi = pi."""
    return functions.distance(RODRIGUES, a)


def is_singular(a: ArrayLike) -> Bools:
    """Whether `a` (..., 3) is at the singular set or beyond, (...)."""
    return functions.is_singular(RODRIGUES, a)

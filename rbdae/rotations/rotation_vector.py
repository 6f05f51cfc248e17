"""The Cartesian rotation vector Psi = n phi.

    R = exp(Psi^),  Psidot = Omega + Psi x Omega / 2 + gamma Psi x (Psi x Omega),
    gamma = (1 - (phi / 2) cot(phi / 2)) / phi^2

with the material angular velocity Omega. Singular at phi = 2 pi, where K is not bounded; the inverse map goes to
phi <= pi. [GR95] (164)-(175).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae._arrays import ArrayLike, Bools, Mat, Vec
from rbdae.compiler.access import Address, matrix_at, sqrt, vector_at
from rbdae.compiler.plain import plain
from rbdae.rotations import functions
from rbdae.rotations.axial import half_angle, rate, rate_tangents, rotation, rotation_tangent, square, tangents
from rbdae.rotations.chart import NEAR_SINGULAR, Chart
from rbdae.rotations.coefficients import cotangents, cubics, sines
from rbdae.rotations.functions import Frame

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


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


def matrix(a: ArrayLike) -> Mat:
    """R (..., 3, 3) of rotation vectors (..., 3); [GR95] (165)-(167)."""
    return functions.matrix(ROTATION_VECTOR, a)


def matrix_derivative(a: ArrayLike) -> Mat:
    """dR/da (..., 3, 3, 3), the derivatives along the last axis; of [GR95] (165)-(167)."""
    return functions.matrix_derivative(ROTATION_VECTOR, a)


def parameters(rotation: Rotation | ArrayLike) -> Vec:
    """Psi (..., 3) with |Psi| <= pi of a `Rotation` or of matrices (..., 3, 3); [GR95] (164)."""
    return functions.parameters(ROTATION_VECTOR, rotation)


def quaternion(a: ArrayLike) -> Vec:
    """The unit quaternion (..., 4) (cos(phi / 2), n sin(phi / 2)); [GR95] (194)."""
    return _quaternion(functions.checked(ROTATION_VECTOR, a))


def half_rotation(a: ArrayLike) -> Mat:
    """F (..., 3, 3) with R = F F, the rotation by half the vector; [GR95] (274), (275)."""
    return functions.half_rotation(quaternion(a))


def tangent(a: ArrayLike, frame: Frame = "material") -> Mat:
    """T (..., 3, 3): Omega = T adot, or omega = T adot in the frame "spatial"; [GR95] (170), (171)."""
    return functions.tangent(ROTATION_VECTOR, _tangents, a, frame)


def tangent_derivative(a: ArrayLike, frame: Frame = "material") -> Mat:
    """dT/da (..., 3, 3, 3), the derivatives along the last axis."""
    return functions.tangent_derivative(ROTATION_VECTOR, _tangents, a, frame)


def tangent_rate(a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
    """Tdot (..., 3, 3): the angular acceleration is T addot + Tdot adot; [GR95] (174)."""
    return functions.tangent_rate(ROTATION_VECTOR, _tangents, a, adot, frame)


def inverse_tangent(a: ArrayLike, frame: Frame = "material") -> Mat:
    """K (..., 3, 3): adot = K Omega, or adot = K omega in the frame "spatial"; the inverse of [GR95] (171)."""
    return functions.inverse_tangent(ROTATION_VECTOR, a, frame)


def inverse_tangent_derivative(a: ArrayLike, frame: Frame = "material") -> Mat:
    """dK/da (..., 3, 3, 3), the derivatives along the last axis."""
    return functions.inverse_tangent_derivative(ROTATION_VECTOR, a, frame)


def inverse_tangent_rate(a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
    """Kdot (..., 3, 3): addot is K Omegadot + Kdot Omega."""
    return functions.inverse_tangent_rate(ROTATION_VECTOR, a, adot, frame)


def compose(a: ArrayLike, b: ArrayLike) -> Vec:
    """The parameters (..., 3) of R(a) R(b), b first; through quaternions, [GR95] (226)."""
    return functions.compose(ROTATION_VECTOR, _quaternion, a, b)


def distance(a: ArrayLike) -> Vec:
    """The angle (...) in radians to the singular set, |Psi| = 2 pi."""
    return functions.distance(ROTATION_VECTOR, a)


def is_singular(a: ArrayLike) -> Bools:
    """Whether `a` (..., 3) is at the singular set or beyond, (...)."""
    return functions.is_singular(ROTATION_VECTOR, a)

"""Euler angles 3-1-3: precession theta1 about e3, nutation theta2 about the turned 1-axis, spin theta3 about d3.

    R = exp(theta1 e3^) exp(theta2 e1^) exp(theta3 e3^)

    theta1dot = u,  theta2dot = cos(theta3) O1 - sin(theta3) O2,  theta3dot = O3 - cos(theta2) u,
    u = (sin(theta3) O1 + cos(theta3) O2) / sin(theta2)

with the material angular velocity (O1, O2, O3). Singular at sin(theta2) = 0. [NS] (65), (66); [GR95] (276)-(283).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae._arrays import ArrayLike, Bools, Mat, Vec
from rbdae.compiler.access import Address, asin, cos, matrix_at, sin, vector_at
from rbdae.rotations import functions
from rbdae.rotations.chart import NEAR_SINGULAR, Chart, nearest_angles
from rbdae.rotations.functions import Frame

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


def _parameters(p: Vec, R: Mat) -> Vec:
    theta1 = np.arctan2(R[..., 0, 2], -R[..., 1, 2])
    c, s = np.cos(theta1), np.sin(theta1)
    return np.stack(
        [
            theta1,
            np.arctan2(np.hypot(R[..., 0, 2], R[..., 1, 2]), R[..., 2, 2]),
            # from what theta1 leaves, so that all three belong together in gimbal lock, too
            np.arctan2(-c * R[..., 0, 1] - s * R[..., 1, 1], c * R[..., 0, 0] + s * R[..., 1, 0]),
        ],
        axis=-1,
    )


def _nearest(a: Vec, b: Vec) -> Vec:
    return nearest_angles(a, b, 0.0)


def _singular(a: Vec) -> str:
    if abs(np.sin(a[1])) > NEAR_SINGULAR:
        return ""
    return f"theta2 = {a[1]:.6g} is a singularity (gimbal lock) of the Euler angles 3-1-3: d3 is parallel to e3"


def _rotation(a_at: Address, d_at: Address) -> None:
    a = vector_at(a_at)
    d = vector_at(d_at)
    c1 = cos(a[0])
    s1 = sin(a[0])
    c2 = cos(a[1])
    s2 = sin(a[1])
    c3 = cos(a[2])
    s3 = sin(a[2])
    d[0] = c1 * c3 - s1 * c2 * s3
    d[1] = s1 * c3 + c1 * c2 * s3
    d[2] = s2 * s3
    d[3] = -c1 * s3 - s1 * c2 * c3
    d[4] = -s1 * s3 + c1 * c2 * c3
    d[5] = s2 * c3
    d[6] = s1 * s2
    d[7] = -c1 * s2
    d[8] = c2


def _rotation_tangent(a_at: Address, D_at: Address, step: int) -> None:
    a = vector_at(a_at)
    D = matrix_at(D_at, step)
    c1 = cos(a[0])
    s1 = sin(a[0])
    c2 = cos(a[1])
    s2 = sin(a[1])
    c3 = cos(a[2])
    s3 = sin(a[2])
    D[0, 0] = -s1 * c3 - c1 * c2 * s3
    D[1, 0] = c1 * c3 - s1 * c2 * s3
    D[2, 0] = 0.0
    D[3, 0] = s1 * s3 - c1 * c2 * c3
    D[4, 0] = -c1 * s3 - s1 * c2 * c3
    D[5, 0] = 0.0
    D[6, 0] = c1 * s2
    D[7, 0] = s1 * s2
    D[8, 0] = 0.0
    D[0, 1] = s1 * s2 * s3
    D[1, 1] = -c1 * s2 * s3
    D[2, 1] = c2 * s3
    D[3, 1] = s1 * s2 * c3
    D[4, 1] = -c1 * s2 * c3
    D[5, 1] = c2 * c3
    D[6, 1] = s1 * c2
    D[7, 1] = -c1 * c2
    D[8, 1] = -s2
    D[0, 2] = -c1 * s3 - s1 * c2 * c3
    D[1, 2] = -s1 * s3 + c1 * c2 * c3
    D[2, 2] = s2 * c3
    D[3, 2] = -c1 * c3 + s1 * c2 * s3
    D[4, 2] = -s1 * c3 - c1 * c2 * s3
    D[5, 2] = -s2 * s3
    D[6, 2] = 0.0
    D[7, 2] = 0.0
    D[8, 2] = 0.0


def _rate(a_at: Address, om_at: Address, ad_at: Address) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    ad = vector_at(ad_at)
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    s2 = sin(a[1])
    c2 = cos(a[1])
    s3 = sin(a[2])
    c3 = cos(a[2])
    u = (s3 * o1 + c3 * o2) / s2
    ad[0] = u
    ad[1] = c3 * o1 - s3 * o2
    ad[2] = o3 - c2 * u


def _rate_tangents(a_at: Address, om_at: Address, K_at: Address, K_step: int, A_at: Address, A_step: int) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    o1 = om[0]
    o2 = om[1]
    s2 = sin(a[1])
    c2 = cos(a[1])
    s3 = sin(a[2])
    c3 = cos(a[2])
    u = (s3 * o1 + c3 * o2) / s2
    w = (c3 * o1 - s3 * o2) / s2
    K[0, 0] = s3 / s2
    K[0, 1] = c3 / s2
    K[0, 2] = 0.0
    K[1, 0] = c3
    K[1, 1] = -s3
    K[1, 2] = 0.0
    K[2, 0] = -c2 * s3 / s2
    K[2, 1] = -c2 * c3 / s2
    K[2, 2] = 1.0
    for i in range(3):
        A[i, 0] = 0.0
    A[0, 1] = -c2 * u / s2
    A[1, 1] = 0.0
    A[2, 1] = u / s2
    A[0, 2] = w
    A[1, 2] = -u * s2
    A[2, 2] = -c2 * w


def _distance(a_at: Address, out_at: Address) -> None:
    x = sin(vector_at(a_at)[1])
    vector_at(out_at)[0] = asin(abs(x))


EULER_313 = Chart(
    name="euler-313",
    source="[NS] (65), (66)",
    names=("theta1", "theta2", "theta3"),
    parameters=_parameters,
    singular=_singular,
    rotation=_rotation,
    rotation_tangent=_rotation_tangent,
    rate=_rate,
    rate_tangents=_rate_tangents,
    centre=(0.0, 0.5 * np.pi, 0.0),
    distance=_distance,
    nearest=_nearest,
)


# ---------------------------------------------------------------- functions for users


def _quaternion(a: Vec) -> Vec:
    c, s = np.cos(0.5 * a), np.sin(0.5 * a)
    plus, minus = 0.5 * (a[..., 0] + a[..., 2]), 0.5 * (a[..., 0] - a[..., 2])
    c2, s2 = c[..., 1], s[..., 1]
    p = np.stack([c2 * np.cos(plus), s2 * np.cos(minus), s2 * np.sin(minus), c2 * np.sin(plus)], axis=-1)
    return np.where(p[..., :1] < 0.0, -p, p)


def _tangents(a: Vec, frame: str) -> tuple[Mat, Mat]:
    """[GR95] (281) and (283), with psi, theta, phi for the three angles."""
    T, D = functions.zeros(a, 3, 3), functions.zeros(a, 3, 3, 3)
    s2, c2 = np.sin(a[1]), np.cos(a[1])
    if frame == "material":
        s, c = np.sin(a[2]), np.cos(a[2])
        T[0, 0], T[1, 0], T[2, 0] = s * s2, c * s2, c2
        T[0, 1], T[1, 1], T[2, 2] = c, -s, 1.0
        D[0, 0, 1], D[1, 0, 1], D[2, 0, 1] = s * c2, c * c2, -s2
        D[0, 0, 2], D[1, 0, 2] = c * s2, -s * s2
        D[0, 1, 2], D[1, 1, 2] = -s, -c
        return T, D
    s, c = np.sin(a[0]), np.cos(a[0])
    T[2, 0], T[0, 1], T[1, 1] = 1.0, c, s
    T[0, 2], T[1, 2], T[2, 2] = s * s2, -c * s2, c2
    D[0, 1, 0], D[1, 1, 0] = -s, c
    D[0, 2, 0], D[1, 2, 0] = c * s2, s * s2
    D[0, 2, 1], D[1, 2, 1], D[2, 2, 1] = s * c2, -c * c2, -s2
    return T, D


def matrix(a: ArrayLike) -> Mat:
    """R (..., 3, 3) of Euler angles (..., 3); [GR95] (276)-(278), [NS] (65)."""
    return functions.matrix(EULER_313, a)


def matrix_derivative(a: ArrayLike) -> Mat:
    """dR/da (..., 3, 3, 3), the derivatives along the last axis; of [GR95] (276)-(278), [NS] (65)."""
    return functions.matrix_derivative(EULER_313, a)


def parameters(rotation: Rotation | ArrayLike) -> Vec:
    """The angles (..., 3), theta2 in [0, pi], of a `Rotation` or of matrices (..., 3, 3); [GR95] (279)."""
    return functions.parameters(EULER_313, rotation)


def quaternion(a: ArrayLike) -> Vec:
    """The unit quaternion (..., 4): the product of three; [GR95] (226), (276)."""
    return _quaternion(functions.checked(EULER_313, a))


def half_rotation(a: ArrayLike) -> Mat:
    """F (..., 3, 3) with R = F F; [GR95] (274), (275)."""
    return functions.half_rotation(quaternion(a))


def tangent(a: ArrayLike, frame: Frame = "material") -> Mat:
    """T (..., 3, 3): Omega = T adot, or omega = T adot in the frame "spatial"; [GR95] (280)-(283)."""
    return functions.tangent(EULER_313, _tangents, a, frame)


def tangent_derivative(a: ArrayLike, frame: Frame = "material") -> Mat:
    """dT/da (..., 3, 3, 3), the derivatives along the last axis."""
    return functions.tangent_derivative(EULER_313, _tangents, a, frame)


def tangent_rate(a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
    """Tdot (..., 3, 3): the angular acceleration is T addot + Tdot adot."""
    return functions.tangent_rate(EULER_313, _tangents, a, adot, frame)


def inverse_tangent(a: ArrayLike, frame: Frame = "material") -> Mat:
    """K (..., 3, 3): adot = K Omega, or adot = K omega in the frame "spatial"; [NS] (66)."""
    return functions.inverse_tangent(EULER_313, a, frame)


def inverse_tangent_derivative(a: ArrayLike, frame: Frame = "material") -> Mat:
    """dK/da (..., 3, 3, 3), the derivatives along the last axis."""
    return functions.inverse_tangent_derivative(EULER_313, a, frame)


def inverse_tangent_rate(a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
    """Kdot (..., 3, 3): addot is K Omegadot + Kdot Omega."""
    return functions.inverse_tangent_rate(EULER_313, a, adot, frame)


def compose(a: ArrayLike, b: ArrayLike) -> Vec:
    """The parameters (..., 3) of R(a) R(b), b first; through quaternions, [GR95] (226)."""
    return functions.compose(EULER_313, _quaternion, a, b)


def distance(a: ArrayLike) -> Vec:
    """The angle (...) in radians to the singular set, theta2 = 0 and pi."""
    return functions.distance(EULER_313, a)


def is_singular(a: ArrayLike) -> Bools:
    """Whether `a` (..., 3) is at the singular set or beyond, (...)."""
    return functions.is_singular(EULER_313, a)

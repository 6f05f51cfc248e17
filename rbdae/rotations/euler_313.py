"""Euler angles 3-1-3: precession theta1 about e3, nutation theta2 about the turned 1-axis, spin theta3 about d3.

    R = exp(theta1 e3^) exp(theta2 e1^) exp(theta3 e3^)

    theta1dot = u,  theta2dot = cos(theta3) O1 - sin(theta3) O2,  theta3dot = O3 - cos(theta2) u,
    u = (sin(theta3) O1 + cos(theta3) O2) / sin(theta2)

with the material angular velocity (O1, O2, O3). Singular at sin(theta2) = 0. [NS] (65), (66); [GR95] (276)-(283).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.compiler.access import Address, asin, cos, matrix_at, sin, vector_at
from rbdae.rotations import angles
from rbdae.rotations.chart import NEAR_SINGULAR, Chart
from rbdae.rotations.functions import ChartFunctions

AXES = (2, 0, 2)


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
    nearest=partial(angles.nearest, 0.0),
)


# ---------------------------------------------------------------- functions for users

_tangents = partial(angles.tangents, AXES)
_quaternion = partial(angles.quaternion, AXES)
_NOTES = {
    "matrix": "[GR95] (276)-(278), [NS] (65)",
    "parameters": "theta2 in [0, pi]; [GR95] (279)",
    "quaternion": "the product of three; [GR95] (226), (276)",
    "tangent": "[GR95] (280)-(283)",
    "inverse_tangent": "[NS] (66)",
    "distance": "to theta2 = 0 and pi",
}
_OF = ChartFunctions(__name__, EULER_313, "Euler angles", _tangents, _quaternion, notes=_NOTES)
matrix, matrix_derivative, parameters = _OF.matrix, _OF.matrix_derivative, _OF.parameters
quaternion, half_rotation, compose = _OF.quaternion, _OF.half_rotation, _OF.compose
tangent, tangent_derivative, tangent_rate = _OF.tangent, _OF.tangent_derivative, _OF.tangent_rate
inverse_tangent, inverse_tangent_rate = _OF.inverse_tangent, _OF.inverse_tangent_rate
inverse_tangent_derivative, distance, is_singular = _OF.inverse_tangent_derivative, _OF.distance, _OF.is_singular

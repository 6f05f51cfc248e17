"""The vector part of the unit quaternion, e = n sin(phi / 2), with the scalar part e0 = sqrt(1 - e^2) > 0.

    R = I + 2 e0 e^ + 2 e^ e^,  edot = (e0 Omega + e x Omega) / 2

with the material angular velocity Omega: three of the four rows of the quaternion's rates, [NS] (41). Singular at
phi = pi, |e| = 1, where e turns back: K is not regular and its derivative not bounded. [NS] Remark 4.4, [GR95] (199).
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.compiler.access import Address, asin, matrix_at, sqrt, vector_at
from rbdae.rotations.axial import half_angle, rate, rate_tangents, rotation, rotation_tangent, square
from rbdae.rotations.chart import NEAR_SINGULAR, Chart


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
    t = square(vector_at(a_at))
    vector_at(out_at)[0] = 1.0 - sqrt(t) if t > 1.0 else 2.0 * asin(sqrt(1.0 - t))


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

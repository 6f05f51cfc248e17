"""Unit quaternions p, scalar first.

    R(p) = phi(p),  pdot = T_p(p) Omega = p o (0, Omega) / 2,  p . p = 1

R has no singularity; p and -p are one rotation. The norm's constraint is (p . p - 1) / 2. [NS] (26)-(42).
"""

from __future__ import annotations

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.compiler.access import Address, matrix_at, sqrt, vector_at
from rbdae.rotations import stacks
from rbdae.rotations.chart import Chart, never_singular
from rbdae.rotations.euler_map import euler_differential, euler_map
from rbdae.rotations.functions import ChartFunctions
from rbdae.rotations.quaternion_algebra import quaternion_tangents
from rbdae.rotations.quaternions.algebra import multiplied
from rbdae.rotations.velocities import QUATERNION_RATE


def _parameters(p: Vec, R: Mat) -> Vec:
    return p.copy()


def _nearest(a: Vec, b: Vec) -> Vec:
    return -a if a @ b < 0.0 else a


def _rotation(a_at: Address, d_at: Address) -> None:
    euler_map(vector_at(a_at), vector_at(d_at))


def _rotation_tangent(a_at: Address, D_at: Address, step: int) -> None:
    euler_differential(vector_at(a_at), matrix_at(D_at, step))


def _rate(a_at: Address, om_at: Address, ad_at: Address) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    ad = vector_at(ad_at)
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    ad[0] = 0.5 * (-a[1] * o1 - a[2] * o2 - a[3] * o3)
    ad[1] = 0.5 * (a[0] * o1 - a[3] * o2 + a[2] * o3)
    ad[2] = 0.5 * (a[3] * o1 + a[0] * o2 - a[1] * o3)
    ad[3] = 0.5 * (-a[2] * o1 + a[1] * o2 + a[0] * o3)


def _rate_tangents(a_at: Address, om_at: Address, K_at: Address, K_step: int, A_at: Address, A_step: int) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    for j in range(4):
        for k in range(4):
            A[j, k] = 0.0
    A[0, 1] = -0.5 * o1
    A[0, 2] = -0.5 * o2
    A[0, 3] = -0.5 * o3
    A[1, 0] = 0.5 * o1
    A[1, 2] = 0.5 * o3
    A[1, 3] = -0.5 * o2
    A[2, 0] = 0.5 * o2
    A[2, 1] = -0.5 * o3
    A[2, 3] = 0.5 * o1
    A[3, 0] = 0.5 * o3
    A[3, 1] = 0.5 * o2
    A[3, 2] = -0.5 * o1
    quaternion_tangents(a, K)


def _internal_constraints(a_at: Address, v_at: Address, out_at: Address, i: int, j: int) -> None:
    a = vector_at(a_at)
    v = vector_at(v_at)
    out = vector_at(out_at)
    out[i] = 0.5 * (a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3] - 1.0)
    out[j] = a[0] * v[0] + a[1] * v[1] + a[2] * v[2] + a[3] * v[3]


def _internal_tangent(a_at: Address, T_at: Address, step: int) -> None:
    a = vector_at(a_at)
    T = matrix_at(T_at, step)
    for k in range(4):
        T[0, k] = a[k]


def _normalise(a_at: Address, work_at: Address) -> None:
    """[NS] (63)."""
    a = vector_at(a_at)
    n = 1.0 / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    for k in range(4):
        a[k] *= n


QUATERNION = Chart(
    name="quaternion",
    source="[NS] (26)-(42)",
    names=("p0", "p1", "p2", "p3"),
    parameters=_parameters,
    singular=never_singular,
    rotation=_rotation,
    rotation_tangent=_rotation_tangent,
    rate=_rate,
    rate_tangents=_rate_tangents,
    nearest=_nearest,
    internal=("norm",),
    internal_constraints=_internal_constraints,
    internal_tangent=_internal_tangent,
    normalise=_normalise,
    coordinate_velocities=QUATERNION_RATE,
)


# ---------------------------------------------------------------- functions for users


def _quaternion(a: Vec) -> Vec:
    out: Vec = a / _stacks.norm(a)[..., None]
    return out


def _tangents(a: Vec, frame: str) -> tuple[Mat, Mat]:
    """2 G and 2 H, and their constant derivatives."""
    sign = -1.0 if frame == "material" else 1.0
    D = stacks.zeros(a, 3, 4, 4)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        D[i, 0, 1 + i], D[i, 1 + i, 0] = -2.0, 2.0
        D[i, 1 + j, 1 + k], D[i, 1 + k, 1 + j] = -2.0 * sign, 2.0 * sign
    return np.einsum("ijk...,k...->ij...", D, a), D


_NOTES = {
    "matrix": "[GR95] (199), (200), (246), (247), [NS] (26)",
    "parameters": "p0 >= 0; [GR95] (202)-(205)",
    "quaternion": "p itself, of unit norm",
    "tangent": "2 G and 2 H of [GR95] (208), (248), (250)",
    "inverse_tangent": "G^T / 2 and H^T / 2, [NS] (41)",
}
_OF = ChartFunctions(__name__, QUATERNION, "unit quaternions", _tangents, _quaternion, transposed=0.25, notes=_NOTES)
matrix, matrix_derivative, parameters = _OF.matrix, _OF.matrix_derivative, _OF.parameters
quaternion = _OF.quaternion
tangent, tangent_derivative, tangent_rate = _OF.tangent, _OF.tangent_derivative, _OF.tangent_rate
inverse_tangent, inverse_tangent_rate = _OF.inverse_tangent, _OF.inverse_tangent_rate
inverse_tangent_derivative, distance, is_singular = _OF.inverse_tangent_derivative, _OF.distance, _OF.is_singular


def half_rotation(a: ArrayLike) -> Mat:
    """F (..., 3, 3) with R = F F of unit quaternions (..., 4), the shorter one; [GR95] (274), (275)."""
    p = quaternion(a)
    return stacks.half_rotation(np.where(p[..., :1] < 0.0, -p, p))


def compose(a: ArrayLike, b: ArrayLike) -> Vec:
    """The product (..., 4) of p_a and p_b, of R(a) R(b), b first; [GR95] (226)."""
    return multiplied(stacks.checked(QUATERNION, a), stacks.checked(QUATERNION, b, "b"))

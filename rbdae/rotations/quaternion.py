"""Unit quaternions p, scalar first.

    R(p) = phi(p),  pdot = T_p(p) Omega = p o (0, Omega) / 2,  p . p = 1

R has no singularity; p and -p are one rotation. The norm's constraint is (p . p - 1) / 2. [NS] (26)-(42).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Bools, Mat, Vec
from rbdae.compiler.access import Address, matrix_at, sqrt, vector_at
from rbdae.rotations import functions
from rbdae.rotations.chart import Chart, never_singular
from rbdae.rotations.euler_map import euler_differential, euler_map
from rbdae.rotations.functions import Frame
from rbdae.rotations.quaternion_algebra import quaternion_tangents
from rbdae.rotations.quaternions.algebra import multiplied
from rbdae.rotations.velocities import QUATERNION_RATE

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


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


def _tangents(a: Vec, frame: str) -> tuple[Mat, Mat]:
    """2 G and 2 H, and their constant derivatives."""
    sign = -1.0 if frame == "material" else 1.0
    D = functions.zeros(a, 3, 4, 4)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        D[i, 0, 1 + i], D[i, 1 + i, 0] = -2.0, 2.0
        D[i, 1 + j, 1 + k], D[i, 1 + k, 1 + j] = -2.0 * sign, 2.0 * sign
    return np.einsum("ijk...,k...->ij...", D, a), D


def matrix(a: ArrayLike) -> Mat:
    """R (..., 3, 3) of unit quaternions (..., 4); [GR95] (199), (200), (246), (247), [NS] (26)."""
    return functions.matrix(QUATERNION, a)


def matrix_derivative(a: ArrayLike) -> Mat:
    """dR/da (..., 3, 3, 4), the derivatives along the last axis; of [GR95] (199), (200), (246), (247), [NS] (26)."""
    return functions.matrix_derivative(QUATERNION, a)


def parameters(rotation: Rotation | ArrayLike) -> Vec:
    """p (..., 4) with p0 >= 0 of a `Rotation` or of matrices (..., 3, 3); [GR95] (202)-(205)."""
    return functions.parameters(QUATERNION, rotation)


def quaternion(a: ArrayLike) -> Vec:
    """p itself, of unit norm (..., 4)."""
    p = functions.checked(QUATERNION, a)
    out: Vec = p / _stacks.norm(p)[..., None]
    return out


def half_rotation(a: ArrayLike) -> Mat:
    """F (..., 3, 3) with R = F F, the shorter one; [GR95] (274), (275)."""
    p = quaternion(a)
    return functions.half_rotation(np.where(p[..., :1] < 0.0, -p, p))


def tangent(a: ArrayLike, frame: Frame = "material") -> Mat:
    """T (..., 3, 4): Omega = T adot, or omega = T adot in the frame "spatial"; 2 G and 2 H of
    [GR95] (208), (248), (250)."""
    return functions.tangent(QUATERNION, _tangents, a, frame)


def tangent_derivative(a: ArrayLike, frame: Frame = "material") -> Mat:
    """dT/da (..., 3, 4, 4), the derivatives along the last axis."""
    return functions.tangent_derivative(QUATERNION, _tangents, a, frame)


def tangent_rate(a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
    """Tdot (..., 3, 4): the angular acceleration is T addot + Tdot adot."""
    return functions.tangent_rate(QUATERNION, _tangents, a, adot, frame)


def inverse_tangent(a: ArrayLike, frame: Frame = "material") -> Mat:
    """K (..., 4, 3): adot = K Omega, or adot = K omega in the frame "spatial": G^T / 2
    and H^T / 2, [NS] (41)."""
    return np.swapaxes(0.25 * tangent(a, frame), -1, -2)


def inverse_tangent_derivative(a: ArrayLike, frame: Frame = "material") -> Mat:
    """dK/da (..., 4, 3, 4), the derivatives along the last axis."""
    return np.swapaxes(0.25 * tangent_derivative(a, frame), -2, -3)


def inverse_tangent_rate(a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
    """Kdot (..., 4, 3): addot is K Omegadot + Kdot Omega."""
    return np.swapaxes(0.25 * tangent_rate(a, adot, frame), -1, -2)


def compose(a: ArrayLike, b: ArrayLike) -> Vec:
    """The parameters (..., 4) of R(a) R(b), b first; the product p_a o p_b, [GR95] (226)."""
    return multiplied(functions.checked(QUATERNION, a), functions.checked(QUATERNION, b, "b"))


def distance(a: ArrayLike) -> Vec:
    """The angle (...) in radians to the singular set, of which there is none: inf."""
    return functions.distance(QUATERNION, a)


def is_singular(a: ArrayLike) -> Bools:
    """Whether `a` (..., 4) is at the singular set or beyond, (...)."""
    return functions.is_singular(QUATERNION, a)

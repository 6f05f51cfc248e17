"""Directors d = (d1, d2, d3), the columns of R.

    R(d) = [d1 d2 d3],  ddot = T_d(d) Omega,  R R^T = I

There is no singularity. The six constraints are those of the rows of R, the squares by half. [NS] (19)-(25).
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.compiler.access import Address, matrix_at, sqrt, vector_at
from rbdae.rotations import stacks
from rbdae.rotations.algebra import add_row_products, director_tangents, row_products_tangent, spin
from rbdae.rotations.chart import Chart, never_singular
from rbdae.rotations.euler_map import euler_map
from rbdae.rotations.functions import ChartFunctions
from rbdae.rotations.quaternion_algebra import spurrier_klumpp
from rbdae.rotations.velocities import DIRECTOR_RATE


def _parameters(p: Vec, R: Mat) -> Vec:
    return np.swapaxes(R, -1, -2).reshape(*R.shape[:-2], 9).copy()


def _rotation(a_at: Address, d_at: Address) -> None:
    a = vector_at(a_at)
    d = vector_at(d_at)
    for i in range(9):
        d[i] = a[i]


def _rotation_tangent(a_at: Address, D_at: Address, step: int) -> None:
    D = matrix_at(D_at, step)
    for i in range(9):
        for j in range(9):
            D[i, j] = 0.0
        D[i, i] = 1.0


def _rate(a_at: Address, om_at: Address, ad_at: Address) -> None:
    spin(vector_at(a_at), vector_at(om_at), vector_at(ad_at))


def _rate_tangents(a_at: Address, om_at: Address, K_at: Address, K_step: int, A_at: Address, A_step: int) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    for i in range(9):
        for j in range(9):
            A[i, j] = 0.0
    for k in range(3):
        A[k, 3 + k] = o3
        A[k, 6 + k] = -o2
        A[3 + k, 6 + k] = o1
        A[3 + k, k] = -o3
        A[6 + k, k] = o2
        A[6 + k, 3 + k] = -o1
    director_tangents(a, K)


def _internal_constraints(a_at: Address, v_at: Address, out_at: Address, i: int, j: int) -> None:
    a = vector_at(a_at)
    out = vector_at(out_at)
    for k in range(6):
        out[i + k] = 0.0
        out[j + k] = 0.0
    add_row_products(a, a, out, i, 0.5)
    for k in range(3):
        out[i + k] -= 0.5
    add_row_products(a, vector_at(v_at), out, j, 1.0)


def _internal_tangent(a_at: Address, T_at: Address, step: int) -> None:
    row_products_tangent(vector_at(a_at), 1.0, matrix_at(T_at, step))


def _normalise(a_at: Address, work_at: Address) -> None:
    """[NS] (64): the rotation of the unit quaternion by Spurrier and Klumpp."""
    a = vector_at(a_at)
    p = vector_at(work_at)
    spurrier_klumpp(a, p)
    n = 1.0 / sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
    for k in range(4):
        p[k] *= n
    euler_map(p, a)


DIRECTORS = Chart(
    name="directors",
    source="[NS] (19)-(25)",
    names=tuple(f"d{i}{c}" for i in "123" for c in "xyz"),
    parameters=_parameters,
    singular=never_singular,
    rotation=_rotation,
    rotation_tangent=_rotation_tangent,
    rate=_rate,
    rate_tangents=_rate_tangents,
    internal=("row11", "row22", "row33", "row12", "row31", "row23"),
    internal_constraints=_internal_constraints,
    internal_tangent=_internal_tangent,
    normalise=_normalise,
    coordinate_velocities=DIRECTOR_RATE,
    linear=True,
)


# ---------------------------------------------------------------- functions for users


def _tangents(a: Vec, frame: str) -> tuple[Mat, Mat]:
    """Half of T_d^T, and half of (d1^, d2^, d3^); with constant derivatives."""
    D = stacks.zeros(a, 3, 9, 9)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for m in range(3):
            if frame == "material":  # Omega_i = (d_k . ddot_j - d_j . ddot_k) / 2
                D[i, 3 * j + m, 3 * k + m], D[i, 3 * k + m, 3 * j + m] = 0.5, -0.5
            else:  # omega = sum_m d_m x ddot_m / 2
                D[i, 3 * m + k, 3 * m + j], D[i, 3 * m + j, 3 * m + k] = 0.5, -0.5
    return np.einsum("ijk...,k...->ij...", D, a), D


_NOTES = {
    "matrix": "[NS] (19)",
    "parameters": "the columns of R",
    "quaternion": "by Spurrier and Klumpp; [GR95] (203)-(205), [NS] section 6",
    "tangent": "T_d^T / 2 of [NS] (24), and sum_i d_i^ / 2",
    "inverse_tangent": "T_d of [NS] (24)",
}
_OF = ChartFunctions(__name__, DIRECTORS, "directors", _tangents, transposed=2.0, notes=_NOTES)
matrix, matrix_derivative, parameters = _OF.matrix, _OF.matrix_derivative, _OF.parameters
quaternion, half_rotation = _OF.quaternion, _OF.half_rotation
tangent, tangent_derivative, tangent_rate = _OF.tangent, _OF.tangent_derivative, _OF.tangent_rate
inverse_tangent, inverse_tangent_rate = _OF.inverse_tangent, _OF.inverse_tangent_rate
inverse_tangent_derivative, distance, is_singular = _OF.inverse_tangent_derivative, _OF.distance, _OF.is_singular


def compose(a: ArrayLike, b: ArrayLike) -> Vec:
    """The directors (..., 9) of R(a) R(b), b first: the product of the matrices."""
    return stacks.stacked(matrix(a) @ matrix(stacks.checked(DIRECTORS, b, "b")))

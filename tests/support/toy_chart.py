"""A chart that rbdae does not have, in one file: unit quaternions with the scalar last."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rbdae.compiler.access import Address, matrix_at, sqrt, vector_at
from rbdae.compiler.jit import jit
from rbdae.rotations import Chart, ChartFunctions
from rbdae.rotations.euler_map import euler_map

Vec = Mat = NDArray[np.float64]


@jit
def scalar_first(a):
    return a[3], a[0], a[1], a[2]


def _parameters(p: Vec, R: Mat) -> Vec:
    return np.roll(p, -1)


def _singular(a: Vec) -> str:
    return ""


def _rotation(a_at: Address, d_at: Address) -> None:
    euler_map(scalar_first(vector_at(a_at)), vector_at(d_at))


def _rotation_tangent(a_at: Address, D_at: Address, step: int) -> None:
    x, y, z, w = vector_at(a_at)[0], vector_at(a_at)[1], vector_at(a_at)[2], vector_at(a_at)[3]
    D = matrix_at(D_at, step)
    rows = (
        (x, -y, -z, w),
        (y, x, w, z),
        (z, -w, x, -y),
        (y, x, -w, -z),
        (-x, y, -z, w),
        (w, z, y, x),
        (z, w, x, y),
        (-w, z, y, -x),
        (-x, -y, z, w),
    )
    for i in range(9):
        for j in range(4):
            D[i, j] = 2.0 * rows[i][j]


def _rate(a_at: Address, om_at: Address, ad_at: Address) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    ad = vector_at(ad_at)
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    ad[3] = 0.5 * (-a[0] * o1 - a[1] * o2 - a[2] * o3)
    ad[0] = 0.5 * (a[3] * o1 - a[2] * o2 + a[1] * o3)
    ad[1] = 0.5 * (a[2] * o1 + a[3] * o2 - a[0] * o3)
    ad[2] = 0.5 * (-a[1] * o1 + a[0] * o2 + a[3] * o3)


def _rate_tangents(a_at: Address, om_at: Address, K_at: Address, K_step: int, A_at: Address, A_step: int) -> None:
    a = vector_at(a_at)
    om = vector_at(om_at)
    x, y, z, w = a[0], a[1], a[2], a[3]
    o1, o2, o3 = om[0], om[1], om[2]
    kinematics = ((w, -z, y), (z, w, -x), (-y, x, w), (-x, -y, -z))
    derivatives = ((0.0, o3, -o2, o1), (-o3, 0.0, o1, o2), (o2, -o1, 0.0, o3), (-o1, -o2, -o3, 0.0))
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    for i in range(4):
        for j in range(3):
            K[i, j] = 0.5 * kinematics[i][j]
        for j in range(4):
            A[i, j] = 0.5 * derivatives[i][j]


def _internal_constraints(a_at: Address, v_at: Address, out_at: Address, i: int, j: int) -> None:
    a = vector_at(a_at)
    v = vector_at(v_at)
    out = vector_at(out_at)
    out[i] = 0.5 * (a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3] - 1.0)
    out[j] = a[0] * v[0] + a[1] * v[1] + a[2] * v[2] + a[3] * v[3]


def _internal_tangent(a_at: Address, T_at: Address, step: int) -> None:
    for k in range(4):
        matrix_at(T_at, step)[0, k] = vector_at(a_at)[k]


def _normalise(a_at: Address, work_at: Address) -> None:
    a = vector_at(a_at)
    n = 1.0 / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    for k in range(4):
        a[k] *= n


SCALAR_LAST = Chart(
    name="scalar-last",
    source="",
    names=("p1", "p2", "p3", "p0"),
    parameters=_parameters,
    singular=_singular,
    rotation=_rotation,
    rotation_tangent=_rotation_tangent,
    rate=_rate,
    rate_tangents=_rate_tangents,
    internal=("norm",),
    internal_constraints=_internal_constraints,
    internal_tangent=_internal_tangent,
    normalise=_normalise,
)

FUNCTIONS = ChartFunctions(__name__, SCALAR_LAST, "unit quaternions with the scalar last")
"""All functions for users, of the kernels alone."""

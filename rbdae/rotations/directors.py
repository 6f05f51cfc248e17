"""Directors d = (d1, d2, d3), the columns of R.

    R(d) = [d1 d2 d3],  ddot = T_d(d) Omega,  R R^T = I

There is no singularity. The six constraints are those of the rows of R, the squares by half. [NS] (19)-(25).
"""

from __future__ import annotations

from rbdae._arrays import Mat, Vec
from rbdae.compiler.access import Address, matrix_at, sqrt, vector_at
from rbdae.rotations.algebra import add_row_products, director_tangents, row_products_tangent, spin
from rbdae.rotations.chart import Chart, never_singular
from rbdae.rotations.euler_map import euler_map
from rbdae.rotations.quaternion_algebra import spurrier_klumpp
from rbdae.rotations.velocities import DIRECTOR_RATE


def _parameters(p: Vec, R: Mat) -> Vec:
    return R.T.reshape(9).copy()


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

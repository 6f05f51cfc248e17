"""Directors whose internal constraints are those of the columns of R, d_i . d_j = delta_ij: [NS] (44), Remark 4.6.

The six are (|d_k|^2 - 1) / 2, then d1 . d2, d3 . d1, d2 . d3. With the symmetric matrix La of their multipliers
G_int^T la is sum_j La_ij d_j for director i; the constraints of the rows, (19), have La d_i (`director_rates`). Both
are the same manifold, R^T (R R^T - I) R = 0, and La of the columns is R^T La R of the rows there.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, address, matrix_at, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.memory import bodies, head, multipliers, states


@jit
def _first(k: int) -> int:
    """The pairs of columns are (0, 1), (2, 0), (1, 2)."""
    return 0 if k == 0 else (2 if k == 1 else 1)


@jit
def _second(k: int) -> int:
    return 1 if k == 0 else (0 if k == 1 else 2)


@stage("iiiif", "columns")
def add_column_products(X_at: Address, Y_at: Address, out_at: Address, row: int, scale: float) -> None:
    """out[row:row + 6] += scale (x_k . y_k, then x_i . y_j + x_j . y_i) over the columns of R."""
    X = vector_at(X_at)
    Y = vector_at(Y_at)
    out = vector_at(out_at)
    for k in range(3):
        i = 3 * _first(k)
        j = 3 * _second(k)
        for c in range(3):
            out[row + k] += scale * X[3 * k + c] * Y[3 * k + c]
            out[row + 3 + k] += scale * (X[i + c] * Y[j + c] + X[j + c] * Y[i + c])


@stage("ifii", "columns")
def column_products_tangent(X_at: Address, scale: float, T_at: Address, step: int) -> None:
    """T[:6, :9] = scale times the tangent of the column products with respect to Y."""
    X = vector_at(X_at)
    T = matrix_at(T_at, step)
    for r in range(6):
        for c in range(9):
            T[r, c] = 0.0
    for k in range(3):
        i = 3 * _first(k)
        j = 3 * _second(k)
        for c in range(3):
            T[k, 3 * k + c] = scale * X[3 * k + c]
            T[3 + k, j + c] = scale * X[i + c]
            T[3 + k, i + c] = scale * X[j + c]


@jit
def _entry(i: int, j: int) -> int:
    """The place of La_ij among the six multipliers."""
    return i if i == j else 2 + i + j


@stage("iiiii", "columns")
def add_constraint_forces(m: Memory, b: int, la_at: Address, out_at: Address, r: int) -> None:
    """out[r:r + 9] += G_int^T la of one body, for all multipliers la."""
    la = vector_at(la_at)
    out = vector_at(out_at)
    il = bodies(m)[b].il
    a = states(m)[b].a
    for i in range(3):
        for j in range(3):
            l = la[il + _entry(i, j)]
            for k in range(3):
                out[r + 3 * i + k] += l * a[3 * j + k]


@stage("iiii", "columns")
def dynamics_residual(m: Memory, b: int, out_at: Address, r: int) -> None:
    """out[r:r + 9] = E vdot (or pdot) - t + G_int^T la."""
    out = vector_at(out_at)
    o = bodies(m)[b]
    s = states(m)[b]
    E = o.euler
    for i in range(3):
        for k in range(3):
            inertia = s.pd[3 * i + k]
            if head(m).momenta == 0:
                inertia = E[i, 0] * s.wd[k] + E[i, 1] * s.wd[3 + k] + E[i, 2] * s.wd[6 + k]
            out[r + 3 * i + k] = inertia - s.t[3 * i + k]
    add_constraint_forces(m, b, address(multipliers(m)), out_at, r)


@stage("iiiii", "columns")
def internal_residual(m: Memory, b: int, out_at: Address, r: int, level: int) -> None:
    """D^T D = I at the three levels."""
    out = vector_at(out_at)
    s = states(m)[b]
    for k in range(6):
        out[r + k] = -0.5 if level == 0 and k < 3 else 0.0
    if level == 0:
        add_column_products(address(s.a), address(s.a), out_at, r, 0.5)
    elif level == 1:
        add_column_products(address(s.a), address(s.w), out_at, r, 1.0)
    else:
        add_column_products(address(s.a), address(s.wd), out_at, r, 1.0)
        add_column_products(address(s.w), address(s.w), out_at, r, 1.0)


@stage("iiiii", "columns")
def column_constraints(a_at: Address, v_at: Address, out_at: Address, i: int, j: int) -> None:
    """out[i:i + 6] = g(a), out[j:j + 6] = dg/da v."""
    out = vector_at(out_at)
    for k in range(6):
        out[i + k] = -0.5 if k < 3 else 0.0
        out[j + k] = 0.0
    add_column_products(a_at, a_at, out_at, i, 0.5)
    add_column_products(a_at, v_at, out_at, j, 1.0)

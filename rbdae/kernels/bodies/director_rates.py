"""Bodies with ddot, the rates of the directors, as velocity, or with the momentum that belongs to them.

The internal constraints say Y Y^T = I. Y is R, whose columns are the directors: those of its rows, [NS] (19). Or it is
R^T: those of its columns, d_i . d_j = delta_ij, [NS] (44), Remark 4.6. The six are (|y_k|^2 - 1) / 2 for the rows of
Y, then y_1 . y_2, y_3 . y_1, y_2 . y_3, and G_int^T la is La Y with the symmetric matrix La of their multipliers. Both
are the same manifold, R^T (R R^T - I) R = 0, and La of the columns is R^T La R of the rows there.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory, select
from rbdae.kernels.bodies.spatial import inverse_transposed
from rbdae.kernels.memory import bodies, head, states, tangent_memory
from rbdae.rotations.algebra import add_products


def place(m: Memory, k: int, n: int) -> int:
    """The place of Y_kn among the nine numbers of the directors."""
    return 3 * k + n if head(m).columns == 1 else 3 * n + k


def velocity_of_momentum(m: Memory, b: int) -> None:
    """w = E^-1 p."""
    s = states(m)[b]
    euler_tensor_times(bodies(m)[b].euler_inverse, s.p, s.w)


def acceleration_of_momentum(m: Memory, b: int) -> None:
    """wdot = E^-1 pdot."""
    s = states(m)[b]
    euler_tensor_times(bodies(m)[b].euler_inverse, s.pd, s.wd)


POLAR_STEPS = 6
"""Newton's method for the polar factor is converged after them if the stretch is between 0.3 and 3.4."""


def turn_with_rotation(m: Memory, b: int, angular: float) -> None:
    """R of D = R S to the directors, and R Omega^ of ddot S^-1 to their rates, if `angular` is 1: omega stays, which is
    that of ddot D^-1. Reads a and w; writes them, with momenta p."""
    s = states(m)[b]
    d = s.s
    om = s.t
    for k in range(9):
        d[k] = s.a[k]
        om[k] = 0.0
    inverse_transposed(d, s.C)
    for i in range(3):
        for k in range(3):
            k1 = (k + 1) % 3
            k2 = (k + 2) % 3
            om[k] += 0.5 * (s.C[k1, i] * s.w[3 * i + k2] - s.C[k2, i] * s.w[3 * i + k1])
    for _ in range(POLAR_STEPS):
        inverse_transposed(d, s.C)
        for i in range(3):
            for k in range(3):
                d[3 * i + k] = 0.5 * (d[3 * i + k] + s.C[k, i])
    for k in range(3):
        k1 = (k + 1) % 3
        k2 = (k + 2) % 3
        for i in range(0, 9, 3):
            s.a[i + k] = select(angular > 0.5, d[i + k], s.a[i + k])
            s.w[i + k] = select(angular > 0.5, om[k1] * d[i + k2] - om[k2] * d[i + k1], s.w[i + k])
    if head(m).momenta == 1:
        euler_tensor_times(bodies(m)[b].euler, s.w, s.p)


def euler_tensor_times(E: Array, v: Array, out: Array) -> None:
    """out_i = sum_j E_ij v_j over the directors."""
    for i in range(3):
        for k in range(3):
            out[3 * i + k] = E[i, 0] * v[k] + E[i, 1] * v[3 + k] + E[i, 2] * v[6 + k]


def mass(m: Memory, b: int, v: Array, out: Array) -> None:
    """out = E v on each component of the directors."""
    euler_tensor_times(bodies(m)[b].euler, v, out)


def add_constraint_forces(m: Memory, b: int, la: Array, out: Array, r: int) -> None:
    """out[r:r + 9] += La Y, G_int^T la of one body, for all multipliers la."""
    a = states(m)[b].a
    La = tangent_memory(m).block
    symmetric(la, bodies(m)[b].il, 1.0, La)
    for n in range(3):
        for k in range(3):
            t = out[r + place(m, k, n)]
            for l in range(3):
                t += La[k, l] * a[place(m, l, n)]
            out[r + place(m, k, n)] = t


def symmetric(l: Array, il: int, scale: float, out: Array) -> None:
    """out[:3, :3] = the symmetric matrix of six numbers from il on, with `scale` times those beside the diagonal."""
    for i in range(3):
        out[i, i] = l[il + i]
        for j in range(i):
            out[i, j] = scale * l[il + 2 + i + j]
            out[j, i] = scale * l[il + 2 + i + j]


def add_constraints(m: Memory, X: Array, Y: Array, out: Array, row: int, scale: float) -> None:
    """out[row:row + 6] += scale (x_k . y_k, then x_i . y_j + x_j . y_i) over the rows of two matrices as Y."""
    add_products(X, Y, out, row, scale, 3 if head(m).columns == 1 else 1)


def internal_residual(m: Memory, b: int, out: Array, r: int, level: int) -> None:
    """Y Y^T = I at the three levels."""
    s = states(m)[b]
    for k in range(6):
        out[r + k] = 0.0
    if level == 0:
        add_constraints(m, s.a, s.a, out, r, 0.5)
        for k in range(3):
            out[r + k] -= 0.5
    elif level == 1:
        add_constraints(m, s.a, s.w, out, r, 1.0)
    else:
        add_constraints(m, s.a, s.wd, out, r, 1.0)
        add_constraints(m, s.w, s.w, out, r, 1.0)

"""The rotation in a step of [GR95], section 11, as printed: equilibrium in the middle of the step.

R1 = R0 F^2 (313), R_h = R0 F, vect(F) = e = n sin(theta / 2) (323), and Om_h = 2 e / h (317). With the moment m of the
forces on the directors of R_h and with h_k = R_k J Om_k, the balance (306) and the average (310) are

    h1 - h0 = h m,    (h0 + h1) / 2 = R_h J Om_h.

Without h1 they are (331), from which e follows (the sign of x~ lambda is that of (301); (306) has the other one):

    (4 / h^2) R0 F J e - (2 / h) h0 - m = 0.

The paper has two ends of the step, which contradict each other.

MOMENTA: h1 = (4 / h) R_h J e - h0, which is (310). The scheme is symmetric, of order two; energy errs by O(h^2).

VELOCITIES: Om1 = 4 e / h - Om0, which is (326). As F e = e, the rotational energy changes by
2 Om_h . (F J Om_h - J Om0) = 2 (R_h e) . m, the work of all forces, as R1 - R0 = R_h (F - F^T) = 2 (R_h e)^ R_h:
energy is exact. The balance (306) is not kept: h1 - h0 - h m is of order h^2 in a step. The scheme is of order one,
and not symmetric.

The conformal vector c = 4 n tan(theta / 4) (253) gives no other scheme: 2 c / (4 - c0) in (330) is 2 e by (254), so
that (332) is (331). But it is the better unknown, b = c / 2. F is rational in it, (259) with (254),

    N F = (1 - b . b / 4) I + b^ + b b^T / 2,    N e = b,    N = 1 + b . b / 4,

and regular up to a full turn in a step, where e0 = sqrt(1 - e . e) ends at half a turn. Rows are (331) times
(h^2 / 2) N F^T R0^T: 2 J b - N F^T (h J Om0 + L^T F_d), with L = F.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.conserving.bodies import moment, moved
from rbdae.kernels.conserving.increments import VELOCITIES, combination, half_increment, increment, set_increment
from rbdae.kernels.memory import bodies, head, newton_bodies, newton_matrix, states, tangent_memory


def _half(e: Array, v: Array, out: Array) -> None:
    """out = N F^T."""
    combination(e[0], -e[1], e[5], v, out)


def midpoint_rows(m: Memory) -> None:
    """Residual and tangent of (331) of all bodies at fixed forces fd."""
    N = newton_bodies(m)
    for b in range(head(m).n_bodies):
        nt = bodies(m)[b].nt
        _rows(m, b, N[b].row + nt, N[b].block + nt * (nt + 4), nt + 3)


def _rows(m: Memory, b: int, row: int, at: int, n: int) -> None:
    """Three entries of the right-hand side from `row`, a block of rows n apart from `at`."""
    o = bodies(m)[b]
    s = states(m)[b]
    c = tangent_memory(m)
    A = newton_matrix(m)
    v = half_increment(m, b)
    e = increment(m, b)
    moment(m, b)  # c.left[3], and its tangent in c.chained
    V = c.A
    D = c.right
    u = c.left[0]
    x = c.left[1]
    w = c.left[2]
    _half(e, v, V)
    for k in range(3):
        u[k] = 2.0 * s.tx[k] + c.left[3, k]
    moved(o.inertia, v, x)
    moved(V, u, w)
    along = 0.0 * u[0]
    for k in range(3):
        A[row + k] = w[k] - 2.0 * x[k]
        along += e[5] * v[k] * u[k]
    # 2 J - V du - dV u, with dV u = 2 e0' u b^T + u^ + v (b . u I + b u^T)
    combination(-along, -e[1], 0.0, u, D)
    for i in range(3):
        for j in range(3):
            D[i, j] += 2.0 * (o.inertia[i, j] - e[2] * u[i] * v[j]) - e[5] * v[i] * u[j]
            for l in range(3):
                D[i, j] -= V[i, l] * c.chained[l, j]
            A[at + n * i + j] = D[i, j]


def midpoint_velocity(m: Memory, b: int, scheme: int) -> None:
    """h (Om0 + Om1) / 4 of a body to gx, from b in wd: e by (326), or what the average (310) of momenta gives."""
    o = bodies(m)[b]
    s = states(m)[b]
    c = tangent_memory(m)
    v = half_increment(m, b)
    set_increment(m, b, scheme)
    e = increment(m, b)
    n = 2.0 - e[0]  # 1 + b . b / 4
    for k in range(3):
        s.gx[k] = v[k] / n
    if scheme == VELOCITIES:
        return
    V = c.A
    x = c.left[0]
    y = c.left[1]
    z = c.left[2]
    _half(e, v, V)
    moved(o.inertia, s.gx, x)
    moved(V, s.tx, y)
    for k in range(3):
        y[k] = 2.0 * x[k] - y[k] / n
    moved(V, y, z)
    for k in range(3):
        z[k] = 0.5 * (z[k] / n - s.tx[k])
    moved(o.inertia_inverse, z, x)  # of the change: an error of the inverse does not add up
    for k in range(3):
        s.gx[k] = s.om[k] + x[k]

"""QUAT.VI, the variational integrator of [BS09], Appendix E, in momenta: bodies without joints, with weight.

The discrete Lagrangian of a step of size h from q0 to q1 = q0 o (e0, e), with V at q_mean = (q0 + q1) / 2, is

    L_d = (2 / h) e . J e - h V(q_mean),

and the momenta at its ends are p0 = -D1 L_d + mu0 q0, p1 = D2 L_d - mu1 q1 with multipliers for which q . p = 0. With
p = 2 q o (0, y), y = J Om, and the variations delta q = q o (0, eta) / 2 of either end,

    y0 = (2 / h) (e0 J e + e x J e) - (h / 4) s(e, N0),    y1 = (2 / h) (e0 J e - e x J e) + (h / 4) s(-e, N1),
    s(e, N) = (1 + e0) vect N + (N + N^T - tr(N) I) e,

with the natural forces N_k = R_k^T (f_1 f_2 f_3), vect N = (N_32 - N_23, ..). The second line is the first one seen
from the other end, where the increment is (e0, -e). In space R1 (e0 J e - e x J e) = R0 (e0 J e + e x J e), so
that R1 (y1 - (h / 4) s(-e, N1)) = R0 (y0 + (h / 4) s(e, N0)): momentum changes by the moments alone, however well e is
known. The steps are a symplectic map, and reversible; energy errs by O(h^2), without a trend.

Without forces a spin has h Om = 2 e0 |e| = sin(theta): there is no step if h Om > 1.

The unknown is b = e / e0 (`RODRIGUES`), with w = 1 / (1 + b . b) = e0^2. Times h / 2 the first line is

    w (J b + b x J b) - s(e0 b, h^2 N0 / 2) / 4 - h J Om0 / 2 = 0.
"""

from __future__ import annotations

from rbdae.compiler.access import Array, Memory, sqrt
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.conserving.bodies import add_cross, cross, moved
from rbdae.kernels.conserving.increments import (
    RODRIGUES,
    combination,
    half_increment,
    increment,
    quotient,
    rotation_less_identity,
    set_increment,
)
from rbdae.kernels.memory import bodies, head, newton_bodies, newton_matrix, states, tangent_memory


@jit
def _load(m: Memory, b: int, N: Array) -> None:
    """N = R0^T (f_1 f_2 f_3): the natural forces in the frame of the start."""
    s = states(m)[b]
    d = s.ddd
    for k in range(3):
        for a in range(3):
            N[k, a] = d[3 * k] * s.fd[3 * a] + d[3 * k + 1] * s.fd[3 * a + 1] + d[3 * k + 2] * s.fd[3 * a + 2]


@jit
def _vector(N: Array, e0: float, e: Array, K: Array, out: Array) -> None:
    """out = s(e, N), and K = N + N^T - tr(N) I."""
    trace = N[0, 0] + N[1, 1] + N[2, 2]
    for i in range(3):
        for j in range(3):
            K[i, j] = N[i, j] + N[j, i]
        K[i, i] -= trace
    moved(K, e, out)
    out[0] += (1.0 + e0) * (N[2, 1] - N[1, 2])
    out[1] += (1.0 + e0) * (N[0, 2] - N[2, 0])
    out[2] += (1.0 + e0) * (N[1, 0] - N[0, 1])


@stage("i")
def variational_rows(m: Memory) -> None:
    """Residual and tangent of the balances of the rotations of all bodies."""
    N = newton_bodies(m)
    for b in range(head(m).n_bodies):
        nt = bodies(m)[b].nt
        _rows(m, b, N[b].row + nt, N[b].block + nt * (nt + 4), nt + 3)


@stage("iiiii")
def _rows(m: Memory, b: int, row: int, at: int, n: int) -> None:
    """Three entries of the right-hand side from `row`, a block of rows n apart from `at`. Reads fd times h^2 / 2."""
    o = bodies(m)[b]
    s = states(m)[b]
    c = tangent_memory(m)
    A = newton_matrix(m)
    v = half_increment(m, b)
    w = 1.0 / increment(m, b)[4]
    e0 = sqrt(w)
    y = c.left[0]
    z = c.left[1]
    e = c.left[2]
    f = c.left[3]
    moved(o.inertia, v, y)
    cross(v, y, z)
    for k in range(3):
        z[k] += y[k]
        e[k] = e0 * v[k]
    N = c.A
    K = c.K
    _load(m, b, N)
    _vector(N, e0, e, K, f)
    for k in range(3):
        A[row + k] = -(w * z[k] - 0.25 * f[k] - s.tx[k])
    # de0 = -e0^3 b . db, d(e0 b) = e0 db + b de0, dw = -2 w^2 b . db
    D = c.right
    combination(0.0, -w, 0.0, y, D)
    add_cross(v, w, o.inertia, D)
    g = c.left[4]
    moved(K, v, g)
    g[0] += N[2, 1] - N[1, 2]
    g[1] += N[0, 2] - N[2, 0]
    g[2] += N[1, 0] - N[0, 1]
    for i in range(3):
        x = -2.0 * w * w * z[i] + 0.25 * e0 * w * g[i]
        for j in range(3):
            A[at + n * i + j] = D[i, j] + w * o.inertia[i, j] - 0.25 * e0 * K[i, j] + x * v[j]


@stage("iiff")
def end_momentum(m: Memory, b: int, r: float, h: float) -> None:
    """y = J Om at the part r of the step, linear in time, to tx. Reads the unknown b in gx, and h J Om0 / 2 in tx."""
    s = states(m)[b]
    c = tangent_memory(m)
    for k in range(3):
        s.wd[k] = s.gx[k]
    for k in range(9):
        s.fd[k] = 0.5 * h * h * bodies(m)[b].weight_d[k]
    set_increment(m, b, RODRIGUES)
    C = c.block
    rotation_less_identity(m, b, C)
    for k in range(3):
        C[k, k] += 1.0
    e0 = 1.0 / sqrt(increment(m, b)[4])
    e = c.left[0]
    f = c.left[1]
    y = c.left[2]
    for k in range(3):
        e[k] = e0 * s.gx[k]
    N = c.A
    _load(m, b, N)
    _vector(N, e0, e, c.K, f)
    for k in range(3):
        y[k] = s.tx[k] + 0.25 * f[k]
        e[k] = -e[k]
    P = c.product
    for i in range(3):
        for j in range(3):
            P[i, j] = C[0, i] * N[0, j] + C[1, i] * N[1, j] + C[2, i] * N[2, j]
    _vector(P, e0, e, c.K, f)
    for k in range(3):
        x = C[0, k] * y[0] + C[1, k] * y[1] + C[2, k] * y[2] + 0.25 * f[k]
        f[k] = x
    for k in range(3):
        s.tx[k] = 2.0 * quotient((1.0 - r) * s.tx[k] + r * f[k], h)

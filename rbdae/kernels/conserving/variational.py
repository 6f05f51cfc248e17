"""QUAT.VI, the variational integrator of [BS09], Appendix E, in momenta: bodies with joints and weight.

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

    w (J b + b x J b) - s(e0 b, h^2 N0 / 2) / 4 - h J Om0 / 2 = 0,

and twice that are the rows. Joints are further constraints of (E1): p0 = -D1 L_d + h G(q0)^T la, g(q1) = 0, and
p1 = D2 L_d - G(q1)^T nu with G(q1) M^-1 p1 = 0. The next step's multipliers take up nu, so that positions are those
of (E1), and momenta are on the constraints.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory, sqrt
from rbdae.kernels.conserving.bodies import add_cross, cross, moved, take
from rbdae.kernels.conserving.elimination import eliminate
from rbdae.kernels.conserving.increments import (
    VARIATIONAL,
    combination,
    frame_of_start,
    half_increment,
    increment,
    quotient,
    rotation_less_identity,
    vector_of,
)
from rbdae.kernels.conserving.joints import MOVED, PULLED, bases, joint_rows
from rbdae.kernels.constraints.primitives import primitive_forces, primitive_vectors
from rbdae.kernels.memory import (
    bodies,
    head,
    newton_bodies,
    newton_joints,
    newton_matrix,
    primitives,
    rows,
    states,
    tangent_memory,
)
from rbdae.rotations.algebra import director_tangents, spin


def to_the_start(m: Memory) -> None:
    """Natural coordinates of the start in x and d, all of their increments in xd and dd, and the forces of the weight
    in gd, too. After `take`."""
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        for k in range(3):
            s.x[k] = s.pxd[k]
            s.xd[k] = s.gx[k]
        for k in range(9):
            s.d[k] = s.ddd[k]
            s.dd[k] = 2.0 * s.dd[k]
            s.gd[k] = s.fd[k]


def joint_moment(m: Memory, b: int, N: Array, out: Array) -> None:
    """vect R0^T (fd - gd), the moment of the joints in the frame of the start; N is overwritten."""
    s = states(m)[b]
    for k in range(9):
        s.t[k] = s.fd[k] - s.gd[k]
    frame_of_start(m, b, s.t, N)
    vector_of(N, out)


def mean_moment(N: Array, e0: float, e: Array, K: Array, out: Array) -> None:
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


def variational_rows(m: Memory) -> None:
    """Residual and tangent of the balances of the rotations of all bodies. The joints' forces do not depend on the
    increments."""
    N = newton_bodies(m)
    for b in range(head(m).n_bodies):
        nt = bodies(m)[b].nt
        _rows(m, b, N[b].row + nt, N[b].block + nt * (nt + 4), nt + 3)
    _clear_multipliers(m)


def _clear_multipliers(m: Memory) -> None:
    for i in range(head(m).n_primitives):
        for k in range(3):
            rows(m)[i].la[k] = 0.0


def _rows(m: Memory, b: int, row: int, at: int, n: int) -> None:
    """Three entries of the right-hand side from `row`, a block of rows n apart from `at`, from the frame of the other
    rows: times I - b^, whose own derivative counts for nothing where the rows are zero."""
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
    t = c.left[5]
    joint_moment(m, b, N, t)
    frame_of_start(m, b, s.gd, N)
    mean_moment(N, e0, e, K, f)
    for k in range(3):
        t[k] += 2.0 * (s.tx[k] - w * z[k]) + 0.5 * f[k]
    cross(v, t, f)
    for k in range(3):
        A[row + k] = t[k] - f[k]
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
            D[i, j] += w * o.inertia[i, j] - 0.25 * e0 * K[i, j] + x * v[j]
            c.product[i, j] = D[i, j]
    add_cross(v, -1.0, D, c.product)
    for i in range(3):
        for j in range(3):
            A[at + n * i + j] = 2.0 * c.product[i, j]


def variational_end(m: Memory, u: Array, h: float) -> None:
    """The momenta at the end of the step, on the constraints of the joints: P1 to fx, y1 = J Om1 to the first of fd."""
    take(m, u, VARIATIONAL, 0.5 * h * h)
    to_the_start(m)
    primitive_vectors(m, 1)
    primitive_forces(m)
    for b in range(head(m).n_bodies):
        _end_of_body(m, b, h)
    if head(m).n_primitives > 0:
        _project(m)


def _end_of_body(m: Memory, b: int, h: float) -> None:
    """P1 = P0 + h w + j / h and R1 (y1 - ..) = R0 (y0 + ..) with all forces; moves x and d to the end."""
    o = bodies(m)[b]
    s = states(m)[b]
    c = tangent_memory(m)
    for k in range(3):
        s.fx[k] = s.px[k] + h * o.weight[k] + quotient(s.fx[k] - 0.5 * h * h * o.weight[k], h)
    C = c.block
    rotation_less_identity(m, b, C)
    for k in range(3):
        C[k, k] += 1.0
    e0 = 1.0 / sqrt(increment(m, b)[4])
    e = c.left[0]
    f = c.left[1]
    y = c.left[2]
    v = half_increment(m, b)
    for k in range(3):
        e[k] = e0 * v[k]
    N = c.A
    joint_moment(m, b, N, y)
    frame_of_start(m, b, s.gd, N)
    mean_moment(N, e0, e, c.K, f)
    for k in range(3):
        y[k] = 0.5 * y[k] + s.tx[k] + 0.25 * f[k]
        e[k] = -e[k]
    P = c.product
    for i in range(3):
        for j in range(3):
            P[i, j] = C[0, i] * N[0, j] + C[1, i] * N[1, j] + C[2, i] * N[2, j]
    mean_moment(P, e0, e, c.K, f)
    for k in range(3):
        x = C[0, k] * y[0] + C[1, k] * y[1] + C[2, k] * y[2] + 0.25 * f[k]
        s.fd[k] = 2.0 * quotient(x, h)
        s.x[k] += s.xd[k]
    for k in range(9):
        s.d[k] += s.dd[k]


def _project(m: Memory) -> None:
    """M dv + G^T nu = 0, G (v + dv) = 0 at the end of the step, by the memory and the elimination of the steps."""
    A = newton_matrix(m)
    B = bodies(m)
    N = newton_bodies(m)
    h = head(m)
    for i in range(h.n_newton):
        A[i] = 0.0
    for b in range(h.n_bodies):
        n = B[b].nt + 3
        at = N[b].block
        T = bases(m, b)
        director_tangents(states(m)[b].d, T)
        for k in range(3):
            if B[b].nt == 3:
                A[at + n * k + k] = B[b].mass
            for j in range(3):
                A[at + n * (B[b].nt + k) + B[b].nt + j] = B[b].inertia[k, j]
            for i in range(9):
                T[i, MOVED + k] = T[i, PULLED + k]
    primitive_vectors(m, 0)
    _clear_rates(m)
    joint_rows(m)
    _end_rates(m)
    primitive_vectors(m, 1)
    for i in range(h.n_primitives):
        p = primitives(m)[i]
        r = rows(m)[i]
        to = newton_joints(m)[i].row
        if p.linear == 1:
            for k in range(3):
                if p.keep[k] == 1:
                    A[to[k]] = -r.Pd[k]
        elif p.keep[0] == 1:
            x = 0.0 * r.P[0]
            for k in range(3):
                x += r.Pd[k] * r.Q[k] + r.P[k] * r.Qd[k]
            A[to[0]] = -p.scale * x
    eliminate(m)
    for b in range(h.n_bodies):
        o = B[b]
        s = states(m)[b]
        i = N[b].row + o.nt
        for k in range(3):
            if o.nt == 3:
                s.fx[k] += o.mass * A[N[b].row + k]
            s.fd[k] += o.inertia[k, 0] * A[i] + o.inertia[k, 1] * A[i + 1] + o.inertia[k, 2] * A[i + 2]


def _clear_rates(m: Memory) -> None:
    """No rates, no multipliers of the primitives."""
    for i in range(head(m).n_primitives):
        r = rows(m)[i]
        for k in range(3):
            r.Pd[k] = 0.0
            r.Qd[k] = 0.0
            r.la[k] = 0.0


def _end_rates(m: Memory) -> None:
    """The rates of x and d that belong to P1 and y1."""
    om = tangent_memory(m).left[0]
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        for k in range(3):
            s.xd[k] = s.fx[k] / o.mass if o.nt == 3 else 0.0
        moved(o.inertia_inverse, s.fd, om)
        spin(s.d, om, s.dd)

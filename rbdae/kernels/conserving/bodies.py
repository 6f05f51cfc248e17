"""The bodies in a step: both ends of it, the residual of their balances, and its tangent.

The unknowns of a body are dx = x1 - x0 and b (`rbdae.kernels.conserving.increments`). With forces F on the mean natural
coordinates, already multiplied by h^2 / 2, and the quaternion (e0, e) of the increment, E+- = e0 I +- e^:

    M (dx - h v0) - F_x                                 = 0
    E+ (2 J b - h J Om0 / 2) - E- (h J Om0 / 2 + L^T F_d) = 0

The second one is R1 J Om1 - R0 J Om0 = h m times h / 2, seen from half of the rotation, e0 dR - e^ dR = E+: there its
tangent has positive diagonal blocks up to half a turn in a step, so that no rows have to be exchanged.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import gather_positions, gather_velocities
from rbdae.kernels.bodies.natural import place
from rbdae.kernels.conserving.directors import begin_directors, director_rows
from rbdae.kernels.conserving.increments import (
    VARIATIONAL,
    arms,
    combination,
    frame_of_start,
    half_increment,
    increment,
    rotation_less_identity,
    set_increment,
    vector_of,
)
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.memory import bodies, head, multipliers, newton_bodies, newton_matrix, states, tangent_memory
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.rotations.quaternion_algebra import conjugate_product


def start_directors(m: Memory, b: int) -> Any:
    """R0 of a body, column by column."""
    return states(m)[b].ddd


def moved(A: Array, x: Array, out: Array) -> None:
    """out = A x of three numbers."""
    for i in range(3):
        out[i] = A[i, 0] * x[0] + A[i, 1] * x[1] + A[i, 2] * x[2]


def begin(m: Memory, t: float, y: Array, h: float) -> None:
    """The start of a step of size h: (t, y). Writes what is named ``start_...`` above."""
    set_time(m, t)
    gather_positions(m, y)
    gather_velocities(m, y, head(m).n_q)
    place(m)
    _begin_bodies(m, h)


def _begin_bodies(m: Memory, h: float) -> None:
    momenta = head(m).momenta == 1
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        for k in range(3):
            s.pxd[k] = s.x[k]
            s.xdd[k] = 0.0 * s.x[k]
        for k in range(9):
            s.ddd[k] = s.d[k]
        if o.nt == 3:
            for k in range(3):
                s.xdd[k] = h * (s.px[k] / o.mass) if momenta else h * s.xd[k]
        if head(m).kind == DIRECTOR_RATE:
            begin_directors(m, b, h)
            moved(o.inertia_inverse, s.tx, s.om)
        elif momenta:  # p = 2 q o (0, J Om)
            conjugate_product(s.a, s.p, s.s)
            for k in range(3):
                s.tx[k] = 0.25 * h * s.s[k + 1]
            moved(o.inertia_inverse, s.tx, s.om)
        else:
            for k in range(3):
                s.om[k] = 0.5 * h * s.w[k]
            moved(o.inertia, s.om, s.tx)


def take(m: Memory, u: Array, scheme: int, force_scale: float) -> None:
    """The unknowns (dx, b) of all bodies and the multipliers of the joints from u, and what follows from them: mean
    natural coordinates in x and d, half of their increments in xd and dd, and the weight times `force_scale`."""
    B = bodies(m)
    N = newton_bodies(m)
    h = head(m)
    la = multipliers(m)
    for b in range(h.n_bodies):
        s = states(m)[b]
        i = N[b].unknown
        for k in range(3):
            s.gx[k] = 0.0 * s.x[k]
        if B[b].nt == 3:
            for k in range(3):
                s.gx[k] = u[i + k]
            i += 3
        for k in range(3):
            s.wd[k] = u[i + k]
            s.fx[k] = force_scale * B[b].weight[k]
        for k in range(9):
            s.fd[k] = force_scale * B[b].weight_d[k]
        set_increment(m, b, scheme)
        _set_mean(m, b)
    for i in range(h.n_rows):
        la[h.n_internal + i] = u[h.n_body_unknowns + i]


def _set_mean(m: Memory, b: int) -> None:
    s = states(m)[b]
    C = tangent_memory(m).block
    rotation_less_identity(m, b, C)
    d0 = s.ddd
    for k in range(3):
        s.xd[k] = 0.5 * s.gx[k]
        s.x[k] = s.pxd[k] + s.xd[k]
        for j in range(3):
            n = 3 * j + k
            s.dd[n] = 0.5 * (d0[k] * C[0, j] + d0[3 + k] * C[1, j] + d0[6 + k] * C[2, j])
            s.d[n] = d0[n] + s.dd[n]


def body_rows(m: Memory, scheme: int) -> None:
    """Residual and tangent of the balances of all bodies at fixed forces fx, fd; the matrix is cleared before. The
    rotational ones of VARIATIONAL, MOMENTA and VELOCITIES are in files of their own."""
    A = newton_matrix(m)
    N = newton_bodies(m)
    for i in range(head(m).n_newton):
        A[i] = 0.0
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        row = N[b].row
        at = N[b].block
        n = o.nt + 3
        if o.nt == 3:
            for k in range(3):
                A[row + k] = -(o.mass * (s.gx[k] - s.xdd[k]) - s.fx[k])
                A[at + 7 * k] = o.mass
            row += 3
            at += 21
        if head(m).kind == DIRECTOR_RATE:
            director_rows(m, b, row, at, n)
        elif scheme < VARIATIONAL:
            _rotation_rows(m, b, row, at, n)


def add_cross(a: Array, scale: float, B: Array, out: Array) -> None:
    """out += scale a^ B, 3 x 3."""
    for j in range(3):
        out[0, j] += scale * (a[1] * B[2, j] - a[2] * B[1, j])
        out[1, j] += scale * (a[2] * B[0, j] - a[0] * B[2, j])
        out[2, j] += scale * (a[0] * B[1, j] - a[1] * B[0, j])


def cross(a: Array, b: Array, out: Array) -> None:
    """Writes a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


def _rotation_rows(m: Memory, b: int, row: int, at: int, n: int) -> None:
    """The rows of the rotation: three entries of the right-hand side from `row`, a block of rows n apart from `at`."""
    o = bodies(m)[b]
    s = states(m)[b]
    c = tangent_memory(m)
    A = newton_matrix(m)
    v = half_increment(m, b)
    e = increment(m, b)
    y = c.left[0]
    z = c.left[1]
    x = c.left[2]
    moment(m, b)  # c.left[3], and its tangent in c.chained
    moved(o.inertia, v, x)
    for k in range(3):
        y[k] = 2.0 * x[k] - s.tx[k]
        z[k] = s.tx[k] + c.left[3, k]
        x[k] = y[k] + z[k]
    # E+ y - E- z = e0 (y - z) + g b x (y + z)
    w = c.left[4]
    cross(v, x, w)
    for k in range(3):
        A[row + k] = -(e[0] * (y[k] - z[k]) + e[1] * w[k])
    # 2 E+ J - E- dz, and the derivatives of e0 and g b: (2 e0' (y - z) + 2 g' b x (y + z)) b^T - g (y + z)^
    D = c.right
    combination(0.0, -e[1], 0.0, x, D)
    for i in range(3):
        f = 2.0 * (e[2] * (y[i] - z[i]) + e[3] * w[i])
        for j in range(3):
            D[i, j] += f * v[j] + e[0] * (2.0 * o.inertia[i, j] - c.chained[i, j])
            c.product[i, j] = 2.0 * o.inertia[i, j] + c.chained[i, j]
    add_cross(v, e[1], c.product, D)
    for i in range(3):
        for j in range(3):
            A[at + n * i + j] = D[i, j]


def moment(m: Memory, b: int) -> None:
    """The moment of fd in the frame of the start, L^T F, and its tangent with respect to b at fixed forces: to
    ``left[3]`` and ``chained`` of `tangent_memory`."""
    s = states(m)[b]
    c = tangent_memory(m)
    v = half_increment(m, b)
    a = arms(m, b)
    N = c.A
    frame_of_start(m, b, s.fd, N)
    trace = N[0, 0] + N[1, 1] + N[2, 2]
    one = c.left[5]
    two = c.left[6]
    three = c.left[7]
    vector_of(N, one)
    for k in range(3):
        two[k] = N[0, k] * v[0] + N[1, k] * v[1] + N[2, k] * v[2] - trace * v[k]
    moved(N, v, c.left[8])
    cross(v, c.left[8], three)
    D = c.chained
    for i in range(3):
        c.left[3, i] = a[0] * one[i] + a[1] * two[i] + a[2] * three[i]
        f = 2.0 * (a[3] * one[i] + a[4] * two[i] + a[5] * three[i])
        for j in range(3):
            D[i, j] = f * v[j] + a[1] * N[j, i]
        D[i, i] -= a[1] * trace
    add_cross(v, a[2], N, D)
    combination(0.0, -a[2], 0.0, c.left[8], c.product)
    for i in range(3):
        for j in range(3):
            D[i, j] += c.product[i, j]

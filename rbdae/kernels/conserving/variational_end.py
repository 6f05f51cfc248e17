"""The end of a step of QUAT.VI (`rbdae.kernels.conserving.variational`): its momenta, and their projection."""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, sqrt
from rbdae.compiler.jit import stage
from rbdae.kernels.conserving.bodies import moved, take
from rbdae.kernels.conserving.elimination import eliminate
from rbdae.kernels.conserving.increments import (
    VARIATIONAL,
    half_increment,
    increment,
    quotient,
    rotation_less_identity,
)
from rbdae.kernels.conserving.joints import MOVED, PULLED, bases, joint_rows
from rbdae.kernels.conserving.variational import joint_moment, load, mean_moment, to_the_start
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


@stage("iif")
def variational_end(m: Memory, u_at: Address, h: float) -> None:
    """The momenta at the end of the step, on the constraints of the joints: P1 to fx, y1 = J Om1 to the first of fd."""
    take(m, u_at, VARIATIONAL, 0.5 * h * h)
    to_the_start(m)
    primitive_vectors(m, 1)
    primitive_forces(m)
    for b in range(head(m).n_bodies):
        _end_of_body(m, b, h)
    if head(m).n_primitives > 0:
        _project(m)


@stage("iif")
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
    load(m, b, s.gd, N)
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


@stage("i", "joints", optional=True)
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


@stage("i", "joints", optional=True)
def _clear_rates(m: Memory) -> None:
    """No rates, no multipliers of the primitives."""
    for i in range(head(m).n_primitives):
        r = rows(m)[i]
        for k in range(3):
            r.Pd[k] = 0.0
            r.Qd[k] = 0.0
            r.la[k] = 0.0


@stage("i", "joints", optional=True)
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

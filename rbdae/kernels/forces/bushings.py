"""Kernels of the bushing: F = -K P - D Pdot between two points, P = sum A_k Z_k ([NS], Example C)."""

from __future__ import annotations

from rbdae.compiler.access import Array, Memory
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies.chain_rule import scatter_velocity
from rbdae.kernels.bodies.natural import n_row_basis, row_basis
from rbdae.kernels.constraints.gradients import columns_of
from rbdae.kernels.constraints.primitives import add_natural, combine
from rbdae.kernels.memory import bodies, bushings, head, states, tangent_memory
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.kernels.scatter import scatter_block


@stage("i", "bushings", optional=True)
def bushing_forces(m: Memory) -> None:
    """Add the forces of all bushings to the natural forces."""
    C = bushings(m)
    S = states(m)
    for i in range(head(m).n_bushings):
        e = C[i]
        s1 = S[e.body[0]]
        s2 = S[e.body[1]]
        P = s1.s
        F = s1.t
        combine(e.A, s1.x, s1.d, s2.x, s2.d, P)
        for k in range(3):
            F[k] = e.stiffness[k, 0] * P[0] + e.stiffness[k, 1] * P[1] + e.stiffness[k, 2] * P[2]
        if e.damped == 1:
            combine(e.A, s1.xd, s1.dd, s2.xd, s2.dd, P)
            for k in range(3):
                F[k] += e.damping[k, 0] * P[0] + e.damping[k, 1] * P[1] + e.damping[k, 2] * P[2]
        add_natural(e.A, F, -1.0, s1.fx, s1.fd, s2.fx, s2.fd)


@jit
def _matrix_times(K: Array, T: Array, n: int, out: Array) -> None:
    """out[:3, :n] = K T."""
    for j in range(n):
        t0 = T[0, j]
        t1 = T[1, j]
        t2 = T[2, j]
        for k in range(3):
            out[k, j] = K[k, 0] * t0 + K[k, 1] * t1 + K[k, 2] * t2


@stage("ii", "bushings", optional=True)
def scatter_bushing_tangents(m: Memory, row: int) -> None:
    """-d(forces)/d(q, v) of all bushings in the rows of the dynamics. Reads D0, D1 and B of the bodies."""
    scratch = tangent_memory(m)
    h = head(m)
    C = bushings(m)
    B = bodies(m)
    for i in range(h.n_bushings):
        e = C[i]
        for s1 in range(2):
            b1 = e.body[s1]
            o1 = B[b1]
            if o1.fixed == 1:
                continue
            L = scratch.lever
            columns_of(h.kind, e.A, s1, row_basis(m, b1), n_row_basis(m, b1), L)
            for s2 in range(2):
                b2 = e.body[s2]
                o2 = B[b2]
                if o2.fixed == 1:
                    continue
                _scatter_spring(m, row, i, s1, s2)
                if e.damped == 1:
                    _scatter_spring_rate(m, row, i, s1, s2)


@stage("iiiii", "bushings")
def _scatter_spring(m: Memory, row: int, i: int, s1: int, s2: int) -> None:
    """Blocks (x1 I, L)^T K (x2 I, T) of bushing i in the rows of its side s1 and the columns of q of its side s2; T is
    the tangent of the point on that side. Reads L, the lever of side s1."""
    scratch = tangent_memory(m)
    h = head(m)
    e = bushings(m)[i]
    b1 = e.body[s1]
    b2 = e.body[s2]
    x1 = e.A[4 * s1]
    x2 = e.A[4 * s2]
    K = e.stiffness
    L = scratch.lever
    o1 = bodies(m)[b1]
    o2 = bodies(m)[b2]
    n1 = n_row_basis(m, b1)
    T = scratch.point
    KT = scratch.force
    columns_of(h.kind, e.A, s2, states(m)[b2].D0, o2.na, T)
    _matrix_times(K, T, o2.na, KT)
    r = row + o1.iv
    q = o2.iq
    if o1.nt == 3:
        if o2.nt == 3:
            scatter_block(m, r, q, K, 3, 3, x1 * x2)
        scatter_block(m, r, q + o2.nt, KT, 3, o2.na, x1)
        r += 3
    W = scratch.pulled
    if o2.nt == 3:
        _transposed_times(L, K, n1, 3, W)
        scatter_block(m, r, q, W, n1, 3, x2)
        q += 3
    _transposed_times(L, KT, n1, o2.na, W)
    scatter_block(m, r, q, W, n1, o2.na, 1.0)


@jit
def _transposed_times(L: Array, K: Array, n1: int, n2: int, out: Array) -> None:
    """out[:n1, :n2] = L[:3, :n1]^T K[:3, :n2]."""
    for i in range(n1):
        for j in range(n2):
            out[i, j] = L[0, i] * K[0, j] + L[1, i] * K[1, j] + L[2, i] * K[2, j]


@stage("iiiii", "bushings")
def _scatter_spring_rate(m: Memory, row: int, i: int, s1: int, s2: int) -> None:
    """The same for the damping: tangents of Pdot with respect to q, through D1, and to the velocities. Reads the lever
    of side s1."""
    scratch = tangent_memory(m)
    h = head(m)
    e = bushings(m)[i]
    b1 = e.body[s1]
    b2 = e.body[s2]
    x1 = e.A[4 * s1]
    x2 = e.A[4 * s2]
    A = e.A
    K = e.damping
    L = scratch.lever
    o1 = bodies(m)[b1]
    o2 = bodies(m)[b2]
    n1 = n_row_basis(m, b1)
    s = states(m)[b2]
    T = scratch.point
    KT = scratch.force
    W = scratch.pulled
    r = row + o1.iv
    if h.kind != DIRECTOR_RATE:
        columns_of(h.kind, A, s2, s.D1, o2.na, T)
        _matrix_times(K, T, o2.na, KT)
        if o1.nt == 3:
            scatter_block(m, r, o2.iq + o2.nt, KT, 3, o2.na, x1)
        _transposed_times(L, KT, n1, o2.na, W)
        scatter_block(m, r + o1.nt, o2.iq + o2.nt, W, n1, o2.na, 1.0)
    # columns of the velocities, Kx and Kw in T and KT
    columns_of(h.kind, A, s2, s.B, o2.nr, T)
    R = scratch.velocity_force
    if o1.nt == 3:
        for k in range(3):
            for j in range(3):
                W[k, j] = x1 * x2 * K[k, j]
        _matrix_times(K, T, o2.nr, R)
        for k in range(3):
            for j in range(o2.nr):
                R[k, j] *= x1
        scatter_velocity(m, b2, r, W, R, 3, 1.0)
        r += 3
    _matrix_times(K, T, o2.nr, R)
    _transposed_times(L, K, n1, 3, W)
    for k in range(n1):
        for j in range(3):
            W[k, j] *= x2
    V = scratch.velocity_pulled
    _transposed_times(L, R, n1, o2.nr, V)
    scatter_velocity(m, b2, r, W, V, n1, 1.0)

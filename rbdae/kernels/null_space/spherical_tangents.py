"""Tangents of the null-space form of a tree of spherical joints, see `spherical_trees`."""

from __future__ import annotations

from rbdae.compiler.access import Array, Memory
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies.kinematics import scatter_rate_tangent
from rbdae.kernels.memory import bodies, head, rhs_tangent, states, tangent_memory
from rbdae.kernels.null_space.reduction import by_quasi_velocities
from rbdae.kernels.null_space.spatial import scatter_turned_kinematics
from rbdae.kernels.null_space.spherical_trees import ROOT
from rbdae.kernels.scatter import scatter_block, scatter_identity
from rbdae.kernels.scratch import acceleration_by_nu, acceleration_by_q, null_space, reduced_tangent, velocity_by_q


@stage("ii", "spherical-tree")
def spherical_tangents(m: Memory, order: int) -> None:
    """T and, from order 1 on, d(T nu)/dq; of order 2 also dwdot/dq and dwdot/dnu. Reads B, from order 1 on D1, and
    of order 2 D2 and W of the bodies."""
    h = head(m)
    B = bodies(m)
    T = null_space(m)
    Q = velocity_by_q(m)
    A = acceleration_by_q(m)
    N = acceleration_by_nu(m)
    for i in range(h.n_v):
        for j in range(h.n_nu):
            T[i, j] = 0.0
            N[i, j] = 0.0
        for j in range(h.n_q):
            Q[i, j] = 0.0
            A[i, j] = 0.0
    for b in range(h.n_bodies):
        o = B[b]
        i = o.iv
        j = o.inu
        if o.parent == ROOT:
            for k in range(o.nt):
                T[i + k, j + k] = 1.0
            i += o.nt
            j += o.nt
        else:
            if B[o.parent].fixed == 0:
                q = B[o.parent]
                if q.nt == 3:
                    for k in range(3):
                        for c in range(h.n_nu):
                            T[i + k, c] = T[q.iv + k, c]
                            N[i + k, c] = N[q.iv + k, c]
                        for c in range(h.n_q):
                            Q[i + k, c] = Q[q.iv + k, c]
                            A[i + k, c] = A[q.iv + k, c]
                j_parent = q.inu + (3 if (q.parent == ROOT and q.nt == 3) else 0)
                _add_arm_tangents(m, o.parent, i, j_parent, o.parent_arm, 1.0, order)
            _add_arm_tangents(m, b, i, j, o.arm, -1.0, order)
            i += o.nt
        for k in range(3):
            T[i + k, j + k] = 1.0


@jit
def _add_arm_tangents(m: Memory, b: int, row: int, j: int, r: Array, scale: float, order: int) -> None:
    """Tangents of scale R'_b r, and of its rate, in three rows."""
    T = null_space(m)
    Q = velocity_by_q(m)
    A = acceleration_by_q(m)
    N = acceleration_by_nu(m)
    o = bodies(m)[b]
    s = states(m)[b]
    q = o.iq + o.nt
    for k in range(3):
        i = row + k
        for c in range(3):
            T[i, j + c] += scale * (r[0] * s.B[k, c] + r[1] * s.B[3 + k, c] + r[2] * s.B[6 + k, c])
            if order == 2:
                N[i, j + c] += scale * (r[0] * s.W[k, c] + r[1] * s.W[3 + k, c] + r[2] * s.W[6 + k, c])
        if order == 0:
            continue
        for c in range(o.na):
            Q[i, q + c] += scale * (r[0] * s.D1[k, c] + r[1] * s.D1[3 + k, c] + r[2] * s.D1[6 + k, c])
            if order == 2:
                A[i, q + c] += scale * (r[0] * s.D2[k, c] + r[1] * s.D2[3 + k, c] + r[2] * s.D2[6 + k, c])


@stage("i", "spherical-tree")
def add_spherical_stiffness(m: Memory) -> None:
    """Add d(T^T)/dq h at fixed h to `reduced_tangent`: the arms turn with the bodies. Reads D0, and tx as
    `reduce_spherical_forces` has left it."""
    F = reduced_tangent(m)
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        o = B[b]
        if o.parent == ROOT:
            continue
        f = S[b].tx
        _add_cross_back(m, b, o.arm, f, -1.0, F)
        if B[o.parent].fixed == 0:
            _add_cross_back(m, o.parent, o.parent_arm, f, 1.0, F)


@jit
def _add_cross_back(m: Memory, b: int, r: Array, f: Array, scale: float, F: Array) -> None:
    """Add scale r x (dR^T/dq f) to the rows of Omega of body b."""
    o = bodies(m)[b]
    D = states(m)[b].D0
    i = o.inu + (3 if (o.parent == ROOT and o.nt == 3) else 0)
    q = o.iq + o.nt
    for c in range(o.na):
        g0 = D[0, c] * f[0] + D[1, c] * f[1] + D[2, c] * f[2]
        g1 = D[3, c] * f[0] + D[4, c] * f[1] + D[5, c] * f[2]
        g2 = D[6, c] * f[0] + D[7, c] * f[1] + D[8, c] * f[2]
        F[i, q + c] += scale * (r[1] * g2 - r[2] * g1)
        F[i + 1, q + c] += scale * (r[2] * g0 - r[0] * g2)
        F[i + 2, q + c] += scale * (r[0] * g1 - r[1] * g0)


@stage("i", "spherical-tree")
def select_spherical_tangent(m: Memory) -> None:
    """Minus the tangent of nudot, whose rows are rows of that of vdot. Reads `rhs_tangent`, T and d(T nu)/dq; writes
    `reduced_tangent`."""
    W = rhs_tangent(m)
    F = reduced_tangent(m)
    B = bodies(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        first = 0 if o.parent == ROOT else o.nt
        for k in range(first, o.nt + 3):
            i = o.iv + k
            by_quasi_velocities(m, W[i], F[o.inu + k - first])


@stage("iff", "spherical-tree")
def scatter_spherical_kinematics(m: Memory, c: float, sign: float) -> None:
    """Tangent of c qdot + sign K T nu: rotations depend on their own Omega alone. Reads T and d(T nu)/dq."""
    scratch = tangent_memory(m)
    h = head(m)
    B = bodies(m)
    T = null_space(m)
    Q = velocity_by_q(m)
    for b in range(h.n_bodies):
        o = B[b]
        i = o.iq
        v = h.n_q + o.inu
        if o.nt == 3:
            scatter_identity(m, i, i, 3, c)
            if o.parent == ROOT:
                scatter_identity(m, i, v, 3, sign)
                v += 3
            else:
                scatter_block(m, i, 0, Q[o.iv : o.iv + 3], 3, h.n_q, sign)
                scatter_block(m, i, h.n_q, T[o.iv : o.iv + 3], 3, h.n_nu, sign)
            i += 3
        scatter_rate_tangent(m, b, i, c, sign)
        if h.spatial != 0:
            scatter_turned_kinematics(m, b, i, v, sign)
        else:
            scatter_block(m, i, v, scratch.K, o.na, 3, sign)

"""The null-space matrix T = T_int T_ext of a tree of spherical joints in closed form: w = (xdot, Omega) = T nu.

[NS], sections 2 and 5. nu holds (xdot, Omega) of a free root, Omega of a root with a pivot, and Omega of a body that
hangs by a spherical joint from its parent:

    x_c + R_c r_c = x_p + R_p r_p,  xdot_c = xdot_p + R_p (Omega_p x r_p) - R_c (Omega_c x r_c).

(With x_2 = x_1 + R_1 rho_1 - R_2 rho_2 the last block of T_ext is + R(d_2) E(rho_2); the paper prints a minus.)
Parents come before children; -1 marks a root, the number of bodies the ground.
"""

from __future__ import annotations

from rbdae.compiler.access import vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies.kinematics import scatter_rate_tangent
from rbdae.kernels.memory import bodies, head, rhs_tangent, states, tangent_memory
from rbdae.kernels.null_space.reduction import by_quasi_velocities
from rbdae.kernels.scatter import scatter_block, scatter_identity
from rbdae.kernels.scratch import (
    acceleration_by_nu,
    acceleration_by_q,
    null_space,
    quasi_forces,
    reduced_tangent,
    velocity_by_q,
)

ROOT = -1


@jit
def _add_arm(dd, r, scale, out):
    """out += scale R' r for a rate R' of the directors."""
    for k in range(3):
        out[k] += scale * (dd[k] * r[0] + dd[3 + k] * r[1] + dd[6 + k] * r[2])


@stage("iiii", "spherical-tree")
def spherical_rotations(m, y_at, offset, order):
    """Omega of all bodies and xdot of the roots from nu (order 0), or their rates from nudot (order 1)."""
    y = vector_at(y_at)
    B = bodies(m)
    S = states(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        s = S[b]
        i = offset + o.inu
        if o.parent == ROOT and o.nt == 3:
            for k in range(3):
                if order == 0:
                    s.xd[k] = y[i + k]
                else:
                    s.xdd[k] = y[i + k]
            i += 3
        for k in range(3):
            if order == 0:
                s.w[k] = y[i + k]
                s.om[k] = y[i + k]
            else:
                s.wd[k] = y[i + k]


@stage("i", "spherical-tree")
def spherical_velocities(m):
    """xdot of the children, parents first. Reads the natural velocities of the rotations."""
    B = bodies(m)
    S = states(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        if o.parent == ROOT:
            continue
        s = S[b]
        p = S[o.parent]
        for k in range(3):
            s.xd[k] = p.xd[k]
        _add_arm(p.dd, o.parent_arm, 1.0, s.xd)
        _add_arm(s.dd, o.arm, -1.0, s.xd)


@stage("i", "spherical-tree")
def spherical_accelerations(m):
    """xddot of the children likewise: T nudot + Tdot nu."""
    B = bodies(m)
    S = states(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        if o.parent == ROOT:
            continue
        s = S[b]
        p = S[o.parent]
        for k in range(3):
            s.xdd[k] = p.xdd[k]
        _add_arm(p.ddd, o.parent_arm, 1.0, s.xdd)
        _add_arm(s.ddd, o.arm, -1.0, s.xdd)


@jit
def _cross_back(d, r, f, scale, out):
    """out += scale r x (R^T f)."""
    g0 = d[0] * f[0] + d[1] * f[1] + d[2] * f[2]
    g1 = d[3] * f[0] + d[4] * f[1] + d[5] * f[2]
    g2 = d[6] * f[0] + d[7] * f[1] + d[8] * f[2]
    out[0] += scale * (r[1] * g2 - r[2] * g1)
    out[1] += scale * (r[2] * g0 - r[0] * g2)
    out[2] += scale * (r[0] * g1 - r[1] * g0)


@stage("iii", "spherical-tree")
def reduce_spherical_forces(m, out_at, row):
    """out[row:row + nnu] = T^T h, children first. Reads `quasi_forces` (h); leaves the sum of the forces of each
    subtree in tx."""
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    f = quasi_forces(m)
    for b in range(h.n_bodies + 1):
        s = S[b]
        for k in range(3):
            s.tx[k] = 0.0
            s.t[k] = 0.0
    for b in range(h.n_bodies - 1, -1, -1):
        o = B[b]
        s = S[b]
        i = o.iv
        if o.nt == 3:
            for k in range(3):
                s.tx[k] += f[i + k]
            i += 3
        for k in range(3):
            s.t[k] += f[i + k]
        if o.parent != ROOT:
            p = S[o.parent]
            # columns of T: -R_c r_c^ ... transposed
            _cross_back(s.d, o.arm, s.tx, -1.0, s.t)
            if B[o.parent].fixed == 0:
                _cross_back(p.d, o.parent_arm, s.tx, 1.0, p.t)
                for k in range(3):
                    p.tx[k] += s.tx[k]
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = row + o.inu
        if o.parent == ROOT and o.nt == 3:
            for k in range(3):
                out[i + k] = s.tx[k]
            i += 3
        for k in range(3):
            out[i + k] = s.t[k]


@stage("iiii", "spherical-tree")
def select_spherical_rates(m, vd_at, out_at, row):
    """nudot from (xddot, Omegadot): the quasi-velocities are entries of w."""
    vd = vector_at(vd_at)
    out = vector_at(out_at)
    B = bodies(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        i = row + o.inu
        j = o.iv
        if o.parent == ROOT and o.nt == 3:
            for k in range(3):
                out[i + k] = vd[j + k]
            i += 3
        j += o.nt
        for k in range(3):
            out[i + k] = vd[j + k]


@stage("ii", "spherical-tree")
def spherical_tangents(m, order):
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
def _add_arm_tangents(m, b, row, j, r, scale, order):
    """Tangents of scale R'_b r, and of its rate, in three rows."""
    o = bodies(m)[b]
    s = states(m)[b]
    q = o.iq + o.nt
    for k in range(3):
        for c in range(3):
            t = scale * (r[0] * s.B[k, c] + r[1] * s.B[3 + k, c] + r[2] * s.B[6 + k, c])
            null_space(m)[row + k, j + c] += t
            if order == 2:
                acceleration_by_nu(m)[row + k, j + c] += scale * (
                    r[0] * s.W[k, c] + r[1] * s.W[3 + k, c] + r[2] * s.W[6 + k, c]
                )
        if order == 0:
            continue
        for c in range(o.na):
            velocity_by_q(m)[row + k, q + c] += scale * (
                r[0] * s.D1[k, c] + r[1] * s.D1[3 + k, c] + r[2] * s.D1[6 + k, c]
            )
            if order == 2:
                acceleration_by_q(m)[row + k, q + c] += scale * (
                    r[0] * s.D2[k, c] + r[1] * s.D2[3 + k, c] + r[2] * s.D2[6 + k, c]
                )


@stage("i", "spherical-tree")
def add_spherical_stiffness(m):
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
def _add_cross_back(m, b, r, f, scale, F):
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
def select_spherical_tangent(m):
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
def scatter_spherical_kinematics(m, c, sign):
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
        scatter_block(m, i, v, scratch.K, o.na, 3, sign)

"""The kinematic correction of the stabilised forms: qdot = v - G^T mu, after [GGL85].

With coordinate velocities G is dg/dq. With the angular ones the correction is a velocity, too, so that it keeps the
rotations on their manifold:

    xdot = v - G_x^T mu,    adot = K(a) (Omega - G_Omega^T mu).
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Array, Memory, address, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies import director_columns, director_rates, quaternion_rates
from rbdae.kernels.bodies.internal_constraints import internal_columns
from rbdae.kernels.constraints.gradients import scatter_gradient_columns, scatter_primitive_columns
from rbdae.kernels.constraints.hessians import chart_tangents, scatter_hessian
from rbdae.kernels.constraints.primitives import add_bilinear, add_natural
from rbdae.kernels.memory import bodies, head, primitives, rows, states, tangent_memory
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE
from rbdae.kernels.scatter import scatter_block, scatter_transposed
from rbdae.kernels.scratch import corrections
from rbdae.rotations.algebra import spin_transposed, spin_transposed_columns
from rbdae.rotations.chart import rate, rate_tangents
from rbdae.rotations.euler_map import euler_hessian


@stage("iii", "corrected")
def gather_corrections(m: Memory, y_at: Address, offset: int) -> None:
    """mu from y[offset:offset + nla]."""
    y = vector_at(y_at)
    mu = corrections(m)
    for i in range(head(m).n_la):
        mu[i] = y[offset + i]


@stage("i", "corrected")
def place_corrections(m: Memory) -> None:
    """gx, gd = G^T mu of the joints in natural coordinates. Reads mu, P and Q."""
    h = head(m)
    S = states(m)
    mu = corrections(m)
    for b in range(h.n_bodies + 1):
        s = S[b]
        for k in range(3):
            s.gx[k] = 0.0
        for k in range(9):
            s.gd[k] = 0.0
    C = primitives(m)
    R = rows(m)
    for i in range(h.n_primitives):
        p = C[i]
        r = R[i]
        s1 = S[p.body[0]]
        s2 = S[p.body[1]]
        for k in range(p.n):
            r.mu[k] = mu[p.row + k] * p.keep[k]
        if p.linear == 1:
            add_natural(p.A, r.mu, 1.0, s1.gx, s1.gd, s2.gx, s2.gd)
        else:
            add_bilinear(p, r, r.mu[0], s1.gx, s1.gd, s2.gx, s2.gd)


@stage("ii", "corrected")
def add_corrections(m: Memory, out_at: Address) -> None:
    """out[:nq] += G^T mu, or K times it. Reads mu, gx and gd."""
    scratch = tangent_memory(m)
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    mu = corrections(m)
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iq
        if o.nt == 3:
            for k in range(3):
                out[i + k] += s.gx[k]
            i += 3
        if h.kind == ANGULAR:
            spin_transposed(s.d, s.gd, s.t)
            rate(h.chart, s.a, s.t, s.ad)
            for k in range(o.na):
                out[i + k] += s.ad[k]
        elif h.kind == QUATERNION_RATE:
            quaternion_rates.pull_back(address(s.a), address(s.gd), address(s.t))
            for k in range(4):
                out[i + k] += s.t[k] + mu[o.il] * s.a[k]
        elif h.columns == 1:
            for k in range(9):
                out[i + k] += s.gd[k]
            director_columns.add_constraint_forces(m, b, address(mu), out_at, i)
        else:
            director_rates.symmetric(mu, o.il, scratch.block)
            for j in range(0, 9, 3):
                for k in range(3):
                    t = s.gd[j + k]
                    for l in range(3):
                        t += scratch.block[k, l] * s.a[j + l]
                    out[i + j + k] += t


@stage("iif", "corrected")
def scatter_corrections(m: Memory, column: int, scale: float) -> None:
    """Tangent of the correction: with respect to q, and scale times that with respect to mu in the columns from
    `column` on. Reads mu, gx, gd, the gradients and D0."""
    scratch = tangent_memory(m)
    h = head(m)
    B = bodies(m)
    S = states(m)
    mu = corrections(m)
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        q = o.iq + o.nt
        if h.kind == ANGULAR:
            _scatter_angular_correction(m, b)
        elif h.kind == QUATERNION_RATE:
            euler_hessian(s.gd, scratch.block)
            for k in range(4):
                scratch.block[k, k] += mu[o.il]
            scatter_block(m, q, q, scratch.block, 4, 4, 1.0)
        elif h.columns == 1:
            director_columns.scatter_constraint_stiffness(m, b, address(mu), q, q)
        else:
            director_rates.symmetric(mu, o.il, scratch.block)
            for j in range(0, 9, 3):
                scatter_block(m, q + j, q + j, scratch.block, 3, 3, 1.0)
    if h.kind != ANGULAR:
        internal_columns(m, 0, column, scale)
        scatter_primitive_columns(m, 0, column, scale)
    else:
        _scatter_angular_columns(m, column, scale)
    _scatter_correction_stiffness(m)


@stage("ii", "corrected angular")
def _scatter_angular_correction(m: Memory, b: int) -> None:
    """d(K(a) B^T gd)/da at fixed gd; leaves K in N."""
    scratch = tangent_memory(m)
    o = bodies(m)[b]
    s = states(m)[b]
    q = o.iq + o.nt
    spin_transposed(s.d, s.gd, s.t)
    rate_tangents(head(m).chart, s.a, s.t, scratch.K, scratch.A)
    for i in range(o.na):
        for j in range(3):
            s.N[i, j] = scratch.K[i, j]
    spin_transposed_columns(s.D0, s.gd, o.na, scratch.block)
    for i in range(o.na):
        for j in range(o.na):
            scratch.A[i, j] += (
                s.N[i, 0] * scratch.block[0, j] + s.N[i, 1] * scratch.block[1, j] + s.N[i, 2] * scratch.block[2, j]
            )
    scatter_block(m, q, q, scratch.A, o.na, o.na, 1.0)


@jit
def _times_kinematics(L: Array, N: Array, n: int, na: int, out: Array) -> None:
    """out[:n, :na] = L[:n, :3] N[:na, :3]^T."""
    for i in range(n):
        for j in range(na):
            out[i, j] = L[i, 0] * N[j, 0] + L[i, 1] * N[j, 1] + L[i, 2] * N[j, 2]


@stage("iif", "corrected angular")
def _scatter_angular_columns(m: Memory, column: int, scale: float) -> None:
    """scale K G^T of the joints in the rows of q and the columns of mu."""
    C = primitives(m)
    R = rows(m)
    B = bodies(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        r = R[i]
        for side in range(2):
            b = p.body[side]
            o = B[b]
            if o.fixed == 1:
                continue
            n = o.iq
            if o.nt == 3:
                scatter_gradient_columns(m, i, side, n, column + p.row, scale)
                n += 3
            work = tangent_memory(m).work[side]
            _times_kinematics(r.Gw[side], states(m)[b].N, p.n, o.na, work)
            scatter_transposed(m, n, column + p.row, work, o.na, p.n, scale)


@stage("i", "corrected bilinear", optional=True)
def _scatter_correction_stiffness(m: Memory) -> None:
    """d(G^T mu)/dq of the bilinear primitives."""
    h = head(m)
    C = primitives(m)
    R = rows(m)
    S = states(m)
    B = bodies(m)
    for i in range(h.n_primitives):
        p = C[i]
        if p.linear == 1:
            continue
        r = R[i]
        f = p.scale * r.mu[0]
        chart_tangents(m, i)
        for side in range(2):
            b = p.body[side]
            o = B[b]
            if o.fixed == 1:
                continue
            if h.kind == ANGULAR:
                work = tangent_memory(m).work
                _times_kinematics(r.Pw[side], S[b].N, 3, o.na, work[0])
                _times_kinematics(r.Qw[side], S[b].N, 3, o.na, work[1])
                scatter_hessian(m, i, side, o.iq, o.na, work[0], work[1], f)
            else:
                scatter_hessian(m, i, side, o.iq, o.nr, r.Pw[side], r.Qw[side], f)

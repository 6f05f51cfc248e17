"""The kinematic rows qdot = v, or adot = K(a) Omega with the angular kind."""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, address, is_zero, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies import director_rates
from rbdae.kernels.bodies.chain_rule import scatter_rotation_velocity
from rbdae.kernels.memory import bodies, head, states, tangent_memory
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE, SPATIAL_VELOCITIES
from rbdae.kernels.scatter import scatter_block, scatter_identity
from rbdae.rotations.chart import rate, rate_tangents


@stage("iii")
def kinematics_residual(m: Memory, yd_at: Address, out_at: Address) -> None:
    """out[:nq] = qdot - v, or adot - K(a) Omega for the rotations of the angular kind. Reads xd and om or w."""
    yd = vector_at(yd_at)
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        i = B[b].iq
        if B[b].nt == 3:
            for k in range(3):
                out[i + k] = yd[i + k] - s.xd[k]
            i += 3
        if h.kind == ANGULAR:
            rate(h.chart, s.a, s.om, s.ad)
            for k in range(B[b].na):
                out[i + k] = yd[i + k] - s.ad[k]
        else:
            for k in range(B[b].na):
                out[i + k] = yd[i + k] - s.w[k]


@stage("ii")
def kinematics_rate(m: Memory, out_at: Address) -> None:
    """out[:nq] = qdot as a function of (q, v). Reads xd and om or w."""
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        i = B[b].iq
        if B[b].nt == 3:
            for k in range(3):
                out[i + k] = s.xd[k]
            i += 3
        if h.kind == ANGULAR:
            rate(h.chart, s.a, s.om, s.ad)
            for k in range(B[b].na):
                out[i + k] = s.ad[k]
        else:
            for k in range(B[b].na):
                out[i + k] = s.w[k]


@jit
def scatter_rate_tangent(m: Memory, b: int, row: int, c: float, sign: float) -> None:
    """c I + sign d(K(a) Omega)/da of one body, rows and columns from `row` on. Leaves K(a) in K of the tangent
    memory."""
    scratch = tangent_memory(m)
    s = states(m)[b]
    na = bodies(m)[b].na
    rate_tangents(head(m).chart, s.a, s.om, scratch.K, scratch.A)
    for j in range(na):
        for k in range(na):
            scratch.A[j, k] *= sign
        scratch.A[j, j] += c
    scatter_block(m, row, row, scratch.A, na, na, 1.0)


@stage("iff")
def kinematics_tangent(m: Memory, c: float, sign: float) -> None:
    """Rows [0, nq): the tangent of c qdot + sign f, where f(q, v) is the rate of q. With momenta
    and spatial velocities it reads U and V."""
    scratch = tangent_memory(m)
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        i = B[b].iq
        v = h.n_q + B[b].iv
        if B[b].nt == 3:
            if not is_zero(c) or h.mode != 0:
                scatter_identity(m, i, i, 3, c)
            if h.momenta == 1:
                scatter_identity(m, i, v, 3, sign / B[b].mass)
            else:
                scatter_identity(m, i, v, 3, sign)
            i += 3
            v += 3
        na = B[b].na
        if h.kind == ANGULAR:
            scatter_rate_tangent(m, b, i, c, sign)
            if h.spatial == SPATIAL_VELOCITIES:
                scatter_rotation_velocity(m, b, i, scratch.K, na, sign)
            else:
                scatter_block(m, i, v, scratch.K, na, 3, sign)
        elif h.momenta == 1:
            if h.kind == QUATERNION_RATE:
                for j in range(na):
                    for k in range(na):
                        scratch.block[j, k] = sign * s.U[j, k]
                    scratch.block[j, j] += c
                scatter_block(m, i, i, scratch.block, na, na, 1.0)
                scatter_block(m, i, v, s.V, na, na, sign)
            else:
                if not is_zero(c) or h.mode != 0:
                    scatter_identity(m, i, i, 9, c)
                director_rates.scatter_mass(m, i, v, address(B[b].euler_inverse), sign)
        else:
            if not is_zero(c) or h.mode != 0:
                scatter_identity(m, i, i, na, c)
            scatter_identity(m, i, v, na, sign)

"""Tangents with respect to (q, w, s) become tangents with respect to (q, nu, s), whatever w = T nu - r comes from."""

from __future__ import annotations

from rbdae.compiler.access import Array, Memory, is_zero
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.memory import bodies, head, rhs_tangent
from rbdae.kernels.scatter import scatter_block, scatter_identity
from rbdae.kernels.scratch import (
    acceleration_by_nu,
    acceleration_by_q,
    null_space,
    plane_work,
    reduced_tangent,
    velocity_by_q,
    work,
)


@jit
def by_quasi_velocities(m: Memory, row: Array, out: Array) -> None:
    """out = the tangent `row` with respect to (q, w, s) as one with respect to (q, nu, s):
    (h_q + h_w dw/dq, h_w T, h_s)."""
    h = head(m)
    T = null_space(m)
    Q = velocity_by_q(m)
    nq = h.n_q
    for j in range(nq):
        out[j] = row[j]
    for j in range(h.n_nu):
        out[nq + j] = 0.0
    for l in range(h.n_v):
        w = row[nq + l]
        if not is_zero(w):
            for j in range(nq):
                out[j] += w * Q[l, j]
            for j in range(h.n_nu):
                out[nq + j] += w * T[l, j]
    for j in range(h.n_states):
        out[nq + h.n_nu + j] = row[nq + h.n_v + j]


@stage("if")
def reduce_tangent(m: Memory, c: float) -> None:
    """T^T times the tangent of h with respect to (q, nu, s), plus c T^T M T.

    Row by row: (h_q + h_w w_q + M wdot_q, h_w T + M wdot_nu + c M T, h_s). Reads (h_q, h_w, h_s) in the first nv rows
    of `rhs_tangent`, T and the tangents of w and wdot; writes `reduced_tangent`.
    """
    h = head(m)
    W = rhs_tangent(m)
    T = null_space(m)
    A = acceleration_by_q(m)
    N = acceleration_by_nu(m)
    F = reduced_tangent(m)
    nq = h.n_q
    nnu = h.n_nu
    n_columns = nq + nnu + h.n_states
    for i in range(nnu):
        for j in range(n_columns):
            F[i, j] = 0.0
    x = work(m)
    B = bodies(m)
    for b in range(h.n_bodies):
        o = B[b]
        for k in range(o.nt + 3):
            i = o.iv + k
            by_quasi_velocities(m, W[i], x)
            for l in range(3):
                if k < o.nt:
                    if l != k:
                        continue
                    w = o.mass
                    n = i
                else:
                    w = o.inertia[k - o.nt, l]
                    n = o.iv + o.nt + l
                if not is_zero(w):
                    for j in range(nq):
                        x[j] += w * A[n, j]
                    for j in range(nnu):
                        x[nq + j] += w * (N[n, j] + c * T[n, j])
            for l in range(nnu):
                w = T[i, l]
                if not is_zero(w):
                    for j in range(n_columns):
                        F[l, j] += w * x[j]


@stage("iff", "states", optional=True)
def scatter_reduced_states(m: Memory, c: float, sign: float) -> None:
    """The rows of the internal states of forces: c I + sign times their tangent, which stands with respect to (q, w, s)
    after the rows of the multipliers in `rhs_tangent`. Reads T and dw/dq; writes `plane_work`."""
    h = head(m)
    W = rhs_tangent(m)
    X = plane_work(m)
    for i in range(h.n_states):
        by_quasi_velocities(m, W[h.n_v + h.n_la + i], X[0])
        scatter_block(m, h.states_at + i, 0, X, 1, h.states_at + h.n_states, sign)
    scatter_identity(m, h.states_at, h.states_at, h.n_states, c)

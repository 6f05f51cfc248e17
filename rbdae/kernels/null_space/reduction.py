"""Tangents with respect to (q, w) become tangents with respect to (q, nu), whatever w = T nu - r comes from."""

from __future__ import annotations

from rbdae.compiler.jit import jit, stage
from rbdae.kernels.memory import bodies, head, planes, rhs_tangent, vectors


@jit
def by_quasi_velocities(m, row, out):
    """out = the tangent `row` with respect to (q, w), as one with respect to (q, nu): (h_q + h_w w_q, h_w T)."""
    h = head(m)
    T = planes(m)[0]
    Q = planes(m)[1]
    nq = h.n_q
    for j in range(nq):
        out[j] = row[j]
    for j in range(h.n_nu):
        out[nq + j] = 0.0
    for l in range(h.n_v):
        w = row[nq + l]
        if w != 0.0:
            for j in range(nq):
                out[j] += w * Q[l, j]
            for j in range(h.n_nu):
                out[nq + j] += w * T[l, j]


@stage("if")
def reduce_tangent(m, c):
    """planes(m)[4] = T^T times the tangent of h with respect to (q, nu), plus c T^T M T; the first nv rows of the scratch
    matrix hold (h_q, h_w). Row by row: (h_q + h_w w_q + M wdot_q, h_w T + M wdot_nu + c M T)."""
    h = head(m)
    W = rhs_tangent(m)
    M = planes(m)
    T = M[0]
    A = M[2]
    N = M[3]
    F = M[4]
    nq = h.n_q
    nnu = h.n_nu
    for i in range(nnu):
        for j in range(nq + nnu):
            F[i, j] = 0.0
    x = vectors(m)[2]
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
                if w != 0.0:
                    for j in range(nq):
                        x[j] += w * A[n, j]
                    for j in range(nnu):
                        x[nq + j] += w * (N[n, j] + c * T[n, j])
            for l in range(nnu):
                w = T[i, l]
                if w != 0.0:
                    for j in range(nq + nnu):
                        F[l, j] += w * x[j]

"""Quasi-velocities in the frames of the bodies of a tree: the rows S turn with the bodies, so that S depends on q."""

from __future__ import annotations

from typing import Any

from rbdae.compiler.access import Address, Array, Memory, is_zero, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.memory import bodies, head, rhs_tangent, states, tree_velocities
from rbdae.kernels.null_space.reduction import by_quasi_velocities
from rbdae.kernels.null_space.spherical_trees import ROOT
from rbdae.kernels.scatter import scatter_block
from rbdae.kernels.scratch import (
    acceleration_by_nu,
    acceleration_by_q,
    null_space,
    quasi_forces,
    reduced_tangent,
    velocity_by_q,
    work,
)


@jit
def _along(S: Array, k: int, d: Array, x: Array) -> Any:
    """sum_j S[k, j] d_j . x over the directors, or their rates."""
    t = 0.0 * x[0]
    for j in range(3):
        if not is_zero(S[k, j]):
            t += S[k, j] * (d[3 * j] * x[0] + d[3 * j + 1] * x[1] + d[3 * j + 2] * x[2])
    return t


@jit
def _column(S: Array, k: int, D: Array, c: float, x: Array) -> Any:
    """The same with column c of a tangent of the directors."""
    t = 0.0 * x[0]
    for j in range(3):
        if not is_zero(S[k, j]):
            t += S[k, j] * (D[3 * j, c] * x[0] + D[3 * j + 1, c] * x[1] + D[3 * j + 2, c] * x[2])
    return t


@jit
def _velocity_column(S: Array, k: int, s: Array, j: int) -> Any:
    """d(Sdot w)/dw of one quasi-velocity, entry j of (xdot, Omega)."""
    if j < 3:
        return S[k, 0] * s.dd[j] + S[k, 1] * s.dd[3 + j] + S[k, 2] * s.dd[6 + j]
    return _column(S, k, s.B, j - 3, s.xd)


@stage("ii", "tree")
def subtract_frame_rates(m: Memory, x_at: Address) -> None:
    """x[nu] -= Sdot w."""
    x = vector_at(x_at)
    h = head(m)
    S = states(m)
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = tree_velocities(m)[b]
        if o.parent != ROOT:
            for k in range(e.n_free):
                x[first + o.inu + k] -= _along(e.S, k, S[b].dd, S[b].xd)


@stage("iiii", "tree")
def select_tree_rates(m: Memory, vd_at: Address, out_at: Address, row: int) -> None:
    """out[row:row + nnu] = nudot = S vdot + Sdot w."""
    vd = vector_at(vd_at)
    out = vector_at(out_at)
    h = head(m)
    S = states(m)
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = tree_velocities(m)[b]
        i = row + o.inu
        n = o.iv
        if o.parent == ROOT:
            for j in range(o.nt + 3):
                out[i + j] = vd[n + j]
            continue
        for k in range(e.n_free):
            t = _along(e.S, k, S[b].dd, S[b].xd) + _along(e.S, k, S[b].d, vd[n : n + 3])
            for j in range(3):
                t += e.S[k, 3 + j] * vd[n + 3 + j]
            out[i + k] = t


@stage("i", "tree")
def frame_tangents(m: Memory) -> None:
    """The rows of nu of `velocity_by_q`: -d(S w)/dq at fixed w. Reads D0 of the bodies."""
    h = head(m)
    S = states(m)
    Q = velocity_by_q(m)
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = tree_velocities(m)[b]
        if o.parent == ROOT:
            continue
        q = o.iq + o.nt
        for k in range(e.n_free):
            for c in range(o.na):
                Q[first + o.inu + k, q + c] = -_column(e.S, k, S[b].D0, c, S[b].xd)


@stage("i", "tree")
def frame_rate_tangents(m: Memory) -> None:
    """The rows of nu of `acceleration_by_q` and `acceleration_by_nu`: -d(S wdot + Sdot w) at fixed wdot. Reads T,
    dw/dq, and D0, D1, B of the bodies."""
    h = head(m)
    S = states(m)
    T = null_space(m)
    Q = velocity_by_q(m)
    A = acceleration_by_q(m)
    N = acceleration_by_nu(m)
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = tree_velocities(m)[b]
        if o.parent == ROOT:
            continue
        s = S[b]
        q = o.iq + o.nt
        for k in range(e.n_free):
            row = first + o.inu + k
            for c in range(o.na):
                A[row, q + c] -= _column(e.S, k, s.D0, c, s.xdd) + _column(e.S, k, s.D1, c, s.xd)
            for j in range(6):
                t = _velocity_column(e.S, k, s, j)
                if not is_zero(t):
                    for c in range(h.n_q):
                        A[row, c] -= t * Q[o.iv + j, c]
                    for c in range(h.n_nu):
                        N[row, c] -= t * T[o.iv + j, c]


@stage("i", "tree")
def select_tree_tangent(m: Memory) -> None:
    """Minus the tangent of nudot = S vdot + Sdot w with respect to (q, nu). Reads minus that of vdot in the first nv
    rows of `rhs_tangent`, xddot, T and dw/dq; writes `reduced_tangent`."""
    h = head(m)
    S = states(m)
    F = reduced_tangent(m)
    x = work(m)
    nq = h.n_q
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = tree_velocities(m)[b]
        s = S[b]
        root = o.parent == ROOT
        for k in range(o.nt + 3 if root else e.n_free):
            _combine_rows(m, b, k, root, x)
            if not root:
                q = o.iq + o.nt
                for c in range(o.na):
                    x[q + c] -= _column(e.S, k, s.D0, c, s.xdd) + _column(e.S, k, s.D1, c, s.xd)
                for j in range(6):
                    x[nq + o.iv + j] -= _velocity_column(e.S, k, s, j)
            by_quasi_velocities(m, x, F[o.inu + k])


@jit
def _combine_rows(m: Memory, b: int, k: int, root: Array, x: Array) -> None:
    """x = S_k W: the rows of `rhs_tangent` of one body, combined as its quasi-velocity k is."""
    h = head(m)
    o = bodies(m)[b]
    e = tree_velocities(m)[b]
    d = states(m)[b].d
    W = rhs_tangent(m)
    n = h.n_columns
    if root:
        for c in range(n):
            x[c] = W[o.iv + k, c]
        return
    for c in range(n):
        x[c] = 0.0
    for j in range(6):
        t = e.S[k, j] + 0.0 * d[0]
        if j < 3:
            t = e.S[k, 0] * d[j] + e.S[k, 1] * d[3 + j] + e.S[k, 2] * d[6 + j]
        if not is_zero(t):
            for c in range(n):
                x[c] += t * W[o.iv + j, c]


@stage("ii", "tree")
def scatter_frame_stiffness(m: Memory, row: int) -> None:
    """-d(S^T sigma)/dq in the rows of the dynamics. Reads sigma = T^T h in the last part of `quasi_forces`, and D0."""
    h = head(m)
    z = quasi_forces(m)
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = tree_velocities(m)[b]
        if o.parent == ROOT:
            continue
        s = states(m)[b]
        for j in range(3):
            c = 0.0 * z[0]
            for k in range(e.n_free):
                c += e.S[k, j] * z[first + o.inu + k]
            scatter_block(m, row + o.iv, o.iq + o.nt, s.D0[3 * j : 3 * j + 3], 3, o.na, -c)

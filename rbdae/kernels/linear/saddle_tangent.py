"""The saddle-point system for many right-hand sides at once: the columns of `rhs_tangent`.

vdot = N beta + Pi s with beta = Ri f - Zi s: Pi the particular part, Ri = Ji N^T, Zi = Ri M Pi. Row operations over
contiguous columns, the zeros at their end included.
"""

from __future__ import annotations

from rbdae.compiler.access import Array, Memory
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.linear import director_column_reduction, director_reduction, quaternion_reduction
from rbdae.kernels.linear.schur import solve_schur_tangent
from rbdae.kernels.memory import bodies, head, primitives, rhs_tangent, rows, states, tangent_memory
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE, QUATERNION_RATE
from rbdae.kernels.row_operations import add_any_three, add_row, add_three, mix_three, scale_row, set_by_three


@stage("i")
def solve_saddle_tangent(m: Memory) -> None:
    """The rows [0, nv) of `rhs_tangent` become vdot for all its columns, or M vdot with momenta; before, the rows
    hold f (nv) and s (nla). Reads the factors; changes N, Pi and `tangent_rows`."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    W = rhs_tangent(m)
    nc = h.rhs_tangent_width
    for b in range(h.n_bodies):
        o = B[b]
        if o.nt == 3:
            for k in range(3):
                scale_row(W, o.iv + k, nc, 1.0 / o.mass)
        if h.kind == ANGULAR:
            mix_three(W, o.iv + o.nt, nc, S[b].Ji)
        elif h.kind == QUATERNION_RATE:
            quaternion_reduction.solve_tangent(m, b)
        else:
            director_reduction.solve_tangent(m, b)
    if h.n_rows > 0:
        _solve_joints(m)
    if h.kind == ANGULAR:
        return
    for b in range(h.n_bodies):
        o = B[b]
        if h.momenta == 1:
            if o.nt == 3:
                for k in range(3):
                    scale_row(W, o.iv + k, nc, o.mass)
            if h.kind == QUATERNION_RATE:
                quaternion_reduction.momentum_maps(m, b)
            else:
                director_reduction.momentum_maps(m, b)
        _finish_body(m, b)


@stage("i", "joints")
def _solve_joints(m: Memory) -> None:
    """The part of the joints: multipliers in the rows of s, and what they do to the rows of vdot."""
    h = head(m)
    B = bodies(m)
    C = primitives(m)
    R = rows(m)
    GP = tangent_memory(m).GP
    W = rhs_tangent(m)
    nc = h.rhs_tangent_width
    nv = h.n_v
    for n in range(h.n_primitives):
        p = C[n]
        r = R[n]
        for k in range(p.n):
            scale_row(W, nv + p.row + k, nc, -1.0)
        for side in range(2):
            b = p.body[side]
            o = B[b]
            if o.fixed == 1:
                continue
            if h.kind == QUATERNION_RATE:
                quaternion_reduction.gradient(m, b, n, side)
            elif h.kind == DIRECTOR_RATE:
                director_reduction.gradient(m, b, n, side)
            first = nv + p.row
            if o.nt == 3:
                for k in range(p.n):
                    add_three(W[first + k], W, o.iv, nc, r.Gx[side, k])
            for k in range(p.n):
                add_three(W[first + k], W, o.iv + o.nt, nc, r.H[side, k])
            if o.ni == 1:
                for k in range(p.n):
                    add_row(W, first + k, nv + o.il, nc, GP[k, 0])
            for l in range(0, o.ni - 1, 3):
                for k in range(p.n):
                    add_three(W[first + k], W, nv + o.il + l, nc, GP[k, l : l + 3])
    solve_schur_tangent(m)
    for n in range(h.n_primitives):
        p = C[n]
        r = R[n]
        for side in range(2):
            o = B[p.body[side]]
            if o.fixed == 1:
                continue
            t = -1.0
            if o.nt == 3:
                t = -1.0 / o.mass
            for j in range(o.nt):
                _add_gradient(W, o.iv + j, nv + p.row, p.n, nc, t, r.Gx[side, :, j])
            for j in range(3):
                _add_gradient(W, o.iv + o.nt + j, nv + p.row, p.n, nc, -1.0, r.HJ[side, :, j])


@jit
def _add_gradient(W: Array, i: int, k: int, n_rows: int, n: int, t: float, g: Array) -> None:
    """Row i += t (g_0 row k + g_1 row k + 1 + ...), of n_rows rows."""
    if n_rows == 3:
        add_any_three(W[i], W, k, k + 1, k + 2, n, t * g[0], t * g[1], t * g[2])
    else:
        for l in range(n_rows):
            add_row(W, i, k + l, n, t * g[l])


@stage("ii", "internal")
def _finish_body(m: Memory, b: int) -> None:
    """N beta + Pi s of one body; the rows that hold beta come last."""
    h = head(m)
    if h.columns == 1:
        director_column_reduction.finish(m, b)
        return
    o = bodies(m)[b]
    s = states(m)[b]
    W = rhs_tangent(m)
    nc = h.rhs_tangent_width
    i = o.iv + o.nt
    j = h.n_v + o.il
    for k in range(3, o.nr):
        set_by_three(W[i + k], W, i, nc, s.N[k])
    mix_three(W, i, nc, s.N)
    if o.ni == 1:
        for k in range(o.nr):
            add_row(W, i + k, j, nc, s.Pi[k, 0])
        return
    for k in range(0, o.nr, 3):
        # a row of H has three of the six numbers of s
        add_any_three(W[i + k], W, j, j + 3, j + 4, nc, s.Pi[k, 0], s.Pi[k, 3], s.Pi[k, 4])
        add_any_three(W[i + k + 1], W, j + 3, j + 1, j + 5, nc, s.Pi[k + 1, 3], s.Pi[k + 1, 1], s.Pi[k + 1, 5])
        add_any_three(W[i + k + 2], W, j + 4, j + 5, j + 2, nc, s.Pi[k + 2, 4], s.Pi[k + 2, 5], s.Pi[k + 2, 2])

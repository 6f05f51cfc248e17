"""A body with director rates: its velocities without the internal constraints, and the way back.

See `rbdae.kernels.linear.saddle`.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Array, Memory, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.linear import director_column_reduction
from rbdae.kernels.linear.director_rates import reciprocal_vectors, row_times_mass
from rbdae.kernels.linear.small import inverse3, product_transposed
from rbdae.kernels.memory import (
    bodies,
    head,
    multipliers,
    primitives,
    rhs_tangent,
    rows,
    states,
    tangent_memory,
    tangent_rows,
    unbalanced,
)
from rbdae.kernels.row_operations import add_three, set_by_three


@stage("ii", "director-rate")
def reduce(m: Memory, b: int) -> None:
    """C = D^-T, N and Ji."""
    scratch = tangent_memory(m)
    s = states(m)[b]
    reciprocal_vectors(m, b)
    for i in range(3):
        x = s.C[0, i]
        y = s.C[1, i]
        z = s.C[2, i]
        s.N[3 * i, 0] = 0.0
        s.N[3 * i + 1, 0] = -z
        s.N[3 * i + 2, 0] = y
        s.N[3 * i, 1] = z
        s.N[3 * i + 1, 1] = 0.0
        s.N[3 * i + 2, 1] = -x
        s.N[3 * i, 2] = -y
        s.N[3 * i + 1, 2] = x
        s.N[3 * i + 2, 2] = 0.0
    E = bodies(m)[b].euler
    for i in range(3):
        for j in range(3):
            scratch.product[i, j] = s.C[i, 0] * E[0, j] + s.C[i, 1] * E[1, j] + s.C[i, 2] * E[2, j]
    for i in range(3):
        for j in range(3):
            scratch.block[i, j] = -(
                scratch.product[i, 0] * s.C[j, 0]
                + scratch.product[i, 1] * s.C[j, 1]
                + scratch.product[i, 2] * s.C[j, 2]
            )
    t = -(scratch.block[0, 0] + scratch.block[1, 1] + scratch.block[2, 2])
    for i in range(3):
        scratch.block[i, i] += t
    inverse3(scratch.block, s.Ji)


@stage("iiiii", "director-rate")
def particular(m: Memory, b: int, s_at: Address, il: int, out_at: Address) -> None:
    """out = H D^-T with the symmetric matrix H of six numbers of s."""
    s_int = vector_at(s_at)
    out = vector_at(out_at)
    s = states(m)[b]
    h0 = s_int[il]
    h1 = s_int[il + 1]
    h2 = s_int[il + 2]
    h3 = 0.5 * s_int[il + 3]
    h4 = 0.5 * s_int[il + 4]
    h5 = 0.5 * s_int[il + 5]
    for i in range(3):
        x = s.C[0, i]
        y = s.C[1, i]
        z = s.C[2, i]
        out[3 * i] = h0 * x + h3 * y + h4 * z
        out[3 * i + 1] = h3 * x + h1 * y + h5 * z
        out[3 * i + 2] = h4 * x + h5 * y + h2 * z


@stage("ii", "director-rate")
def internal_multipliers(m: Memory, b: int) -> None:
    """The six multipliers of one body, Lambda = F D^-1. Reads `unbalanced`; writes `multipliers`."""
    scratch = tangent_memory(m)
    o = bodies(m)[b]
    s = states(m)[b]
    la = multipliers(m)
    F = unbalanced(m)
    i = o.iv + o.nt
    for k in range(3):
        for l in range(3):
            scratch.block[k, l] = F[i + k] * s.C[l, 0] + F[i + 3 + k] * s.C[l, 1] + F[i + 6 + k] * s.C[l, 2]
    la[o.il] = scratch.block[0, 0]
    la[o.il + 1] = scratch.block[1, 1]
    la[o.il + 2] = scratch.block[2, 2]
    la[o.il + 3] = 0.5 * (scratch.block[0, 1] + scratch.block[1, 0])
    la[o.il + 4] = 0.5 * (scratch.block[0, 2] + scratch.block[2, 0])
    la[o.il + 5] = 0.5 * (scratch.block[1, 2] + scratch.block[2, 1])


@stage("ii", "director-rate")
def solve_tangent(m: Memory, b: int) -> None:
    """beta to the first three of the rows of f of one body. Writes Pi, Ri and Zi."""
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    W = rhs_tangent(m)
    X = tangent_rows(m)
    nc = h.rhs_tangent_width
    i = o.iv + o.nt
    j = h.n_v + o.il
    _maps(m, b)
    # one row after the other, so that none waits for its own last sum
    for l in range(3):
        set_by_three(X[l], W, i, nc, s.Ri[l])
    for k in range(3, 9, 3):
        for l in range(3):
            add_three(X[l], W, i + k, nc, s.Ri[l, k : k + 3])
    for k in range(0, 6, 3):
        for l in range(3):
            add_three(X[l], W, j + k, nc, s.Zi[l, k : k + 3])
    for l in range(3):
        for c in range(nc):
            W[i + l, c] = X[l, c]


@stage("ii", "director-rate")
def _maps(m: Memory, b: int) -> None:
    """Pi (see `particular`), Ri, and -Zi in Zi. Three of the six numbers in a row of Pi are zero and never written."""
    if head(m).columns == 1:
        director_column_reduction.maps(m, b)
        return
    s = states(m)[b]
    E = bodies(m)[b].euler
    product_transposed(s.Ji, s.N, 9, s.Ri)
    for i in range(3):
        x = s.C[0, i]
        y = s.C[1, i]
        z = s.C[2, i]
        s.Pi[3 * i, 0] = x
        s.Pi[3 * i, 3] = 0.5 * y
        s.Pi[3 * i, 4] = 0.5 * z
        s.Pi[3 * i + 1, 3] = 0.5 * x
        s.Pi[3 * i + 1, 1] = y
        s.Pi[3 * i + 1, 5] = 0.5 * z
        s.Pi[3 * i + 2, 4] = 0.5 * x
        s.Pi[3 * i + 2, 5] = 0.5 * y
        s.Pi[3 * i + 2, 2] = z
    for l in range(3):
        row_times_mass(s, E, l)
        for k in range(6):
            s.Zi[l, k] = 0.0
        for i in range(3):
            x = s.C[0, i]
            y = s.C[1, i]
            z = s.C[2, i]
            a = s.t[3 * i]
            e = s.t[3 * i + 1]
            c = s.t[3 * i + 2]
            s.Zi[l, 0] -= a * x
            s.Zi[l, 1] -= e * y
            s.Zi[l, 2] -= c * z
            s.Zi[l, 3] -= 0.5 * (a * y + e * x)
            s.Zi[l, 4] -= 0.5 * (a * z + c * x)
            s.Zi[l, 5] -= 0.5 * (e * z + c * y)


@stage("iiii", "joints director-rate")
def gradient(m: Memory, b: int, n: int, side: int) -> None:
    """GP = Gw Pi of one side of a primitive."""
    if head(m).columns == 1:
        director_column_reduction.gradient(m, b, n, side)
        return
    C = states(m)[b].C
    r = rows(m)[n]
    GP = tangent_memory(m).GP
    for k in range(primitives(m)[n].n):
        g = r.Gw[side, k]
        for i in range(3):
            x = g[i] * C[0, 0] + g[3 + i] * C[0, 1] + g[6 + i] * C[0, 2]
            y = g[i] * C[1, 0] + g[3 + i] * C[1, 1] + g[6 + i] * C[1, 2]
            z = g[i] * C[2, 0] + g[3 + i] * C[2, 1] + g[6 + i] * C[2, 2]
            GP[k, i] = x if i == 0 else (y if i == 1 else z)
            if i == 0:
                GP[k, 3] = 0.5 * y
                GP[k, 4] = 0.5 * z
            elif i == 1:
                GP[k, 3] += 0.5 * x
                GP[k, 5] = 0.5 * z
            else:
                GP[k, 4] += 0.5 * x
                GP[k, 5] += 0.5 * y


@stage("ii", "director-rate momenta")
def momentum_maps(m: Memory, b: int) -> None:
    """M N and M Pi in place of N and Pi."""
    s = states(m)[b]
    E = bodies(m)[b].euler
    _euler_columns(E, s.N, 3)
    _euler_columns(E, s.Pi, 6)


@jit
def _euler_columns(E: Array, A: Array, n: int) -> None:
    """M A in place of A; M has the Euler tensor for each component of the directors."""
    for k in range(3):
        for c in range(n):
            x = A[k, c]
            y = A[3 + k, c]
            z = A[6 + k, c]
            A[k, c] = E[0, 0] * x + E[0, 1] * y + E[0, 2] * z
            A[3 + k, c] = E[1, 0] * x + E[1, 1] * y + E[1, 2] * z
            A[6 + k, c] = E[2, 0] * x + E[2, 1] * y + E[2, 2] * z

"""Loops with nu = S (xdot, omega): the rows S P of the square system turn with the bodies, P = R^-T; see `spatial`."""

from __future__ import annotations

from rbdae.compiler.access import Address, Array, Memory, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies.spatial import add_product, add_turned, inverse_transposed, times_three
from rbdae.kernels.memory import bodies, head, states, tangent_memory, velocity_selection
from rbdae.kernels.scatter import scatter_block
from rbdae.kernels.scratch import acceleration_by_q, quasi_forces, solution, velocity_by_q


@stage("iii", "spatial loops")
def turned_selection(m: Memory, i: int, out_at: Address) -> None:
    """out[:nv] = row i of S P. Reads C, see `place_selection`."""
    out = vector_at(out_at)
    h = head(m)
    S = velocity_selection(m)
    for j in range(h.n_v):
        out[j] = S[i, j]
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        C = states(m)[b].C
        j = o.iv + o.nt
        x = S[i, j]
        y = S[i, j + 1]
        z = S[i, j + 2]
        for k in range(3):
            out[j + k] = x * C[0, k] + y * C[1, k] + z * C[2, k]


@stage("i", "spatial loops")
def place_selection(m: Memory) -> None:
    """C = R^-T of all bodies."""
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        inverse_transposed(s.d, s.C)


@jit
def _turned_tangent(m: Memory, b: int, w: Array, i: int, out: Array) -> None:
    """out[:3, :na] = -dP/da w[i:i + 3], C d(R^T om)/da at fixed om = P w. Reads C and D0; writes p and `product`."""
    s = states(m)[b]
    n = bodies(m)[b].na
    U = tangent_memory(m).product
    times_three(s.C, w, i, s.p, 0)
    for k in range(3):
        for c in range(n):
            U[k, c] = 0.0
            out[k, c] = 0.0
    add_turned(s.D0, s.p, n, U)
    add_product(s.C, U, 3, n, out)


@stage("ii", "spatial loops")
def add_selection_tangents(m: Memory, order: int) -> None:
    """The rows of nu of `velocity_by_q` (order 1) -= S dP/dq w, or those of `acceleration_by_q` (2) -= S dP/dq wdot.
    Reads C and D0."""
    h = head(m)
    S = velocity_selection(m)
    Q = velocity_by_q(m) if order == 1 else acceleration_by_q(m)
    out = tangent_memory(m).block
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        s = states(m)[b]
        o = bodies(m)[b]
        q = o.iq + o.nt
        j = o.iv + o.nt
        if order == 1:
            _turned_tangent(m, b, s.w, 0, out)
        else:
            _turned_tangent(m, b, s.wd, 0, out)
        add_product(S[:, j : j + 3], out, h.n_nu, o.na, Q[first : first + h.n_nu, q : q + o.na])


@stage("iii", "spatial loops")
def add_selected_tangent(m: Memory, i: int, x_at: Address) -> None:
    """x[:nq] -= row i of S times dP/dq wdot. Reads `solution` (wdot), C and D0."""
    x = vector_at(x_at)
    S = velocity_selection(m)
    out = tangent_memory(m).block
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        j = o.iv + o.nt
        _turned_tangent(m, b, solution(m), j, out)
        for c in range(o.na):
            x[o.iq + o.nt + c] += S[i, j] * out[0, c] + S[i, j + 1] * out[1, c] + S[i, j + 2] * out[2, c]


@stage("ii", "spatial loops")
def scatter_selection_stiffness(m: Memory, row: int) -> None:
    """-d(P^T S^T sigma)/dq in the rows of the dynamics: P^T = R^-1. Reads sigma = T^T h in the last part of
    `quasi_forces`, C and D0."""
    h = head(m)
    S = velocity_selection(m)
    z = quasi_forces(m)
    first = h.n_v - h.n_nu
    scratch = tangent_memory(m)
    for b in range(h.n_bodies):
        s = states(m)[b]
        o = bodies(m)[b]
        j = o.iv + o.nt
        for k in range(3):
            s.t[k] = 0.0
            s.s[k] = 0.0
        for i in range(h.n_nu):
            for k in range(3):
                s.t[k] += S[i, j + k] * z[first + i]
        for k in range(3):
            s.s[k] = s.C[0, k] * s.t[0] + s.C[1, k] * s.t[1] + s.C[2, k] * s.t[2]
        for c in range(o.na):
            for k in range(3):
                s.t[k] = s.D0[k, c] * s.s[0] + s.D0[3 + k, c] * s.s[1] + s.D0[6 + k, c] * s.s[2]
            for k in range(3):
                scratch.block[k, c] = s.C[0, k] * s.t[0] + s.C[1, k] * s.t[1] + s.C[2, k] * s.t[2]
        scatter_block(m, row + j, o.iq + o.nt, scratch.block, 3, o.na, 1.0)

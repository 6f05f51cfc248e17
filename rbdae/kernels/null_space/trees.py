"""The square system [G; S] of a tree, body by body, in O(n).

A body b hangs from its parent p by a joint of c equations. Its 6 - c quasi-velocities are components of its twist
in its own frame, nu_b = S_b (R_b^T xdot_b, Omega_b). The constant rows S_b and the equations of the joint are
independent in every position of the joint (a hinge: its axis, on Omega). So

    [G_b       ] w_b = [-g_I - G_p w_p]
    [S_b(R_b^T)]       [     nu_b     ]

is a 6 x 6 system for w_b = (xdot_b, Omega_b), parents first: T of [NS] (11) and Table 2, joint by joint, and right off
the constraint manifold, too. A root has nu = (xdot, Omega). The rows S turn with the bodies, so that S depends on q.

Three rows that move the body come first, in an order that follows from the joint's kind. The others turn it only, but
for drives of distances. So the blocks are 3 x 3, their inverses cofactors, and nothing is chosen on the way:

    [X Y]       [1    0] [X Y]
    [Z W] w  =  [ZX^-1 1] [0 V] w,    V = W - Z X^-1 Y
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory, is_zero
from rbdae.kernels.bodies.spatial import times_three
from rbdae.kernels.constraints.gradients import plus_side
from rbdae.kernels.linear.small import inverse3
from rbdae.kernels.memory import bodies, head, primitives, rows, states, tree_factors, tree_velocities, work
from rbdae.kernels.null_space.spherical_trees import ROOT


def in_block(place: int) -> int:
    """The number of an equation among the six of its body, by the place of its row in the factors."""
    return place if place < 3 else place - 3


def factorise_tree(m: Memory) -> None:
    """X^-1, Y, Z X^-1 and V^-1 of each body, one below the other. Reads the gradients; writes `tree_factors`."""
    S = states(m)
    E = tree_velocities(m)
    R = rows(m)
    factors = tree_factors(m)
    for b in range(head(m).n_bodies):
        e = E[b]
        if e.parent == ROOT:
            continue
        d = S[b].d
        F = factors[12 * b : 12 * b + 12]
        for i in range(e.n_rows):
            r = R[e.primitive[i]]
            side = e.side[i]
            k = e.equation[i]
            n = e.place[i]
            for j in range(3):
                F[n, j] = r.Gx[side, k, j]
                F[n + 3, j] = r.Gw[side, k, j]
        for i in range(e.n_free):
            n = e.place[e.n_rows + i]
            for j in range(3):
                F[n, j] = e.S[i, 0] * d[j] + e.S[i, 1] * d[3 + j] + e.S[i, 2] * d[6 + j]
                F[n + 3, j] = e.S[i, 3 + j]
        inverse3(F, F)
        for i in range(6, 9):
            times_three_transposed(F, F[i], 0)
            for k in range(3):
                for j in range(3):
                    F[i + 3, j] -= F[i, k] * F[3 + k, j]
        inverse3(F[9:12], F[9:12])


def times_three_transposed(C: Array, x: Array, i: int) -> None:
    """x[i:i + 3] = C^T x[i:i + 3]."""
    a = x[i]
    b = x[i + 1]
    e = x[i + 2]
    for k in range(3):
        x[i + k] = C[0, k] * a + C[1, k] * b + C[2, k] * e


def _solve_block(F: Array, x: Array) -> None:
    """x becomes the solution for the factors F of a body."""
    for k in range(3):
        x[3 + k] -= F[6 + k, 0] * x[0] + F[6 + k, 1] * x[1] + F[6 + k, 2] * x[2]
    times_three(F[9:12], x, 3, x, 3)
    for k in range(3):
        x[k] -= F[3 + k, 0] * x[3] + F[3 + k, 1] * x[4] + F[3 + k, 2] * x[5]
    times_three(F, x, 0, x, 0)


def _solve_block_transposed(F: Array, x: Array) -> None:
    """The same with the transposed matrix."""
    times_three_transposed(F, x, 0)
    for k in range(3):
        x[3 + k] -= F[3, k] * x[0] + F[4, k] * x[1] + F[5, k] * x[2]
    times_three_transposed(F[9:12], x, 3)
    for k in range(3):
        x[k] -= F[6, k] * x[3] + F[7, k] * x[4] + F[8, k] * x[5]


def solve_tree(m: Memory, x: Array) -> None:
    """x, the right-hand sides of the joints, then nu, becomes the velocities w."""
    h = head(m)
    B = bodies(m)
    E = tree_velocities(m)
    factors = tree_factors(m)
    w = work(m)
    for k in range(h.n_bodies):
        b = E[k].visit
        o = B[b]
        n = o.iv
        e = E[b]
        if e.parent == ROOT:
            for j in range(o.nt + 3):
                w[n + j] = x[e.nu + j]
            continue
        for i in range(e.n_rows):
            t = x[e.row[i]]
            if B[e.parent].fixed == 0:
                t -= plus_side(0.0 * x[0], m, e.primitive[i], 1 - e.side[i], e.equation[i], w)
            w[n + in_block(e.place[i])] = t
        for i in range(e.n_free):
            w[n + in_block(e.place[e.n_rows + i])] = x[e.nu + i]
        _solve_block(factors[12 * b : 12 * b + 12], w[n : n + 6])
    for i in range(h.n_v):
        x[i] = w[i]


def solve_tree_transposed(m: Memory, x: Array) -> None:
    """x, forces on the velocities w, becomes the multipliers of the joints, then T^T x; children first."""
    h = head(m)
    B = bodies(m)
    E = tree_velocities(m)
    factors = tree_factors(m)
    z = work(m)
    for v in range(h.n_bodies - 1, -1, -1):
        b = E[v].visit
        o = B[b]
        n = o.iv
        e = E[b]
        if e.parent == ROOT:
            for j in range(o.nt + 3):
                z[e.nu + j] = x[n + j]
            continue
        _solve_block_transposed(factors[12 * b : 12 * b + 12], x[n : n + 6])
        for i in range(e.n_free):
            z[e.nu + i] = x[n + in_block(e.place[e.n_rows + i])]
        for i in range(e.n_rows):
            t = x[n + in_block(e.place[i])]
            z[e.row[i]] = t
            if B[e.parent].fixed == 0:
                add_side(m, e.primitive[i], 1 - e.side[i], e.equation[i], -t, x)
    for i in range(h.n_v + h.n_closing):
        x[i] = z[i]


def add_side(m: Memory, i: int, side: int, k: int, t: Any, x: Array) -> None:
    """x += row k of one side of a primitive, which is not fixed, times t."""
    r = rows(m)[i]
    o = bodies(m)[primitives(m)[i].body[side]]
    n = o.iv
    if o.nt == 3:
        for j in range(3):
            x[n + j] += r.Gx[side, k, j] * t
        n += 3
    for j in range(3):
        x[n + j] += r.Gw[side, k, j] * t


def _along(S: Array, k: int, d: Array, x: Array) -> Any:
    """sum_j S[k, j] d_j . x over the directors, or their rates."""
    t = 0.0 * x[0]
    for j in range(3):
        if not is_zero(S[k, j]):
            t += S[k, j] * (d[3 * j] * x[0] + d[3 * j + 1] * x[1] + d[3 * j + 2] * x[2])
    return t


def subtract_frame_rates(m: Memory, x: Array) -> None:
    """x[nu] -= Sdot w."""
    h = head(m)
    S = states(m)
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = tree_velocities(m)[b]
        if o.parent != ROOT:
            for k in range(e.n_free):
                x[first + o.inu + k] -= _along(e.S, k, S[b].dd, S[b].xd)


def select_tree_rates(m: Memory, vd: Array, out: Array, row: int) -> None:
    """out[row:row + nnu] = nudot = S vdot + Sdot w."""
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

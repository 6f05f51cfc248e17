"""The square system [G; S] of a tree, body by body, in O(n).

A body b hangs from its parent p by a joint of c equations. Its 6 - c quasi-velocities are components of its twist
in its own frame, nu_b = S_b (R_b^T xdot_b, Omega_b). The constant rows S_b and the equations of the joint are
independent in every position of the joint (a hinge: its axis, on Omega). So

    [G_b       ] w_b = [-g_I - G_p w_p]
    [S_b(R_b^T)]       [     nu_b     ]

is a 6 x 6 system for w_b = (xdot_b, Omega_b), parents first: T of [NS] (11) and Table 2, joint by joint, and right off
the constraint manifold, too. A root has nu = (xdot, Omega). The rows S turn with the bodies, so that S depends on q.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory, is_zero
from rbdae.kernels.constraints.gradients import plus_side
from rbdae.kernels.linear.pivoted import factorise_pivoted, solve_pivoted, solve_pivoted_transposed
from rbdae.kernels.memory import bodies, head, rows, states, tree_factors, tree_velocities, work
from rbdae.kernels.null_space.spherical_trees import ROOT


def factorise_tree(m: Memory) -> None:
    """P L U of the 6 x 6 matrix of each body. Reads the gradients; writes `tree_factors` and the row exchanges."""
    B = bodies(m)
    S = states(m)
    E = tree_velocities(m)
    R = rows(m)
    factors = tree_factors(m)
    size = work(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        if o.parent == ROOT:
            continue
        e = E[b]
        d = S[b].d
        A = factors[6 * b : 6 * b + 6]
        for i in range(e.n_rows):
            r = R[e.primitive[i]]
            side = e.side[i]
            k = e.equation[i]
            for j in range(3):
                A[i, j] = r.Gx[side, k, j]
                A[i, 3 + j] = r.Gw[side, k, j]
        for i in range(e.n_free):
            row = e.n_rows + i
            for j in range(3):
                A[row, j] = e.S[i, 0] * d[j] + e.S[i, 1] * d[3 + j] + e.S[i, 2] * d[6 + j]
                A[row, 3 + j] = e.S[i, 3 + j]
        for i in range(6):
            size[i] = 1.0
        factorise_pivoted(A, e.pivot, size, 6)


def solve_tree(m: Memory, x: Array) -> None:
    """x = [G; S]^-1 x, from the order of the equations (joints, then nu) to that of the velocities."""
    h = head(m)
    B = bodies(m)
    E = tree_velocities(m)
    factors = tree_factors(m)
    w = work(m)
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = B[b]
        n = o.iv
        if o.parent == ROOT:
            for j in range(o.nt + 3):
                w[n + j] = x[first + o.inu + j]
            continue
        e = E[b]
        for i in range(e.n_rows):
            w[n + i] = x[e.row[i]]
            if B[o.parent].fixed == 0:
                w[n + i] -= plus_side(0.0 * x[0], m, e.primitive[i], 1 - e.side[i], e.equation[i], w)
        for i in range(e.n_free):
            w[n + e.n_rows + i] = x[first + o.inu + i]
        solve_pivoted(factors[6 * b : 6 * b + 6], e.pivot, w[n : n + 6], 6)
    for i in range(h.n_v):
        x[i] = w[i]


def solve_tree_transposed(m: Memory, x: Array) -> None:
    """x = [G; S]^-T x: the multipliers of the joints, then T^T x; children first."""
    h = head(m)
    B = bodies(m)
    E = tree_velocities(m)
    R = rows(m)
    factors = tree_factors(m)
    z = work(m)
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies - 1, -1, -1):
        o = B[b]
        n = o.iv
        if o.parent == ROOT:
            for j in range(o.nt + 3):
                z[first + o.inu + j] = x[n + j]
            continue
        e = E[b]
        solve_pivoted_transposed(factors[6 * b : 6 * b + 6], e.pivot, x[n : n + 6], 6)
        for i in range(e.n_free):
            z[first + o.inu + i] = x[n + e.n_rows + i]
        p = B[o.parent]
        for i in range(e.n_rows):
            t = x[n + i]
            z[e.row[i]] = t
            if p.fixed == 0:
                r = R[e.primitive[i]]
                side = 1 - e.side[i]
                k = e.equation[i]
                n2 = p.iv
                if p.nt == 3:
                    for j in range(3):
                        x[n2 + j] -= r.Gx[side, k, j] * t
                    n2 += 3
                for j in range(3):
                    x[n2 + j] -= r.Gw[side, k, j] * t
    for i in range(h.n_v):
        x[i] = z[i]


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

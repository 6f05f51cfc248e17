"""The square system [G; S] of a tree, body by body, in O(n).

A body b hangs from its parent p by a joint of c equations. Its 6 - c quasi-velocities are components of its twist
in its own frame, nu_b = S_b (R_b^T xdot_b, Omega_b). The constant rows S_b and the equations of the joint are
independent in every position of the joint (a hinge: its axis, on Omega). So

    [G_b       ] w_b = [-g_I - G_p w_p]
    [S_b(R_b^T)]       [     nu_b     ]

is a 6 x 6 system for w_b = (xdot_b, Omega_b), parents first: T of [NS] (11) and Table 2, joint by joint, and right off
the constraint manifold, too. A root has nu = (xdot, Omega).
"""

from __future__ import annotations

from typing import Any

from rbdae.compiler.access import Address, Array, Memory, chosen, rely, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.memory import bodies, head, rows, states, tree_factors, tree_velocities, work
from rbdae.kernels.null_space.loops import ALMOST
from rbdae.kernels.null_space.spherical_trees import ROOT


@stage("i", "tree")
def factorise_tree(m: Memory) -> None:
    """P L U of the 6 x 6 matrix of each body. Reads the gradients; writes `tree_factors` and the row exchanges."""
    B = bodies(m)
    S = states(m)
    E = tree_velocities(m)
    R = rows(m)
    factors = tree_factors(m)
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
        for k in range(6):
            best = k
            for i in range(k + 1, 6):
                if chosen(abs(A[i, k]) > abs(A[best, k])):
                    best = i
            for i in range(k, 6):
                rely(abs(A[i, k]) <= ALMOST * abs(A[best, k]))
            e.pivot[k] = best
            if best != k:
                for j in range(6):
                    t = A[k, j]
                    A[k, j] = A[best, j]
                    A[best, j] = t
            for i in range(k + 1, 6):
                t = A[i, k] / A[k, k]
                A[i, k] = t
                for j in range(k + 1, 6):
                    A[i, j] -= t * A[k, j]


@jit
def _from_parent(m: Memory, b: int, i: int, w: Array) -> Any:
    """G_p w_p of one joint equation of body b, w in the order of the velocities."""
    o = bodies(m)[b]
    p = bodies(m)[o.parent]
    e = tree_velocities(m)[b]
    r = rows(m)[e.primitive[i]]
    side = 1 - e.side[i]
    k = e.equation[i]
    t = 0.0 * r.P[0]
    if p.fixed == 1:
        return t
    n = p.iv
    if p.nt == 3:
        for j in range(3):
            t += r.Gx[side, k, j] * w[n + j]
        n += 3
    for j in range(3):
        t += r.Gw[side, k, j] * w[n + j]
    return t


@stage("ii", "tree")
def solve_tree(m: Memory, x_at: Address) -> None:
    """x = [G; S]^-1 x, from the order of the equations (joints, then nu) to that of the velocities."""
    x = vector_at(x_at)
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
        A = factors[6 * b : 6 * b + 6]
        for i in range(e.n_rows):
            w[n + i] = x[e.row[i]] - _from_parent(m, b, i, w)
        for i in range(e.n_free):
            w[n + e.n_rows + i] = x[first + o.inu + i]
        for k in range(6):
            p = e.pivot[k]
            t = w[n + k]
            w[n + k] = w[n + p]
            w[n + p] = t
        for i in range(6):
            for j in range(i):
                w[n + i] -= A[i, j] * w[n + j]
        for i in range(5, -1, -1):
            for j in range(i + 1, 6):
                w[n + i] -= A[i, j] * w[n + j]
            w[n + i] /= A[i, i]
    for i in range(h.n_v):
        x[i] = w[i]


@stage("ii", "tree")
def solve_tree_transposed(m: Memory, x_at: Address) -> None:
    """x = [G; S]^-T x: the multipliers of the joints, then T^T x; children first."""
    x = vector_at(x_at)
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
        A = factors[6 * b : 6 * b + 6]
        for i in range(6):
            x[n + i] /= A[i, i]
            for j in range(i + 1, 6):
                x[n + j] -= A[i, j] * x[n + i]
        for i in range(5, -1, -1):
            for j in range(i):
                x[n + j] -= A[i, j] * x[n + i]
        for k in range(5, -1, -1):
            best = e.pivot[k]
            t = x[n + k]
            x[n + k] = x[n + best]
            x[n + best] = t
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

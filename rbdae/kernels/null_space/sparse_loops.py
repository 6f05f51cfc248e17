"""The square system [G; S] of large closed loops, sparse: factors over a pattern that is made once for a selection.

With A = [G; S], rows in an order of elimination, and W = diag(l^2, 1), l a length of each body,

    A x = b:    x = W A^T z,  (A W A^T) z = b,        A^T z = x:  (A W A^T) z = A W x.

A W A^T is positive definite, so that every order of elimination is stable: the pattern of its factors L D L^T is
static, as that of the joints' Schur complement is (`rbdae.kernels.linear.schur`), and there is no pivot to choose. It
has the condition of A squared. Corrections by the residual of A x = b give the accuracy of an elimination of A itself
(docs/decisions.md).
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.spatial import inverse_transposed
from rbdae.kernels.linear.static_factors import eliminate_row, solve_factors
from rbdae.kernels.memory import (
    bodies,
    head,
    primitives,
    rows,
    square_column,
    square_factor,
    square_factor_column,
    square_factor_start,
    square_known,
    square_place,
    square_product_slot,
    square_product_start,
    square_rest,
    square_rows,
    square_start,
    square_turning,
    states,
    velocity_metric,
    velocity_selection,
    work,
)

CORRECTIONS = 2


def factorise_sparse_loops(m: Memory) -> None:
    """`square_rows` = [G; S] and `square_factor` = (L, D). Reads the gradients and S."""
    _set_gradients(m)
    _set_selection(m)
    _multiply(m)
    _eliminate(m)


def _set_gradients(m: Memory) -> None:
    B = bodies(m)
    C = primitives(m)
    R = rows(m)
    A = square_rows(m)
    place = square_place(m)
    start = square_start(m)
    n = 0
    for i in range(head(m).n_primitives):
        p = C[i]
        r = R[i]
        for k in range(p.n):
            if p.keep[k] == 0:
                continue
            e = start[place[n]]
            n += 1
            for side in range(2):
                o = B[p.body[side]]
                if o.fixed == 1:
                    continue
                if o.nt == 3:
                    for l in range(3):
                        A[e + l] = r.Gx[side, k, l]
                    e += 3
                for l in range(3):
                    A[e + l] = r.Gw[side, k, l]
                e += 3


def _set_selection(m: Memory) -> None:
    """The rows of S, or of S P where velocities are spatial, P = R^-T: three numbers of a body at a time."""
    h = head(m)
    S = velocity_selection(m)
    A = square_rows(m)
    place = square_place(m)
    start = square_start(m)
    column = square_column(m)
    if h.spatial != 0:
        for b in range(h.n_bodies):
            s = states(m)[b]
            inverse_transposed(s.d, s.C)
    first = h.n_v - h.n_nu
    for i in range(h.n_nu):
        q = place[first + i]
        for e in range(start[q], start[q + 1], 3):
            j = column[e]
            x = S[i, j]
            y = S[i, j + 1]
            z = S[i, j + 2]
            b = square_turning(m)[j]
            if h.spatial != 0 and b >= 0:
                C = states(m)[b].C
                for k in range(3):
                    A[e + k] = x * C[0, k] + y * C[1, k] + z * C[2, k]
            else:
                A[e] = x
                A[e + 1] = y
                A[e + 2] = z


def _weight(m: Memory) -> Array:
    """The diagonal of W."""
    h = head(m)
    return velocity_metric(m)[h.n_v + h.n_nu :]


def _multiply(m: Memory) -> None:
    """A W A^T in place of L: the products of rows that share a body."""
    n = head(m).n_v
    A = square_rows(m)
    start = square_start(m)
    column = square_column(m)
    L = square_factor(m)
    factor_start = square_factor_start(m)
    factor_column = square_factor_column(m)
    first = square_product_start(m)
    slot = square_product_slot(m)
    W = _weight(m)
    w = work(m)
    for i in range(n):
        w[i] = 0.0
    for e in range(factor_start[n]):
        L[e] = 0.0
    for i in range(n):
        for e in range(start[i], start[i + 1]):
            w[column[e]] = W[column[e]] * A[e]
        for k in range(first[i], first[i + 1]):
            j = factor_column[slot[k]]
            t = 0.0 * W[0]
            for e in range(start[j], start[j + 1]):
                t += w[column[e]] * A[e]
            L[slot[k]] = t
        for e in range(start[i], start[i + 1]):
            w[column[e]] = 0.0


def _eliminate(m: Memory) -> None:
    """A W A^T = L D L^T, row by row."""
    n = head(m).n_v
    start = square_factor_start(m)
    column = square_factor_column(m)
    L = square_factor(m)
    D = L[start[n] :]
    w = work(m)
    for i in range(n):
        w[i] = 0.0
    for i in range(n):
        D[i] = eliminate_row(L, D, start, column, w, i)


def _solve_normal(m: Memory, z: Array) -> None:
    """z = (A W A^T)^-1 z."""
    n = head(m).n_v
    start = square_factor_start(m)
    L = square_factor(m)
    solve_factors(L, L[start[n] :], start, square_factor_column(m), z, n)


def solve_sparse_loops(m: Memory, x: Array) -> None:
    """x = [G; S]^-1 x."""
    n = head(m).n_v
    A = square_rows(m)
    start = square_start(m)
    column = square_column(m)
    place = square_place(m)
    W = _weight(m)
    b = square_known(m)
    z = square_rest(m)
    for i in range(n):
        b[place[i]] = x[i]
    for i in range(n):
        z[i] = b[i]
        x[i] = 0.0
    for correction in range(CORRECTIONS + 1):
        if correction > 0:
            for i in range(n):
                t = b[i]
                for e in range(start[i], start[i + 1]):
                    t -= A[e] * x[column[e]]
                z[i] = t
        _solve_normal(m, z)
        for i in range(n):
            for e in range(start[i], start[i + 1]):
                x[column[e]] += W[column[e]] * (A[e] * z[i])


def solve_sparse_loops_transposed(m: Memory, x: Array) -> None:
    """x = [G; S]^-T x."""
    n = head(m).n_v
    A = square_rows(m)
    start = square_start(m)
    column = square_column(m)
    place = square_place(m)
    W = _weight(m)
    z = square_known(m)
    r = square_rest(m)
    for i in range(n):
        z[i] = 0.0
    for _ in range(CORRECTIONS + 1):
        for i in range(n):
            t = 0.0 * x[0]
            for e in range(start[i], start[i + 1]):
                t += A[e] * (W[column[e]] * x[column[e]])
            r[i] = t
        _solve_normal(m, r)
        for i in range(n):
            z[i] += r[i]
            for e in range(start[i], start[i + 1]):
                x[column[e]] -= A[e] * r[i]
    for i in range(n):
        x[i] = z[place[i]]


def select_sparse_loop_rates(m: Memory, w: Array, out: Array, row: int) -> None:
    """out[row:row + nnu] = S w. Reads the rows of the square system."""
    h = head(m)
    A = square_rows(m)
    start = square_start(m)
    column = square_column(m)
    first = h.n_v - h.n_nu
    for i in range(h.n_nu):
        q = square_place(m)[first + i]
        t = 0.0 * w[0]
        for e in range(start[q], start[q + 1]):
            t += A[e] * w[column[e]]
        out[row + i] = t

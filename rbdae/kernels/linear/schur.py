"""The joint Schur complement S = G A G^T: its factors L D L^T over a static pattern, made once per system.

Its graph is the joint graph; chains and trees have no fill.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory, select
from rbdae.kernels.linear.small import dot
from rbdae.kernels.linear.static_factors import eliminate_row, solve_factors
from rbdae.kernels.memory import (
    bodies,
    factor,
    factor_column,
    factor_start,
    head,
    pairs,
    pivot_floor,
    primitives,
    rows,
    states,
    work,
)
from rbdae.kernels.records import ANGULAR, MOMENT

# the pivot of a suspended equation: infinite, but with finite products
SUSPENDED = 1e200


def factorise_schur(m: Memory, pulled: int) -> None:
    """L and D of S. Reads the gradients, N and Ji; writes `factor` and head.singular."""
    assemble_schur(m, pulled)
    eliminate_schur(m)


def assemble_schur(m: Memory, pulled: int) -> None:
    """S in place of L. Reads the gradients, N and Ji."""
    reduce_gradients(m, pulled)
    _add_pairs(m)


def reduce_gradients(m: Memory, pulled: int) -> None:
    """H = Gw N of both sides of each primitive, and HJ = H Ji, as the formulation takes it where `pulled` is 1."""
    _multiply_gradients(m)
    if pulled == 1 and head(m).forms == 1:
        _scale_reduced_gradients(m)


def _multiply_gradients(m: Memory) -> None:
    """H = Gw N and HJ = H Ji of both sides of each primitive."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    C = primitives(m)
    R = rows(m)
    for i in range(h.n_primitives):
        p = C[i]
        r = R[i]
        for side in range(2):
            b = p.body[side]
            if B[b].fixed == 1:
                continue
            s = S[b]
            for k in range(p.n):
                for j in range(3):
                    if h.kind == ANGULAR:
                        r.H[side, k, j] = r.Gw[side, k, j]
                    else:
                        t = r.Gw[side, k, 0] * s.N[0, j]
                        for l in range(1, B[b].nr):
                            t += r.Gw[side, k, l] * s.N[l, j]
                        r.H[side, k, j] = t
                for j in range(3):
                    r.HJ[side, k, j] = (
                        r.H[side, k, 0] * s.Ji[0, j] + r.H[side, k, 1] * s.Ji[1, j] + r.H[side, k, 2] * s.Ji[2, j]
                    )


def _scale_reduced_gradients(m: Memory) -> None:
    """HJ = |p|^2 H Ji for the generalised forces 2 L^T n: N^T W = |p|^2 N^T G^T there, and N^T G^T for the others."""
    if head(m).pull_back != MOMENT or head(m).unit_norm == 1:
        return
    C = primitives(m)
    for i in range(head(m).n_primitives):
        for side in range(2):
            b = C[i].body[side]
            if bodies(m)[b].fixed == 1:
                continue
            a = states(m)[b].a
            t = a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]
            HJ = rows(m)[i].HJ[side]
            for k in range(3):
                for j in range(3):
                    HJ[k, j] *= t


def of_pair(o: Array, r1: Array, i1: int, i: int, r2: Array, i2: int, j: int) -> Any:
    """Row i of a primitive times M^-1 times row j of another one, on the body that is on their sides i1 and i2."""
    t = dot(r1.HJ[i1, i], r2.H[i2, j], 3)
    if o.nt == 3:
        t += dot(r1.Gx[i1, i], r2.Gx[i2, j], 3) / o.mass
    return t


def _add_pairs(m: Memory) -> None:
    """S in place of L: a pair of primitives for each body that they share. Dropped rows become rows of the identity."""
    h = head(m)
    B = bodies(m)
    C = primitives(m)
    R = rows(m)
    start = factor_start(m)
    L = factor(m)[0]
    for i in range(h.n_factor):
        L[i] = 0.0
    P = pairs(m)
    for n in range(h.n_pairs):
        e = P[n]
        r1 = R[e.first]
        r2 = R[e.second]
        i1 = e.first_side
        i2 = e.second_side
        o = B[e.body]
        for i in range(C[e.first].n):
            for j in range(C[e.second].n):
                k = e.slot[i, j]
                if k >= 0:
                    L[k] += of_pair(o, r1, i1, i, r2, i2, j)
    for i in range(h.n_primitives):
        p = C[i]
        for k in range(p.n):
            if p.keep[k] == 0:
                L[start[p.slot[k] + 1] - 1] = 1.0


def eliminate_schur(m: Memory) -> None:
    """S = L D L^T, row by row. Pivots below their floor become those of suspended equations."""
    h = head(m)
    L = factor(m)[0]
    D = factor(m)[1]
    least = pivot_floor(m)
    start = factor_start(m)
    col = factor_column(m)
    w = work(m)
    for i in range(h.n_rows):
        w[i] = 0.0
    for i in range(h.n_rows):
        original = abs(L[start[i + 1] - 1])
        d = eliminate_row(L, D, start, col, w, i)
        d = select(abs(d) < least[i], SUSPENDED, d)
        D[i] = d
        h.singular = select(abs(d) > 1e-13 * original, h.singular, select(h.singular == 0, i + 1, h.singular))


def solve_schur(m: Memory, x: Array) -> None:
    """x = S^-1 x, in the order of elimination."""
    solve_factors(factor(m)[0], factor(m)[1], factor_start(m), factor_column(m), x, head(m).n_rows)

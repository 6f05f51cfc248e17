"""The joint Schur complement S = G A G^T: its factors L D L^T over a static pattern, made once per system.

Its graph is the joint graph; chains and trees have no fill.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory, select
from rbdae.kernels.constraints.gradients import moving_sides
from rbdae.kernels.linear.static_factors import factorise_rows, solve_factors
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
)
from rbdae.kernels.records import MOMENT

# the pivot of a suspended equation: infinite, but with finite products
SUSPENDED = 1e200


def reduce_gradients(m: Memory, pulled: int) -> None:
    """H = Gw N of both sides of each primitive, and HJ = H Ji. Where `pulled` is 1, as the formulation takes it: for
    the generalised forces 2 L^T n of [SNS15] N^T W = |p|^2 N^T G^T, so that HJ has this factor."""
    h = head(m)
    moment = pulled == 1 and h.forms == 1 and h.pull_back == MOMENT and h.unit_norm == 0
    for p, r in zip(primitives(m), rows(m), strict=True):
        for side, b, o in moving_sides(m, p):
            s = states(m)[b]
            H = r.Gw[side, : p.n, : o.nr] @ s.N[: o.nr]
            r.H[side, : p.n] = H
            r.HJ[side, : p.n] = (H @ s.Ji) * (s.a[:4] @ s.a[:4]) if moment else H @ s.Ji


def block_of_pair(o: Any, r1: Array, side1: int, r2: Array, side2: int) -> Array:
    """The rows of a primitive times M^-1 times the rows of another one, (3, 3), on the body that is on these sides."""
    S = r1.HJ[side1] @ r2.H[side2].T
    return S + (r1.Gx[side1] @ r2.Gx[side2].T) / o.mass if o.nt == 3 else S


def factorise_schur(m: Memory, pulled: int) -> None:
    """L and D of S. Reads the gradients, N and Ji; writes `factor` and head.singular. Dropped rows are rows of the
    identity; pivots below their floor become those of suspended equations."""
    h = head(m)
    reduce_gradients(m, pulled)
    start, column, least = factor_start(m), factor_column(m), pivot_floor(m)
    L, D = factor(m)
    L[:] = 0.0
    R = rows(m)
    for e in pairs(m):
        block = block_of_pair(bodies(m)[e.body], R[e.first], e.first_side, R[e.second], e.second_side)
        for i in range(primitives(m)[e.first].n):
            for j in range(primitives(m)[e.second].n):
                if e.slot[i, j] >= 0:
                    L[e.slot[i, j]] += block[i, j]
    for p in primitives(m):
        for k in range(p.n):
            if p.keep[k] == 0:
                L[start[p.slot[k] + 1] - 1] = 1.0

    def pivot(i: int, d: Any, first: Any) -> Any:
        d = select(abs(d) < least[i], SUSPENDED, d)
        vanishes = select(h.singular == 0, i + 1, h.singular)
        h.singular = select(abs(d) > 1e-13 * abs(first), h.singular, vanishes)
        return d

    factorise_rows(L, D, start, column, pivot)


def solve_schur(m: Memory, x: Array) -> None:
    """x = S^-1 x, in the order of elimination; x (n_rows,), or (n_rows, columns)."""
    L, D = factor(m)
    solve_factors(L, D, factor_start(m), factor_column(m), x)

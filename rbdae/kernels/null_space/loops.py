"""The square system [G; S] of closed loops: S is constant, the selected independent velocities; dense.

With spatial velocities S P stands in the place of S, P = R^-T: it turns with the bodies (`spatial`).
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory, maximum
from rbdae.kernels.bodies.spatial import inverse_transposed
from rbdae.kernels.linear.pivoted import factorise_pivoted, solve_pivoted, solve_pivoted_transposed
from rbdae.kernels.memory import (
    bodies,
    head,
    primitives,
    row_exchanges,
    rows,
    square_factors,
    states,
    turned_row,
    velocity_metric,
    velocity_selection,
    work,
)


def gather_gradients(m: Memory, out: Array) -> None:
    """out[:rows] = G without the dropped rows. Reads the gradients."""
    h = head(m)
    B = bodies(m)
    C = primitives(m)
    R = rows(m)
    n = 0
    for i in range(h.n_primitives):
        p = C[i]
        r = R[i]
        for k in range(p.n):
            if p.keep[k] == 0:
                continue
            for j in range(h.n_v):
                out[n, j] = 0.0
            for side in range(2):
                o = B[p.body[side]]
                if o.fixed == 1:
                    continue
                j = o.iv
                if o.nt == 3:
                    for l in range(3):
                        out[n, j + l] += r.Gx[side, k, l]
                    j += 3
                for l in range(3):
                    out[n, j + l] += r.Gw[side, k, l]
            n += 1


def _turned_selection(m: Memory, i: int, out: Array) -> None:
    """out[:nv] = row i of S P. Reads C, see `place_selection`."""
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


def _place_selection(m: Memory) -> None:
    """C = R^-T of all bodies."""
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        inverse_transposed(s.d, s.C)


def _selected(m: Memory, i: int) -> Any:
    """Row i of S, or of S P where velocities are spatial, which is written to `turned_row`."""
    row = velocity_selection(m)[i]
    if head(m).spatial != 0:
        row = turned_row(m)
        _turned_selection(m, i, row)
    return row


def factorise_loops(m: Memory) -> None:
    """`square_factors` = P L U of [G; S]. Reads the gradients and S; writes the row exchanges, too.

    Pivots are compared over the sizes of their rows, in velocities over the model's length: equations of lengths,
    equations of angles and S have other units.
    """
    h = head(m)
    A = square_factors(m)
    n = h.n_v
    gather_gradients(m, A)
    first = n - h.n_nu
    if h.spatial != 0:
        _place_selection(m)
    for i in range(h.n_nu):
        row = _selected(m, i)
        for j in range(n):
            A[first + i, j] = row[j]
    size = work(m)
    metric = velocity_metric(m)
    for i in range(n):
        size[i] = 0.0
        for j in range(n):
            size[i] = maximum(size[i], abs(A[i, j]) / metric[j])
    factorise_pivoted(A, row_exchanges(m), size, n)


def solve_loops(m: Memory, x: Array) -> None:
    """x = [G; S]^-1 x."""
    solve_pivoted(square_factors(m), row_exchanges(m), x, head(m).n_v)


def solve_loops_transposed(m: Memory, x: Array) -> None:
    """x = [G; S]^-T x."""
    solve_pivoted_transposed(square_factors(m), row_exchanges(m), x, head(m).n_v)


def select_loop_rates(m: Memory, w: Array, out: Array, row: int) -> None:
    """out[row:row + nnu] = S w."""
    h = head(m)
    for i in range(h.n_nu):
        s = _selected(m, i)
        t = 0.0 * w[0]
        for j in range(h.n_v):
            t += s[j] * w[j]
        out[row + i] = t

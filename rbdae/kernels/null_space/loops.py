"""The square system [G; S] of closed loops: S is constant, the selected independent velocities; dense.

With spatial velocities S P stands in the place of S: it turns with the bodies (`spatial`).
"""

from __future__ import annotations

from typing import Any

from rbdae.compiler.access import Address, Array, Memory, address, chosen, is_zero, maximum, rely, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.memory import (
    bodies,
    head,
    primitives,
    row_exchanges,
    rows,
    square_factors,
    turned_row,
    velocity_metric,
    velocity_selection,
    work,
)
from rbdae.kernels.null_space.spatial_loops import place_selection, turned_selection

ALMOST = 1000.0
"""A recorded elimination is good while no pivot is smaller than the best one by more than this factor: the threshold of
sparse codes that keep an order of pivots, such as KLU. With 10, up to a quarter of the evaluations of a run do not hold
to the recorded order (n_four_bar 97 of 370, bricard 37 of 512); with 1000, 1 and 0."""


@jit
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


@jit
def _selected(m: Memory, i: int) -> Any:
    """Row i of S, or of S P where velocities are spatial, which is written to `turned_row`."""
    row = velocity_selection(m)[i]
    if head(m).spatial != 0:
        row = turned_row(m)
        turned_selection(m, i, address(row))
    return row


@stage("i", "dense-loops")
def factorise_loops(m: Memory) -> None:
    """`square_factors` = P L U of [G; S]. Reads the gradients and S; writes the row exchanges, too.

    Pivots are compared over the sizes of their rows, in velocities over the model's length: equations of lengths,
    equations of angles and S have other units.
    """
    h = head(m)
    A = square_factors(m)
    P = row_exchanges(m)
    n = h.n_v
    gather_gradients(m, A)
    first = n - h.n_nu
    if h.spatial != 0:
        place_selection(m)
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
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if chosen(abs(A[i, k]) * size[best] > abs(A[best, k]) * size[i]):
                best = i
        for i in range(k, n):
            rely(abs(A[i, k]) * size[best] <= ALMOST * abs(A[best, k]) * size[i])
        P[k] = best
        if best != k:
            t = size[k]
            size[k] = size[best]
            size[best] = t
            for j in range(n):
                t = A[k, j]
                A[k, j] = A[best, j]
                A[best, j] = t
        for i in range(k + 1, n):
            if not is_zero(A[i, k]):
                t = A[i, k] / A[k, k]
                A[i, k] = t
                for j in range(k + 1, n):
                    A[i, j] -= t * A[k, j]


@stage("ii", "dense-loops")
def solve_loops(m: Memory, x_at: Address) -> None:
    """x = [G; S]^-1 x."""
    x = vector_at(x_at)
    A = square_factors(m)
    P = row_exchanges(m)
    n = head(m).n_v
    for k in range(n):
        if P[k] != k:
            t = x[k]
            x[k] = x[P[k]]
            x[P[k]] = t
    for i in range(n):
        t = x[i]
        for j in range(i):
            t -= A[i, j] * x[j]
        x[i] = t
    for i in range(n - 1, -1, -1):
        t = x[i]
        for j in range(i + 1, n):
            t -= A[i, j] * x[j]
        x[i] = t / A[i, i]


@stage("ii", "dense-loops")
def solve_loops_transposed(m: Memory, x_at: Address) -> None:
    """x = [G; S]^-T x."""
    x = vector_at(x_at)
    A = square_factors(m)
    P = row_exchanges(m)
    n = head(m).n_v
    for i in range(n):
        t = x[i] / A[i, i]
        x[i] = t
        for j in range(i + 1, n):
            x[j] -= A[i, j] * t
    for i in range(n - 1, -1, -1):
        t = x[i]
        for j in range(i):
            x[j] -= A[i, j] * t
    for k in range(n - 1, -1, -1):
        if P[k] != k:
            t = x[k]
            x[k] = x[P[k]]
            x[P[k]] = t


@stage("iiii", "dense-loops")
def select_loop_rates(m: Memory, w_at: Address, out_at: Address, row: int) -> None:
    """out[row:row + nnu] = S w."""
    w = vector_at(w_at)
    out = vector_at(out_at)
    h = head(m)
    for i in range(h.n_nu):
        s = _selected(m, i)
        t = 0.0 * w[0]
        for j in range(h.n_v):
            t += s[j] * w[j]
        out[row + i] = t

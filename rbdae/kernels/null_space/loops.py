"""The square system [G; S] of closed loops, not too large: S is constant, the selected independent velocities.

A spanning tree of joints is solved body by body (`trees`), so that w = T mu + w_0 with its quasi-velocities mu. The
joint equations that close loops, and S, are then

    K mu = [-g_I - G_c w_0],    K = [G_c] T,
           [  nu - S w_0  ]         [ S ]

square and as large as the tree has freedoms. K = L Q by Householder's reflections, which is stable without a choice of
pivots, whatever the position and S are.

With spatial velocities S P stands in the place of S, P = R^-T: it turns with the bodies (`spatial`).
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory, is_zero, select, sqrt
from rbdae.kernels.bodies.spatial import inverse_transposed
from rbdae.kernels.constraints.gradients import plus_side
from rbdae.kernels.memory import (
    bodies,
    closing_rows,
    head,
    loop_matrix,
    loop_pivots,
    loop_reflections,
    loop_side,
    loop_solution,
    primitives,
    states,
    turned_row,
    velocity_selection,
)
from rbdae.kernels.null_space.trees import add_side, factorise_tree, solve_tree, solve_tree_transposed


def _turned_selection(m: Memory, i: int, out: Array) -> None:
    """out[:nv] = row i of S P. Reads C, see `_place_selection`."""
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
    """Factors of the tree and of K. Reads the gradients and S."""
    h = head(m)
    if h.spatial != 0:
        _place_selection(m)
    factorise_tree(m)
    K = loop_matrix(m)
    x = loop_side(m)
    first = h.n_v - h.n_nu
    for i in range(h.n_motions):
        for j in range(h.n_v):
            x[j] = 0.0
        _add_row(m, i, 1.0, x)
        solve_tree_transposed(m, x)
        for j in range(h.n_motions):
            K[i, j] = x[first + j]
    _factorise(m)


def _add_row(m: Memory, i: int, t: Any, x: Array) -> None:
    """x += t times row i of [G_c; S]."""
    h = head(m)
    if i >= h.n_closing:
        s = _selected(m, i - h.n_closing)
        for j in range(h.n_v):
            x[j] += t * s[j]
        return
    c = closing_rows(m)[i]
    for side in range(2):
        if bodies(m)[primitives(m)[c[0]].body[side]].fixed == 0:
            add_side(m, c[0], side, c[1], t, x)


def _row_times(m: Memory, i: int, w: Array) -> Any:
    """Row i of [G_c; S] times w."""
    h = head(m)
    t = 0.0 * w[0]
    if i >= h.n_closing:
        s = _selected(m, i - h.n_closing)
        for j in range(h.n_v):
            t += s[j] * w[j]
        return t
    c = closing_rows(m)[i]
    for side in range(2):
        if bodies(m)[primitives(m)[c[0]].body[side]].fixed == 0:
            t = plus_side(t, m, c[0], side, c[1], w)
    return t


def _factorise(m: Memory) -> None:
    """L below the diagonal of K, the vectors of the reflections above it; the reciprocals of the diagonal of L, and
    2 / |v|^2 of each reflection, 0 where a row needs none."""
    K = loop_matrix(m)
    n = head(m).n_motions
    for k in range(n):
        d = K[k, k]
        s = 0.0 * d
        for j in range(k + 1, n):
            s += K[k, j] * K[k, j]
        if is_zero(s):
            loop_pivots(m)[k] = 1.0 / d
            loop_reflections(m)[k] = 0.0
            continue
        size = sqrt(d * d + s)
        pivot = select(d > 0.0, -size, size)
        K[k, k] = d - pivot
        loop_pivots(m)[k] = 1.0 / pivot
        loop_reflections(m)[k] = 1.0 / (size * size - pivot * d)
        for i in range(k + 1, n):
            _reflect(m, k, K[i])


def _reflect(m: Memory, k: int, x: Array) -> None:
    """x becomes its image in reflection k."""
    factor = loop_reflections(m)[k]
    if is_zero(factor):
        return
    v = loop_matrix(m)[k]
    n = head(m).n_motions
    t = v[k] * x[k]
    for j in range(k + 1, n):
        t += v[j] * x[j]
    t *= factor
    for j in range(k, n):
        x[j] -= t * v[j]


def _solve_closing(m: Memory, x: Array) -> None:
    """x = K^-1 x."""
    K = loop_matrix(m)
    n = head(m).n_motions
    for i in range(n):
        t = x[i]
        for k in range(i):
            t -= K[i, k] * x[k]
        x[i] = t * loop_pivots(m)[i]
    for k in range(n - 1, -1, -1):
        _reflect(m, k, x)


def _solve_closing_transposed(m: Memory, x: Array) -> None:
    """x = K^-T x."""
    K = loop_matrix(m)
    n = head(m).n_motions
    for k in range(n):
        _reflect(m, k, x)
    for i in range(n - 1, -1, -1):
        t = x[i]
        for k in range(i + 1, n):
            t -= K[k, i] * x[k]
        x[i] = t * loop_pivots(m)[i]


def solve_loops(m: Memory, x: Array) -> None:
    """x = [G; S]^-1 x."""
    h = head(m)
    u = loop_side(m)
    z = loop_solution(m)
    first = h.n_v - h.n_nu
    for i in range(first):
        u[i] = x[i]
    for i in range(h.n_motions):
        u[first + i] = 0.0
    solve_tree(m, u)
    for i in range(h.n_motions):
        n = closing_rows(m)[i, 2] if i < h.n_closing else first + i - h.n_closing
        z[i] = x[n] - _row_times(m, i, u)
    _solve_closing(m, z)
    for i in range(first):
        u[i] = x[i]
    for i in range(h.n_motions):
        u[first + i] = z[i]
    solve_tree(m, u)
    for i in range(h.n_v):
        x[i] = u[i]


def solve_loops_transposed(m: Memory, x: Array) -> None:
    """x = [G; S]^-T x: the multipliers of the joints, then T^T x."""
    h = head(m)
    u = loop_side(m)
    z = loop_solution(m)
    first = h.n_v - h.n_nu
    for i in range(h.n_v):
        u[i] = x[i]
    solve_tree_transposed(m, u)
    for i in range(h.n_motions):
        z[i] = u[first + i]
    _solve_closing_transposed(m, z)
    for i in range(h.n_v):
        u[i] = x[i]
    for i in range(h.n_motions):
        _add_row(m, i, -z[i], u)
    solve_tree_transposed(m, u)
    for i in range(first):
        x[i] = u[i]
    for i in range(h.n_motions):
        n = closing_rows(m)[i, 2] if i < h.n_closing else first + i - h.n_closing
        x[n] = z[i]


def select_loop_rates(m: Memory, w: Array, out: Array, row: int) -> None:
    """out[row:row + nnu] = S w."""
    h = head(m)
    for i in range(h.n_nu):
        out[row + i] = _row_times(m, h.n_closing + i, w)

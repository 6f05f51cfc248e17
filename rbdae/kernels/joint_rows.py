"""How the joints' rows of G depend on each other, by one factorisation: how far the joints are from a singular
position, how much dropped rows need of those that are kept, and the multipliers that give no force."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array, Memory, select
from rbdae.kernels.bodies.gather import gather_positions
from rbdae.kernels.bodies.natural import place, velocity_basis
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import gradients, moving_sides
from rbdae.kernels.constraints.primitives import primitive_vectors
from rbdae.kernels.entry import entry
from rbdae.kernels.linear.saddle import SUSPENDED, Saddle, extent, factorise, internal_multipliers, reduce_gradients


def _set_gradients(m: Memory, t: float, y: Array) -> None:
    set_time(m, t)
    place_gradients(m, y)


def place_gradients(m: Memory, y: Array) -> None:
    """G at the positions of y; it does not depend on the values of drives."""
    gather_positions(m, y)
    place(m)
    primitive_vectors(m, 0)
    velocity_basis(m)
    gradients(m)


def _factorise(m: Memory, t: float, y: Array) -> Saddle:
    """The factors of G W G^T, where W is M^-1 of bodies that turn alike about all axes: slender ones bring no small
    sines. Then the gradients of the dropped rows, too, which do not count in the factors."""
    _set_gradients(m, t, y)
    out = Saddle(m, 0, alike=True).factorised()
    gradients(m, dropped=True)
    reduce_gradients(m)
    return out


def _equations(m: Memory, *, kept: bool) -> list[tuple[int, int]]:
    """(primitive, row of it) of the kept joint equations, or of the dropped ones."""
    return [(n, k) for n, p in enumerate(m.primitives) for k in range(p.n) if (p.keep[k] == 1) == kept]


def _follow(m: Memory, saddle: Saddle, n: int, k: int) -> Array:
    """c in g = c G of the kept rows, for row k of primitive n, by slots: M w + G^T c = g^T with G w = 0."""
    r = m.rows[n]
    side = np.zeros(saddle.first + m.head.n_rows, dtype=r.P.dtype)
    for i, b, o in moving_sides(m, m.primitives[n]):
        x, beta = saddle.body(b)
        side[x] += r.Gx[i, k, : o.nt]
        side[beta] += r.H[i, k]
    return saddle.factors.solved(side)[saddle.first :]


@entry("ityo")
def pivots(m: Memory, t: float, y: Array, out: Array) -> None:
    """The pivots of the joint equations in the factorisation of accelerations, in the order of elimination; 0 for
    dropped and suspended ones."""
    _set_gradients(m, t, y)
    factorise(m, 1)
    out[:] = pivots_of_factors(m)


def pivots_of_factors(m: Memory) -> Array:
    """The same of the factors that are there, (rows,)."""
    out = np.zeros(m.head.n_rows, dtype=object)
    for n, k in _equations(m, kept=True):
        i = m.primitives[n].slot[k]
        d = abs(m.saddle.pivots[i])
        out[i] = select(d < SUSPENDED, d, 0.0)
    return out


def _size(m: Memory, n: int, k: int) -> Any:
    """The square of a row with respect to velocities over the bodies' radius of gyration."""
    r, reach, size = m.rows[n], extent(m), 0.0
    for side, _, o in moving_sides(m, m.primitives[n]):
        size = size + r.H[side, k] @ r.H[side, k]
        if o.nt == 3:
            size = size + (r.Gx[side, k] @ r.Gx[side, k]) * reach
    return size


@entry("ityo")
def independence(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[i] = the square of the sine between the row with place i and those before it: 0 for suspended rows, 1
    for dropped ones. After them the largest |c|^2 of a dropped row g = c G by the kept ones, all of size one; 0 if
    there are none. Then, of each dropped row, (rows,) multipliers of the joints that give no force: c and -1."""
    saddle = _factorise(m, t, y)
    h, most = m.head, 0.0
    for i, d in enumerate(saddle.pivots):
        out[i] = select(abs(d) < SUSPENDED, d / saddle.sizes[i], 0.0)
    dropped = _equations(m, kept=False)
    nulls = out[h.n_rows + 1 :].reshape(len(dropped), h.n_rows)
    for null, (n, k) in zip(nulls, dropped, strict=True):
        c = _follow(m, saddle, n, k)
        need = 0.0  # |c|^2, for rows of size one
        for i, j in _equations(m, kept=True):
            of_row = c[m.primitives[i].slot[j]]
            need = need + of_row * of_row * _size(m, i, j)
        need = need / _size(m, n, k)
        most = select(need > most, need, most)
        for p in m.primitives:
            null[p.row - h.n_internal :][: p.n] = c[p.slot[: p.n]]
        null[m.primitives[n].row - h.n_internal + k] = -1.0
    out[h.n_rows] = most


@entry("ityyo")
def balanced(m: Memory, t: float, y: Array, change: Array, out: Array) -> None:
    """out = the change of internal multipliers that balances a change (rows,) of the joints' which moves no body."""
    _set_gradients(m, t, y)
    gradients(m, dropped=True)
    first = m.head.n_internal
    m.right_hand_side[:] = 0.0
    m.solution[:] = 0.0
    m.multipliers[first : first + len(change)] = change
    internal_multipliers(m)
    out[:] = m.multipliers[:first]

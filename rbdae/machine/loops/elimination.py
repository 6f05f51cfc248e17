"""Elimination on numbers, in loops over tables: what `rbdae.graph.elimination` plans, for large models.

The memory `v` of a matrix has, one part after the other, a word on how good the factors are, the entries of the matrix
itself with those that fill in, where the elimination is done, the multipliers of L column by column, and U row by row
with its reciprocal pivot in front, both in the order in which they are needed. Tables are streams: every number is
read once, in order.
"""

from __future__ import annotations

from rbdae.machine.language.words import Ints, Vec

N, ENTRIES, FILLED, LOWER, UPPER, MATRIX, N_UPPER, FREE, HEAD = range(9)
"""Whole numbers of the head: unknowns; entries of the matrix, without and with those that fill in; where L, U and the
matrix begin in `v`; numbers of U, with the reciprocal pivots; where memory for `substitute` is in `v`."""

GROWTH = 0
"""Place in `v` of the sum of the squares of the multipliers."""
FIRST = 1
"""Where the parts of `v` begin."""


def factorise(head: Ints, steps: Ints, v: Vec, most: float) -> int:
    """Eliminate the matrix in `v`; 0 unless the squares of the multipliers are more than `most` in sum, or no numbers.

    Parameters
    ----------
    steps : for each pivot its place, the number of rows below, that of further columns, the places of the row's
        entries, then for each row below the place of its entry and those of what it changes
    """
    a = v[head[MATRIX] :]
    low = v[head[LOWER] :]
    up = v[head[UPPER] :]
    for i in range(head[ENTRIES], head[FILLED]):
        a[i] = 0.0
    at = 0
    lows = 0
    ups = 0
    growth = 0.0
    for _ in range(head[N]):
        pivot = 1.0 / a[steps[at]]
        below = steps[at + 1]
        right = steps[at + 2]
        row = steps[at + 3 :]
        up[ups] = pivot
        values = up[ups + 1 :]
        for k in range(right):
            values[k] = a[row[k]]
        ups += 1 + right
        at += 3 + right
        for _ in range(below):
            factor = a[steps[at]] * pivot
            low[lows] = factor
            lows += 1
            growth += factor * factor
            target = steps[at + 1 :]
            for k in range(right):
                a[target[k]] -= factor * values[k]
            at += 1 + right
    v[GROWTH] = growth
    return 0 if growth <= most else 1


def substitute(head: Ints, forth: Ints, back: Ints, v: Vec, b: Vec, w: Vec, x: Vec) -> None:
    """Solve A x = b; `w` (n,) is memory.

    Parameters
    ----------
    forth : for each pivot its row, the number of rows below, and these
    back : for each pivot, the last one first, its row, its column, the number of further columns, and these
    """
    n = head[N]
    for i in range(n):
        w[i] = b[i]
    low = v[head[LOWER] :]
    at = 0
    lows = 0
    for _ in range(n):
        value = w[forth[at]]
        below = forth[at + 1]
        rows = forth[at + 2 :]
        factors = low[lows:]
        for k in range(below):
            w[rows[k]] -= factors[k] * value
        lows += below
        at += 2 + below
    up = v[head[UPPER] :]
    ups = head[N_UPPER]
    at = 0
    for _ in range(n):
        value = w[back[at]]
        right = back[at + 2]
        columns = back[at + 3 :]
        ups -= 1 + right
        entries = up[ups + 1 :]
        for k in range(right):
            value -= entries[k] * x[columns[k]]
        x[back[at + 1]] = value * up[ups]
        at += 3 + right

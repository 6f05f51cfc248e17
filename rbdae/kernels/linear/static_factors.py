"""A symmetric matrix as L D L^T over a static pattern, row by row; the place of the diagonal is the last of each row.

The entries of row i are L[start[i]:start[i + 1]], their columns `column`; the pivots are D.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array


def eliminate_row(L: Array, D: Array, start: Array, column: Array, w: Array, i: int) -> Any:
    """Row i of the matrix becomes that of L. Returns its pivot, which the caller keeps in D. w (n) is scratch, zero
    before and after."""
    last = start[i + 1] - 1
    d = L[last]
    for e in range(start[i], last):
        k = column[e]
        t = L[e]
        for l in range(start[k], start[k + 1] - 1):
            t -= w[column[l]] * L[l]
        w[k] = t
        L[e] = t / D[k]
        d -= L[e] * t
    for e in range(start[i], last):
        w[column[e]] = 0.0
    return d


def solve_factors(L: Array, D: Array, start: Array, column: Array, x: Array, n: int) -> None:
    """x = (L D L^T)^-1 x for n rows."""
    for i in range(n):
        t = x[i]
        for e in range(start[i], start[i + 1] - 1):
            t -= L[e] * x[column[e]]
        x[i] = t
    for i in range(n):
        x[i] /= D[i]
    for i in range(n - 1, -1, -1):
        t = x[i]
        for e in range(start[i], start[i + 1] - 1):
            x[column[e]] -= L[e] * t

"""A symmetric matrix as L D L^T over a static pattern, row by row; the place of the diagonal is the last of each row.

The entries of row i are L[start[i]:start[i + 1]], their columns `column`; the pivots are D.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rbdae.graph.functions import Array


def factorise_rows(
    L: Array, D: Array, start: Array, column: Array, pivot: Callable[[int, Any, Any], Any] = lambda i, d, first: d
) -> None:
    """The matrix in L becomes its factor, and D its pivots; `pivot` maps (i, d, the diagonal before) to what counts as
    the pivot."""
    start, column = start.tolist(), column.tolist()
    for i in range(len(start) - 1):
        last = start[i + 1] - 1
        d, row = L[last], dict[int, Any]()  # of L D
        for e in range(start[i], last):
            k = column[e]
            t = L[e]
            for l in range(start[k], start[k + 1] - 1):
                if column[l] in row:
                    t = t - row[column[l]] * L[l]
            row[k] = t
            L[e] = t / D[k]
            d = d - L[e] * t
        D[i] = pivot(i, d, L[last])


def solve_factors(L: Array, D: Array, start: Array, column: Array, x: Array) -> None:
    """x = (L D L^T)^-1 x; x (n,), or (n, columns)."""
    n = len(start) - 1
    for i in range(n):
        for e in range(start[i], start[i + 1] - 1):
            x[i] = x[i] - x[column[e]] * L[e]
    for i in range(n):
        x[i] = x[i] / D[i]
    for i in reversed(range(n)):
        for e in range(start[i], start[i + 1] - 1):
            x[column[e]] = x[column[e]] - x[i] * L[e]

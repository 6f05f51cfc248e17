"""A x = b with a symmetric matrix of any numbers, by L D L^T in an order that is given: [DR83].

The order says which rows are the pivots, one, two or three at a time. With B the columns of a pivot in the rows that
are left, and C its inverse, A -= B C B^T. What is zero has no entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, final

import numpy as np

from rbdae.graph.functions import Array, is_zero

Pivot = tuple[int, ...]
"""The rows of a pivot."""

Rows = list[dict[int, Any]]
"""A matrix by rows and columns, both triangles."""


def inverse_of_two(_: Pivot, A: Array) -> Array:
    """The inverse of one or two rows."""
    if len(A) == 1:
        return 1.0 / A
    (a, b), (_, d) = A
    if is_zero(a) or is_zero(d):  # the determinant is -b^2
        off = 1.0 / b
        return np.array([[-(d * off) * off, off], [off, -(a * off) * off]])
    scale = 1.0 / (a * d - b * b)
    return np.array([[d * scale, -b * scale], [-b * scale, a * scale]])


class Step(NamedTuple):
    """A pivot with its inverse C, the rows that are left, and L = B C (rows left, rows of the pivot)."""

    pivot: Pivot
    C: Array
    left: list[int]
    L: Array


@final
class Factors:
    """L D L^T of a matrix.

    Parameters
    ----------
    rows : the matrix; it is used up
    order : all its rows, as pivots
    inverse : of a pivot, by its rows and its entries
    """

    def __init__(
        self,
        rows: Rows,
        order: Iterable[Pivot],
        inverse: Callable[[Pivot, Array], Array] = inverse_of_two,
    ) -> None:
        self.steps: list[Step] = []
        for pivot in order:
            left = sorted({j for k in pivot for j in rows[k]}.difference(pivot))
            A = np.array([[rows[i].get(j, 0.0) for j in pivot] for i in pivot], dtype=object)
            C = inverse(pivot, A)
            B = np.array([[rows[i].pop(k, 0.0) for k in pivot] for i in left], dtype=object).reshape(-1, len(pivot))
            L = B @ C
            self.steps.append(Step(pivot, C, left, L))
            for n, (i, row) in enumerate(zip(left, L, strict=True)):
                for j, other in zip(left[n:], B[n:], strict=True):
                    change = row @ other
                    if not is_zero(change):
                        rows[i][j] = rows[j][i] = rows[i].get(j, 0.0) - change

    def solved(self, b: Array) -> Array:
        """A^-1 b; b (n,), or (n, columns)."""
        b = b.copy()
        for pivot, C, left, L in self.steps:
            at = list(pivot)
            b[left] -= L @ b[at]
            b[at] = C @ b[at]
        for pivot, _, left, L in reversed(self.steps):
            b[list(pivot)] -= L.T @ b[left]
        return b

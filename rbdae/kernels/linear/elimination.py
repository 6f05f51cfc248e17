"""A x = b with a symmetric matrix of any numbers, by L D L^T in an order that is given: [DR83].

The order says which rows are the pivots, up to four at a time. With B the columns of a pivot in the rows that
are left, and C its inverse, A -= B C B^T. What is zero has no entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.functions import Array, depends, is_zero

Pivot = tuple[int, ...]
"""The rows of a pivot."""

Rows = list[dict[int, Any]]
"""A matrix by rows and columns, both triangles."""


def inverse_of_pivot(pivot: Pivot, A: Array) -> tuple[Array, list[tuple[Any, tuple[int, ...]]]]:
    """The inverse of a pivot of 1, 2 or 4 rows ([M B; B^T 0]), with its reciprocals and the rows that each is of."""
    if len(pivot) == 1:
        return 1.0 / A, [(1.0 / A[0, 0], (*pivot, *pivot))]
    half = len(pivot) // 2
    M, B, D = A[:half, :half], A[:half, half:], A[half:, half:]
    if len(pivot) == 4 or is_zero(M[0, 0]) or is_zero(D[0, 0]):
        r = 1.0 / (B[0, 0] if half == 1 else B[0, 0] * B[1, 1] - B[0, 1] * B[1, 0])
        I = np.array([[r]]) if half == 1 else np.array([[B[1, 1] * r, -B[0, 1] * r], [-B[1, 0] * r, B[0, 0] * r]])
        return np.block([[-(I.T @ D @ I), I.T], [I, -(I @ M @ I.T)]]), [(r, pivot)]
    r = 1.0 / (A[0, 0] * A[1, 1] - A[0, 1] * A[0, 1])
    return np.array([[A[1, 1] * r, -A[0, 1] * r], [-A[0, 1] * r, A[0, 0] * r]]), [(r, (*pivot, *pivot))]


class Step(NamedTuple):
    """A pivot, its inverse C with the reciprocals in it, the rows that are left, and L = B C (left, pivot)."""

    pivot: Ints
    C: Array
    reciprocals: list[tuple[Any, tuple[int, ...]]]
    left: Ints
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
        inverse: Callable[[Pivot, Array], tuple[Array, list[tuple[Any, tuple[int, ...]]]]] = inverse_of_pivot,
    ) -> None:
        self.steps: list[Step] = []
        for pivot in order:
            A = np.array([[rows[i].get(j, 0.0) for j in pivot] for i in pivot], dtype=object)
            C, reciprocals = inverse(pivot, A)
            if len(pivot) == 1:  # numbers are quicker than arrays of one
                left = sorted(rows[pivot[0]].keys() - pivot)
                column = [rows[i].pop(pivot[0]) for i in left]
                L = np.array([b * C[0, 0] for b in column], dtype=object)[:, None]
                changes: Iterable[Any] = ([x * b for b in column[n:]] for n, x in enumerate(L[:, 0]))
            else:
                left = sorted({j for k in pivot for j in rows[k]}.difference(pivot))
                B = np.array([[rows[i].pop(k, 0.0) for k in pivot] for i in left], dtype=object).reshape(-1, len(pivot))
                L = B @ C
                changes = (L[n] @ B[n:].T for n in range(len(left)))
            self.steps.append(Step(np.array(pivot), C, reciprocals, np.array(left, dtype=np.int64), L))
            for n, (i, of_row) in enumerate(zip(left, changes, strict=True)):
                row = rows[i]
                for j, change in zip(left[n:], of_row, strict=True):
                    if not is_zero(change):
                        row[j] = rows[j][i] = row.get(j, 0.0) - change

    def growth(self, units: Array) -> Any:
        """The sum of the squares of all reciprocal pivots that depend on the state; `units` are the squares of factors
        of the unknowns that make the matrix one of numbers without a unit."""
        squares, terms = 1.0 / units, list[Any]()
        for step in self.steps:
            terms += [r * r * np.prod(squares[[*of]]) for r, of in step.reciprocals if depends(r)]
        chains = [sum(terms[k::4], 0.0) for k in range(4)]  # one would be the longest of the code
        return (chains[0] + chains[1]) + (chains[2] + chains[3])

    def solved(self, b: Array) -> Array:
        """A^-1 b; b (n,), or (n, columns)."""
        b = b.copy()
        for pivot, C, _, left, L in self.steps:
            own = b[pivot]
            b[left] -= L @ own
            b[pivot] = C @ own
        for pivot, _, _, left, L in reversed(self.steps):
            b[pivot] -= L.T @ b[left]
        return b

"""A dense matrix as P L U, with pivots that are chosen on the way: in a recording where it is made."""

from __future__ import annotations

from rbdae.graph.functions import Array, chosen, is_zero, rely

ALMOST = 1000.0
"""A recorded elimination is good while no pivot is smaller than the best one by more than this factor: the threshold of
sparse codes that keep an order of pivots, such as KLU. With 10, up to a quarter of the evaluations of a run do not hold
to the recorded order (n_four_bar 97 of 370, bricard 37 of 512); with 1000, 1 and 0."""


def factorise_pivoted(A: Array, P: Array, size: Array, n: int) -> None:
    """P L U in place of A, n x n, and the row exchanges. Pivots are compared over the sizes of their rows, which go
    with the rows."""
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


def solve_pivoted(A: Array, P: Array, x: Array, n: int) -> None:
    """x becomes the solution."""
    for k in range(n):
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


def solve_pivoted_transposed(A: Array, P: Array, x: Array, n: int) -> None:
    """The same with the transposed matrix."""
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
        t = x[k]
        x[k] = x[P[k]]
        x[P[k]] = t

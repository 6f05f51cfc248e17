"""The solution of the Newton equations, by blocks in an order that was found once (`rbdae.multibody.newton`).

Blocks are factorised without row exchanges, three rows at a time. A body's has positive diagonal blocks
(`rbdae.kernels.conserving.bodies`), and what becomes of a joint's, after one of its bodies, is minus G A^-1 G^T.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import head, newton_matrix, newton_operations

FACTOR = 0
SOLVE = 1
UPDATE = 2


def _invert(A: Array, d: int, n: int, k: int, w: int) -> None:
    """w <= 3 rows and columns from k on become their inverse, by cofactors: one division in place of w in a row."""
    p = d + n * k + k
    if w == 1:
        A[p] = 1.0 / A[p]
        return
    q = p + n
    if w == 2:
        t = 1.0 / (A[p] * A[q + 1] - A[p + 1] * A[q])
        x = A[p]
        A[p] = t * A[q + 1]
        A[p + 1] = -t * A[p + 1]
        A[q] = -t * A[q]
        A[q + 1] = t * x
        return
    r = q + n
    a = A[p]
    b = A[p + 1]
    c = A[p + 2]
    e = A[q]
    f = A[q + 1]
    g = A[q + 2]
    h = A[r]
    i = A[r + 1]
    j = A[r + 2]
    x = f * j - g * i
    y = g * h - e * j
    z = e * i - f * h
    t = 1.0 / (a * x + b * y + c * z)
    A[p] = t * x
    A[q] = t * y
    A[r] = t * z
    A[p + 1] = t * (c * i - b * j)
    A[q + 1] = t * (a * j - c * h)
    A[r + 1] = t * (b * h - a * i)
    A[p + 2] = t * (b * g - c * f)
    A[q + 2] = t * (c * e - a * g)
    A[r + 2] = t * (a * f - b * e)


def _factor(A: Array, d: int, n: int) -> None:
    """L U of the block from d, three rows and columns at a time; diagonal blocks of U are inverted."""
    for k in range(0, n, 3):
        w = 3 if n - k > 3 else n - k
        _invert(A, d, n, k, w)
        for i in range(k + w, n):  # only after three
            row = d + n * i + k
            x = A[row]
            y = A[row + 1]
            z = A[row + 2]
            at = d + n * k + k
            for j in range(3):
                A[row + j] = x * A[at + j] + y * A[at + n + j] + z * A[at + 2 * n + j]
            for j in range(k + 3, n):
                at = d + n * k + j
                A[d + n * i + j] -= A[row] * A[at] + A[row + 1] * A[at + n] + A[row + 2] * A[at + 2 * n]


def _solve(A: Array, d: int, x: int, n: int, columns: int) -> None:
    """The block from x becomes (L U)^-1 times itself."""
    for j in range(columns):
        for i in range(3, n):
            t = A[x + columns * i + j]
            for k in range(i - i % 3):
                t -= A[d + n * i + k] * A[x + columns * k + j]
            A[x + columns * i + j] = t
        for block in range((n + 2) // 3 - 1, -1, -1):
            first = 3 * block
            w = 3 if n - first > 3 else n - first
            for i in range(first, first + w):
                t = A[x + columns * i + j]
                for k in range(first + 3, n):
                    t -= A[d + n * i + k] * A[x + columns * k + j]
                A[x + columns * i + j] = t
            _times(A, d + n * first + first, n, x + columns * first + j, columns, w)


def _times(A: Array, d: int, n: int, x: int, step: int, w: int) -> None:
    """w <= 3 numbers from x on become the matrix from d times them."""
    a = A[x]
    if w == 1:
        A[x] = A[d] * a
        return
    b = A[x + step]
    if w == 2:
        A[x] = A[d] * a + A[d + 1] * b
        A[x + step] = A[d + n] * a + A[d + n + 1] * b
        return
    c = A[x + 2 * step]
    for i in range(3):
        A[x + step * i] = A[d + n * i] * a + A[d + n * i + 1] * b + A[d + n * i + 2] * c


def _update(A: Array, a: int, x: int, c: int, n: int, columns: int, inner: int) -> None:
    """The block from c (n x columns) -= that from a (n x inner) times that from x."""
    for i in range(n):
        for j in range(columns):
            t = A[c + columns * i + j]
            for k in range(inner):
                t -= A[a + inner * i + k] * A[x + columns * k + j]
            A[c + columns * i + j] = t


def eliminate(m: Memory) -> None:
    """The right-hand side in `newton_matrix` becomes the solution."""
    A = newton_matrix(m)
    O = newton_operations(m)
    for k in range(head(m).n_operations):
        o = O[k]
        if o.kind == FACTOR:
            _factor(A, o.first, o.rows)
        elif o.kind == SOLVE:
            _solve(A, o.first, o.second, o.rows, o.columns)
        else:
            _update(A, o.first, o.second, o.third, o.rows, o.columns, o.inner)

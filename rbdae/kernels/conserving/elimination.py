"""The solution of the Newton equations, by blocks in an order that was found once (`multibody.elimination`).

Blocks are factorised without row exchanges. A body's has positive diagonal blocks (`rbdae.kernels.conserving.bodies`),
and what becomes of a joint's, after one of its bodies, is minus G A^-1 G^T.
"""

from __future__ import annotations

from rbdae.compiler.access import Array, Memory
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.memory import head, newton_matrix, newton_operations

FACTOR = 0
SOLVE = 1
UPDATE = 2


@jit
def _factor(A: Array, d: int, n: int) -> None:
    """L U of the block from d; the diagonal of U is inverted."""
    for k in range(n):
        t = 1.0 / A[d + n * k + k]
        A[d + n * k + k] = t
        for i in range(k + 1, n):
            f = A[d + n * i + k] * t
            A[d + n * i + k] = f
            for j in range(k + 1, n):
                A[d + n * i + j] -= f * A[d + n * k + j]


@jit
def _solve(A: Array, d: int, x: int, n: int, columns: int) -> None:
    """The block from x becomes (L U)^-1 times itself."""
    for j in range(columns):
        for i in range(n):
            t = A[x + columns * i + j]
            for k in range(i):
                t -= A[d + n * i + k] * A[x + columns * k + j]
            A[x + columns * i + j] = t
        for i in range(n - 1, -1, -1):
            t = A[x + columns * i + j]
            for k in range(i + 1, n):
                t -= A[d + n * i + k] * A[x + columns * k + j]
            A[x + columns * i + j] = t * A[d + n * i + i]


@jit
def _update(A: Array, a: int, x: int, c: int, n: int, columns: int, inner: int) -> None:
    """The block from c (n x columns) -= that from a (n x inner) times that from x."""
    for i in range(n):
        for j in range(columns):
            t = A[c + columns * i + j]
            for k in range(inner):
                t -= A[a + inner * i + k] * A[x + columns * k + j]
            A[c + columns * i + j] = t


@stage("i")
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

"""Joint equations that are dropped because they follow from the others.

Their gradients count as zero, and their multipliers are zero.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import head, primitives, rows


def drop_gradient(m: Memory, i: int, side: int) -> None:
    """Gx, Gw of one side of a primitive become zero in its dropped rows."""
    p = primitives(m)[i]
    r = rows(m)[i]
    for k in range(p.n):
        if p.keep[k] == 0:
            for j in range(3):
                r.Gx[side, k, j] = 0.0
            for j in range(9):
                r.Gw[side, k, j] = 0.0


def clear_dropped(m: Memory, out: Array, row: int) -> None:
    """out = 0 in the dropped rows."""
    C = primitives(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        for k in range(p.n):
            if p.keep[k] == 0:
                out[row + p.row + k] = 0.0


def dropped_residual(m: Memory, out: Array, row: int, y: Array, column: int) -> None:
    """The multipliers of dropped equations are zero: their rows of the residual."""
    C = primitives(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        for k in range(p.n):
            if p.keep[k] == 0:
                out[row + p.row + k] = y[column + p.row + k]

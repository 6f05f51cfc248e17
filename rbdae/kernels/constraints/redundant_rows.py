"""Joint equations that are dropped because they follow from the others.

Their gradients count as zero, and their multipliers are zero.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import primitives


def dropped(m: Memory) -> list[int]:
    """The places of the dropped equations among all constraints."""
    return [p.row + k for p in primitives(m) for k in range(p.n) if p.keep[k] == 0]


def clear_dropped(m: Memory, out: Array, row: int) -> None:
    """out = 0 in the dropped rows."""
    for i in dropped(m):
        out[row + i] = 0.0


def dropped_residual(m: Memory, out: Array, row: int, y: Array, column: int) -> None:
    """The multipliers of dropped equations are zero: their rows of the residual."""
    for i in dropped(m):
        out[row + i] = y[column + i]

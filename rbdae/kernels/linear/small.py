"""Linear algebra of a few numbers."""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array


def dot(x: Array, y: Array, n: int) -> Any:
    """The product of two vectors of n entries."""
    t = x[0] * y[0]
    for k in range(1, n):
        t += x[k] * y[k]
    return t


def inverse3(A: Array, out: Array) -> None:
    """out = A^-1, 3 x 3."""
    c00 = A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]
    c01 = A[1, 2] * A[2, 0] - A[1, 0] * A[2, 2]
    c02 = A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0]
    t = 1.0 / (A[0, 0] * c00 + A[0, 1] * c01 + A[0, 2] * c02)
    o10 = c01 * t
    o20 = c02 * t
    o01 = (A[0, 2] * A[2, 1] - A[0, 1] * A[2, 2]) * t
    o11 = (A[0, 0] * A[2, 2] - A[0, 2] * A[2, 0]) * t
    o21 = (A[0, 1] * A[2, 0] - A[0, 0] * A[2, 1]) * t
    o02 = (A[0, 1] * A[1, 2] - A[0, 2] * A[1, 1]) * t
    o12 = (A[0, 2] * A[1, 0] - A[0, 0] * A[1, 2]) * t
    o22 = (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]) * t
    out[0, 0] = c00 * t
    out[0, 1] = o01
    out[0, 2] = o02
    out[1, 0] = o10
    out[1, 1] = o11
    out[1, 2] = o12
    out[2, 0] = o20
    out[2, 1] = o21
    out[2, 2] = o22

"""Linear algebra of a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array


def dot(x: Array, y: Array, n: int) -> Any:
    """The product of two vectors of n entries."""
    return x[:n] @ y[:n]


def cross(a: Array, b: Array) -> Array:
    """a x b."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def inverse(A: Array) -> Array:
    """A^-1, (3, 3): its columns are the cross products of the rows over their determinant."""
    C = np.array([cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])]).T
    return C * (1.0 / (A[0] @ C[:, 0]))


def inverse3(A: Array, out: Array) -> None:
    """out = A^-1, 3 x 3."""
    out[:3, :3] = inverse(A[:3, :3])

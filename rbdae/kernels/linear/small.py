"""Linear algebra of a few numbers."""

from __future__ import annotations

from rbdae.graph.functions import Array
from rbdae.rotations.vectors import reciprocal


def inverse(A: Array) -> Array:
    """A^-1, (3, 3): its columns are the cross products of the rows over their determinant."""
    return reciprocal(A.T)

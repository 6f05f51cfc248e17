"""Linear algebra of a few numbers."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array


def inverse(A: Array) -> Array:
    """A^-1, (3, 3): its columns are the cross products of the rows over their determinant."""
    C = np.array([cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])]).T
    return C * (1.0 / (A[0] @ C[:, 0]))

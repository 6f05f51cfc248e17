"""Least squares with priorities: what is dear moves only as far as the cheap cannot do it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rbdae._arrays import Mat, Vec

_RANK = 1e-8
"""Singular values below this fraction of the largest count as zero."""


def least(groups: Sequence[Mat], rhs: Vec) -> list[Vec]:
    """z_k with sum_k A_k z_k = rhs in the sense of least squares.

    Of all solutions that with the least last z; of these that with the least z before it, and so on to the first.
    """
    size = max((float(np.linalg.norm(A, 2)) for A in groups if A.size), default=0.0)
    out: list[Vec] = []
    for k in reversed(range(len(groups))):
        cheaper = np.hstack(groups[:k]) if k else np.zeros((len(rhs), 0))
        U = _range(cheaper, _RANK * size)
        z = _least_norm(groups[k] - U @ (U.T @ groups[k]), rhs - U @ (U.T @ rhs), _RANK * size)
        rhs = rhs - groups[k] @ z
        out.append(z)
    return out[::-1]


def _range(A: Mat, floor: float) -> Mat:
    """An orthonormal basis of the columns of A."""
    if not A.size:
        return np.zeros((len(A), 0))
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U[:, s > floor])


def _least_norm(A: Mat, rhs: Vec, floor: float) -> Vec:
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > floor
    return np.asarray(Vt[kept].T @ ((U[:, kept].T @ rhs) / s[kept]))


__all__ = ["least"]

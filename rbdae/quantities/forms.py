"""Bilinear forms of the natural coordinates Z = (x, d1, d2, d3) of two bodies, in R^24.

A point or direction of a body is a sum c_k Z_k over its four vectors; the coefficients c are (8,), four for each body.
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat, Vec


def point(at: Vec, sign: float, side: int) -> Vec:
    """Coefficients (8,) of a point of one body."""
    return _side(np.array([1.0, *at]) * sign, side)


def direction(vector: Vec, side: int) -> Vec:
    """Coefficients (8,) of a direction of one body."""
    return _side(np.array([0.0, *vector]), side)


def _side(c: Vec, side: int) -> Vec:
    out = np.zeros(8, dtype=c.dtype)
    out[4 * side : 4 * side + 4] = c
    return out


def product(A: Vec, B: Vec) -> Mat:
    """H of the scalar product (sum A_k Z_k) . (sum B_k Z_k)."""
    return np.asarray(np.kron(np.outer(A, B) + np.outer(B, A), np.eye(3)))


def moved(first: Vec, second: Vec) -> Mat:
    """The matrix from natural coordinates that refer to the points `first` and `second` of the bodies to those that
    refer to the origins of their frames."""
    S = np.eye(24, dtype=np.result_type(first, second))
    for side, c in enumerate((first, second)):
        for i in range(3):
            for k in range(3):
                S[12 * side + k, 12 * side + 3 + 3 * i + k] = -c[i]
    return S

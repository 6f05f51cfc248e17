"""Points and directions of two bodies, by their coefficients (8,) over Z = (x, d1, d2, d3) of both: sum c_k Z_k."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec


def point(at: Vec, sign: float, side: int) -> Vec:
    """Coefficients (8,) of a point of one body."""
    return _side(np.array([1.0, *at]) * sign, side)


def direction(vector: Vec, side: int) -> Vec:
    """Coefficients (8,) of a direction of one body."""
    return _side(np.array([0.0, *vector]), side)


def axes(side: int, frame: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))) -> Mat:
    """Those of the axes of a frame in one body, by rows (3, 8)."""
    return np.array([direction(axis, side) for axis in frame])


def _side(c: Vec, side: int) -> Vec:
    out = np.zeros(8, dtype=c.dtype)
    out[4 * side : 4 * side + 4] = c
    return out


def referred(c: Vec, first: Vec, second: Vec) -> Vec:
    """The coefficients where Z refers to the points `first` and `second` of the bodies, not to the origins of their
    frames."""
    out = c.astype(np.result_type(c, first, second))
    for at, of in ((0, first), (4, second)):
        if c[at]:
            out[at + 1 : at + 4] -= c[at] * of
    return out

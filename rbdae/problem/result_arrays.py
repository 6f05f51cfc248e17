"""The arrays that results are written to: the caller's `out`, checked, or fresh ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat


def array_for(out: Any, shape: tuple[int, ...]) -> Any:
    """`out` for a result of this shape, or a fresh array for None; raises ValueError for one that does not fit."""
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape or not out.flags.writeable:
        raise ValueError(f"out must be a writable float64 array of shape {shape}, got {_describe(out)}")
    if out.ndim == 1 and not (out.flags.c_contiguous and out.flags.aligned):
        raise ValueError("out must be contiguous and aligned; give a copy")
    return out


def addressable(matrix: Mat) -> Mat:
    """The matrix, or a fresh one if its strides are not those of whole numbers forwards: kernels would write
    elsewhere."""
    forward = matrix.flags.aligned and all(s > 0 and s % 8 == 0 for s in matrix.strides)
    return matrix if forward else np.empty(matrix.shape)


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return type(value).__name__

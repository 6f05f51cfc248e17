"""Functions of numbers of any kind: floats, complex numbers, arrays, symbols (`rbdae.graph.symbols`).

Kernels and charts are written with them, and so are recorded, run on floats and checked with complex steps.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Memory: TypeAlias = Any
"""The memory of a problem: an object with arrays and records (`rbdae.kernels.memory`)."""

Array: TypeAlias = Any
"""A vector or matrix in a kernel, whose numbers may be of any kind."""

sqrt, sin, cos, asin, atan, log = np.sqrt, np.sin, np.cos, np.arcsin, np.arctan, np.log


def select(condition: Any, one: Any, other: Any) -> Any:
    """`one` where the condition holds, else `other`. Both are computed, also where a condition on symbols is open: so
    branches that give numbers and are cheap do not split a recording."""
    if hasattr(condition, "select"):
        return condition.select(one, other)
    if isinstance(condition, np.ndarray):
        return np.where(condition, one, other)
    return one if condition else other


def maximum(x: Any, y: Any) -> Any:
    """The larger number."""
    larger = x > y
    return select(larger, x, y) if hasattr(larger, "select") else np.maximum(x, y)


def arctan2(y: Any, x: Any) -> Any:
    """The angle of (x, y); of complex steps with its derivative."""
    if not any(isinstance(each, (complex, np.ndarray)) and np.iscomplexobj(each) for each in (y, x)):
        return np.arctan2(y, x)
    slope = (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)
    return np.arctan2(y.real, x.real) + 1j * slope


def is_zero(x: Any) -> Any:
    """Whether a factor is zero, so that its products need not be computed. An open symbol counts as another number."""
    return not hasattr(x, "recorder") and x == 0.0


def depends(x: Any) -> bool:
    """Whether a number depends on inputs of a recording, and not on the model alone."""
    return hasattr(x, "recorder") and x.recorder.graph.value(x.node) is None

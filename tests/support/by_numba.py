"""Functions of users that numba has compiled, where it is installed: rbdae does without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

try:
    import numba
except ImportError:
    numba = None  # type: ignore[assignment]

HAS_NUMBA = numba is not None
needs_numba = pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed")
"""For tests about such functions; in others they stay Python functions."""


def njit(function: Callable[..., Any]) -> Any:
    """The function, compiled where numba is there."""
    return function if numba is None else numba.njit(function)

"""The words that native functions use beside plain Python: types of addresses, `each` and `evaluate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from rbdae._arrays import Ints, Vec

Function: TypeAlias = Any
"""The address of a machine function; in plain Python what `evaluate` calls."""

Address: TypeAlias = Any
"""Anything that is passed on as it is."""

each: Callable[[int], range] = range
"""``for i in each(n)``: as `range`, four passes at once in a vector register. n must be a multiple of four, and no pass
may need what another one has done; nothing checks that. The body consists of assignments to ``v[i]`` and to names of
its own."""


def evaluate(function: Function, context: Address, t: float, y: Vec, yd: Vec, c: float, out: Vec) -> int:
    """Call a machine function; 0 says that `out` is complete."""
    return int(function(context, t, y, yd, c, out))


__all__ = ["Address", "Function", "Ints", "Vec", "each", "evaluate"]

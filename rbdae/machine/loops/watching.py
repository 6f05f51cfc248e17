"""Whether the caller has to be asked about an accepted state: not while measures stay within bounds, and positions near
those that it has seen.

The memory `v` has numbers at the places below, then the measures, the positions seen, and what they are compared with.
"""

from __future__ import annotations

from rbdae.machine.loops.memory import MEASURED, MOVING
from rbdae.machine.native.words import Address, Function, Ints, Vec, evaluate

LOW = 0
HIGH = 1
FAR = 2
"""Positions have moved if one has by more than this, in units of its own."""
VALUES = 3
"""Where measures begin."""


def asks(measure: Function, context: Address, s: Ints, v: Vec, t: float, y: Vec) -> bool:
    """Whether a measure is out of its bounds, or cannot be had, or positions have moved."""
    n = s[MEASURED]
    if n > 0:
        values = v[VALUES:]
        if evaluate(measure, context, t, y, v, 0.0, values) != 0:
            return True
        for i in range(n):
            if not (values[i] >= v[LOW] and values[i] <= v[HIGH]):
                return True
    seen = v[VALUES + n :]
    units = v[VALUES + n + s[MOVING] :]
    moved = False
    for i in range(s[MOVING]):
        moved = moved or abs(y[i] - seen[i]) > v[FAR] * units[i]
    return moved


__all__ = ["FAR", "HIGH", "LOW", "VALUES", "asks"]

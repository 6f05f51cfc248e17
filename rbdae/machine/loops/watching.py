"""Whether the caller has to be asked about an accepted state: not while measures stay within bounds, and positions near
those that it has seen.

The memory `v` has one number, then the bounds of the n measures, their values at the last two states, the positions
seen, and what these are compared with.
"""

from __future__ import annotations

from typing import NamedTuple

from rbdae.machine.language.words import Address, Function, Vec, evaluate
from rbdae.machine.loops.memory import StepMemory

FAR = 0
"""Positions have moved if one has by more than this, in units of its own."""
FIRST = 1
"""Where the lower bounds begin."""


class Places(NamedTuple):
    """Views of a memory: bounds, values at the last state and at the one before, (n,); positions, (m,)."""

    low: Vec
    high: Vec
    values: Vec
    before: Vec
    seen: Vec
    units: Vec


def size(n: int, m: int) -> int:
    """The size of the memory for n measures and m positions."""
    return FIRST + 4 * n + 2 * m


def places(v: Vec, n: int, m: int) -> Places:
    """The arrays of a memory by their names."""
    measures, positions = v[FIRST : FIRST + 4 * n].reshape(4, n), v[FIRST + 4 * n :].reshape(2, m)
    return Places(*measures, *positions)


def asks(measure: Function, context: Address, s: StepMemory, v: Vec, t: float, y: Vec) -> bool:
    """Whether a measure is out of its bounds, or cannot be had, or positions have moved."""
    n = s.measured
    if n > 0:
        low = v[FIRST:]
        high = v[FIRST + n :]
        values = v[FIRST + 2 * n :]
        before = v[FIRST + 3 * n :]
        for i in range(n):
            before[i] = values[i]
        if evaluate(measure, context, t, y, v, 0.0, values) != 0:
            return True
        for i in range(n):
            if not (values[i] >= low[i] and values[i] <= high[i]):
                return True
    seen = v[FIRST + 4 * n :]
    units = v[FIRST + 4 * n + s.moving :]
    moved = False
    for i in range(s.moving):
        moved = moved or abs(y[i] - seen[i]) > v[FAR] * units[i]
    return moved

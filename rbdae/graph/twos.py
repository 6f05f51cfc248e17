"""Two constants treated as one, for two sums that are computed together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias, final

from rbdae.graph.graph import Constant as One
from rbdae.graph.loaded import Loaded, value_of


@final
@dataclass(frozen=True, slots=True, eq=False)
class Two:
    """Two constants with the sign of the first; a number combined with them stands for both."""

    first: One
    second: One

    def __add__(self, other: Constant) -> Two:
        first, second = both(other)
        return Two(self.first + first, self.second + second)

    __radd__ = __add__

    def __mul__(self, other: Constant) -> Two:
        first, second = both(other)
        return Two(self.first * first, self.second * second)

    __rmul__ = __mul__

    def __truediv__(self, other: Constant) -> Two:
        first, second = both(other)
        return Two(self.first / first, self.second / second)

    def __rtruediv__(self, other: One) -> Two:
        return Two(other / self.first, other / self.second)

    def __neg__(self) -> Two:
        return Two(-self.first, -self.second)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (float, Loaded, Two)) and both(self) == both(other)

    def __hash__(self) -> int:
        return hash(self.first if self.first == self.second else (self.first, self.second))

    def __lt__(self, other: float) -> bool:
        return self.first < other

    def __gt__(self, other: float) -> bool:
        return self.first > other


Constant: TypeAlias = One | Two


def both(c: Constant) -> tuple[One, One]:
    """A constant for each of the two."""
    return (c.first, c.second) if isinstance(c, Two) else (c, c)


def size(c: Constant) -> Constant:
    """A constant with a positive sign."""
    return -c if c < 0.0 else c


def is_finite(c: Constant) -> bool:
    """Whether a constant's value is finite."""
    if isinstance(c, Two):
        return is_finite(c.first) and is_finite(c.second)
    return math.isfinite(value_of(c))


def is_one(c: Constant) -> bool:
    """Whether a constant is 1 or -1."""
    return c == 1.0 or c == -1.0

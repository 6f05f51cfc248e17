"""Numbers that count what is done with them: kernels run on them say how many operations they are made of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, Self, final

import numpy as np

SIGNS = ("+", "-", "*", "/", "sqrt", "sin", "cos", "other", "compare")
"""What is counted: sums, differences and changes of sign, products, quotients, functions, comparisons."""


@final
class Count:
    """A number whose operations are noted in a counter, which the results share.

    Operations among constants of the model are not seen. Those with a constant are, also with 0 or 1: the machine does
    them. Where `folded`, sums with 0 and products with 0 and 1 are not: what a formula by hand would leave out.
    """

    __slots__ = ("folded", "seen", "value")

    def __init__(self, value: float, seen: Counter[str], folded: bool = False) -> None:
        self.value = value
        self.seen = seen
        self.folded = folded

    def _note(self, sign: str, value: float) -> Self:
        self.seen[sign] += 1
        return type(self)(value, self.seen, self.folded)

    def _is(self, other: Any, number: float) -> bool:
        return self.folded and not isinstance(other, Count) and float(other) == number

    def __add__(self, other: Any) -> Self:
        return self if self._is(other, 0.0) else self._note("+", self.value + _value(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Self:
        return self if self._is(other, 0.0) else self._note("-", self.value - _value(other))

    def __rsub__(self, other: Any) -> Self:
        return self._note("-", _value(other) - self.value)

    def __mul__(self, other: Any) -> Self | float:
        if self._is(other, 0.0):
            return 0.0
        return self if self._is(other, 1.0) else self._note("*", self.value * _value(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Self:
        return self if self._is(other, 1.0) else self._note("/", self.value / _value(other))

    def __rtruediv__(self, other: Any) -> Self:
        return self._note("/", _value(other) / self.value)

    def __pow__(self, other: int) -> Self:
        return self._note("*", self.value**other)

    def __neg__(self) -> Self:
        return self._note("-", -self.value)

    def __abs__(self) -> Self:
        return type(self)(abs(self.value), self.seen, self.folded)

    def __lt__(self, other: Any) -> bool:
        return self._compared(self.value < _value(other))

    def __le__(self, other: Any) -> bool:
        return self._compared(self.value <= _value(other))

    def __gt__(self, other: Any) -> bool:
        return self._compared(self.value > _value(other))

    def __ge__(self, other: Any) -> bool:
        return self._compared(self.value >= _value(other))

    def __eq__(self, other: object) -> bool:
        return self._compared(self.value == _value(other))

    __hash__ = None  # type: ignore[assignment]

    def _compared(self, truth: bool) -> bool:
        self.seen["compare"] += 1
        return truth

    def __float__(self) -> float:
        return float(self.value)

    # what NumPy calls for its functions of objects

    def sqrt(self) -> Self:
        """The square root."""
        return self._note("sqrt", math.sqrt(self.value))

    def sin(self) -> Self:
        """The sine."""
        return self._note("sin", math.sin(self.value))

    def cos(self) -> Self:
        """The cosine."""
        return self._note("cos", math.cos(self.value))

    def tan(self) -> Self:
        """The tangent."""
        return self._note("other", math.tan(self.value))

    def arcsin(self) -> Self:
        """The arc sine."""
        return self._note("other", math.asin(self.value))

    def arctan(self) -> Self:
        """The arc tangent."""
        return self._note("other", math.atan(self.value))


def _value(other: Any) -> float:
    return other.value if isinstance(other, Count) else float(other)


def counted(kernel: Callable[..., Any], *arguments: Any, folded: bool = False) -> Counter[str]:
    """The operations of kernel(*arguments), whose arrays of floats become arrays of counting numbers. Arrays of objects
    take its results."""
    seen: Counter[str] = Counter()
    made = []
    for value in arguments:
        if isinstance(value, np.ndarray) and value.dtype == float:
            out = np.empty(value.shape, dtype=object)
            for i, x in np.ndenumerate(value):
                out[i] = Count(float(x), seen, folded)
            made.append(out)
        else:
            made.append(value)
    kernel(*made)
    return seen

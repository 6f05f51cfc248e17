"""`MemoryArray`: an array of the memory of kernels, as a line of their table (`rbdae.kernels.memory`)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, final

import numpy as np

from rbdae.compiler.access import Memory
from rbdae.compiler.declared import Declared, Machine, Twins, declare
from rbdae.machine.language import arrays
from rbdae.machine.language.body import Body
from rbdae.machine.language.calls import Callee, fitted, pointer
from rbdae.machine.language.kinds import INT, Value, constant, of_dtype


@final
class MemoryArray(Declared):
    """An array of the memory m; for kernels the function f(m) that opens it, in plain Python the attribute of m.

    Parameters
    ----------
    content : what is in it, for those who make memories
    dtype : of its entries; doubles of scratch are of another kind in some memories (`room`)
    shape : f(h), its length or lengths by the numbers of the head; None for one record
    """

    name: str
    head: np.dtype[Any]

    def __init__(self, content: Enum, dtype: Any, shape: Callable[[Any], Any] | None = None) -> None:
        self.content, self.dtype, self.shape = content, np.dtype(dtype), shape
        self.source = shape  # code depends on it
        declare(self, self)

    def __call__(self, m: Memory) -> Any:
        """The array of a plain memory."""
        return getattr(m, self.name)

    def room(self, head: Any, scalar: Any = np.float64) -> Any:
        """Zeros for it by the numbers of a head, in a memory whose doubles are of this kind."""
        lengths = 1 if self.shape is None else self.shape(_Sizes(lambda name: int(head[name][0])))
        return np.zeros(lengths, dtype=of_scalars(self.dtype, scalar))

    def nothing(self) -> Any:
        """The array where there is no room for it."""
        return np.zeros(1, dtype=self.dtype)

    @property
    def described(self) -> str:
        """The layouts of the array and of the head."""
        return f"array {self.name} of {_digest(self.dtype)} in {_digest(self.head)}"

    def plain(self, twins: Twins) -> Callable[..., Any]:
        """The attribute."""
        return attrgetter(self.name)

    def callee(self, machine: Machine) -> Callee:
        """Loads of the address and of what the shape reads."""
        return self._opened

    def _opened(self, at: Body, arguments: list[Value]) -> Value:
        (m,) = fitted(at, arguments, (INT,))
        head = Value(of_dtype(self.head, at.floats), (pointer(at, m),))

        def number(name: str) -> Value:
            place = arrays.field(at, head, name)
            assert place is not None
            return arrays.read(at, place)

        address = pointer(at, number(self.name))
        if self.shape is None:
            return Value(of_dtype(self.dtype, at.floats), (address,))
        lengths = self.shape(_Sizes(lambda name: _Length(at, number(name))))
        each = lengths if isinstance(lengths, tuple) else (lengths,)
        return arrays.opened(at, address, [_value(length) for length in each], self.dtype)


@cache
def _digest(dtype: np.dtype[Any]) -> str:
    return hashlib.sha256(f"{dtype} {dtype.metadata}".encode()).hexdigest()


@final
class _Sizes:
    """The numbers of a head by their names."""

    def __init__(self, read: Callable[[str], Any]) -> None:
        self._read = read

    def __getattr__(self, name: str) -> Any:
        return self._read(name)


@final
class _Length:
    """A length in machine code."""

    def __init__(self, at: Body, value: Value) -> None:
        self._at, self.value = at, value

    def __add__(self, other: _Length | int) -> _Length:
        return _Length(self._at, self._at.arithmetic("+", self.value, _value(other)))

    def __mul__(self, other: int) -> _Length:
        return _Length(self._at, self._at.arithmetic("*", self.value, _value(other)))

    __radd__, __rmul__ = __add__, __mul__


def _value(length: _Length | int) -> Value:
    return length.value if isinstance(length, _Length) else constant(length)


def of_scalars(dtype: np.dtype[Any], scalar: Any) -> np.dtype[Any]:
    """A dtype, of records or of numbers, with numbers of another kind in place of floats."""
    if scalar is np.float64:
        return dtype
    if dtype.names is None:
        return np.dtype(scalar) if dtype.kind in "fc" else dtype
    fields = [(name, dtype[name].base, dtype[name].shape) for name in dtype.names]
    kinds = [(name, scalar if kind.kind in "fc" else kind, shape) for name, kind, shape in fields]
    return np.dtype(kinds, align=True)

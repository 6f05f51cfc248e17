"""The words that native functions use beside plain Python: types of addresses, `Fields`, `each` and `evaluate`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from inspect import get_annotations
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from rbdae._arrays import Ints, Vec

Function: TypeAlias = Any
"""The address of a machine function; in plain Python what `evaluate` calls."""

Address: TypeAlias = Any
"""Anything that is passed on as it is."""

_ENTRIES = {"int": "i8", "float": "f8", "Function": "i8", "Address": "i8", "Vec": "p8"}


class Fields:
    """Memory of native functions: numbers and addresses by the names that a class annotates, those of its bases first,
    and `vectors` behind them. A native function takes its address. A field that is a vector has the vector's address.

    Attributes
    ----------
    names : all names but `vectors`
    kinds : of each name, "i8", "f8", or "p8" for a vector
    """

    names: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[dict[str, str]] = {}
    _structure: ClassVar[Any]
    vectors: Vec

    def __init_subclass__(cls) -> None:
        known = {name: kind for base in reversed(cls.__mro__) for name, kind in get_annotations(base).items()}
        cls.kinds = {name: _ENTRIES[kind] for name, kind in known.items() if kind in _ENTRIES and name != "vectors"}
        cls.names = tuple(cls.kinds)
        members = [(name, ctypes.c_double if kind == "f8" else ctypes.c_int64) for name, kind in cls.kinds.items()]
        cls._structure = type(cls.__name__, (ctypes.Structure,), {"_fields_": members})

    @classmethod
    def of(cls, memory: Vec) -> Self:
        """The numbers at the beginning of an array, without `vectors`; quicker than a record of numpy."""
        numbers: Self = cls._structure.from_buffer(memory)
        return numbers


each: Callable[[int], range] = range
"""``for i in each(n)``: as `range`, four passes at once in a vector register. n must be a multiple of four, and no pass
may need what another one has done; nothing checks that. The body consists of assignments to ``v[i]`` and to names of
its own."""


def room(n: int) -> Vec:
    """Memory for n numbers, which is known when machine code is written, until the function ends."""
    return np.empty(n)


def evaluate(function: Function, context: Address, t: float, y: Vec, yd: Vec, c: float, out: Vec) -> int:
    """Call a machine function; 0 says that `out` is complete."""
    return int(function(context, t, y, yd, c, out))


__all__ = ["Address", "Fields", "Function", "Ints", "Vec", "each", "evaluate", "room"]

"""Kinds of values in translated functions, and the values: each is a few numbers and addresses in LLVM's registers.

An array is the address of its first entry and, for each axis, its length and the distance of neighbours in words of
eight bytes; those that are known when a function is translated belong to the kind, the others to the value. All entries
of arrays and records are doubles and 64-bit integers.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np

WIDTH = 4
"""Doubles in a vector register; processors with narrower ones take two."""

LONG = 1 << 40
"""The length of an axis where it is not known and not carried along: slices without an end have it, too."""


class Refused(Exception):
    """The reason why an expression or a statement has no machine code, for an error with its line."""


@dataclass(frozen=True, slots=True)
class Register:
    """Something in one register; what is no number is passed on as it is."""

    name: str
    llvm: str

    @property
    def types(self) -> tuple[str, ...]:
        """The types of the registers that have a value of this kind."""
        return (self.llvm,)


FUNCTION, ADDRESS = Register("Function", "ptr"), Register("Address", "ptr")
MASK = Register("a condition for each lane", f"<{WIDTH} x i1>")


@final
@dataclass(frozen=True, slots=True)
class Number(Register):
    """A number. It becomes one of a higher rank."""

    rank: int


BOOL, INT, FLOAT = Number("bool", "i1", 0), Number("int", "i64", 1), Number("float", "double", 2)
LANES = Number("a vector register", f"<{WIDTH} x double>", 3)


@final
@dataclass(frozen=True)
class Record:
    """The address of a record with fields."""

    dtype: np.dtype[Any]

    types = ("ptr",)
    name = "a record"


Axis: TypeAlias = tuple[int | None, int | None]
"""Length and step in words of one axis; None for what is known only in a value."""


@final
@dataclass(frozen=True)
class Array:
    """An array of numbers or records."""

    entry: Number | Record
    axes: tuple[Axis, ...]

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of the registers of a value: the address, then what is not known of the axes."""
        return ("ptr", *("i64" for axis in self.axes for known in axis if known is None))

    @property
    def name(self) -> str:
        """For messages."""
        return f"an array of {len(self.axes)} axes"


@final
@dataclass(frozen=True)
class Several:
    """Values that are returned together."""

    kinds: tuple[Kind, ...]

    @property
    def types(self) -> tuple[str, ...]:
        """Those of all, one after the other."""
        return tuple(part for kind in self.kinds for part in kind.types)

    @property
    def name(self) -> str:
        """For messages."""
        return f"{len(self.kinds)} values"


@final
@dataclass(frozen=True)
class Nothing:
    """The result of a function that returns none."""

    types = ()
    name = "nothing"


NOTHING = Nothing()


@final
@dataclass(frozen=True, eq=False)
class Object:
    """The kind of an object that a function names, which has no registers: a module, a function, a dtype, a tuple of
    numbers."""

    object: Any

    types = ()
    name = "an object"


Kind: TypeAlias = Register | Record | Array | Several | Nothing | Object


class Value(NamedTuple):
    """A value: its kind, and registers or constants of LLVM."""

    kind: Kind
    registers: tuple[str, ...]

    @property
    def text(self) -> str:
        """The register of a value that has one."""
        (text,) = self.registers
        return text


def constant(value: float | int | bool) -> Value:
    """A number of Python as a value."""
    if isinstance(value, (bool, np.bool_)):
        return Value(BOOL, ("true" if value else "false",))
    if isinstance(value, (int, np.integer)):
        return Value(INT, (str(int(value)),))
    return Value(FLOAT, (f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}",))


def named(value: Any) -> Value:
    """An object that a function names, as a value."""
    is_number = isinstance(value, (bool, int, float, np.integer, np.floating, np.bool_))
    return constant(value) if is_number else Value(Object(value), ())


def whole(value: Value) -> int | None:
    """The number of a constant integer; None for others."""
    return int(value.text) if value.kind is INT and not value.text.startswith("%") else None


def common(a: Kind, b: Kind) -> Kind | None:
    """The kind that values of both become; None if there is none."""
    if a == b:
        return a
    if isinstance(a, Number) and isinstance(b, Number):
        return max(a, b, key=lambda kind: kind.rank)
    if isinstance(a, Array) and isinstance(b, Array) and a.entry == b.entry and len(a.axes) == len(b.axes):
        pairs = zip(a.axes, b.axes, strict=True)
        return Array(a.entry, tuple((_same(p[0], q[0]), _same(p[1], q[1])) for p, q in pairs))
    if isinstance(a, Several) and isinstance(b, Several) and len(a.kinds) == len(b.kinds):
        kinds = [common(x, y) for x, y in zip(a.kinds, b.kinds, strict=True)]
        return Several(tuple(kind for kind in kinds if kind is not None)) if None not in kinds else None
    return None


def _same(a: int | None, b: int | None) -> int | None:
    return a if a == b else LONG if LONG in (a, b) else None


def words(entry: Number | Record) -> int:
    """The size of an entry, in words."""
    return _fields(entry.dtype)[1] if isinstance(entry, Record) else 1


def field_of(record: Record, name: str) -> tuple[Number | Record, tuple[int, ...], int] | None:
    """The kind of the entries of a field, its shape, and its place in words; None if there is none. A field of no
    entries is what lies behind the record."""
    found = _fields(record.dtype)[0].get(name)
    if found is None:
        return None
    base, shape, at = found
    entry = Record(base) if base.fields is not None else FLOAT if base.kind == "f" else INT
    return entry, tuple(length or LONG for length in shape), at


@cache
def _fields(dtype: np.dtype[Any]) -> tuple[dict[str, tuple[np.dtype[Any], tuple[int, ...], int]], int]:
    """Dtype, shape and place in words of each field, and the size. Records have no gaps, because all that is in them
    has eight bytes."""
    out, at = {}, 0
    for name, (kind, *_) in (dtype.fields or {}).items():
        base, shape = kind.subdtype or (kind, ())
        out[name] = base, tuple(shape), at
        at += math.prod(shape) * (_fields(base)[1] if base.fields is not None else 1)
    return out, at


def contiguous(entry: Number | Record, lengths: tuple[int | None, ...]) -> Array:
    """An array in the order of C; a length that is not known makes the steps of the axes before it unknown, too."""
    axes: list[Axis] = []
    step: int | None = words(entry)
    for length in reversed(lengths):
        axes.insert(0, (length, step))
        step = None if step is None or length is None else step * length
    return Array(entry, tuple(axes))

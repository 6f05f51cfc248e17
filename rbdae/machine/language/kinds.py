"""Kinds of values in translated functions, and the values: each is one register of LLVM, or a constant."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple, final

from rbdae.machine.language.words import Fields

WIDTH = 4
"""Doubles in a vector register; processors with narrower ones take two."""


class Refused(Exception):
    """The reason why an expression or a statement has no machine code, for an error with its line."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Something in one register; what is no number is passed on as it is."""

    name: str
    llvm: str


@final
@dataclass(frozen=True, slots=True)
class Number(Kind):
    """A number. It becomes one of a higher rank."""

    rank: int


@final
@dataclass(frozen=True, slots=True)
class Vector(Kind):
    """The address of numbers one after the other."""

    entry: Number


@final
@dataclass(frozen=True, slots=True)
class Record(Kind):
    """The address of numbers with names, see `rbdae.machine.language.words.Fields`."""

    fields: type[Fields]


NOTHING = Kind("nothing", "void")
FUNCTION, ADDRESS = Kind("Function", "ptr"), Kind("Address", "ptr")
MASK = Kind("a condition for each lane", f"<{WIDTH} x i1>")
BOOL = Kind("bool", "i1")
INT, FLOAT = Number("int", "i64", 1), Number("float", "double", 2)
LANES = Number("a vector register", f"<{WIDTH} x double>", 3)
VEC, INTS = Vector("Vec", "ptr", FLOAT), Vector("Ints", "ptr", INT)


class Value(NamedTuple):
    """A value: its kind, and its register or constant."""

    kind: Kind
    text: str


def constant(value: float | int | bool) -> Value:
    """A number of Python as a value."""
    if isinstance(value, bool):
        return Value(BOOL, "true" if value else "false")
    if isinstance(value, int):
        return Value(INT, str(value))
    return Value(FLOAT, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}")


def whole(value: Value) -> int | None:
    """The number of a constant integer; None for others."""
    return int(value.text) if value.kind is INT and not value.text.startswith("%") else None


def common(a: Kind, b: Kind) -> Kind | None:
    """The kind that values of both become; None if there is none."""
    if isinstance(a, Number) and isinstance(b, Number):
        return max(a, b, key=lambda kind: kind.rank)
    return a if a == b else None

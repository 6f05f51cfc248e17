"""Fields of records and registers of arrays: addresses, and what is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rbdae.machine.language.body import Body
from rbdae.machine.language.kinds import (
    INT,
    LONG,
    Array,
    Axis,
    Number,
    Record,
    Refused,
    Several,
    Value,
    constant,
    contiguous,
    field_of,
    whole,
)


class Part(NamedTuple):
    """A slice along one axis: its first index, and its length (None: as far as the axis goes)."""

    first: Value
    length: Value | None


def field(at: Body, record: Value, name: str) -> Value | None:
    """The address of a field: an array with its axes, of a number one without; None if there is none."""
    assert isinstance(record.kind, Record)
    found = field_of(record.kind, name)
    if found is None:
        return None
    entry, shape, place = found
    return Value(contiguous(entry, shape), (at.moved(record.text, constant(place)),))


def part(at: Body, array: Value, indices: Sequence[Value | Part]) -> Value:
    """A part of an array, one without axes for an entry; axes without an index are left as they are. As in machine
    code of any kind, indices are trusted."""
    assert isinstance(array.kind, Array)
    address, left, registers = array.registers[0], list[Axis](), list[str]()
    for k, (length, step) in enumerate(at.axes(array)):
        index = indices[k] if k < len(indices) else Part(constant(0), None)
        if isinstance(index, Part):
            first = index.first
            n = _rest(at, length, first) if index.length is None else index.length
            known = array.kind.axes[k][1]
            left.append((whole(n), known))
            registers += [n.text] if whole(n) is None else []
            registers += [step.text] if known is None else []
        else:
            first = index
        address = at.moved(address, at.arithmetic("*", first, step))
    return Value(Array(array.kind.entry, tuple(left)), (address, *registers))


def _rest(at: Body, length: Value, first: Value) -> Value:
    """The length of an axis from an index on."""
    return length if whole(length) == LONG else at.arithmetic("-", length, first)


def read(at: Body, place: Value) -> Value:
    """What is at the address of an array without axes; others are as they are."""
    if not isinstance(place.kind, Array) or place.kind.axes:
        return place
    entry = place.kind.entry
    return Value(entry, place.registers) if isinstance(entry, Record) else at.read(entry, place.registers[0])


def number_at(place: Value) -> tuple[Number, str] | None:
    """Kind and address of a number that can be written; None for a record, and for an array with axes."""
    kind = place.kind
    if isinstance(kind, Array) and not kind.axes and isinstance(kind.entry, Number):
        return kind.entry, place.registers[0]
    return None


def shape(at: Body, array: Value) -> Value:
    """The lengths of all axes."""
    lengths = [length for length, _ in at.axes(array)]
    if any(whole(length) == LONG for length in lengths):
        raise Refused("the length of this array is not known")
    return _together(lengths)


def _together(values: Any) -> Value:
    found = list(values)
    return Value(Several((INT,) * len(found)), tuple(value.text for value in found))

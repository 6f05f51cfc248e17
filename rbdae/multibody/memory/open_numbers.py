"""The numbers of a model as constants that its code loads, which then is that of all models with the same structure.

Structure is topology, kinds and forms, and which numbers are 0, 1 or -1, which are equal, but for their signs, in one
field of one record, as those of symmetric matrices are, and which are equal in all records of an array, as those of the
links of a chain are. Other numbers may be equal by chance, and are loaded each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.kernels.memory import Content, named
from rbdae.kernels.symbolic import opened

RECORDS = named(Content.NUMBERS)
"""The arrays that have numbers of the model."""

ADDRESSES = ("force", "potential", "law")
"""The fields of records that are addresses of the user's functions."""

_WORD = 8
"""Bytes of every number in a record."""


class Part(NamedTuple):
    """The numbers of one array.

    Parameters
    ----------
    values : those that are loaded, each of them once whatever its sign
    places : (records, floats of a record): 1 + the place among the values, less than zero where the sign is the other
        one; 0 for constants
    constants : (records, floats of a record), 0 for loaded ones
    digest : of the structure
    """

    values: Vec
    places: Ints
    constants: Mat
    digest: bytes


@final
class OpenNumbers:
    """The numbers in some records, found when they are first asked for; integers and addresses are structure.

    Parameters
    ----------
    arrays : the records, by their names
    """

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self.arrays = arrays

    def changed(self, arrays: Mapping[str, Any]) -> OpenNumbers:
        """The numbers in other records of the same kinds; equal records are not looked at again."""
        out, pairs = OpenNumbers(arrays), {name: (arrays[name], old) for name, old in self.arrays.items()}
        same = {name for name, (new, old) in pairs.items() if new is old or new.tobytes() == old.tobytes()}
        out.parts = {name: part if name in same else _part(arrays[name]) for name, part in self.parts.items()}
        return out

    @cached_property
    def parts(self) -> dict[str, Part]:
        """Those of each array."""
        return {name: _part(array) for name, array in self.arrays.items()}

    @cached_property
    def values(self) -> Vec:
        """All that are loaded, array by array."""
        return np.concatenate([part.values for part in self.parts.values()])

    @cached_property
    def digest(self) -> bytes:
        """The structure."""
        digest = hashlib.sha256()
        for name, part in self.parts.items():
            digest.update(name.encode() + part.digest)
        return digest.digest()

    def records(self, loaded: Sequence[Any]) -> dict[str, Any]:
        """The records for kernels on symbols, with the symbols of `values` in their places."""
        out, first = {}, 0
        for name, part in self.parts.items():
            out[name] = records_with(self.arrays[name], part.places, loaded[first : first + len(part.values)])
            first += len(part.values)
        return out


class _Columns(NamedTuple):
    """The words of a record: floats, with each field's name, shape and span; addresses; others. And a digest."""

    floats: Ints
    fields: tuple[tuple[str, tuple[int, ...], slice], ...]
    field_of: Ints
    addresses: Ints
    others: Ints
    described: str


@cache
def _columns(dtype: Any) -> _Columns:
    floats: list[int] = []
    addresses: list[int] = []
    others: list[int] = []
    fields: list[tuple[str, tuple[int, ...], slice]] = []
    field_of: list[int] = []
    for name in dtype.names:
        kind, offset = dtype.fields[name][:2]
        if kind.base.itemsize != _WORD or kind.base.names:
            raise TypeError(f"field {name!r} of a record is not made of numbers of {_WORD} bytes")
        words = list(range(offset // _WORD, (offset + kind.itemsize) // _WORD))
        if kind.base.kind == "f":
            fields.append((name, kind.shape, slice(len(floats), len(floats) + len(words))))
            field_of += [len(fields)] * len(words)
            floats += words
        elif name in ADDRESSES:
            addresses += words
        else:
            others += words
    known = [np.array(words, dtype=np.int64) for words in (floats, field_of, addresses, others)]
    described = hashlib.sha256(repr(dtype.descr).encode()).hexdigest()
    return _Columns(known[0], tuple(fields), known[1], known[2], known[3], described)


def _part(array: Any) -> Part:
    """The numbers of an array, and their structure."""
    columns = _columns(array.dtype)
    words = np.ascontiguousarray(array).view(np.int64).reshape(len(array), array.dtype.itemsize // _WORD)
    rows: Mat = words.view(np.float64)[:, columns.floats] + 0.0  # a zero has no sign
    sizes = np.abs(rows)
    free = (rows != 0.0) & (sizes != 1.0) & (rows == rows)
    inside = np.where(free, sizes, 0.0)
    same = (free.sum(axis=0) > 1) & ((inside == inside.max(axis=0, initial=0.0)) | ~free).all(axis=0)
    i, j = np.nonzero(free)
    loaded = rows[i, j]
    group, size = np.where(same[j], 0, 1 + i * (len(columns.fields) + 1) + columns.field_of[j]), sizes[i, j]
    by, new = np.lexsort((size, group)), np.ones(len(i), dtype=bool)
    group, size = group[by], size[by]
    new[1:] = (group[1:] != group[:-1]) | (size[1:] != size[:-1])
    first, number = by[new], np.empty(len(i), dtype=np.int64)
    number[by] = np.cumsum(new) - 1
    order = np.argsort(first)  # as they are met
    values, number = loaded[first[order]], np.argsort(order)[number]
    places = np.zeros(rows.shape, dtype=np.int64)
    places[i, j] = np.where(loaded == values[number], number + 1, -number - 1)
    rows[i, j] = 0.0
    addresses = words[:, columns.addresses] != 0  # `contents` has the functions
    digest = hashlib.sha256(f"{array.shape} {columns.described}".encode())
    for told in (words[:, columns.others], addresses, rows, places):
        digest.update(told.tobytes())
    return Part(values, places, rows, digest.digest())


def records_with(array: Any, places: Ints, loaded: Sequence[Any]) -> list[Any]:
    """Records of an array for kernels on symbols, with the symbols `loaded` at the places of a `Part`."""
    records: list[Any] = opened(array)
    for name, shape, span in _columns(array.dtype).fields:
        numbers = places[:, span]
        for k in np.flatnonzero(numbers.any(axis=1)).tolist():
            values = np.array(getattr(records[k], name), dtype=object).reshape(-1)
            for place in np.flatnonzero(numbers[k]).tolist():
                at = int(numbers[k, place])
                values[place] = loaded[at - 1] if at > 0 else -loaded[-at - 1]
            setattr(records[k], name, values.reshape(shape) if shape else values[0])
    return records

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

from rbdae._arrays import Bools, Ints, Mat, Vec
from rbdae.kernels.memory import Content, named
from rbdae.kernels.symbolic import opened

RECORDS = named(Content.NUMBERS)
"""The arrays that have numbers of the model."""

ADDRESSES = ("force", "potential", "law")
"""The fields of records that are addresses of the user's functions."""

_WORD = 8
"""Bytes of every number in a record."""


class Structure(NamedTuple):
    """The structure of the numbers of one array.

    Parameters
    ----------
    places : (records, floats of a record): 1 + the place among the values, less than zero where the sign is the other
        one; 0 for constants
    constants : (records, floats of a record), 0 for loaded ones
    absolute, sign : of the places
    first : where each value is met first, in the flat array
    groups : of each value the record and the field in which another one of its size would be the same; (0, 0) for those
        that are equal in all records
    two : two values (2, fields) of each field in which several records have some that are not equal
    digest : of all this
    """

    places: Ints
    absolute: Ints
    sign: Mat
    constants: Mat
    first: Ints
    groups: list[tuple[int, int]]
    two: Ints
    digest: bytes

    def values(self, array: Any) -> Vec | None:
        """The values of another array with the same integers; None if its numbers may have another structure."""
        rows = _numbers(array)
        if rows.shape != self.constants.shape:
            return None
        values = rows.ravel()[self.first]
        if not len(values):
            return values if rows.tobytes() == self.constants.tobytes() else None
        sizes = np.abs(values)
        table = np.zeros(len(values) + 1)
        table[1:] = values
        found = table[self.absolute] * self.sign + self.constants
        alike = (
            found.tobytes() == rows.tobytes()
            and not ((sizes == 0.0) | (sizes == 1.0) | (values != values)).any()
            and len(set(zip(self.groups, sizes.tolist(), strict=True))) == len(values)
            and not (sizes[self.two[0]] == sizes[self.two[1]]).any()
        )
        return values if alike else None


class Part(NamedTuple):
    """The numbers of one array: `values` are those that are loaded, each of them once whatever its sign."""

    values: Vec
    structure: Structure


@final
class OpenNumbers:
    """The numbers of all arrays: `values` are those of the arrays, one after the other. `data` has what code makes of
    them, by the tables that it goes to."""

    def __init__(self, arrays: Mapping[str, Part]) -> None:
        self.arrays = arrays
        self.data: dict[Any, Any] = {}

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> OpenNumbers:
        """The numbers in some records, by their names; integers and addresses are structure."""
        return cls({name: _part(array) for name, array in arrays.items()})

    def changed(self, arrays: Mapping[str, Any]) -> OpenNumbers:
        """The same with other numbers in some arrays, which have the same integers."""
        parts = {}
        for name, array in arrays.items():
            values = self.arrays[name].structure.values(array)
            parts[name] = _part(array) if values is None else Part(values, self.arrays[name].structure)
        out = OpenNumbers({**self.arrays, **parts})
        if all(part.structure is self.arrays[name].structure for name, part in parts.items()):
            out.digest = self.digest
        return out

    @cached_property
    def values(self) -> Vec:
        """All that are loaded."""
        return np.concatenate([part.values for part in self.arrays.values()])

    @cached_property
    def digest(self) -> bytes:
        """The structure."""
        digest = hashlib.sha256()
        for name, part in self.arrays.items():
            digest.update(name.encode() + part.structure.digest)
        return digest.digest()

    def records(self, arrays: Mapping[str, Any], loaded: Sequence[Any]) -> dict[str, Any]:
        """The records for kernels on symbols, with the symbols of `values` in their places."""
        out, first = {}, 0
        for name, part in self.arrays.items():
            records = opened(arrays[name])
            _fill(records, arrays[name].dtype, part.structure.places, loaded[first : first + len(part.values)])
            out[name], first = records, first + len(part.values)
        return out


class _Columns(NamedTuple):
    """The words of a record that are floats, those of each field with its name and shape, addresses, and the others;
    and a digest of what the record is."""

    floats: Ints | slice
    fields: tuple[tuple[str, tuple[int, ...], slice], ...]
    field_of: list[int]
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
    places = [np.array(words, dtype=np.int64) for words in (floats, addresses, others)]
    described = hashlib.sha256(repr(dtype.descr).encode()).hexdigest()
    all_floats = len(floats) == dtype.itemsize // _WORD
    return _Columns(slice(None) if all_floats else places[0], tuple(fields), field_of, places[1], places[2], described)


_MOST_RECENT, _FEW = 256, 50
"""Structures that are kept, and records that one may have for that."""

_recent: dict[tuple[Any, ...], Structure] = {}
"""Structures that were met, by what is not a number in their records."""


def _part(array: Any) -> Part:
    """The numbers of an array, whose structure is looked for among those that were met: that takes a fifth of the
    time."""
    columns, words = _columns(array.dtype), _words(array)
    addresses = (words[:, columns.addresses] != 0).tobytes()  # `contents` has the functions
    key = (f"{array.shape} {columns.described}", words[:, columns.others].tobytes(), addresses)
    known = _recent.get(key)
    values = None if known is None else known.values(array)
    if known is not None and values is not None:
        return Part(values, known)
    out = _numbered(array, hashlib.sha256(b"".join((key[0].encode(), *key[1:]))))
    if len(array) <= _FEW:
        while len(_recent) >= _MOST_RECENT:
            _recent.pop(next(iter(_recent)), None)
        _recent[key] = out.structure
    return out


def _numbered(array: Any, digest: Any) -> Part:
    columns = _columns(array.dtype)
    rows = _numbers(array)
    sizes = np.abs(rows)
    free = (rows != 0.0) & (sizes != 1.0) & (rows == rows)
    inside = sizes * free
    same = (free.sum(axis=0) > 1) & ((inside == inside.max(axis=0, initial=0.0)) | ~free).all(axis=0)
    places = np.zeros(rows.shape, dtype=np.int64)
    known: dict[tuple[tuple[int, int], float], int] = {}
    values: list[float] = []
    first: list[int] = []
    i, j = np.nonzero(free)
    if len(i):
        everywhere = same.tolist()
        mine = []
        for record, column, x in zip(i.tolist(), j.tolist(), rows[i, j].tolist(), strict=True):
            group = (0, 0) if everywhere[column] else (record + 1, columns.field_of[column])
            place = known.setdefault((group, abs(x)), len(values) + 1)
            if place > len(values):
                values.append(x)
                first.append(record * rows.shape[1] + column)
            mine.append(place if x == values[place - 1] else -place)
        places[i, j] = mine
        rows[i, j] = 0.0
    digest.update(rows.tobytes())
    digest.update(places.tobytes())
    absolute, sign = np.abs(places), np.sign(places).astype(float)
    groups, at, two = [group for group, _ in known], np.array(first, dtype=np.int64), _two(absolute, ~same)
    return Part(
        np.array(values, dtype=float), Structure(places, absolute, sign, rows, at, groups, two, digest.digest())
    )


def _two(places: Ints, columns: Bools) -> Ints:
    """Two of the values of each of these columns that has several, (2, columns)."""
    if not len(places):
        return np.zeros((2, 0), dtype=np.int64)
    several = np.flatnonzero(columns & (np.count_nonzero(places, axis=0) > 1))
    loaded = places[:, several] != 0
    first, last = loaded.argmax(axis=0), len(loaded) - 1 - loaded[::-1].argmax(axis=0)
    out: Ints = places[[first, last], several] - 1
    return out


def _numbers(array: Any) -> Mat:
    """The floats of records; a zero has no sign."""
    out: Mat = _words(array).view(np.float64)[:, _columns(array.dtype).floats] + 0.0
    return out


def _words(array: Any) -> Ints:
    out: Ints = np.ascontiguousarray(array).view(np.int64).reshape(len(array), array.dtype.itemsize // _WORD)
    return out


def _fill(records: list[Any], dtype: Any, places: Ints, loaded: Sequence[Any]) -> None:
    """Symbols to their places in the records of an array."""
    for name, shape, span in _columns(dtype).fields:
        for k, numbers in zip(*_some(places[:, span]), strict=True):
            values = np.array(getattr(records[k], name), dtype=object).reshape(-1)
            for place in np.flatnonzero(numbers).tolist():
                at = int(numbers[place])
                values[place] = loaded[at - 1] if at > 0 else -loaded[-at - 1]
            setattr(records[k], name, values.reshape(shape) if shape else values[0])


def records_with(name: str, array: Any, places: Ints, loaded: Sequence[Any]) -> list[Any]:
    """Records of an array for kernels on symbols, with the symbols `loaded` at these places (records, floats of a
    record), as `Structure` has them."""
    records: list[Any] = opened(array)
    _fill(records, array.dtype, places, loaded)
    return records


def _some(places: Ints) -> tuple[list[int], list[Ints]]:
    """The records in which something is loaded, by their numbers, and the places there."""
    found = np.flatnonzero(places.any(axis=1)).tolist()
    return found, [places[k] for k in found]

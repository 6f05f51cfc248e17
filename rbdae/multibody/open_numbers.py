"""The numbers of a model as constants that its code loads, which then is that of all models with the same structure.

Structure is topology, kinds and forms, and which numbers are 0, 1 or -1, which are equal, but for their signs, in one
field of one record, as those of symmetric matrices are, and which are equal in all records, as those of the links of a
chain are. Other numbers may be equal by chance, and are loaded each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rbdae._arrays import Ints, Vec
from rbdae.kernels.symbolic import opened

RECORDS = ("bodies", "states", "primitives", "bushings", "drives", "elements", "entries", "tree_velocities")
"""The arrays that have numbers of the model."""


class OpenNumbers(NamedTuple):
    """The numbers that are loaded.

    Parameters
    ----------
    values : the sizes of the numbers, each of them once
    places : for each float of a field 1 + the number of the size in it, with its sign; 0 where it is a constant
    digest : the structure
    """

    values: Vec
    places: dict[tuple[str, str], Ints]
    digest: str


def open_numbers(arrays: dict[str, Any]) -> OpenNumbers:
    """The numbers in some records, by their names; integers and addresses are structure."""
    known: dict[tuple[Any, ...], int] = {}
    places: dict[tuple[str, str], Ints] = {}
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(repr((name, array.shape)).encode())
        for field in array.dtype.names or ():
            values = array[field]
            if values.dtype.kind != "f" or not values.size:
                digest.update(values.tobytes())
                continue
            rows = values.reshape(len(values), -1) + 0.0  # a zero has no sign
            free = (rows != 0.0) & (np.abs(rows) != 1.0) & (rows == rows)
            digest.update(np.where(free, 0.0, rows).tobytes())
            if not free.any():
                continue
            sizes = np.where(free, np.abs(rows), 0.0)
            most = sizes.max(axis=0)
            everywhere = (free.sum(axis=0) > 1) & ((sizes == most) | ~free).all(axis=0)
            where = np.zeros(rows.shape, dtype=np.int64)
            i, j = np.nonzero(free)
            mine = [
                known.setdefault((x,) if same else (name, field, k, x), len(known))
                for k, x, same in zip(i.tolist(), sizes[i, j].tolist(), everywhere[j].tolist(), strict=True)
            ]
            where[i, j] = np.where(rows[i, j] > 0.0, 1, -1) * (np.array(mine) + 1)
            places[name, field] = where.reshape(values.shape)
            digest.update(where.tobytes())
    return OpenNumbers(np.array([key[-1] for key in known]), places, digest.hexdigest())


def open_records(arrays: dict[str, Any], found: OpenNumbers, loaded: Sequence[Any]) -> dict[str, Any]:
    """The records for kernels on symbols, with the symbols of numbers that are loaded in their places."""
    out = {}
    for name, array in arrays.items():
        records = opened(name, array)
        for field in array.dtype.names or ():
            where = found.places.get((name, field))
            if where is None:
                continue
            for record, numbers in zip(records, where, strict=True):
                values = np.array(getattr(record, field), dtype=object)
                for place in np.argwhere(numbers):
                    k = int(numbers[tuple(place)])
                    values[tuple(place)] = loaded[k - 1] if k > 0 else -loaded[-k - 1]
                setattr(record, field, values if numbers.ndim else values.item())
        out[name] = records
    return out


__all__ = ["RECORDS", "OpenNumbers", "open_numbers", "open_records"]

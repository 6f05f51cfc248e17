"""The numbers of a model as inputs of recorded code, which then is that of all models with the same structure.

Structure is topology, kinds and forms, and which numbers are 0, 1 or -1, or equal to others in the same field, as those
of symmetric matrices are. All other numbers in the records of the kernels are inputs: equal numbers of two fields, or
of two bodies, may be so by chance.
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
    """The inputs of a model.

    Parameters
    ----------
    values : the numbers, each of them once
    places : the number of the input in each float of a field, -1 where the float is a constant
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
            if values.dtype.kind != "f":
                digest.update(values.tobytes())
                continue
            flat = values.ravel() + 0.0  # a zero has no sign
            free = (flat != 0.0) & (np.abs(flat) != 1.0) & (flat == flat)
            digest.update(np.where(free, 0.0, flat).tobytes())
            if not free.any():
                continue
            wide, at = max(values[0].size, 1), np.flatnonzero(free)
            mine = [
                known.setdefault((name, field, k // wide, x), len(known))
                for k, x in zip(at.tolist(), flat[at].tolist(), strict=True)
            ]
            where = np.full(flat.shape, -1, dtype=np.int64)
            where[at] = mine
            places[name, field] = where.reshape(values.shape)
            digest.update(where.tobytes())
    return OpenNumbers(np.array([key[-1] for key in known]), places, digest.hexdigest())


def open_records(arrays: dict[str, Any], found: OpenNumbers, inputs: Sequence[Any]) -> dict[str, Any]:
    """The records for kernels on symbols, with the inputs in their places."""
    out = {}
    for name, array in arrays.items():
        records = opened(name, array)
        for field in array.dtype.names or ():
            where = found.places.get((name, field))
            if where is None:
                continue
            for record, numbers in zip(records, where, strict=True):
                if numbers.ndim == 0:
                    if numbers >= 0:
                        setattr(record, field, inputs[int(numbers)])
                    continue
                values = np.array(getattr(record, field), dtype=object)
                for place in np.argwhere(numbers >= 0):
                    values[tuple(place)] = inputs[int(numbers[tuple(place)])]
                setattr(record, field, values)
        out[name] = records
    return out


__all__ = ["RECORDS", "OpenNumbers", "open_numbers", "open_records"]

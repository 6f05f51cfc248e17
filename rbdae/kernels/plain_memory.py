"""The memory of a problem on numbers: its arrays, whose records are objects with attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.kernels.memory import ARRAYS

SINGLE = frozenset(name for name, array in ARRAYS.items() if array.shape is None)
"""The arrays of one record, which stands for it."""


class PlainMemory:
    """What the accessors of `rbdae.kernels.memory` return, under their names; numbers may be of any kind."""

    def __init__(self, head: Any, arrays: dict[str, Any]) -> None:
        self.head = PlainRecord(head[0])
        self._arrays = arrays

    def own(self, name: str, array: Any) -> None:
        """Another array."""
        self._arrays[name] = array
        self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        """An array that is asked for for the first time; of records the list of them."""
        try:
            array = self.__dict__["_arrays"][name]
        except KeyError:
            raise AttributeError(name) from None
        out = [PlainRecord(row) for row in array] if array.dtype.names else array
        self.__dict__[name] = out = out[0] if name in SINGLE else out
        return out


class PlainRecord:
    """A record whose fields are attributes, in its own memory: numpy's own takes five times as long for a number.

    What has been read is kept, and an integer is Python's. So nobody else changes a number of the record; of the
    workspace's head its own methods do, through this object.
    """

    def __init__(self, row: Any) -> None:
        self.__dict__["_row"] = row

    def __getattr__(self, name: str) -> Any:
        """A number, a vector, a matrix or a list of records, when it is read for the first time."""
        try:
            out = self.__dict__["_row"][name]
        except (KeyError, ValueError):
            raise AttributeError(name) from None
        if isinstance(out, np.ndarray):
            out = [PlainRecord(row) for row in out] if out.dtype.names else out
        elif isinstance(out, np.integer):
            out = int(out)
        self.__dict__[name] = out
        return out

    def __setattr__(self, name: str, value: Any) -> None:
        self._row[name] = value
        self.__dict__.pop(name, None)

"""The memory of a problem as plain objects, for kernels that run on symbols (`rbdae.graph.symbols`).

Records in arrays are slow to reach from Python, and a record of floats cannot hold a symbol. Here a record is an object
with attributes; vectors and matrices of numbers are arrays of objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, final

import numpy as np


@final
class SymbolicMemory:
    """The objects that the accessors of `rbdae.kernels.memory` return, under their names; copies, with symbols where
    `inputs` has arrays of them.

    Parameters
    ----------
    head : the head of a workspace
    arrays : the arrays of a workspace by name
    inputs : arrays of symbols that take the place of some of them
    recorder : their recorder, for kernels with derivatives (`rbdae.graph.derivatives`)
    """

    def __init__(self, head: Any, arrays: Mapping[str, Any], inputs: Mapping[str, Any], recorder: Any = None) -> None:
        self.head, self.recorder = opened(head)[0], recorder
        self._arrays = arrays
        for name, array in inputs.items():
            setattr(self, name, array)

    def __getattr__(self, name: str) -> Any:
        """An array that is asked for for the first time: some are large, and few kernels need them."""
        out = opened(self._arrays[name])
        setattr(self, name, out)
        return out


def opened(array: Any) -> Any:
    """An array as kernels read it: objects with attributes for its records; numbers as arrays of objects."""
    if array.dtype.names:
        fields = [_field(array[name]) for name in array.dtype.names]
        return [SimpleNamespace(**dict(zip(array.dtype.names, row, strict=True))) for row in zip(*fields, strict=True)]
    return array.copy() if array.dtype.kind == "i" else objects(array)


def objects(array: Any) -> Any:
    """An array of Python's floats, of symbols, or of NumPy's complex numbers, which have an order."""
    if array.dtype.kind != "c":
        return array.astype(object)
    out = np.empty(array.shape, dtype=object)
    out.ravel()[:] = [*array.ravel()]
    return out


def _field(column: Any) -> Any:
    """One field of all records."""
    if column.dtype.names:
        return [opened(rows) for rows in column]
    if column.ndim == 1 or (column.ndim == 2 and column.dtype.kind == "i"):
        return column.tolist()
    return column.copy() if column.dtype.kind == "i" else objects(column)

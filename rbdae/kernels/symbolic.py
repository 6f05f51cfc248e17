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
        self.head, self.recorder = _record(head[0]), recorder
        self.order: tuple[Any, ...] = ()  # of elimination, of least fill (`rbdae.kernels.linear.saddle`)
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
        return [_record(row) for row in array]
    return array.copy() if array.dtype.kind == "i" else objects(array)


def objects(array: Any) -> Any:
    """An array of Python's floats, of symbols, or of NumPy's complex numbers, which have an order."""
    if array.dtype.kind != "c":
        return array.astype(object)
    out = np.empty(array.shape, dtype=object)
    out.ravel()[:] = [*array.ravel()]
    return out


def _record(row: Any) -> SimpleNamespace:
    return SimpleNamespace(**{name: _field(row[name]) for name in row.dtype.names})


def _field(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value.item()
    if value.dtype.names:
        return [_record(row) for row in value]
    if value.dtype.kind != "i":
        return objects(value)
    return value.tolist() if value.ndim == 1 else value.copy()

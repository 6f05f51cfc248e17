"""The memory of a problem as plain objects, for kernels that run on floats, on complex numbers or on symbols
(`rbdae.graph.symbols`).

Records in arrays are slow to reach from Python, and a record of floats cannot hold a symbol. Here a record is an object
with attributes; vectors and matrices of numbers are arrays of objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, final

import numpy as np

from rbdae.kernels.memory import ARRAYS


@final
class KernelMemory:
    """The objects that the accessors of `rbdae.kernels.memory` return, under their names; copies, with symbols where
    `inputs` has arrays of them, and zeros for what is not given.

    Parameters
    ----------
    head : its head
    arrays : arrays by name
    inputs : arrays of symbols that take the place of some of them
    recorder : their recorder, for kernels with derivatives (`rbdae.graph.derivatives`)
    """

    def __init__(self, head: Any, arrays: Mapping[str, Any], inputs: Mapping[str, Any], recorder: Any = None) -> None:
        self.head, self.recorder = head, recorder
        # of elimination, of least fill: `rbdae.kernels.linear.saddle`, `rbdae.kernels.null_space.loops`
        self.order: tuple[Any, ...] = ()
        self.square_order: tuple[Any, ...] = ()
        self._arrays = arrays
        for name, array in inputs.items():
            setattr(self, name, array)

    def __getattr__(self, name: str) -> Any:
        """An array that is asked for for the first time: some are large, and few kernels need them."""
        array = self._arrays.get(name)
        out = opened(ARRAYS[name].room(self.head) if array is None else array)
        setattr(self, name, out)
        return out


def opened(array: Any) -> Any:
    """An array as kernels read it: objects with attributes for its records; numbers as arrays of objects."""
    names = array.dtype.names
    if names:
        columns = [_column(array[name]) for name in names] if len(array) else []
        return [SimpleNamespace(**dict(zip(names, record, strict=True))) for record in zip(*columns, strict=True)]
    return array.copy() if array.dtype.kind == "i" else objects(array)


def objects(array: Any) -> Any:
    """An array of Python's floats, of symbols, or of NumPy's complex numbers, which have an order."""
    if array.dtype.kind != "c":
        return array.astype(object)
    out = np.empty(array.shape, dtype=object)
    out.ravel()[:] = [*array.ravel()]
    return out


def _column(values: Any) -> Sequence[Any]:
    if values.dtype.names:
        return [opened(each) for each in values]
    if values.ndim == 1 or (values.dtype.kind == "i" and values.ndim == 2):
        numbers: list[Any] = values.tolist()
        return numbers
    return [*(values.copy() if values.dtype.kind == "i" else objects(values))]

"""Compressed columns of a Jacobian."""

from __future__ import annotations

import marshal
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from rbdae._arrays import Ints


@final
@dataclass(frozen=True, eq=False)
class BlockPattern:
    """Column pointers and row indices of a CSC matrix."""

    pointers: Ints
    indices: Ints

    @cached_property
    def columns(self) -> Ints:
        """The column of each entry."""
        return np.repeat(np.arange(len(self.pointers) - 1), np.diff(self.pointers))

    @classmethod
    def from_bytes(cls, contents: bytes) -> BlockPattern:
        """The pattern that `to_bytes` has written."""
        return cls(*(np.frombuffer(array, dtype=np.int64) for array in marshal.loads(contents)))

    def to_bytes(self) -> bytes:
        """The contents, for a file."""
        arrays = (self.pointers, self.indices)
        return marshal.dumps([np.asarray(array, dtype=np.int64).tobytes() for array in arrays])

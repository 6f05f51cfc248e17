"""Compressed columns of a matrix that a kernel fills block by block."""

from __future__ import annotations

import marshal
from dataclasses import dataclass, field
from typing import final

import numpy as np

from rbdae._arrays import Ints


@final
@dataclass(frozen=True, slots=True, eq=False)
class BlockPattern:
    """Column pointers and row indices of the CSC matrix, and where each column of each block begins in its data."""

    pointers: Ints
    indices: Ints
    starts: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def from_bytes(cls, contents: bytes) -> BlockPattern:
        """The pattern that `to_bytes` has written."""
        return cls(*(np.frombuffer(array, dtype=np.int64) for array in marshal.loads(contents)))

    def to_bytes(self) -> bytes:
        """The contents, for a file."""
        arrays = (self.pointers, self.indices, self.starts)
        return marshal.dumps([np.asarray(array, dtype=np.int64).tobytes() for array in arrays])


def block_pattern(blocks: Ints, n_rows: int, n_columns: int) -> BlockPattern:
    """The pattern of blocks (row, column, rows, columns), which may overlap, of an n_rows x n_columns matrix."""
    row, column, height, width = blocks.T
    # every column of every block, then every entry
    block_of = np.repeat(np.arange(len(blocks)), width)
    columns = column[block_of] + np.arange(len(block_of)) - np.repeat(np.cumsum(width) - width, width)
    entry_of = np.repeat(np.arange(len(block_of)), height[block_of])
    inside = np.arange(len(entry_of)) - np.repeat(np.cumsum(height[block_of]) - height[block_of], height[block_of])
    keys = columns[entry_of] * n_rows + row[block_of][entry_of] + inside
    unique = np.unique(keys)
    return BlockPattern(
        pointers=np.searchsorted(unique, np.arange(n_columns + 1) * n_rows),
        indices=unique % n_rows,
        starts=np.searchsorted(unique, columns * n_rows + row[block_of]),
    )

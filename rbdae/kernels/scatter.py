"""The places where the blocks of a Jacobian go: one set of tangent blocks fills a dense matrix of any strides or the
data of a CSC matrix, the target.

The sparsity pattern is recorded from the kernel itself: in the mode RECORD each block leaves its place and size
instead of its values, so that there is no second description of the pattern that could disagree. In the mode
COLUMNS `block_starts` says where each column of each block begins in the CSC data; the rows of a block are neighbours
there.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Array, Memory, address, matrix_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.memory import aim, block_starts, blocks, head, target
from rbdae.kernels.records import COLUMNS, RECORD, STRIDED


@jit
def open_target(m: Memory, out: Array) -> None:
    """Zero `out` and make it the target. A matrix of one row is CSC data (no system has one unknown)."""
    h = head(m)
    aim(m, out)
    if h.mode != RECORD:
        h.mode = COLUMNS if out.shape[0] == 1 else STRIDED
        _clear_target(m, out.shape[0], out.shape[1])
    h.cursor = 0


@stage("iii")
def _clear_target(m: Memory, n_rows: int, n_columns: int) -> None:
    """The first rows of the target become zero."""
    h = head(m)
    values = target(m)
    if h.row_stride == n_columns and h.column_stride == 1:
        for i in range(n_rows * n_columns):
            values[i] = 0.0
    else:
        for i in range(n_rows):
            for j in range(n_columns):
                values[i * h.row_stride + j * h.column_stride] = 0.0


@stage("iiiii")
def _record(m: Memory, row: int, column: int, n_rows: int, n_columns: int) -> None:
    """A block leaves its place and size."""
    h = head(m)
    if h.cursor < h.n_blocks:
        log = blocks(m)
        log[h.cursor, 0] = row
        log[h.cursor, 1] = column
        log[h.cursor, 2] = n_rows
        log[h.cursor, 3] = n_columns
    h.cursor += 1


@stage("iiif")
def scatter(m: Memory, row: int, column: int, value: float) -> None:
    """target[row, column] += value."""
    h = head(m)
    if h.mode == STRIDED:
        target(m)[row * h.row_stride + column * h.column_stride] += value
    elif h.mode == COLUMNS:
        target(m)[block_starts(m)[h.cursor]] += value
        h.cursor += 1
    else:
        _record(m, row, column, 1, 1)


@stage("iiiif")
def scatter_identity(m: Memory, row: int, column: int, n: int, value: float) -> None:
    """target[row + i, column + i] += value, i < n."""
    h = head(m)
    if h.mode == STRIDED:
        out = target(m)
        step = h.row_stride + h.column_stride
        first = row * h.row_stride + column * h.column_stride
        for i in range(n):
            out[first + i * step] += value
    else:
        for i in range(n):
            scatter(m, row + i, column + i, value)


@jit
def scatter_block(m: Memory, row: int, column: int, A: Array, n_rows: int, n_columns: int, scale: float) -> None:
    """target[row + i, column + j] += scale A[i, j]."""
    _scatter_block(m, row, column, address(A), A.strides[0] // 8, n_rows, n_columns, 0, scale)


@jit
def scatter_transposed(m: Memory, row: int, column: int, A: Array, n_rows: int, n_columns: int, scale: float) -> None:
    """target[row + i, column + j] += scale A[j, i]."""
    _scatter_block(m, row, column, address(A), A.strides[0] // 8, n_rows, n_columns, 1, scale)


@stage("iiiiiiiif")
def _scatter_block(
    m: Memory,
    row: int,
    column: int,
    A_at: Address,
    step: int,
    n_rows: int,
    n_columns: int,
    transposed: int,
    scale: float,
) -> None:
    A = matrix_at(A_at, step)
    h = head(m)
    out = target(m)
    if h.mode == RECORD:
        _record(m, row, column, n_rows, n_columns)
        return
    next_row = h.row_stride if h.mode == STRIDED else 1
    for j in range(n_columns):
        if h.mode == STRIDED:
            first = row * h.row_stride + (column + j) * h.column_stride
        else:
            first = block_starts(m)[h.cursor + j]
        for i in range(n_rows):
            if transposed == 1:
                out[first + i * next_row] += scale * A[j, i]
            else:
                out[first + i * next_row] += scale * A[i, j]
    if h.mode == COLUMNS:
        h.cursor += n_columns

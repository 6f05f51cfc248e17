"""Where a Jacobian goes: one set of tangent blocks fills a dense matrix of any strides or the data of a CSC matrix.

The sparsity pattern is recorded from the kernel itself: in the mode RECORD each block leaves its place and size
instead of its values, so that there is no second description of the pattern that could disagree. In the mode
COLUMNS `starts` says where each column of each block begins in the CSC data; the rows of a block are neighbours
there.
"""

from __future__ import annotations

from rbdae.kernels._jit import jit
from rbdae.kernels.block import COLUMNS, RECORD, STRIDED, blocks, flat, head, starts


@jit
def open_sink(out, m):  # type: ignore[no-untyped-def]
    """Zero `out` and return its memory. A matrix of one row is CSC data (no system has one unknown)."""
    h = head(m)
    values = flat(out, m)
    if h.mode != RECORD:
        h.mode = COLUMNS if out.shape[0] == 1 else STRIDED
    if h.mode == STRIDED:
        if values.shape[0] == out.shape[0] * out.shape[1]:
            for i in range(values.shape[0]):
                values[i] = 0.0
        else:
            for i in range(out.shape[0]):
                for j in range(out.shape[1]):
                    values[i * h.row_stride + j * h.column_stride] = 0.0
    elif h.mode == COLUMNS:
        for i in range(values.shape[0]):
            values[i] = 0.0
    h.cursor = 0
    return values


@jit
def _record(m, row, column, n_rows, n_columns):  # type: ignore[no-untyped-def]
    h = head(m)
    if h.cursor < h.n_blocks:
        log = blocks(m)
        log[h.cursor, 0] = row
        log[h.cursor, 1] = column
        log[h.cursor, 2] = n_rows
        log[h.cursor, 3] = n_columns
    h.cursor += 1


@jit
def put(m, out, row, column, value):  # type: ignore[no-untyped-def]
    """out[row, column] += value."""
    h = head(m)
    if h.mode == STRIDED:
        out[row * h.row_stride + column * h.column_stride] += value
    elif h.mode == COLUMNS:
        out[starts(m)[h.cursor]] += value
        h.cursor += 1
    else:
        _record(m, row, column, 1, 1)


@jit
def put_identity(m, out, row, column, n, value):  # type: ignore[no-untyped-def]
    """out[row + i, column + i] += value, i < n."""
    for i in range(n):
        put(m, out, row + i, column + i, value)


@jit
def put_block(m, out, row, column, A, n_rows, n_columns, scale):  # type: ignore[no-untyped-def]
    """out[row + i, column + j] += scale A[i, j]."""
    h = head(m)
    if h.mode == STRIDED:
        rs = h.row_stride
        cs = h.column_stride
        start = row * rs + column * cs
        for i in range(n_rows):
            for j in range(n_columns):
                out[start + i * rs + j * cs] += scale * A[i, j]
    elif h.mode == COLUMNS:
        start = h.cursor
        where = starts(m)
        for j in range(n_columns):
            first = where[start + j]
            for i in range(n_rows):
                out[first + i] += scale * A[i, j]
        h.cursor = start + n_columns
    else:
        _record(m, row, column, n_rows, n_columns)


@jit
def put_transposed(m, out, row, column, A, n_rows, n_columns, scale):  # type: ignore[no-untyped-def]
    """out[row + i, column + j] += scale A[j, i]."""
    h = head(m)
    if h.mode == STRIDED:
        rs = h.row_stride
        cs = h.column_stride
        start = row * rs + column * cs
        for i in range(n_rows):
            for j in range(n_columns):
                out[start + i * rs + j * cs] += scale * A[j, i]
    elif h.mode == COLUMNS:
        start = h.cursor
        where = starts(m)
        for j in range(n_columns):
            first = where[start + j]
            for i in range(n_rows):
                out[first + i] += scale * A[j, i]
        h.cursor = start + n_columns
    else:
        _record(m, row, column, n_rows, n_columns)


__all__ = ["COLUMNS", "RECORD", "STRIDED", "open_sink", "put", "put_block", "put_identity", "put_transposed"]

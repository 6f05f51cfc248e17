"""Where a Jacobian goes: one set of tangent blocks fills a dense matrix of any strides or the data of a CSC matrix.

The sparsity pattern is recorded from the kernel itself: in the mode RECORD each block leaves its place and size
instead of its values, so that there is no second description of the pattern that could disagree. In the mode
COLUMNS `starts` says where each column of each block begins in the CSC data; the rows of a block are neighbours
there. Indices into the sink are unsigned, because a loop whose index might count from the end makes no vector code.
"""

from __future__ import annotations

import numpy as np

from rbdae.compiler.access import address, matrix_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.memory import aim_sink, aim_sink_at_wide, blocks, head, sink, starts
from rbdae.kernels.records import COLUMNS, RECORD, STRIDED


@jit
def open_sink(m, out):
    """Zero `out` and make it the sink. A matrix of one row is CSC data (no system has one unknown)."""
    h = head(m)
    aim_sink(m, out)
    if h.mode != RECORD:
        h.mode = COLUMNS if out.shape[0] == 1 else STRIDED
        _clear_sink(m, out.shape[0], out.shape[1])
    h.cursor = 0


@jit
def open_sink_above(m, out, n_rows):
    """The same for kernels that overwrite the rows from `n_rows` on (`set_block`): a dense matrix keeps them."""
    h = head(m)
    aim_sink(m, out)
    if h.mode != RECORD:
        h.mode = COLUMNS if out.shape[0] == 1 else STRIDED
        _clear_sink(m, min(n_rows, out.shape[0]), out.shape[1])
    h.cursor = 0


@jit
def sink_to_wide(m):
    """Zero the scratch matrix and make it the sink (mode STRIDED)."""
    h = head(m)
    aim_sink_at_wide(m)
    h.mode = STRIDED
    _clear_sink(m, h.n_v + h.n_la, h.n_wide)


@stage("iii")
def _clear_sink(m, n_rows, n_columns):
    h = head(m)
    values = sink(m)
    if h.row_stride == n_columns and h.column_stride == 1:
        for i in range(n_rows * n_columns):
            values[i] = 0.0
    else:
        for i in range(n_rows):
            for j in range(n_columns):
                values[i * h.row_stride + j * h.column_stride] = 0.0


@stage("iiiii")
def _record(m, row, column, n_rows, n_columns):
    h = head(m)
    if h.cursor < h.n_blocks:
        log = blocks(m)
        log[h.cursor, 0] = row
        log[h.cursor, 1] = column
        log[h.cursor, 2] = n_rows
        log[h.cursor, 3] = n_columns
    h.cursor += 1


@stage("iiif")
def put(m, row, column, value):
    """sink[row, column] += value."""
    h = head(m)
    if h.mode == STRIDED:
        sink(m)[row * h.row_stride + column * h.column_stride] += value
    elif h.mode == COLUMNS:
        sink(m)[starts(m)[h.cursor]] += value
        h.cursor += 1
    else:
        _record(m, row, column, 1, 1)


@stage("iiiif")
def put_identity(m, row, column, n, value):
    """sink[row + i, column + i] += value, i < n."""
    h = head(m)
    if h.mode == STRIDED:
        out = sink(m)
        step = h.row_stride + h.column_stride
        first = row * h.row_stride + column * h.column_stride
        for i in range(n):
            out[first + i * step] += value
    else:
        for i in range(n):
            put(m, row + i, column + i, value)


@jit
def put_block(m, row, column, A, n_rows, n_columns, scale):
    """sink[row + i, column + j] += scale A[i, j]."""
    _put_block(m, row, column, address(A), A.strides[0] // 8, n_rows, n_columns, scale)


@stage("iiiiiiif")
def _put_block(m, row, column, A_at, step, n_rows, n_columns, scale):
    A = matrix_at(A_at, step)
    h = head(m)
    out = sink(m)
    if h.mode == STRIDED:
        rs = h.row_stride
        cs = h.column_stride
        start = row * rs + column * cs
        if cs == 1:
            for i in range(n_rows):
                first = start + i * rs
                for j in range(n_columns):
                    out[np.uint64(first + j)] += scale * A[i, j]
        else:
            for j in range(n_columns):
                first = start + j * cs
                for i in range(n_rows):
                    out[first + i * rs] += scale * A[i, j]
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
def set_block(m, row, column, A, n_rows, n_columns, scale):
    """sink[row + i, column + j] = scale A[i, j] in a dense matrix, whatever was there; elsewhere `put_block`."""
    _set_block(m, row, column, address(A), A.strides[0] // 8, n_rows, n_columns, scale)


@stage("iiiiiiif")
def _set_block(m, row, column, A_at, step, n_rows, n_columns, scale):
    A = matrix_at(A_at, step)
    h = head(m)
    if h.mode != STRIDED:
        put_block(m, row, column, A, n_rows, n_columns, scale)
        return
    out = sink(m)
    rs = h.row_stride
    cs = h.column_stride
    start = row * rs + column * cs
    if cs == 1:
        for i in range(n_rows):
            first = start + i * rs
            for j in range(n_columns):
                out[np.uint64(first + j)] = scale * A[i, j]
    else:
        for j in range(n_columns):
            first = start + j * cs
            for i in range(n_rows):
                out[first + i * rs] = scale * A[i, j]


@jit
def put_transposed(m, row, column, A, n_rows, n_columns, scale):
    """sink[row + i, column + j] += scale A[j, i]."""
    _put_transposed(m, row, column, address(A), A.strides[0] // 8, n_rows, n_columns, scale)


@stage("iiiiiiif")
def _put_transposed(m, row, column, A_at, step, n_rows, n_columns, scale):
    A = matrix_at(A_at, step)
    h = head(m)
    out = sink(m)
    if h.mode == STRIDED:
        rs = h.row_stride
        cs = h.column_stride
        start = row * rs + column * cs
        for j in range(n_columns):
            first = start + j * cs
            for i in range(n_rows):
                out[first + i * rs] += scale * A[j, i]
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

"""The model block: everything a kernel reads or writes beside `y`, as structured arrays behind one address.

A kernel gets the block as its first argument `m`, an integer address, and opens the parts that it needs with the
accessors below (a load or two each). One integer costs nothing to pass from Python or from a C solver's
``user_data``; a tuple of arrays would cost a microsecond a call. For plain kernels `m` is a `PlainMemory`, whose
numbers may be of any kind (complex-step derivatives).

======================= =======================================================================================
accessor                what
======================= =======================================================================================
``head(m)``             sizes, kinds and offsets; the state of the Jacobian sink
``bodies(m)``           constants of the bodies; the last one is the ground
``states(m)``           per body: natural coordinates z, zdot, zddot, forces, and their tangents
``primitives(m)``       constants of the primitive constraints
``rows(m)``             per primitive: P, Q, multipliers and tangents
``bushings(m)``         constants of the bushings
``drives(m)``           the rheonomic primitives and the addresses of their laws
``elements(m)``         constants of the force elements; ``entries(m)`` the coefficients of their forms
``fold(m)``             working memory of one force element
``tangent(m)``          working memory of the tangents of one primitive, bushing or body
``factor(m)``           values of the factor L and D of the joint Schur complement
``smallest(m)``         pivots of D below which a joint equation is left out for the moment; zero: never
``row_start(m)``        its row pointers; ``column(m)`` the columns, then the constraint row of each place
``pairs(m)``            pairs of primitives that share a body, with their places in the factor
``vectors(m)``          scratch vectors, long enough for the unknowns and for (g, gdot)
``wide(m)``             scratch matrix, (nv + nla) x (nq + nv and zeros up to whole cache lines), for the Jacobian of
                        the explicit forms
``tree(m)``             scratch matrices of the null-space Jacobian: T, dw/dq, dwdot/dq, dwdot/dnu and two more
``branches(m)``         per body: its joint equations and quasi-velocities in the null-space form of trees
``gauge(m)``            S of the null-space form of loops: nu = S (xdot, Omega), nnu x nv
``elimination(m)``      the factors of [G; S], nv x nv; ``pivots(m)`` its row exchanges
``local(m)``            the same memory for trees: the factors of one 6 x 6 matrix a body
``starts(m)``           where each column of each tangent block begins in the CSC data
``blocks(m)``           the tangent blocks in the order of their appearance (row, column, rows, columns)
======================= =======================================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.compiler.access import accessor, as_pointer, carray
from rbdae.compiler.jit import jit, two_sided
from rbdae.kernels.records import (
    BODY,
    BRANCH,
    BUSHING,
    DRIVE,
    ELEMENT,
    ENTRY,
    FOLD,
    HEAD,
    PAIR,
    PRIMITIVE,
    ROW,
    STATE,
    TANGENT,
)


class PlainMemory:
    """The arrays of a block for plain kernels: what the accessors return, under their names.

    The arrays are those of the machine code where their numbers are floats; they may be of any other kind.
    """

    def __init__(self, head: Any) -> None:
        self.head = head.view(np.recarray)[0]
        self.sink: Any = None

    def own(self, name: str, array: Any) -> None:
        """Another array; structured ones have their fields as attributes."""
        view = array.view(np.recarray) if array.dtype.names else array
        setattr(self, name, view[0] if name in _SINGLE else view)


# records of which a block has one
_SINGLE = ("fold", "tangent")


def _aim_sink(m: Any, out: Any) -> None:
    m.head.row_stride = out.strides[0] // out.itemsize
    m.head.column_stride = out.strides[1] // out.itemsize
    span = (out.shape[0] - 1) * m.head.row_stride + (out.shape[1] - 1) * m.head.column_stride + 1
    m.sink = np.lib.stride_tricks.as_strided(out, (int(span),), (out.itemsize,))


def _aim_sink_at_wide(m: Any) -> None:
    m.head.row_stride = m.wide.shape[1]
    m.head.column_stride = 1
    m.sink = m.wide.reshape(-1)


@accessor
def head(m):
    return carray(as_pointer(m), 1, HEAD)[0]


@accessor
def bodies(m):
    h = head(m)
    return carray(as_pointer(h.bodies), h.n_bodies + 1, BODY)


@accessor
def states(m):
    h = head(m)
    return carray(as_pointer(h.states), h.n_bodies + 1, STATE)


@accessor
def primitives(m):
    h = head(m)
    return carray(as_pointer(h.primitives), h.n_primitives, PRIMITIVE)


@accessor
def rows(m):
    h = head(m)
    return carray(as_pointer(h.rows), h.n_primitives, ROW)


@accessor
def bushings(m):
    h = head(m)
    return carray(as_pointer(h.bushings), h.n_bushings, BUSHING)


@accessor
def drives(m):
    h = head(m)
    return carray(as_pointer(h.drives), h.n_drives, DRIVE)


@accessor
def elements(m):
    h = head(m)
    return carray(as_pointer(h.elements), h.n_elements, ELEMENT)


@accessor
def entries(m):
    h = head(m)
    return carray(as_pointer(h.entries), h.n_entries, ENTRY)


@accessor
def fold(m):
    h = head(m)
    return carray(as_pointer(h.fold), 1, FOLD)[0]


@accessor
def tangent(m):
    h = head(m)
    return carray(as_pointer(h.tangent), 1, TANGENT)[0]


@accessor
def factor(m):
    h = head(m)
    return carray(as_pointer(h.factor), (2, h.n_factor), np.float64)


@accessor
def smallest(m):
    h = head(m)
    return carray(as_pointer(h.smallest), h.n_rows, np.float64)


@accessor
def row_start(m):
    h = head(m)
    return carray(as_pointer(h.row_start), h.n_rows + 1, np.int64)


@accessor
def column(m):
    h = head(m)
    return carray(as_pointer(h.column), h.n_factor + h.n_rows, np.int64)


@accessor
def pairs(m):
    h = head(m)
    return carray(as_pointer(h.pairs), h.n_pairs, PAIR)


@accessor
def vectors(m):
    h = head(m)
    return carray(as_pointer(h.vectors), (7, h.n_vector), np.float64)


@accessor
def wide(m):
    h = head(m)
    return carray(as_pointer(h.wide), (h.n_v + h.n_la, h.n_wide), np.float64)


@accessor
def starts(m):
    h = head(m)
    return carray(as_pointer(h.starts), h.n_starts, np.int64)


@accessor
def blocks(m):
    h = head(m)
    return carray(as_pointer(h.blocks), (h.n_blocks, 4), np.int64)


@accessor
def tree(m):
    h = head(m)
    return carray(as_pointer(h.tree), (6, h.n_tree, h.n_q + h.n_v), np.float64)


@accessor
def gauge(m):
    h = head(m)
    return carray(as_pointer(h.gauge), (h.n_nu, h.n_v), np.float64)


@accessor
def elimination(m):
    h = head(m)
    return carray(as_pointer(h.elimination), (h.n_v, h.n_v), np.float64)


@accessor
def pivots(m):
    h = head(m)
    return carray(as_pointer(h.pivots), h.n_v, np.int64)


@accessor
def branches(m):
    h = head(m)
    return carray(as_pointer(h.branches), h.n_bodies, BRANCH)


@two_sided(lambda m: m.elimination)
@jit
def local(m):
    h = head(m)
    return carray(as_pointer(h.elimination), (6 * h.n_bodies, 6), np.float64)


@accessor
def sink(m):
    h = head(m)
    return carray(as_pointer(h.sink), h.n_sink, np.float64)


@two_sided(_aim_sink)
@jit
def aim_sink(m, out):
    """The memory that the strided matrix `out` spans becomes the sink."""
    h = head(m)
    h.row_stride = out.strides[0] // 8
    h.column_stride = out.strides[1] // 8
    h.sink = out.ctypes.data
    h.n_sink = (out.shape[0] - 1) * h.row_stride + (out.shape[1] - 1) * h.column_stride + 1


@two_sided(_aim_sink_at_wide)
@jit
def aim_sink_at_wide(m):
    """The scratch matrix becomes the sink."""
    h = head(m)
    h.row_stride = h.n_wide
    h.column_stride = 1
    h.sink = h.wide
    h.n_sink = (h.n_v + h.n_la) * h.n_wide

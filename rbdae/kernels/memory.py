"""The model block: everything a kernel reads or writes beside `y`, as structured arrays behind one address.

A kernel gets the block as its first argument `m`, an integer address, and opens the parts that it needs with the
accessors below (a load or two each). One integer costs nothing to pass from Python or from a C solver's
``user_data``; a tuple of arrays would cost a microsecond a call. With the JIT off `m` is a `Parts` object, whose
arrays may be complex (complex-step derivatives).

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

from dataclasses import dataclass
from typing import Any

import numpy as np

from rbdae.compiler import jit as _jit
from rbdae.compiler.jit import as_pointer, carray, jit

# velocity kinds
ANGULAR = 0
QUATERNION_RATE = 1
DIRECTOR_RATE = 2

# where (xdot, Omega) come from in the null-space forms: head.reduced
BY_TREE = 1
BY_GAUGE = 2
BY_BRANCHES = 3

# sink modes
STRIDED = 0
COLUMNS = 1
RECORD = 2

_ARRAYS = (
    "bodies",
    "states",
    "primitives",
    "rows",
    "bushings",
    "factor",
    "smallest",
    "row_start",
    "column",
    "pairs",
    "vectors",
    "wide",
    "starts",
    "blocks",
    "tree",
    "drives",
    "elements",
    "entries",
    "fold",
    "gauge",
    "elimination",
    "pivots",
    "branches",
    "tangent",
)

HEAD = np.dtype(
    [
        (name, "i8")
        for name in [
            "n_bodies",
            "n_primitives",
            "n_bushings",
            "n_drives",
            "n_elements",
            "n_entries",
            "n_rows",
            "n_pairs",
            "n_q",
            "n_v",
            "n_la",
            "n_internal",
            "integral",
            "n_nu",
            "n_tree",
            "n_wide",
            "n_starts",
            "n_blocks",
            "n_factor",
            "n_vector",
            "kind",
            "chart",
            "momenta",
            "reduced",
            "level",
            "singular",
            "mode",
            "row_stride",
            "column_stride",
            "cursor",
            "sink",
            "n_sink",
        ]
    ]
    + [(name, "f8") for name in ("time", "damping", "stiffness")]
    + [(name, "i8") for name in _ARRAYS],
    align=True,
)

BODY = np.dtype(
    [
        ("mass", "f8"),
        ("inertia", "f8", (3, 3)),
        ("inertia_inverse", "f8", (3, 3)),
        ("euler", "f8", (3, 3)),
        ("euler_inverse", "f8", (3, 3)),
        ("radial", "f8"),
        ("center", "f8", (3,)),
        ("origin", "f8", (3,)),
        ("weight", "f8", (3,)),
        ("weight_d", "f8", (9,)),
        ("iq", "i8"),
        ("iv", "i8"),
        ("il", "i8"),
        ("nt", "i8"),
        ("na", "i8"),
        ("nr", "i8"),
        ("ni", "i8"),
        ("fixed", "i8"),
        ("parent", "i8"),
        ("inu", "i8"),
        ("arm", "f8", (3,)),
        ("parent_arm", "f8", (3,)),
    ],
    align=True,
)

PRIMITIVE = np.dtype(
    [
        ("linear", "i8"),
        ("n", "i8"),
        ("row", "i8"),
        ("body", "i8", (2,)),
        ("moving", "i8"),
        ("keep", "i8", (3,)),
        ("whole", "i8"),
        ("A", "f8", (8,)),
        ("B", "f8", (8,)),
        ("Ad", "f8", (8,)),
        ("Add", "f8", (8,)),
        ("scale", "f8"),
        ("offset", "f8", (3,)),
        ("offset_rate", "f8", (3,)),
        ("offset_acceleration", "f8", (3,)),
        ("slot", "i8", (3,)),
    ],
    align=True,
)

BUSHING = np.dtype(
    [
        ("body", "i8", (2,)),
        ("A", "f8", (8,)),
        ("stiffness", "f8", (3, 3)),
        ("damping", "f8", (3, 3)),
        ("damped", "i8"),
    ],
    align=True,
)

DRIVE = np.dtype(
    [
        ("law", "i8"),
        ("kind", "i8"),
        ("primitive", "i8"),
        ("e1", "f8", (3,)),
        ("e2", "f8", (3,)),
        ("value", "f8", (9,)),
    ],
    align=True,
)

# shapes of force elements
IDENTITY = 0
ROOT = 1
ANGLE = 2
USER = 3

# see kernels/elements.py; `start` is 3 where the element does not touch x, `tangent` 0 where its forces are constant
ELEMENT = np.dtype(
    [
        (name, "i8")
        for name in [
            "shaping",
            "forms",
            "first",
            "last",
            "start",
            "tangent",
            "damped",
            "continued",
            "holonomic",
            "law",
            "force",
            "jacobian",
        ]
    ]
    + [
        ("body", "i8", (2,)),
        ("stiffness", "f8", (3, 3)),
        ("damping", "f8", (3, 3)),
        ("rest", "f8", (3,)),
        ("constant", "f8", (3,)),
        ("sign", "f8"),
        ("memory", "f8"),
        ("level", "f8"),
    ],
    align=True,
)

# a coefficient of a form: row i, column j, or j = -1 for what does not depend on Z
ENTRY = np.dtype([("form", "i8"), ("i", "i8"), ("j", "i8"), ("value", "f8")], align=True)

PAIR = np.dtype(
    [
        ("body", "i8"),
        ("first", "i8"),
        ("second", "i8"),
        ("first_side", "i8"),
        ("second_side", "i8"),
        ("slot", "i8", (3, 3)),
    ],
    align=True,
)


# a body and its joint to the parent: `primitive`, `equation` and `side` of each of its joint equations, which are the
# constraint rows `row`; the rows S of its quasi-velocities nu = S (R^T xdot, Omega); the exchanges of its elimination
BRANCH = np.dtype(
    [
        ("n_rows", "i8"),
        ("n_free", "i8"),
        ("primitive", "i8", (6,)),
        ("equation", "i8", (6,)),
        ("side", "i8", (6,)),
        ("row", "i8", (6,)),
        ("pivot", "i8", (6,)),
        ("S", "f8", (6, 6)),
    ],
    align=True,
)


def state_dtype(scalar: Any) -> np.dtype[Any]:
    """Working memory of one body; names: `d` the directors, a trailing `d` a time derivative."""
    vector, nine, square = (3,), (9,), (9, 9)
    return np.dtype(
        [(n, scalar, vector) for n in ("x", "xd", "xdd", "fx", "px", "pxd", "om", "tx", "gx")]
        + [(n, scalar, nine) for n in ("a", "ad", "w", "wd", "d", "dd", "ddd", "fd", "p", "pd", "s", "t", "gd")]
        + [(n, scalar, square) for n in ("D0", "D1", "D2", "B", "W", "U", "V", "Ud", "Vd")]
        + [
            ("N", scalar, (9, 3)),
            ("C", scalar, (3, 3)),
            ("Ji", scalar, (3, 3)),
            ("Ri", scalar, (3, 9)),
            ("Zi", scalar, (3, 6)),
        ]
        + [("Pi", scalar, (9, 6))],
        align=True,
    )


def row_dtype(scalar: Any) -> np.dtype[Any]:
    """Working memory of one primitive: the vectors P, Q, and gradients by side (0, 1)."""
    return np.dtype(
        [(n, scalar, (3,)) for n in ("P", "Pd", "Pdd", "Q", "Qd", "Qdd", "la", "mu", "value")]
        + [(n, scalar, (2, 3, 3)) for n in ("Gx", "H", "HJ")]
        + [(n, scalar, (2, 3, 9)) for n in ("Gw", "Pw", "Qw")],
        align=True,
    )


def tangent_dtype(scalar: Any) -> np.dtype[Any]:
    """Working memory of the tangents of one primitive (by side), bushing or body at a time: it stays in the cache."""
    return np.dtype(
        [(n, scalar, (2, 3, 3)) for n in ("Cx", "Cu")]
        + [(n, scalar, (2, 3, 9)) for n in ("Ca", "Cw", "Pa", "Qa", "Pda", "Qda", "work")]
        + [("GP", scalar, (3, 6))]
        + [(n, scalar, (9, 9)) for n in ("T1", "T2", "T3", "T4", "square")],
        align=True,
    )


def fold_dtype(scalar: Any) -> np.dtype[Any]:
    """Working memory of one force element, see kernels/elements.py."""
    return np.dtype(
        [(n, scalar, (3,)) for n in ("q", "r", "s", "f", "w", "u")]
        + [(n, scalar, (3, 3)) for n in ("J", "X", "C", "E")]
        + [(n, scalar, (3, 24)) for n in ("g", "h")]
        + [
            ("Z", scalar, (48,)),
            ("F", scalar, (24,)),
            ("y", scalar, (24,)),
            ("z", scalar, (24,)),
            ("user", scalar, (1152,)),
        ]
        + [(n, scalar, (24, 24)) for n in ("K", "D")]
        + [(n, scalar, (12, 12)) for n in ("Y", "W")],
        align=True,
    )


STATE = state_dtype("f8")
ROW = row_dtype("f8")
FOLD = fold_dtype("f8")
TANGENT = tangent_dtype("f8")


@dataclass
class Parts:
    """The arrays of a block with the JIT off; `scalar` is float or complex."""

    head: Any
    bodies: Any
    states: Any
    primitives: Any
    rows: Any
    bushings: Any
    factor: Any
    smallest: Any
    row_start: Any
    column: Any
    pairs: Any
    vectors: Any
    wide: Any
    starts: Any
    blocks: Any
    tree: Any
    drives: Any
    elements: Any
    entries: Any
    fold: Any
    gauge: Any
    elimination: Any
    pivots: Any
    branches: Any
    tangent: Any
    sink: Any = None


if _jit.ENABLED:

    @jit
    def head(m):
        return carray(as_pointer(m), 1, HEAD)[0]

    @jit
    def bodies(m):
        h = head(m)
        return carray(as_pointer(h.bodies), h.n_bodies + 1, BODY)

    @jit
    def states(m):
        h = head(m)
        return carray(as_pointer(h.states), h.n_bodies + 1, STATE)

    @jit
    def primitives(m):
        h = head(m)
        return carray(as_pointer(h.primitives), h.n_primitives, PRIMITIVE)

    @jit
    def rows(m):
        h = head(m)
        return carray(as_pointer(h.rows), h.n_primitives, ROW)

    @jit
    def bushings(m):
        h = head(m)
        return carray(as_pointer(h.bushings), h.n_bushings, BUSHING)

    @jit
    def drives(m):
        h = head(m)
        return carray(as_pointer(h.drives), h.n_drives, DRIVE)

    @jit
    def elements(m):
        h = head(m)
        return carray(as_pointer(h.elements), h.n_elements, ELEMENT)

    @jit
    def entries(m):
        h = head(m)
        return carray(as_pointer(h.entries), h.n_entries, ENTRY)

    @jit
    def fold(m):
        h = head(m)
        return carray(as_pointer(h.fold), 1, FOLD)[0]

    @jit
    def tangent(m):
        h = head(m)
        return carray(as_pointer(h.tangent), 1, TANGENT)[0]

    @jit
    def factor(m):
        h = head(m)
        return carray(as_pointer(h.factor), (2, h.n_factor), np.float64)

    @jit
    def smallest(m):
        h = head(m)
        return carray(as_pointer(h.smallest), h.n_rows, np.float64)

    @jit
    def row_start(m):
        h = head(m)
        return carray(as_pointer(h.row_start), h.n_rows + 1, np.int64)

    @jit
    def column(m):
        h = head(m)
        return carray(as_pointer(h.column), h.n_factor + h.n_rows, np.int64)

    @jit
    def pairs(m):
        h = head(m)
        return carray(as_pointer(h.pairs), h.n_pairs, PAIR)

    @jit
    def vectors(m):
        h = head(m)
        return carray(as_pointer(h.vectors), (7, h.n_vector), np.float64)

    @jit
    def wide(m):
        h = head(m)
        return carray(as_pointer(h.wide), (h.n_v + h.n_la, h.n_wide), np.float64)

    @jit
    def starts(m):
        h = head(m)
        return carray(as_pointer(h.starts), h.n_starts, np.int64)

    @jit
    def blocks(m):
        h = head(m)
        return carray(as_pointer(h.blocks), (h.n_blocks, 4), np.int64)

    @jit
    def tree(m):
        h = head(m)
        return carray(as_pointer(h.tree), (6, h.n_tree, h.n_q + h.n_v), np.float64)

    @jit
    def gauge(m):
        h = head(m)
        return carray(as_pointer(h.gauge), (h.n_nu, h.n_v), np.float64)

    @jit
    def elimination(m):
        h = head(m)
        return carray(as_pointer(h.elimination), (h.n_v, h.n_v), np.float64)

    @jit
    def pivots(m):
        h = head(m)
        return carray(as_pointer(h.pivots), h.n_v, np.int64)

    @jit
    def branches(m):
        h = head(m)
        return carray(as_pointer(h.branches), h.n_bodies, BRANCH)

    @jit
    def local(m):
        h = head(m)
        return carray(as_pointer(h.elimination), (6 * h.n_bodies, 6), np.float64)

    @jit
    def sink(m):
        h = head(m)
        return carray(as_pointer(h.sink), h.n_sink, np.float64)

    @jit
    def aim_sink(m, out):
        """The memory that the strided matrix `out` spans becomes the sink."""
        h = head(m)
        h.row_stride = out.strides[0] // 8
        h.column_stride = out.strides[1] // 8
        h.sink = out.ctypes.data
        h.n_sink = (out.shape[0] - 1) * h.row_stride + (out.shape[1] - 1) * h.column_stride + 1

    @jit
    def aim_sink_at_wide(m):
        """The scratch matrix becomes the sink."""
        h = head(m)
        h.row_stride = h.n_wide
        h.column_stride = 1
        h.sink = h.wide
        h.n_sink = (h.n_v + h.n_la) * h.n_wide

else:

    def head(m: Any) -> Any:
        return m.head

    def bodies(m: Any) -> Any:
        return m.bodies

    def states(m: Any) -> Any:
        return m.states

    def primitives(m: Any) -> Any:
        return m.primitives

    def rows(m: Any) -> Any:
        return m.rows

    def bushings(m: Any) -> Any:
        return m.bushings

    def drives(m: Any) -> Any:
        return m.drives

    def elements(m: Any) -> Any:
        return m.elements

    def entries(m: Any) -> Any:
        return m.entries

    def fold(m: Any) -> Any:
        return m.fold[0]

    def tangent(m: Any) -> Any:
        return m.tangent[0]

    def factor(m: Any) -> Any:
        return m.factor

    def smallest(m: Any) -> Any:
        return m.smallest

    def row_start(m: Any) -> Any:
        return m.row_start

    def column(m: Any) -> Any:
        return m.column

    def pairs(m: Any) -> Any:
        return m.pairs

    def vectors(m: Any) -> Any:
        return m.vectors

    def wide(m: Any) -> Any:
        return m.wide

    def starts(m: Any) -> Any:
        return m.starts

    def blocks(m: Any) -> Any:
        return m.blocks

    def tree(m: Any) -> Any:
        return m.tree

    def gauge(m: Any) -> Any:
        return m.gauge

    def elimination(m: Any) -> Any:
        return m.elimination

    def pivots(m: Any) -> Any:
        return m.pivots

    def branches(m: Any) -> Any:
        return m.branches

    def local(m: Any) -> Any:
        return m.elimination

    def sink(m: Any) -> Any:
        return m.sink

    def aim_sink(m: Any, out: Any) -> None:
        m.head.row_stride = out.strides[0] // out.itemsize
        m.head.column_stride = out.strides[1] // out.itemsize
        span = (out.shape[0] - 1) * m.head.row_stride + (out.shape[1] - 1) * m.head.column_stride + 1
        m.sink = np.lib.stride_tricks.as_strided(out, (int(span),), (out.itemsize,))

    def aim_sink_at_wide(m: Any) -> None:
        m.head.row_stride = m.wide.shape[1]
        m.head.column_stride = 1
        m.sink = m.wide.reshape(-1)

"""The memory of a model: everything that a kernel reads or writes beside `y`, as arrays by name.

A kernel gets it as its first argument `m`, and opens the arrays that it needs by their names below, such as
``bodies(m)``. Their numbers may be of any kind: floats, complex numbers, symbols (`rbdae.kernels.symbolic`). The head
has sizes and kinds. The table of arrays is the only list of them: the memory that is made for them and what code
depends on follow.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, final

import numpy as np

from rbdae.graph.functions import Memory
from rbdae.kernels import records as kb


class Content(Enum):
    """The meaning of what is in an array, which decides who fills it and what code depends on."""

    NUMBERS = "records with numbers of the model"
    STRUCTURE = "what code has as constants"
    SELECTION = "numbers of the selection"
    PATTERN = "places that follow from the selection"
    SCRATCH = "what kernels leave there"
    DEMAND = "the same, and tables for it, where there is no room before it is asked for"


@final
class MemoryArray:
    """An array of the memory; for kernels the function f(m) that opens it.

    Parameters
    ----------
    content : what is in it, for those who make memories
    dtype : of its entries; doubles of scratch are of another kind in some memories (`room`)
    shape : f(h), its length or lengths by the numbers of the head; None for one record
    """

    name: str

    def __init__(self, content: Content, dtype: Any, shape: Callable[[Any], Any] | None = None) -> None:
        self.content, self.dtype, self.shape = content, np.dtype(dtype), shape

    def __call__(self, m: Memory) -> Any:
        """The array of a memory."""
        return getattr(m, self.name)

    def room(self, head: Any, scalar: Any = np.float64) -> Any:
        """Zeros for it by the numbers of a head, in a memory whose doubles are of this kind."""
        lengths = 1 if self.shape is None else self.shape(_Sizes(head))
        return np.zeros(lengths, dtype=of_scalars(self.dtype, scalar))

    def nothing(self) -> Any:
        """The array where there is no room for it."""
        return np.zeros(1, dtype=self.dtype)


@final
class _Sizes:
    """The numbers of a head by their names."""

    def __init__(self, head: Any) -> None:
        self._head = head

    def __getattr__(self, name: str) -> int:
        return int(self._head[name][0])


def of_scalars(dtype: np.dtype[Any], scalar: Any) -> np.dtype[Any]:
    """A dtype, of records or of numbers, with numbers of another kind in place of floats."""
    if scalar is np.float64:
        return dtype
    if dtype.names is None:
        return np.dtype(scalar) if dtype.kind in "fc" else dtype
    fields = [(name, dtype[name].base, dtype[name].shape) for name in dtype.names]
    kinds = [(name, scalar if kind.kind in "fc" else kind, shape) for name, kind, shape in fields]
    return np.dtype(kinds, align=True)


# ---------------------------------------------------------------- the numbers of the head

# `chained` is 1 where other velocities than (xdot, w) are unknowns: momenta, or spatial ones.
# `states_at`, `multipliers_at`, `corrections_at`: where s, la and mu begin in y
_NUMBERS = (
    "n_bodies",
    "n_primitives",
    "n_joints",
    "n_bushings",
    "n_drives",
    "n_elements",
    "n_frictions",
    "n_entries",
    "n_element_bodies",
    "n_element_inputs",
    "n_element_constants",
    "n_inputs",
    "n_rows",
    "n_tree",
    "n_closing",
    "n_q",
    "n_v",
    "n_la",
    "n_internal",
    "n_states",
    "states_at",
    "multipliers_at",
    "corrections_at",
    "integral",
    "stabilised",
    "n_parameters",
    "n_nu",
    "n_square_entries",
    "n_vector",
    "n_body_unknowns",
    "n_newton",
    "kind",
    "chart",
    "chart_internal",
    "referenced",
    "momenta",
    "chained",
    "spatial",
    "forms",
    "gyroscopic",
    "pull_back",
    "unit_norm",
    "projected",
    "columns",
    "structure",
    "sparse",
    "level",
    "singular",
)

# ---------------------------------------------------------------- the arrays

bodies = MemoryArray(Content.NUMBERS, kb.BODY, lambda h: h.n_bodies + 1)
"""Constants of the bodies; the last one is the ground."""
states = MemoryArray(Content.NUMBERS, kb.STATE, lambda h: h.n_bodies + 1)
"""Natural coordinates z, zdot, zddot of each body, and forces."""
primitives = MemoryArray(Content.NUMBERS, kb.PRIMITIVE, lambda h: h.n_primitives)
"""Constants of the primitive constraints."""
joints = MemoryArray(Content.NUMBERS, kb.JOINT, lambda h: h.n_joints)
"""The joints that they belong to."""
bushings = MemoryArray(Content.NUMBERS, kb.BUSHING, lambda h: h.n_bushings)
"""Constants of the bushings."""
drives = MemoryArray(Content.NUMBERS, kb.DRIVE, lambda h: h.n_drives)
"""The rheonomic primitives and the addresses of their laws."""
elements = MemoryArray(Content.NUMBERS, kb.ELEMENT, lambda h: h.n_elements)
"""Constants of the force elements."""
entries = MemoryArray(Content.NUMBERS, kb.ENTRY, lambda h: h.n_entries)
"""The products of their forms."""
element_constants = MemoryArray(Content.NUMBERS, kb.CONSTANT, lambda h: h.n_element_constants)
"""Numbers of the laws of elements."""
frictions = MemoryArray(Content.NUMBERS, kb.FRICTION, lambda h: h.n_frictions)
"""The joints whose reactions have friction."""
tree_velocities = MemoryArray(Content.NUMBERS, kb.TREE_VELOCITY, lambda h: h.n_tree)
"""The joint equations and quasi-velocities of each body of a tree."""
element_bodies = MemoryArray(Content.STRUCTURE, np.int64, lambda h: h.n_element_bodies)
"""Bodies of the elements by functions with states."""
element_inputs = MemoryArray(Content.STRUCTURE, np.int64, lambda h: h.n_element_inputs)
"""Inputs of all elements."""
algebraic = MemoryArray(Content.STRUCTURE, np.int64, lambda h: h.n_states)
"""1 for states that are algebraic unknowns."""
formulation_parameters = MemoryArray(Content.STRUCTURE, np.float64, lambda h: h.n_parameters)
"""The parameters of the formulation, in the order of its fields."""
eliminated = MemoryArray(Content.STRUCTURE, np.int64, lambda h: h.n_rows)
"""The constraint row at each place of the order in which joints are eliminated after the bodies."""
references = MemoryArray(Content.SELECTION, np.float64, lambda h: (h.n_bodies, 3, 3))
"""R_ref in R = R_ref R(a) of each body, if h.referenced."""
pivot_floor = MemoryArray(Content.SELECTION, np.float64, lambda h: h.n_rows)
"""Pivots of joint equations, by their places, below which a joint equation is suspended; 0 disables this."""
velocity_selection = MemoryArray(Content.SELECTION, np.float64, lambda h: (h.n_nu, h.n_v))
"""S of the null-space form of loops: nu = S (xdot, Omega)."""
velocity_metric = MemoryArray(Content.SELECTION, np.float64, lambda h: 2 * h.n_v + h.n_nu)
"""The measures of T there: inverse scales of its rows, inverse sizes of its columns, and the diagonal of W of sparse
[G; S]."""
inputs = MemoryArray(Content.SELECTION, np.float64, lambda h: h.n_inputs)
"""Values of the inputs."""
closing_rows = MemoryArray(Content.PATTERN, np.int64, lambda h: (h.n_closing, 3))
"""Primitive, equation of it and number of each joint equation that closes a loop."""
square_start = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_v + 1)
"""Sparse [G; S], rows in the order of elimination: where they begin,"""
square_column = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_square_entries)
"""their columns,"""
square_place = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_v)
"""the place of each equation,"""
square_turning = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_v)
"""the body whose rotation a column is, or -1."""
rows = MemoryArray(Content.PATTERN, np.int64, lambda h: (h.n_closing, 3))
"""Primitive, equation of it and number of each joint equation that closes a loop."""
square_start = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_v + 1)
"""Sparse [G; S], rows in the order of elimination: where they begin,"""
square_column = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_square_entries)
"""their columns,"""
square_place = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_v)
"""the place of each equation,"""
square_turning = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_v)
"""the body whose rotation a column is, or -1."""
square_factor_start = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_v + 1)
"""Row pointers of L in `square_factor`,"""
square_factor_column = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_square_factor)
"""its columns,"""
square_product_start = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_v + 1)
"""by rows where those entries begin that are products of two rows,"""
square_product_slot = MemoryArray(Content.PATTERN, np.int64, lambda h: h.n_square_products)
"""and their places."""
rows = MemoryArray(Content.SCRATCH, kb.ROW, lambda h: h.n_primitives)
"""P, Q, multipliers and gradients of each primitive."""
normals = MemoryArray(Content.SCRATCH, np.float64, lambda h: h.n_frictions)
"""N of each friction under a reaction."""
friction_columns = MemoryArray(Content.SCRATCH, np.float64, lambda h: (h.n_frictions, h.n_vector))
"""(vdot, la) of one newton of each friction."""
friction_loads = MemoryArray(Content.SCRATCH, np.float64, lambda h: (h.n_frictions, (h.n_frictions + 2) * 6))
"""Of each joint (f, c) by these, without friction, and the derivatives of N by (f, c)."""
friction_factors = MemoryArray(Content.SCRATCH, np.float64, lambda h: (h.n_frictions, h.n_frictions))
"""L U of 1 - K."""
newton_order = MemoryArray(Content.DEMAND, np.int64, lambda h: h.n_newton)
"""Unknowns of a step in the order in which their equations are eliminated."""


# ---------------------------------------------------------------- scratch vectors

# long enough for the unknowns and for (g, gdot). A kernel says in its docstring which of them it reads and writes


def _vector_length(h: Any) -> Any:
    return h.n_vector


def _vector() -> MemoryArray:
    return MemoryArray(Content.SCRATCH, np.float64, _vector_length)


multipliers = _vector()
"""la: those of the internal constraints body by body, then those of the joints."""
right_hand_side = _vector()
"""f of the saddle-point system: forces in the rows of the dynamics."""
constraint_side = _vector()
"""s of the saddle-point system: the right-hand side of the constraint rows."""
solution = _vector()
"""vdot of the saddle-point system, or a displacement of the projection."""
constraint_values = _vector()
"""g, or (g, gdot): what the constraints are at the present state."""
square_side = _vector()
"""Right-hand side and solution of the square system: (-g_I, nu), then w."""
work = _vector()
"""A vector of the kernel that asks for it: no other one relies on it."""
force_states = _vector()
"""s: the internal states of the forces."""
force_state_rates = _vector()
"""sdot = f(t, q, v, s)."""

# ---------------------------------------------------------------- what follows

ARRAYS = {name: value for name, value in globals().items() if isinstance(value, MemoryArray)}
"""All arrays by their names."""

VECTORS = tuple(name for name, array in ARRAYS.items() if array.shape is _vector_length)
"""The names of the scratch vectors."""

HEAD = np.dtype([*((name, "i8") for name in _NUMBERS), ("time", "f8")], align=True)

for _name, _array in ARRAYS.items():
    _array.name = _name


@cache
def named(*contents: Content) -> tuple[str, ...]:
    """The names of the arrays with such contents."""
    return tuple(name for name, array in ARRAYS.items() if array.content in contents)


def head(m: Memory) -> Any:
    """The head."""
    return m.head

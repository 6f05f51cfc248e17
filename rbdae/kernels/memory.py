"""The memory of a model: everything that a kernel reads or writes beside `y`, as arrays by name.

A kernel gets it as its first argument `m`, and reads the arrays by their names below, as ``m.bodies``. Their
numbers may be of any kind: floats, complex numbers, symbols (`rbdae.kernels.symbolic`). ``m.head`` has sizes and kinds
(`rbdae.multibody.memory.arrays.head_of`), and the time. The table of arrays is the only list of them: the memory that
is made for them and what code depends on follow.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, final

import numpy as np

from rbdae.kernels import records as kb


class Content(Enum):
    """The meaning of what is in an array, which decides who fills it and what code depends on."""

    NUMBERS = "records with numbers of the model"
    STRUCTURE = "what code has as constants"
    SELECTION = "numbers of the selection"
    PATTERN = "places that follow from the selection"
    SCRATCH = "what kernels leave there"


@final
class MemoryArray:
    """An array of the memory.

    Parameters
    ----------
    content : what is in it, for those who make memories
    dtype : of its entries
    shape : f(h), of scratch its length or lengths by the numbers of the head
    """

    name: str

    def __init__(self, content: Content, dtype: Any, shape: Callable[[Any], Any] | None = None) -> None:
        self.content, self.dtype, self.shape = content, np.dtype(dtype), shape

    def room(self, head: Any) -> Any:
        """Zeros for it, as many as the numbers of a head say."""
        return np.zeros(1 if self.shape is None else self.shape(head), dtype=self.dtype)


def of_scalars(dtype: np.dtype[Any], scalar: Any) -> np.dtype[Any]:
    """A dtype, of records or of numbers, with numbers of another kind in place of floats."""
    if scalar is np.float64:
        return dtype
    if dtype.names is None:
        return np.dtype(scalar) if dtype.kind in "fc" else dtype
    fields = [(name, dtype[name].base, dtype[name].shape) for name in dtype.names]
    kinds = [(name, scalar if kind.kind in "fc" else kind, shape) for name, kind, shape in fields]
    return np.dtype(kinds, align=True)


# ---------------------------------------------------------------- the arrays

bodies = MemoryArray(Content.NUMBERS, kb.BODY)
"""Constants of the bodies; the last one is the ground."""
states = MemoryArray(Content.NUMBERS, kb.STATE)
"""Natural coordinates z, zdot, zddot of each body, and forces."""
primitives = MemoryArray(Content.NUMBERS, kb.PRIMITIVE)
"""Constants of the primitive constraints."""
joints = MemoryArray(Content.NUMBERS, kb.JOINT)
"""The joints that they belong to."""
drives = MemoryArray(Content.NUMBERS, kb.DRIVE)
"""The rheonomic primitives and the addresses of their laws."""
elements = MemoryArray(Content.NUMBERS, kb.ELEMENT)
"""Constants of the force elements."""
entries = MemoryArray(Content.NUMBERS, kb.ENTRY)
"""The products of their forms."""
element_constants = MemoryArray(Content.NUMBERS, kb.CONSTANT)
"""Numbers of the laws of elements."""
frictions = MemoryArray(Content.NUMBERS, kb.FRICTION)
"""The joints whose reactions have friction."""
tree_velocities = MemoryArray(Content.NUMBERS, kb.TREE_VELOCITY)
"""The joint equations and quasi-velocities of each body of a tree."""
element_bodies = MemoryArray(Content.STRUCTURE, np.int64)
"""Bodies of the elements by functions with states."""
element_inputs = MemoryArray(Content.STRUCTURE, np.int64)
"""Inputs of all elements."""
algebraic = MemoryArray(Content.STRUCTURE, np.int64)
"""1 for states that are algebraic unknowns."""
formulation_parameters = MemoryArray(Content.STRUCTURE, np.float64)
"""The parameters of the formulation, in the order of its fields."""
eliminated = MemoryArray(Content.STRUCTURE, np.int64)
"""The constraint row at each place of the order in which joints are eliminated after the bodies."""
references = MemoryArray(Content.SELECTION, np.float64)
"""R_ref in R = R_ref R(a) of each body, if h.referenced."""
pivot_floor = MemoryArray(Content.SELECTION, np.float64)
"""Pivots of joint equations, by their places, below which a joint equation is suspended; 0 disables this."""
velocity_selection = MemoryArray(Content.SELECTION, np.float64)
"""S of the null-space form of loops: nu = S (xdot, Omega)."""
velocity_metric = MemoryArray(Content.SELECTION, np.float64)
"""The measures of T there: inverse scales of its rows, inverse sizes of its columns, and the diagonal of W."""
inputs = MemoryArray(Content.SELECTION, np.float64)
"""Values of the inputs."""
square_start = MemoryArray(Content.PATTERN, np.int64)
"""[G; S] of loops, rows in an order of elimination that always serves: where they begin,"""
square_column = MemoryArray(Content.PATTERN, np.int64)
"""their columns,"""
square_place = MemoryArray(Content.PATTERN, np.int64)
"""the place of each equation."""
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
newton_order = MemoryArray(Content.SCRATCH, np.int64, lambda h: h.n_newton)
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
square_side = _vector()
"""g_I of the joints."""
force_states = _vector()
"""s: the internal states of the forces."""
force_state_rates = _vector()
"""sdot = f(t, q, v, s)."""

# ---------------------------------------------------------------- what follows

ARRAYS = {name: value for name, value in globals().items() if isinstance(value, MemoryArray)}
"""All arrays by their names."""

VECTORS = tuple(name for name, array in ARRAYS.items() if array.shape is _vector_length)
"""The names of the scratch vectors."""

for _name, _array in ARRAYS.items():
    _array.name = _name


@cache
def named(*contents: Content) -> tuple[str, ...]:
    """The names of the arrays with such contents."""
    return tuple(name for name, array in ARRAYS.items() if array.content in contents)

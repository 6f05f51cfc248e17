"""How kernels get at memory, and the mathematics that has a compiled and a plain side.

Stages take addresses. In plain Python an address is the array itself, whose numbers may be of any kind.
"""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from rbdae.compiler.cells import as_pointer
from rbdae.compiler.jit import jit, two_sided
from rbdae.compiler.options import numba

Memory: TypeAlias = Any
"""The memory of a problem: its address, or in plain Python an object with the arrays."""

Address: TypeAlias = Any
"""The address of an array, or in plain Python the array."""

Array: TypeAlias = Any
"""A vector or matrix in a kernel."""

carray = numba.carray

# longer than any vector here: only the address counts
_LONG = 1 << 40


def _itself(array: Any) -> Any:
    """The array: in plain Python it is its own address."""
    return array


def _itself_with_rows(array: Any, step: Any) -> Any:
    """The array, which knows the distance of its rows."""
    return array


@two_sided(_itself)
@jit
def address(array: Any) -> Any:
    """Where an array begins, for a stage."""
    return array.ctypes.data


@two_sided(_itself)
@jit
def vector_at(at: Any) -> Any:
    """The vector at an address."""
    return carray(as_pointer(at), _LONG, np.float64)


@two_sided(_itself_with_rows)
@jit
def matrix_at(at: Any, step: Any) -> Any:
    """The matrix at an address whose rows are `step` numbers apart."""
    return carray(as_pointer(at), (_LONG, step), np.float64)


def accessor(function: Any) -> Any:
    """A kernel f(m) that opens a part of the memory m; in plain Python the attribute of m with its name."""
    return two_sided(attrgetter(function.__name__))(jit(function))


# of functions of the states: plain sides take complex numbers, and symbols that have such methods
sqrt = two_sided(np.sqrt)(math.sqrt)
sin = two_sided(np.sin)(math.sin)
cos = two_sided(np.cos)(math.cos)
asin = two_sided(np.arcsin)(math.asin)
atan = two_sided(np.arctan)(math.atan)


@two_sided(np.maximum)
@jit
def maximum(x: Any, y: Any) -> Any:
    """The larger number."""
    return x if x > y else y


__all__ = [
    "Address",
    "Array",
    "Memory",
    "accessor",
    "address",
    "as_pointer",
    "asin",
    "atan",
    "carray",
    "cos",
    "matrix_at",
    "maximum",
    "sin",
    "sqrt",
    "vector_at",
]

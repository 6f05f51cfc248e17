"""How kernels get at memory, and the mathematics that has a compiled and a plain side.

Stages take addresses. In plain Python an address is the array itself, whose numbers may be of any kind.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from rbdae.compiler.declared import MachineOnly
from rbdae.compiler.jit import jit, two_sided
from rbdae.machine.language.kinds import LONG, VARIES

Memory: TypeAlias = Any
"""The memory of a problem: its address, or in plain Python an object with the arrays."""

Address: TypeAlias = Any
"""The address of an array, or in plain Python the array."""

Array: TypeAlias = Any
"""A vector or matrix in a kernel."""

as_pointer: Any = MachineOnly("as_pointer")
"""f(at): an integer address as a void pointer."""

carray: Any = MachineOnly("carray")
"""f(pointer, shape, dtype): the array at a pointer, as in numba."""

call_address: Any = MachineOnly("call_address")
"""f(at, t, x, out): call the C function f(t, x, out) at an address."""

_doubles: Any = MachineOnly("doubles")
_as_double: Any = MachineOnly("as_double")
_n_doubles: Any = MachineOnly("n_doubles")
_is_zero: Any = MachineOnly("is_zero")


def _itself(array: Any) -> Any:
    """The array: in plain Python it is its own address."""
    return array


def _itself_with_rows(array: Any, step: Any) -> Any:
    """The array, which knows the distance of its rows."""
    return array


@two_sided(_itself)
@jit
def address(array: Any) -> Any:
    """The address at which an array begins, for a stage."""
    return array.ctypes.data


@two_sided(_itself)
@jit
def vector_at(at: Any) -> Any:
    """The vector at an address."""
    return carray(as_pointer(at), LONG, np.float64)


@two_sided(_itself_with_rows)
@jit
def matrix_at(at: Any, step: Any) -> Any:
    """The matrix at an address whose rows are `step` numbers apart."""
    return carray(as_pointer(at), (LONG, step), np.float64)


@two_sided(_itself)
@jit
def doubles(array: Any) -> Any:
    """The memory of an array as a vector of doubles: a dual number there is `n_doubles` of them, its value first."""
    return _doubles(array.ctypes.data)


@two_sided(_itself)
@jit
def as_double(x: Any) -> Any:
    """A number without its derivatives."""
    return _as_double(x)


def _one() -> int:
    return 1


@two_sided(_one)
@jit
def n_doubles() -> Any:
    """1, and in kernels on dual numbers the doubles of each."""
    return _n_doubles()


# of functions of the states: plain sides take complex numbers, and symbols that have such methods
sqrt = two_sided(np.sqrt)(math.sqrt)
sin = two_sided(np.sin)(math.sin)
cos = two_sided(np.cos)(math.cos)
asin = two_sided(np.arcsin)(math.asin)
atan = two_sided(np.arctan)(math.atan)


def _plain_select(condition: Any, one: Any, other: Any) -> Any:
    choose = getattr(condition, "select", None)  # of a condition on symbols
    if choose is not None:
        return choose(one, other)
    return one if condition else other


@two_sided(_plain_select)
@jit
def select(condition: bool, one: float, other: float) -> Any:
    """`one` where the condition holds, else `other`. Both are computed, also where a condition on symbols is open: so
    branches that give numbers and are cheap do not split a recording (`rbdae.graph.symbols`)."""
    return one if condition else other


def _plain_is_zero(x: Any) -> Any:
    return not hasattr(x, "recorder") and x == 0.0  # a symbol is open: it counts as a number that is not zero


@two_sided(_plain_is_zero)
@jit
def is_zero(x: float) -> Any:
    """Whether a factor is zero, a dual number with its derivatives, so that its products need not be computed."""
    return _is_zero(x)


def _plain_is_nan(x: Any) -> Any:
    return not hasattr(x, "recorder") and np.isnan(x)  # of symbols that is asked where their numbers are known


@two_sided(_plain_is_nan)
@jit
def is_nan(x: float) -> Any:
    """Whether something is not a number."""
    return x != x


def _plain_maximum(x: Any, y: Any) -> Any:
    return _plain_select(x > y, x, y) if hasattr(x > y, "select") else np.maximum(x, y)


@two_sided(_plain_maximum)
@jit
def maximum(x: Any, y: Any) -> Any:
    """The larger number."""
    return x if x > y else y


__all__ = [
    "VARIES",
    "Address",
    "Array",
    "Memory",
    "address",
    "as_double",
    "as_pointer",
    "asin",
    "atan",
    "call_address",
    "carray",
    "cos",
    "doubles",
    "is_zero",
    "matrix_at",
    "maximum",
    "n_doubles",
    "select",
    "sin",
    "sqrt",
    "vector_at",
]

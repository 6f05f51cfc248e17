"""Array aliases, and the letters used throughout.

======== ==========================================================================
letter   meaning
======== ==========================================================================
``z``    natural coordinates of a body: ``(x, d1, d2, d3)`` in R^12, ``R = [d1 d2 d3]``
``a``    rotation parameters of a chart, ``R = R(a)``
``q``    positions: per body ``(x, a)``, or only ``a`` for a body with a pivot
``v``    velocities: ``qdot`` (coordinate), ``(xdot, Omega)`` (angular), ``nu`` or momenta
``la``   Lagrange multipliers, force convention ``M vdot = psi - G^T la``
``y``    the unknowns of a problem, ``(q, v, la)`` in this order
======== ==========================================================================
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray

Vec = NDArray[np.float64]
Mat = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def address_of(array: Any) -> int:
    """The address of an array's numbers; where it can be written quicker than by its `ctypes.data`."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # it is read only, or empty
        at: int = array.ctypes.data
        return at


def sense(*times: Vec) -> int:
    """1 if times rise, -1 if they fall, as in a run back in time; decided by the first array with two ends, else 1."""
    ends = ((t[0], t[-1]) for t in times if len(t) and t[0] != t[-1])
    return next((1 if first < last else -1 for first, last in ends), 1)


class Varied(np.ndarray):
    """Internal numbers with a derivative as imaginary part, or symbols."""


def varied(array: Vec) -> Vec:
    """The same array; one of complex numbers or symbols as `Varied`, which is not checked again."""
    return array.view(Varied) if array.dtype.kind in "cO" else array


def is_varied(x: Any) -> bool:
    """Whether x is `Varied`, or a symbol (`rbdae.graph.symbols`)."""
    return isinstance(x, Varied) or hasattr(x, "recorder")


def at_point(x: Any) -> Any:
    """Numbers without their derivatives, and the values of symbols where conditions are answered."""
    if not (isinstance(x, np.ndarray) and x.dtype.hasobject):
        return x.real
    return np.array([each.real for each in x.ravel()], dtype=float).reshape(x.shape)


_NEXT, _LAST = np.array((1, 2, 0)), np.array((2, 0, 1))


POINT = np.array([[1.0], [0.0], [0.0], [0.0]])
"""1 for a point, 0 for a direction, for each of a body's natural coordinates (x, d1, d2, d3)."""


def cross(a: Vec, b: Vec) -> Vec:
    """Vector products a x b (..., 3): the operations of `numpy.cross`, quicker."""
    return a.take(_NEXT, -1) * b.take(_LAST, -1) - a.take(_LAST, -1) * b.take(_NEXT, -1)


def copied(array: Any) -> Any:
    """A copy of an array; records (n,) of numbers are copied as bytes, faster than field by field."""
    return array.copy() if array.dtype.hasobject or not array.dtype.names else array.view("u1").copy().view(array.dtype)

"""Array aliases and the letters that the whole house uses.

======== ==========================================================================
letter   meaning
======== ==========================================================================
``z``    natural coordinates of a body: ``(x, d1, d2, d3)`` in R^12, ``R = [d1 d2 d3]``
``a``    rotation parameters of a chart, ``R = R(a)``
``q``    positions: per body ``(x, a)``, or ``a`` alone for a body with a pivot
``v``    velocities: ``qdot`` (coordinate), ``(xdot, Omega)`` (angular), ``nu`` or momenta
``la``   Lagrange multipliers, force convention ``M vdot = psi - G^T la``
``y``    the unknowns of a problem, ``(q, v, la)`` in this order
======== ==========================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray

Vec = NDArray[np.float64]
Mat = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def sense(*times: Vec) -> int:
    """1 where times rise, -1 where they fall, as those of a run back in time: of the first with two ends, 1 of none."""
    ends = ((t[0], t[-1]) for t in times if len(t) and t[0] != t[-1])
    return next((1 if first < last else -1 for first, last in ends), 1)


class Varied(np.ndarray):
    """A number, or numbers, with a derivative as imaginary part: no user's."""


def varied(array: Vec) -> Vec:
    """The same array; if it has an imaginary part, as what is not checked again."""
    return array.view(Varied) if array.dtype.kind == "c" else array


_NEXT, _LAST = np.array((1, 2, 0)), np.array((2, 0, 1))


POINT = np.array([[1.0], [0.0], [0.0], [0.0]])
"""Of the natural coordinates (x, d1, d2, d3) of a body the first vector is a point, the others are directions."""


def cross(a: Vec, b: Vec) -> Vec:
    """The vector products a x b (..., 3), by the operations of `numpy.cross`, which takes four times as long."""
    return a.take(_NEXT, -1) * b.take(_LAST, -1) - a.take(_LAST, -1) * b.take(_NEXT, -1)


def copied(array: Any) -> Any:
    """A copy of an array; of records (n,) as bytes: field by field it takes ten times as long."""
    return array.copy() if array.dtype.names is None else array.view(np.uint8).copy().view(array.dtype)

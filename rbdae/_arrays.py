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
from numpy.typing import ArrayLike, NDArray

Float = np.float64
Vec = NDArray[np.float64]
Mat = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Anything = Any


def sense(*times: Vec) -> int:
    """1 where times rise, -1 where they fall, as those of a run back in time: of the first with two ends, 1 of none."""
    ends = ((t[0], t[-1]) for t in times if len(t) and t[0] != t[-1])
    return next((1 if first < last else -1 for first, last in ends), 1)


__all__ = ["Anything", "ArrayLike", "Bools", "Float", "Ints", "Mat", "Vec", "sense"]

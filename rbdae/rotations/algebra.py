"""Algebra of directors into arrays that exist, for kernels."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array
from rbdae.rotations.directors import DIRECTORS
from rbdae.rotations.vectors import axial, frame


def angular_velocity(D: Array, rates: Array) -> Array:
    """Omega, the axial vector of W = R^-1 Rdot, of directors and their rates in rows, D = R^T.

    With the inverse, not the transpose: then the angular velocity is the unknown Omega also where the frame has drifted
    from an orthonormal one (R^T Rdot is off by the fourth power of a quaternion's norm). The rows of det R R^-1 are
    d2 x d3, d3 x d1, d1 x d2.
    """
    dual = np.array([cross(D[1], D[2]), cross(D[2], D[0]), cross(D[0], D[1])])
    W = dual @ rates.T
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) * (0.5 / (dual[0] @ D[0]))


def director_tangents(d: Array, K: Array) -> None:
    """K[:9, :3] = T_d(d), [NS] (24): spin(d, om) = K om."""
    K[:9, :3] = DIRECTORS.kinematics(d)


def spin(d: Array, om: Array, out: Array) -> None:
    """out = R om^, stacked by columns."""
    out[:9] = DIRECTORS.rate(d, om[:3])


def spin_transposed(d: Array, f: Array, out: Array) -> None:
    """out[:3] = T_d(d)^T f, the torque of forces f on the directors: spin(d, om) . f = om . out."""
    out[:3] = axial(frame(d).T @ frame(f))

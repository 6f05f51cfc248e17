"""Directors d = (d1, d2, d3), the columns of R.

    R(d) = [d1 d2 d3],  ddot = T_d(d) Omega,  R R^T = I

There is no singularity. The six constraints are on the rows of R, with half the squares. [NS] (19)-(25).
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array, sqrt
from rbdae.rotations.chart import DIRECTOR_RATE, Chart
from rbdae.rotations.functions import publish
from rbdae.rotations.signatures import *  # noqa: F403
from rbdae.rotations.vectors import euler_map, frame, largest_row, skew, stacked


def _parameters(p: Vec, R: Mat) -> Vec:
    return np.swapaxes(R, -1, -2).reshape(*R.shape[:-2], 9).copy()


def _gram(x: Array, y: Array) -> Array:
    """(x_k . y_k, then x_i . y_j + x_j . y_i for ij = 12, 31, 23) over the rows of two frames, [NS] (19)."""
    X, Y = frame(x), frame(y)
    beside = [sum(X[i] * Y[j] + X[j] * Y[i]) for i, j in ((0, 1), (2, 0), (1, 2))]
    return np.array([*(X[k] @ Y[k] for k in range(3)), *beside])


def _internal_constraints(a: Array) -> Array:
    S = frame(a) @ frame(a).T
    return np.array([*(0.5 * S[k, k] - 0.5 for k in range(3)), S[0, 1], S[2, 0], S[1, 2]])


def _normalise(a: Array) -> Array:
    """[NS] (64): the rotation of the unit quaternion by Spurrier and Klumpp."""
    p = largest_row(frame(a))
    return stacked(euler_map(p / sqrt(p @ p)))


def _rate(a: Array, om: Array) -> Array:
    return stacked(frame(a) @ skew(om))


def _tangent(a: Array) -> Array:
    return 0.5 * np.array([_rate(a, om) for om in np.eye(3)])


DIRECTORS = Chart(
    name="directors",
    source="[NS] (19)-(25)",
    names=tuple(f"d{i}{c}" for i in "123" for c in "xyz"),
    parameters=_parameters,
    rotation=frame,
    rate=_rate,
    internal=("row11", "row22", "row33", "row12", "row31", "row23"),
    internal_constraints=_internal_constraints,
    internal_rate=_gram,
    normalise=_normalise,
    coordinate_velocities=DIRECTOR_RATE,
    tangent=_tangent,
)
publish(__name__, DIRECTORS)

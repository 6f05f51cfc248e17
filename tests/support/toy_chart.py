"""A chart that rbdae does not have, in one file: unit quaternions with the scalar last."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rbdae.graph.functions import Array, sqrt
from rbdae.rotations import Chart, ChartFunctions
from rbdae.rotations.euler_map import euler_map

Vec = Mat = NDArray[np.float64]


def scalar_first(a):
    return a[3], a[0], a[1], a[2]


def _parameters(p: Vec, R: Mat) -> Vec:
    return np.roll(p, -1)


def _singular(a: Vec) -> str:
    return ""


def _rotation(a: Array, d: Array) -> None:
    euler_map(scalar_first(a), d)


def _rate(a: Array, om: Array, ad: Array) -> None:
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    ad[3] = 0.5 * (-a[0] * o1 - a[1] * o2 - a[2] * o3)
    ad[0] = 0.5 * (a[3] * o1 - a[2] * o2 + a[1] * o3)
    ad[1] = 0.5 * (a[2] * o1 + a[3] * o2 - a[0] * o3)
    ad[2] = 0.5 * (-a[1] * o1 + a[0] * o2 + a[3] * o3)


def _internal_constraints(a: Array, v: Array, out: Array, i: int, j: int) -> None:
    out[i] = 0.5 * (a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3] - 1.0)
    out[j] = a[0] * v[0] + a[1] * v[1] + a[2] * v[2] + a[3] * v[3]


def _normalise(a: Array, work: Array) -> None:
    n = 1.0 / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    for k in range(4):
        a[k] *= n


SCALAR_LAST = Chart(
    name="scalar-last",
    source="",
    names=("p1", "p2", "p3", "p0"),
    parameters=_parameters,
    singular=_singular,
    rotation=_rotation,
    rate=_rate,
    internal=("norm",),
    internal_constraints=_internal_constraints,
    normalise=_normalise,
)

FUNCTIONS = ChartFunctions(__name__, SCALAR_LAST, "unit quaternions with the scalar last")
"""All functions for users, of the kernels alone."""

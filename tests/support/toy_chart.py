"""A chart that rbdae does not have, in one file: unit quaternions with the scalar last."""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, sqrt
from rbdae.rotations import Chart, ChartFunctions
from rbdae.rotations.vectors import euler_map, product, pure


def scalar_first(a: Array) -> Array:
    return np.array([a[3], a[0], a[1], a[2]])


def scalar_last(p: Array) -> Array:
    return np.array([p[1], p[2], p[3], p[0]])


SCALAR_LAST = Chart(
    name="scalar-last",
    source="",
    names=("p1", "p2", "p3", "p0"),
    parameters=lambda p, R: np.roll(p, -1),
    rotation=lambda a: euler_map(scalar_first(a)),
    rate=lambda a, om: 0.5 * scalar_last(product(scalar_first(a), pure(om))),
    internal=("norm",),
    internal_constraints=lambda a: np.array([0.5 * (a @ a - 1.0)]),
    internal_rate=lambda a, v: np.array([a @ v]),
    normalise=lambda a: a / sqrt(a @ a),
)

FUNCTIONS = ChartFunctions(SCALAR_LAST)
"""All functions for users, of R and K alone."""

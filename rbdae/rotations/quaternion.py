"""Unit quaternions p, scalar first.

    R(p) = phi(p),  pdot = T_p(p) Omega = p o (0, Omega) / 2,  p . p = 1

R has no singularity; p and -p are the same rotation. The norm's constraint is (p . p - 1) / 2. [NS] (26)-(42).
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Vec
from rbdae.graph.functions import Array, sqrt
from rbdae.rotations import checks
from rbdae.rotations.chart import QUATERNION_RATE, Chart
from rbdae.rotations.functions import publish
from rbdae.rotations.signatures import *  # noqa: F403
from rbdae.rotations.vectors import euler_map, product, pure


def _quaternion(a: Vec) -> Vec:
    out: Vec = a / checks.norm(a)[..., None]
    return out


def _gram(x: Array, y: Array) -> Array:
    return np.array([x @ y])


def _rate(p: Array, om: Array) -> Array:
    return 0.5 * product(p, pure(om))


def _tangent(p: Array) -> Array:
    return 4.0 * np.array([_rate(p, om) for om in np.eye(3)])


QUATERNION = Chart(
    name="quaternion",
    source="[NS] (26)-(42)",
    names=("p0", "p1", "p2", "p3"),
    parameters=lambda p, R: p.copy(),
    rotation=euler_map,
    rate=_rate,
    nearest=lambda a, b: -a if a @ b < 0.0 else a,
    internal=("norm",),
    internal_constraints=lambda p: 0.5 * (_gram(p, p) - 1.0),
    internal_rate=_gram,
    normalise=lambda p: p / sqrt(p @ p),
    coordinate_velocities=QUATERNION_RATE,
    tangent=_tangent,
    quaternion=_quaternion,
)
publish(__name__, QUATERNION)

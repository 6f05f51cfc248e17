"""Unit quaternions p, scalar first.

    R(p) = phi(p),  pdot = T_p(p) Omega = p o (0, Omega) / 2,  p . p = 1

R has no singularity; p and -p are one rotation. The norm's constraint is (p . p - 1) / 2. [NS] (26)-(42).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae import _stacks
from rbdae._arrays import Mat, Vec
from rbdae.compiler.access import Array, sqrt
from rbdae.rotations import stacks
from rbdae.rotations.chart import Chart, never_singular
from rbdae.rotations.euler_map import euler_map
from rbdae.rotations.functions import ChartFunctions
from rbdae.rotations.quaternions.algebra import conjugated, multiplied
from rbdae.rotations.velocities import QUATERNION_RATE

if TYPE_CHECKING:
    from rbdae.rotations.signatures import *  # noqa: F403


def _nearest(a: Vec, b: Vec) -> Vec:
    return -a if a @ b < 0.0 else a


def _rate(a: Array, om: Array, ad: Array) -> None:
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    ad[0] = 0.5 * (-a[1] * o1 - a[2] * o2 - a[3] * o3)
    ad[1] = 0.5 * (a[0] * o1 - a[3] * o2 + a[2] * o3)
    ad[2] = 0.5 * (a[3] * o1 + a[0] * o2 - a[1] * o3)
    ad[3] = 0.5 * (-a[2] * o1 + a[1] * o2 + a[0] * o3)


def _internal_constraints(a: Array, v: Array, out: Array, i: int, j: int) -> None:
    out[i] = 0.5 * (a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3] - 1.0)
    out[j] = a[0] * v[0] + a[1] * v[1] + a[2] * v[2] + a[3] * v[3]


def _normalise(a: Array, work: Array) -> None:
    """[NS] (63)."""
    n = 1.0 / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    for k in range(4):
        a[k] *= n


def _quaternion(a: Vec) -> Vec:
    out: Vec = a / _stacks.norm(a)[..., None]
    return out


def _half_rotation(a: Vec) -> Mat:
    """The shorter one."""
    p = _quaternion(a)
    return stacks.half_rotation(np.where(p[..., :1] < 0.0, -p, p))


QUATERNION = Chart(
    name="quaternion",
    source="[NS] (26)-(42)",
    names=("p0", "p1", "p2", "p3"),
    parameters=lambda p, R: p.copy(),
    singular=never_singular,
    rotation=euler_map,
    rate=_rate,
    nearest=_nearest,
    internal=("norm",),
    internal_constraints=_internal_constraints,
    normalise=_normalise,
    coordinate_velocities=QUATERNION_RATE,
    inverted=conjugated,
)
_NOTES = {
    "matrix": "[GR95] (199), (200), (246), (247), [NS] (26)",
    "parameters": "p0 >= 0; [GR95] (202)-(205)",
    "quaternion": "p itself, of unit norm",
    "half_rotation": "the shorter one",
    "tangent": "2 G and 2 H of [GR95] (208), (248), (250)",
    "inverse_tangent": "G^T / 2 and H^T / 2, [NS] (41)",
    "compose": "the product of p_a and p_b",
}
ChartFunctions(
    __name__,
    QUATERNION,
    "unit quaternions",
    quaternion=_quaternion,
    transposed=4.0,
    half_rotation=_half_rotation,
    compose=multiplied,
    notes=_NOTES,
).publish()

"""Unit quaternions p, scalar first.

    R(p) = phi(p),  pdot = T_p(p) Omega = p o (0, Omega) / 2,  p . p = 1

R has no singularity; p and -p are the same rotation. The norm's constraint is (p . p - 1) / 2. [NS] (26)-(42).
"""

from __future__ import annotations

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array
from rbdae.rotations import checks, stacks
from rbdae.rotations.chart import Chart, never_singular
from rbdae.rotations.euler_map import euler_map
from rbdae.rotations.functions import ChartFunctions
from rbdae.rotations.quaternion_algebra import normalise, rate
from rbdae.rotations.quaternions.algebra import conjugated, multiplied
from rbdae.rotations.signatures import *  # noqa: F403
from rbdae.rotations.velocities import QUATERNION_RATE


def _nearest(a: Vec, b: Vec) -> Vec:
    return -a if a @ b < 0.0 else a


def _internal_constraints(a: Array, v: Array, out: Array, i: int, j: int) -> None:
    out[i] = 0.5 * (a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3] - 1.0)
    out[j] = a[0] * v[0] + a[1] * v[1] + a[2] * v[2] + a[3] * v[3]


def _quaternion(a: Vec) -> Vec:
    out: Vec = a / checks.norm(a)[..., None]
    return out


def _half(a: Vec) -> Mat:
    return stacks.half_rotation(stacks.shorter(_quaternion(a)))


QUATERNION = Chart(
    name="quaternion",
    source="[NS] (26)-(42)",
    names=("p0", "p1", "p2", "p3"),
    parameters=lambda p, R: p.copy(),
    singular=never_singular,
    rotation=euler_map,
    rate=rate,
    nearest=_nearest,
    internal=("norm",),
    internal_constraints=_internal_constraints,
    normalise=normalise,
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
    half_rotation=_half,
    compose=multiplied,
    notes=_NOTES,
).publish()

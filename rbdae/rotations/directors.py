"""Directors d = (d1, d2, d3), the columns of R.

    R(d) = [d1 d2 d3],  ddot = T_d(d) Omega,  R R^T = I

There is no singularity. The six constraints are on the rows of R, with half the squares. [NS] (19)-(25).
"""

from __future__ import annotations

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array
from rbdae.rotations import stacks
from rbdae.rotations.algebra import add_products, spin
from rbdae.rotations.chart import Chart, never_singular
from rbdae.rotations.euler_map import euler_map
from rbdae.rotations.functions import ChartFunctions
from rbdae.rotations.quaternion_algebra import largest_row, normalise
from rbdae.rotations.signatures import *  # noqa: F403
from rbdae.rotations.velocities import DIRECTOR_RATE


def _parameters(p: Vec, R: Mat) -> Vec:
    return stacks.stacked(R).copy()


def _rotation(a: Array, d: Array) -> None:
    for i in range(9):
        d[i] = a[i]


def _internal_constraints(a: Array, v: Array, out: Array, i: int, j: int) -> None:
    for k in range(6):
        out[i + k] = 0.0
        out[j + k] = 0.0
    add_products(a, a, out, i, 0.5, 1)
    for k in range(3):
        out[i + k] -= 0.5
    add_products(a, v, out, j, 1.0, 1)


def _normalise(a: Array, p: Array) -> None:
    """[NS] (64): the rotation of the unit quaternion by Spurrier and Klumpp."""
    largest_row(a, p)
    normalise(p, p)
    euler_map(p, a)


def _inverted(a: Vec) -> Vec:
    return stacks.stacked(a.reshape(*a.shape[:-1], 3, 3))


def _compose(a: Vec, b: Vec) -> Vec:
    return stacks.stacked(stacks.matrix(DIRECTORS, a) @ stacks.matrix(DIRECTORS, b))


DIRECTORS = Chart(
    name="directors",
    source="[NS] (19)-(25)",
    names=tuple(f"d{i}{c}" for i in "123" for c in "xyz"),
    parameters=_parameters,
    singular=never_singular,
    rotation=_rotation,
    rate=spin,
    internal=("row11", "row22", "row33", "row12", "row31", "row23"),
    internal_constraints=_internal_constraints,
    normalise=_normalise,
    coordinate_velocities=DIRECTOR_RATE,
    inverted=_inverted,
)
_NOTES = {
    "matrix": "[NS] (19)",
    "parameters": "the columns of R",
    "quaternion": "by Spurrier and Klumpp; [GR95] (203)-(205), [NS] section 6",
    "tangent": "T_d^T / 2 of [NS] (24), and sum_i d_i^ / 2",
    "inverse_tangent": "T_d of [NS] (24)",
    "compose": "the product of the matrices",
}
ChartFunctions(__name__, DIRECTORS, "directors", transposed=0.5, compose=_compose, notes=_NOTES).publish()

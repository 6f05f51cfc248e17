"""The charts by name: how rotation parameters are called, made from a rotation, and where they fail.

Quaternions are scalar first; d = (d1, d2, d3) stacks the columns of R; Omega is the material angular velocity,
R^T Rdot = Omega^. The kernels (R(a), dR/da, K(a) and its derivative) are in `rbdae.rotations.charts`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.kernels import records as kb
from rbdae.rotations.charts import DIRECTORS, EULER_313, QUATERNION

# below this |sin theta_2| the kinematic matrix of the Euler angles has lost six digits
_NEAR_SINGULAR = 1e-6


@final
@dataclass(frozen=True, slots=True)
class Chart:
    """A parametrisation of rotations.

    `parameters(p, R)` makes the parameters of a rotation from its unit quaternion and matrix; `singular(a)` says in
    words why `a` cannot be used, or is empty; `kind` is the kernel number of velocities adot where the chart has them.
    """

    name: str
    number: int
    names: tuple[str, ...]
    internal: tuple[str, ...]
    parameters: Callable[[Vec, Mat], Vec]
    singular: Callable[[Vec], str]
    kind: int | None
    source: str


def _never(a: Vec) -> str:
    return ""


def _euler_angles(p: Vec, R: Mat) -> Vec:
    return np.array(
        [
            np.arctan2(R[0, 2], -R[1, 2]),
            np.arctan2(np.hypot(R[0, 2], R[1, 2]), R[2, 2]),
            np.arctan2(R[2, 0], R[2, 1]),
        ]
    )


def _euler_singular(a: Vec) -> str:
    if abs(np.sin(a[1])) > _NEAR_SINGULAR:
        return ""
    return f"theta2 = {a[1]:.6g} is a singularity (gimbal lock) of the Euler angles 3-1-3: d3 is parallel to e3"


CHARTS: dict[str, Chart] = {
    chart.name: chart
    for chart in (
        Chart(
            "quaternion",
            QUATERNION,
            ("p0", "p1", "p2", "p3"),
            ("norm",),
            lambda p, R: p.copy(),
            _never,
            kb.QUATERNION_RATE,
            "[NS] (26)-(42)",
        ),
        Chart(
            "directors",
            DIRECTORS,
            tuple(f"d{i}{c}" for i in "123" for c in "xyz"),
            ("row11", "row22", "row33", "row12", "row31", "row23"),
            lambda p, R: R.T.reshape(9).copy(),
            _never,
            kb.DIRECTOR_RATE,
            "[NS] (19)-(25)",
        ),
        Chart(
            "euler-313",
            EULER_313,
            ("theta1", "theta2", "theta3"),
            (),
            _euler_angles,
            _euler_singular,
            None,
            "[NS] (65), (66)",
        ),
    )
}

__all__ = ["CHARTS", "Chart"]

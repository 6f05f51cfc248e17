"""Euler angles 3-1-3: precession theta1 about e3, nutation theta2 about the turned 1-axis, spin theta3 about d3.

    R = exp(theta1 e3^) exp(theta2 e1^) exp(theta3 e3^)

    theta1dot = u,  theta2dot = cos(theta3) O1 - sin(theta3) O2,  theta3dot = O3 - cos(theta2) u,
    u = (sin(theta3) O1 + cos(theta3) O2) / sin(theta2)

with the material angular velocity (O1, O2, O3). Singular at sin(theta2) = 0. [NS] (65), (66); [GR95] (276)-(283).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.rotations import angles
from rbdae.rotations.chart import Chart
from rbdae.rotations.functions import publish
from rbdae.rotations.signatures import *  # noqa: F403


def _parameters(p: Vec, R: Mat) -> Vec:
    x, y, z = (R[..., i, 2] for i in range(3))
    theta1 = np.arctan2(x, -y)
    theta2 = np.arctan2(np.hypot(x, y), z)
    return angles.completed(2, theta1, theta2, np.cos(theta1), np.sin(theta1), R)


def _singular(a: Vec) -> str:
    return angles.locked(np.sin(a[1]), f"theta2 = {a[1]:.6g}", "Euler angles 3-1-3: d3 is parallel to e3")


EULER_313 = Chart(
    name="euler-313",
    source="[NS] (65), (66)",
    names=("theta1", "theta2", "theta3"),
    parameters=_parameters,
    singular=_singular,
    centre=(0.0, 0.5 * np.pi, 0.0),
    nearest=partial(angles.nearest, 0.0),
    **angles.fields(2, 0, 2),
)
publish(__name__, EULER_313)

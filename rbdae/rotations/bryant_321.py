"""Bryant (nautical) angles 3-2-1: yaw psi about e3, pitch theta about the turned 2-axis, roll phi about d1.

    R = exp(psi e3^) exp(theta e2^) exp(phi e1^)

    psidot = u,  thetadot = cos(phi) O2 - sin(phi) O3,  phidot = O1 + sin(theta) u,
    u = (sin(phi) O2 + cos(phi) O3) / cos(theta)

with the material angular velocity (O1, O2, O3). Singular at cos(theta) = 0, theta = +-pi/2. [GR95] (284)-(291), where
the angle about e3 is called theta, and the angle about the 2-axis psi.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array, asin, cos, sin
from rbdae.rotations import angles
from rbdae.rotations.chart import Chart
from rbdae.rotations.functions import ChartFunctions
from rbdae.rotations.signatures import *  # noqa: F403


def _parameters(p: Vec, R: Mat) -> Vec:
    x, y, z = (R[..., i, 0] for i in range(3))
    psi = np.arctan2(y, x)
    theta = np.arctan2(-z, np.hypot(x, y))
    return angles.completed(0, psi, theta, -np.sin(psi), np.cos(psi), R)


def _singular(a: Vec) -> str:
    return angles.locked(np.cos(a[1]), f"theta = {a[1]:.6g}", "Bryant angles 3-2-1: d1 is parallel to e3")


def _rotation(a: Array, d: Array) -> None:
    c1, s1, c2, s2, c3, s3 = angles.cosines_and_sines(a)
    d[0] = c1 * c2
    d[1] = s1 * c2
    d[2] = -s2
    d[3] = c1 * s2 * s3 - s1 * c3
    d[4] = s1 * s2 * s3 + c1 * c3
    d[5] = c2 * s3
    d[6] = c1 * s2 * c3 + s1 * s3
    d[7] = s1 * s2 * c3 - c1 * s3
    d[8] = c2 * c3


def _rate(a: Array, om: Array, ad: Array) -> None:
    angles.rate(a, om, 0, cos(a[1]), -sin(a[1]), ad)


def _distance(a: Array) -> Any:
    return asin(abs(cos(a[1])))


BRYANT_321 = Chart(
    name="bryant-321",
    source="[GR95] (284)-(291)",
    names=("psi", "theta", "phi"),
    parameters=_parameters,
    singular=_singular,
    rotation=_rotation,
    rate=_rate,
    centre=(0.0, 0.0, 0.0),
    distance=_distance,
    nearest=partial(angles.nearest, np.pi),
)
_NOTES = {
    "matrix": "[GR95] (284)-(286)",
    "parameters": "theta in [-pi/2, pi/2]; [GR95] (287)",
    "quaternion": "the product of three; [GR95] (226), (284)",
    "tangent": "[GR95] (288)-(291)",
    "distance": "to theta = -pi/2 and pi/2",
}
_quaternion = partial(angles.quaternion, (2, 1, 0))
ChartFunctions(__name__, BRYANT_321, "Bryant angles", quaternion=_quaternion, notes=_NOTES).publish()

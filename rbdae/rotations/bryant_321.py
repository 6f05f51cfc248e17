"""Bryant (nautical) angles 3-2-1: yaw psi about e3, pitch theta about the turned 2-axis, roll phi about d1.

    R = exp(psi e3^) exp(theta e2^) exp(phi e1^)

    psidot = u,  thetadot = cos(phi) O2 - sin(phi) O3,  phidot = O1 + sin(theta) u,
    u = (sin(phi) O2 + cos(phi) O3) / cos(theta)

with the material angular velocity (O1, O2, O3). Singular at cos(theta) = 0, theta = +-pi/2. [GR95] (284)-(291), where
the angle about e3 is called theta, and the angle about the 2-axis psi.
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
    x, y, z = (R[..., i, 0] for i in range(3))
    psi = np.arctan2(y, x)
    theta = np.arctan2(-z, np.hypot(x, y))
    return angles.completed(0, psi, theta, -np.sin(psi), np.cos(psi), R)


def _singular(a: Vec) -> str:
    return angles.locked(np.cos(a[1]), f"theta = {a[1]:.6g}", "Bryant angles 3-2-1: d1 is parallel to e3")


BRYANT_321 = Chart(
    name="bryant-321",
    source="[GR95] (284)-(291)",
    names=("psi", "theta", "phi"),
    parameters=_parameters,
    singular=_singular,
    centre=(0.0, 0.0, 0.0),
    nearest=partial(angles.nearest, np.pi),
    **angles.fields(2, 1, 0),
)
publish(__name__, BRYANT_321)

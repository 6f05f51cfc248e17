"""The linear parameters s = n sin(phi).

    R = I + s^ + s^ s^ / (1 + s0),  s0 = cos(phi) = sqrt(1 - s^2),
    sdot = ((1 + s0) Omega + s x Omega - s (s . Omega) / (1 + s0)) / 2

with the material angular velocity Omega. Singular at phi = pi / 2, |s| = 1, where s turns back: K is singular and
its derivative unbounded. s does not distinguish phi from pi - phi, so the chart ends there. [GR95] (267)-(275), which
places the singularity at pi.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array, asin, maximum, sqrt
from rbdae.rotations import axial
from rbdae.rotations.chart import Chart
from rbdae.rotations.functions import ChartFunctions
from rbdae.rotations.signatures import *  # noqa: F403


def _parameters(p: Vec, R: Mat) -> Vec:
    """The parameters; beyond phi = pi / 2, where there are none, |s| - 1 tells `singular` how far beyond."""
    e0, s, n = axial.half_angle(p)
    return np.where(s < e0, 2.0 * e0 * s, 1.0 + 2.0 * np.arctan2(s, e0) - 0.5 * np.pi) * n


def _singular(a: Vec) -> str:
    s = float(np.linalg.norm(a))
    if axial.is_before_turning(s):
        return ""
    return axial.beyond(0.5 * np.pi + max(s - 1.0, 0.0), "linear parameters, phi = pi / 2")


def _sines(t: Any) -> Any:
    s0 = sqrt(1.0 - t)
    beta = 1.0 / (1.0 + s0)
    return 1.0, beta, beta / s0


def _cotangents(t: Any) -> Any:
    kappa = 0.5 + 0.5 * sqrt(1.0 - t)
    return kappa, -0.25 / kappa


def _distance(a: Array) -> Any:
    return asin(sqrt(maximum(1.0 - axial.square(a), 0.0)))


def _quaternion(a: Vec) -> Vec:
    e0 = np.sqrt(0.5 + 0.5 * np.sqrt(1.0 - np.sum(a * a, axis=-1, keepdims=True)))
    return np.concatenate([e0, 0.5 * a / e0], axis=-1)


LINEAR = Chart(
    name="linear",
    source="[GR95] (267)-(275)",
    names=("s1", "s2", "s3"),
    parameters=_parameters,
    singular=_singular,
    distance=_distance,
    quaternion=_quaternion,
    whole=False,
    **axial.fields(_sines, _cotangents),
)
_NOTES = {
    "matrix": "[GR95] (268), (269)",
    "parameters": "by less than pi / 2; [GR95] (267)",
    "quaternion": "(cos(phi / 2), n sin(phi / 2)); [GR95] (194), (198)",
    "half_rotation": "(269) of Euler parameters in place of s",
    "tangent": "[GR95] (272), (273) with - s^",
    "inverse_tangent": "the inverse of [GR95] (273)",
    "distance": "to phi = pi / 2",
}
ChartFunctions(__name__, LINEAR, "linear parameters", notes=_NOTES).publish()

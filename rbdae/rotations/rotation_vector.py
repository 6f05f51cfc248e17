"""The Cartesian rotation vector Psi = n phi.

    R = exp(Psi^),  Psidot = Omega + Psi x Omega / 2 + gamma Psi x (Psi x Omega),
    gamma = (1 - (phi / 2) cot(phi / 2)) / phi^2

with the material angular velocity Omega. Singular at phi = 2 pi, where K is unbounded; the inverse map gives
phi <= pi. [GR95] (164)-(175).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array, sqrt
from rbdae.rotations import axial
from rbdae.rotations.chart import NEAR_SINGULAR, Chart
from rbdae.rotations.coefficients import cotangents, sines
from rbdae.rotations.functions import ChartFunctions
from rbdae.rotations.quaternions import from_rotation_vector
from rbdae.rotations.signatures import *  # noqa: F403


def _parameters(p: Vec, R: Mat) -> Vec:
    e0, s, n = axial.half_angle(p)
    return 2.0 * np.arctan2(s, e0) * n


def _nearest(a: Vec, b: Vec) -> Vec:
    """The nearest of a and of vectors with full turns more about the same axis."""
    phi = float(np.linalg.norm(a))
    if phi == 0.0:
        return a
    turns = np.round((a @ b / phi - phi) / (2.0 * np.pi))
    return a * (1.0 + 2.0 * np.pi * turns / phi)


def _singular(a: Vec) -> str:
    phi = float(np.linalg.norm(a))
    if phi == 0.0 or (phi < 2.0 * np.pi and np.sin(0.5 * phi) > NEAR_SINGULAR * 0.5 * phi):
        return ""
    return axial.beyond(phi, "rotation vector, |Psi| = 2 pi")


def _distance(a: Array) -> Any:
    return 2.0 * np.pi - sqrt(axial.square(a))


ROTATION_VECTOR = Chart(
    name="rotation-vector",
    source="[GR95] (164)-(175)",
    names=("psi1", "psi2", "psi3"),
    parameters=_parameters,
    singular=_singular,
    distance=_distance,
    quaternion=from_rotation_vector,
    nearest=_nearest,
    **axial.fields(sines, cotangents),
)
_NOTES = {
    "matrix": "[GR95] (165)-(167)",
    "parameters": "|Psi| <= pi; [GR95] (164)",
    "quaternion": "(cos(phi / 2), n sin(phi / 2)); [GR95] (194)",
    "half_rotation": "the rotation by half the vector",
    "tangent": "[GR95] (170), (171)",
    "tangent_rate": "[GR95] (174)",
    "inverse_tangent": "the inverse of [GR95] (171)",
    "distance": "to |Psi| = 2 pi",
}
ChartFunctions(__name__, ROTATION_VECTOR, "rotation vectors", notes=_NOTES).publish()

"""The Cartesian rotation vector Psi = n phi.

    R = exp(Psi^),  Psidot = Omega + Psi x Omega / 2 + gamma Psi x (Psi x Omega),
    gamma = (1 - (phi / 2) cot(phi / 2)) / phi^2

with the material angular velocity Omega. Singular at phi = 2 pi, where K is unbounded; the inverse map gives
phi <= pi. [GR95] (164)-(175).
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Vec
from rbdae.graph.functions import sqrt
from rbdae.rotations.axial import along_axis
from rbdae.rotations.coefficients import cotangents, sines
from rbdae.rotations.functions import publish
from rbdae.rotations.signatures import *  # noqa: F403


def _nearest(a: Vec, b: Vec) -> Vec:
    """The nearest of a and of vectors with full turns more about the same axis."""
    phi = float(np.linalg.norm(a))
    if phi == 0.0:
        return a
    turns = np.round((a @ b / phi - phi) / (2.0 * np.pi))
    return a * (1.0 + 2.0 * np.pi * turns / phi)


def _halves(t: Vec) -> tuple[Vec, Vec]:
    half = 0.5 * np.sqrt(t)
    return np.cos(half), 0.5 * np.sinc(half / np.pi)


ROTATION_VECTOR = along_axis(
    name="rotation-vector",
    source="[GR95] (164)-(175)",
    names=("psi1", "psi2", "psi3"),
    sines=sines,
    cotangents=cotangents,
    length=lambda cosine, sine: 2.0 * np.arctan2(sine, cosine),
    distance=lambda t: 2.0 * np.pi - sqrt(t),
    halves=_halves,
    nearest=_nearest,
    singularity="of the rotation vector, phi = 2 pi",
)
publish(__name__, ROTATION_VECTOR)

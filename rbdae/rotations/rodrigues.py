"""Rodrigues parameters b = n tan(phi / 2).

    R = I + 2 (b^ + b^ b^) / (1 + b^2),  bdot = (Omega + b x Omega + b (b . Omega)) / 2

with the material angular velocity Omega; all rational. Singular at phi = pi, where b is unbounded.
[GR95] (176)-(192).
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Vec
from rbdae.graph.functions import atan, sqrt
from rbdae.rotations.axial import along_axis
from rbdae.rotations.functions import publish
from rbdae.rotations.signatures import *  # noqa: F403


def _halves(t: Vec) -> tuple[Vec, Vec]:
    cosine = 1.0 / np.sqrt(1.0 + t)
    return cosine, cosine


RODRIGUES = along_axis(
    name="rodrigues",
    source="[GR95] (176)-(192)",
    names=("b1", "b2", "b3"),
    sines=lambda t: (2.0 / (1.0 + t), 2.0 / (1.0 + t)),
    cotangents=lambda t: (0.5, 0.5),
    length=lambda cosine, sine: sine / np.maximum(cosine, 1e-150),  # of phi = pi it is refused, as b does not exist
    distance=lambda t: np.pi - 2.0 * atan(sqrt(t)),
    halves=_halves,
    singularity="of Rodrigues parameters, phi = pi",
)
publish(__name__, RODRIGUES)

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

from rbdae._arrays import Vec
from rbdae.graph.functions import asin, maximum, sqrt
from rbdae.rotations.axial import along_axis
from rbdae.rotations.functions import publish
from rbdae.rotations.signatures import *  # noqa: F403


def _length(cosine: Vec, sine: Vec) -> Vec:
    """|s|; beyond phi = pi / 2, where there are no parameters, |s| - 1 is how far beyond, rad."""
    return np.where(sine < cosine, 2.0 * cosine * sine, 1.0 + 2.0 * np.arctan2(sine, cosine) - 0.5 * np.pi)


def _cotangents(t: Any) -> Any:
    kappa = 0.5 + 0.5 * sqrt(1.0 - t)
    return kappa, -0.25 / kappa


def _halves(t: Vec) -> tuple[Vec, Vec]:
    cosine = np.sqrt(0.5 + 0.5 * np.sqrt(1.0 - t))
    return cosine, 0.5 / cosine


LINEAR = along_axis(
    name="linear",
    source="[GR95] (267)-(275)",
    names=("s1", "s2", "s3"),
    sines=lambda t: (1.0, 1.0 / (1.0 + sqrt(1.0 - t))),
    cotangents=_cotangents,
    length=_length,
    distance=lambda t: asin(sqrt(maximum(1.0 - t, 0.0))),
    halves=_halves,
    singularity="of the linear parameters, phi = pi / 2",
    whole=False,
)
publish(__name__, LINEAR)

"""The conformal rotation vector c = 4 n tan(phi / 4).

    R = F F,  F = (c0 I + c^ + c c^T / 4) / (4 - c0),  c0 = (16 - c^2) / 8,
    cdot = (4 - c0) F Omega / 2 = (c0 Omega + c x Omega + c (c . Omega) / 4) / 2

with the material angular velocity Omega; all rational. Singular at phi = 2 pi, where c is unbounded; the inverse map
gives phi <= pi, |c| <= 4. [GR95] (252)-(266).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Vec
from rbdae.graph.functions import atan, sqrt
from rbdae.rotations.axial import along_axis
from rbdae.rotations.functions import publish
from rbdae.rotations.signatures import *  # noqa: F403


def _nearest(a: Vec, b: Vec) -> Vec:
    """The nearer of a and of the opposite rotation about the same axis."""
    square = float(a @ a)
    opposite = -16.0 / square * a if square > 0.0 else a
    return opposite if np.linalg.norm(opposite - b) < np.linalg.norm(a - b) else a


def _sines(t: Any) -> Any:
    u = 0.0625 * t
    w = 1.0 / (1.0 + u)
    return (1.0 - u) * w * w, 0.5 * w * w


def _halves(t: Vec) -> tuple[Vec, Vec]:
    u = 0.0625 * t
    return (1.0 - u) / (1.0 + u), 0.5 / (1.0 + u)


CONFORMAL = along_axis(
    name="conformal",
    source="[GR95] (252)-(266)",
    names=("c1", "c2", "c3"),
    sines=_sines,
    cotangents=lambda t: (1.0 - 0.0625 * t, 0.125),
    length=lambda cosine, sine: 4.0 * sine / (1.0 + cosine),
    distance=lambda t: 2.0 * np.pi - 4.0 * atan(0.25 * sqrt(t)),
    halves=_halves,
    nearest=_nearest,
    singularity="of the conformal rotation vector, phi = 2 pi",
)
publish(__name__, CONFORMAL)

"""The vector part of the unit quaternion, e = n sin(phi / 2), with the scalar part e0 = sqrt(1 - e^2) > 0.

    R = I + 2 e0 e^ + 2 e^ e^,  edot = (e0 Omega + e x Omega) / 2

with the material angular velocity Omega: three of the four rows of the quaternion's rates, [NS] (41). Singular at
phi = pi, |e| = 1, where e turns back: K is singular and its derivative unbounded. [NS] Remark 4.4, [GR95] (199).
"""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import asin, maximum, sqrt
from rbdae.rotations.axial import along_axis
from rbdae.rotations.functions import publish
from rbdae.rotations.signatures import *  # noqa: F403

QUATERNION_VECTOR = along_axis(
    name="quaternion-vector",
    source="[NS] Remark 4.4",
    names=("e1", "e2", "e3"),
    sines=lambda t: (2.0 * sqrt(1.0 - t), 2.0),
    cotangents=lambda t: (0.5 * sqrt(1.0 - t), 0.0),
    length=lambda cosine, sine: sine,
    distance=lambda t: 2.0 * asin(sqrt(maximum(1.0 - t, 0.0))),
    halves=lambda t: (np.sqrt(1.0 - t), np.ones_like(t)),
    singularity="of the quaternion's vector part, phi = pi",
)
publish(__name__, QUATERNION_VECTOR)

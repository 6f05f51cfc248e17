"""The charts by name: names of the parameters, the maps to and from rotations, singular sets, and kernels.

Quaternions are scalar first; d = (d1, d2, d3) stacks the columns of R; Omega is the material angular velocity,
R^T Rdot = Omega^. A new chart is one file like those below and one line here, or a call of `register` elsewhere.

Each chart's file has the same functions for users (`ChartFunctions`), for example `rbdae.rotations.rodrigues.tangent`.
`quaternions` has the algebra of quaternions.
"""

from __future__ import annotations

from rbdae.rotations import quaternions
from rbdae.rotations.bryant_321 import BRYANT_321
from rbdae.rotations.chart import CHARTS, Chart, RotationName, register
from rbdae.rotations.conformal import CONFORMAL
from rbdae.rotations.directors import DIRECTORS
from rbdae.rotations.euler_313 import EULER_313
from rbdae.rotations.functions import ChartFunctions
from rbdae.rotations.linear import LINEAR
from rbdae.rotations.quaternion import QUATERNION
from rbdae.rotations.quaternion_vector import QUATERNION_VECTOR
from rbdae.rotations.rodrigues import RODRIGUES
from rbdae.rotations.rotation_vector import ROTATION_VECTOR

register(QUATERNION)
register(DIRECTORS)
register(EULER_313)
register(BRYANT_321)
register(ROTATION_VECTOR)
register(RODRIGUES)
register(CONFORMAL)
register(LINEAR)
register(QUATERNION_VECTOR)

__all__ = ["CHARTS", "Chart", "ChartFunctions", "RotationName", "quaternions", "register"]

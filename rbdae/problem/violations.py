"""How large violations of the constraints are, as numbers without units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Vec
from rbdae.kernels import projection as kernel
from rbdae.problem.quantities import Constraints

TOLERANCE = 1e-14
"""Largest relative violation that counts as none, unless something else is asked for."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class ViolationScales:
    """Parameters
    ----------
    weights : what violations of positions are multiplied by: 1 for the chart's internal constraints, the inverse sizes
        of joint equations in a model of this length
    time : s; what those of velocities are multiplied by besides
    reach : the size of positions over this length, at least 1
    """

    weights: Vec
    time: float
    reach: float

    def info(self, *, tolerance: float, max_iterations: int = 10, position: bool = True, velocity: float = 2.0) -> Vec:
        """How to project, for `rbdae.kernels.projection`; see `rbdae.Projection`."""
        out = np.concatenate([np.zeros(kernel.N_INFO), self.weights])
        out[kernel.TIME] = self.time
        out[kernel.STEADY] = max(1e3 * tolerance, 30.0 * self.reach * np.finfo(float).eps)
        out[kernel.POSITION_TOLERANCE] = out[kernel.VELOCITY_TOLERANCE] = tolerance
        out[kernel.ITERATION_LIMIT] = max_iterations
        out[kernel.PROJECT_POSITIONS] = position
        out[kernel.PROJECT_VELOCITIES] = velocity
        return out

    def relative(self, found: Constraints) -> tuple[float, float]:
        """The largest violations, without units, of positions and of velocities."""
        position = float(np.max(self.weights * np.abs(found.position), initial=0.0))
        return position, self.time * float(np.max(self.weights * np.abs(found.velocity), initial=0.0))

"""How large violations of the constraints are, as numbers without units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Vec
from rbdae.problem.quantities import Constraints


@final
@dataclass(frozen=True, slots=True, eq=False)
class ViolationScales:
    """Parameters
    ----------
    weights : what violations of positions are multiplied by: 1 for the chart's internal constraints, the inverse sizes
        of joint equations in a model of this length
    time : s; what those of velocities are multiplied by besides
    rounding : where rounding of positions alone makes violations, times their weights
    """

    weights: Vec
    time: float
    rounding: float

    def relative(self, found: Constraints) -> tuple[float, float]:
        """The largest violations, without units, of positions and of velocities."""
        position = float(np.max(self.weights * np.abs(found.position), initial=0.0))
        return position, self.time * float(np.max(self.weights * np.abs(found.velocity), initial=0.0))


__all__ = ["ViolationScales"]

"""Charts with a singular set: a run that comes near it stops, or continues with charts that are centred elsewhere.

R = R_ref R(a) with a constant R_ref for each body. A run may choose another R_ref at any accepted state: the material
angular velocity does not notice ([GR95] (159), (160)), so only the parameters a are other numbers. All charts are
centred together, because a restart costs the same for one as for all.

With a chart that is centred again after every accepted step, a one-step method integrates canonical coordinates of the
first kind (for the rotation vector) from one step to the next: it becomes the Runge-Kutta-Munthe-Kaas method of its
tableau ([MK98]).
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.kernels import outputs
from rbdae.multibody.choices.selection import Selection
from rbdae.multibody.choices.states import centred
from rbdae.problem.contract import Ending, Quiet
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.switches.base import ROUNDING, AbstractSwitch, measured

NEAR = 1e-3
"""A run stops at this angle from a singular set, in radians."""

DUE = 2.0 / 3.0
"""Charts are centred again where this part of the way from the centre to the singular set is done: there K(a) and its
condition are at most four for all charts."""


@final
class ChartSwitch(AbstractSwitch):
    """Considered where the nearest chart has done more than `limit` of the way to its singular set."""

    @classmethod
    def needed(cls, view: Interpretation) -> bool:
        """For charts with a singular set."""
        return bool(view.workspace.settings.chart.centre)

    def begin(self, t: float, y: Vec) -> None:
        """Set the limit: never for a chart that is always centred again, and not at once for a run that stops."""
        self._reach = self.view.workspace.settings.chart.reach
        if self._policy.recentre == "always":
            self.limit = -1.0
        elif self._policy.on_singularity == "switch":
            self.limit = DUE
        else:
            near = min(NEAR, 0.5 * self.view.distance_to_singularity(t, y)[0])
            self.limit = 1.0 - near / self._reach

    def measure(self, t: float, y: Vec) -> float:
        """The part of the way from the centre to the singular set that is done; inf beyond it."""
        distance, _ = self.view.distance_to_singularity(t, y)
        return 1.0 - distance / self._reach if distance > 0.0 else np.inf

    def due(self, t: float, y: Vec) -> bool:
        """Whether a chart is near its singular set: another centre is always better then."""
        return self.limit < 0.0 or self.measure(t, y) > self.limit

    def quiet(self) -> Quiet | None:
        """Distances for which the measure is below the limit."""
        low = max(self._reach * (1.0 - self.limit), 0.0)
        return measured(self.view.workspace, outputs.distances, self.view.model.n, low=low * (1.0 + ROUNDING))

    def next(self, t: float, y: Vec, selection: Selection) -> Selection:
        """All charts centred at (t, y)."""
        d = self.view.natural(t, y)[:, 3:12]
        R: Mat = np.swapaxes(d.reshape(-1, 3, 3), 1, 2)
        return replace(selection, references=centred(self.view.workspace.settings.chart, R))

    def ends(self, t: float, y: Vec) -> Ending | None:
        """Why the run cannot continue; None if it can."""
        distance, body = self.view.distance_to_singularity(t, y)
        which = f"the {self.view.workspace.settings.chart.name} parameters of body {self.view.model.names[body]!r}"
        if not distance > 0.0:
            return Ending(f"within one step {which} have gone beyond it; take shorter steps", readable=False)
        if self._policy.on_singularity == "switch":
            return None
        return Ending(f"{which} are {distance:.3g} rad from it")

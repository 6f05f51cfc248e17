"""Friction under the reaction of a joint: a run ends where it leaves no acceleration, or several."""

from __future__ import annotations

from typing import Self, final

from rbdae._arrays import Vec
from rbdae.kernels.linear.accelerations import friction_margins
from rbdae.multibody.selection import Selection
from rbdae.problem.contract import Ending, Quiet
from rbdae.problem.friction_margins import has_friction, margins, paradox
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.switches.base import ROUNDING, AbstractSwitch
from rbdae.problem.switches.measured import measured


@final
class FrictionSwitch(AbstractSwitch):
    """Due where a margin is no longer positive; nothing can be chosen again then."""

    limit = 0.0

    @classmethod
    def needed(cls, view: Interpretation) -> bool:
        """For friction under reactions."""
        return has_friction(view)

    def begin(self, t: float, y: Vec) -> Self:
        """Nothing to note."""
        return self

    def measure(self, t: float, y: Vec) -> float:
        """The smallest margin, with the other sign."""
        return -float(margins(self.view, t, y).min())

    def due(self, t: float, y: Vec) -> bool:
        """Whether a margin is not positive."""
        return not self.measure(t, y) < self.limit

    def quiet(self) -> Quiet | None:
        """Margins, and normal forces, that are positive."""
        return measured(self.view.workspace, friction_margins, 2 * len(self.view.model.frictions), low=ROUNDING)

    def next(self, t: float, y: Vec, selection: Selection) -> Selection:
        """The same: there is no choice."""
        return selection

    def ends(self, t: float, y: Vec) -> Ending | None:
        """The names of the joints."""
        return Ending(paradox(self.view, t, y), readable=False, kind="friction")

"""What a run may have to choose again on its way: one file a switch, and the list of them."""

from __future__ import annotations

from rbdae._arrays import Vec
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.switches.base import AbstractSwitch, Resume
from rbdae.problem.switches.rows import RowSwitch
from rbdae.problem.switches.velocities import VelocitySwitch

SWITCHES: tuple[type[AbstractSwitch], ...] = (VelocitySwitch, RowSwitch)


def switches_of(view: Interpretation, t: float, y: Vec, resumed: Resume) -> tuple[AbstractSwitch, ...]:
    """The switches that a problem needs, for a run that begins at (t, y)."""
    return tuple(kind(view, t, y, resumed) for kind in SWITCHES if kind.needed(view))


__all__ = ["SWITCHES", "AbstractSwitch", "RowSwitch", "VelocitySwitch", "switches_of"]

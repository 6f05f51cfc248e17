"""The choices that a run may have to make again on its way: one file a switch, and the list of them."""

from __future__ import annotations

from rbdae._arrays import Vec
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.switches.base import USUAL as USUAL
from rbdae.problem.switches.base import AbstractSwitch as AbstractSwitch
from rbdae.problem.switches.base import ChartPolicy as ChartPolicy
from rbdae.problem.switches.base import Resume
from rbdae.problem.switches.charts import ChartSwitch
from rbdae.problem.switches.friction import FrictionSwitch
from rbdae.problem.switches.rows import RowSwitch
from rbdae.problem.switches.velocities import VelocitySwitch

SWITCHES: tuple[type[AbstractSwitch], ...] = (VelocitySwitch, RowSwitch, ChartSwitch, FrictionSwitch)


def switches_of(
    view: Interpretation, t: float, y: Vec, resumed: Resume, policy: ChartPolicy
) -> tuple[AbstractSwitch, ...]:
    """The switches that a problem needs, for a run that begins at (t, y)."""
    return tuple(kind(view, t, y, resumed, policy) for kind in SWITCHES if kind.needed(view))

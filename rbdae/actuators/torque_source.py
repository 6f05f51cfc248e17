"""A torque or force that another block, an input or a function of the time gives."""

from __future__ import annotations

from typing import Any, ClassVar, final

from rbdae.actuators.actuator import Actuator


@final
class Source(Actuator):
    """A torque about, or a force along, a coordinate, that is given: by a controller, an input, a function of the time.

    Parameters
    ----------
    along : joint, coordinate of a joint, or `rbdae.actuators.Points`
    effort : N m or N, on `b`
    name : str, optional
    """

    inputs: ClassVar = ("effort",)

    def law(self, t: Any, q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The given effort."""
        return u.effort

    def _unit(self, name: str) -> str:
        """That of the effort follows from what it acts along."""
        return self.coordinate.effort_unit if name == "effort" and self.coordinate is not None else super()._unit(name)

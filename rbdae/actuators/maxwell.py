"""A Maxwell element: a spring and a damper one behind the other."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar, final

from rbdae.actuators.actuator import Actuator


@final
class MaxwellElement(Actuator):
    """Effort -f with f = stiffness (q - length - x) and viscosity xdot = f; a spring beside it is a `SpringDamper`.

    Parameters
    ----------
    along : joint, coordinate of a joint, or `rbdae.actuators.Points`
    stiffness, viscosity, length : N/m, N s/m, m (of angles N m/rad, N m s/rad, rad)
    name, start : see `rbdae.Block`; the state is ``stretch`` of the damper
    """

    states: ClassVar = MappingProxyType({"stretch": 0.0})
    parameters: ClassVar = MappingProxyType({"stiffness": 1.0, "viscosity": 1.0, "length": 0.0})

    def law(self, t: Any, q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The effort, and the rate of the stretch."""
        f = p.stiffness * (q - p.length - s.stretch)
        return -f, [f / p.viscosity]

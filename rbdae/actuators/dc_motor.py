"""A direct-current motor."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, final

from rbdae import _check
from rbdae.actuators.actuator import Actuator


@final
class DCMotor(Actuator):
    """A motor with its circuit: L di/dt + R i + k w = V, torque k i, or a force of a linear motor.

    R, L and k are those of the shaft that it drives: with a gear of ratio n take n k. With ``inductance=0`` the
    current is an algebraic unknown, of 0 = V - R i - k w, and the inductance no parameter.

    Parameters
    ----------
    along : joint with one coordinate, or one of its coordinates
    voltage : V; a number, a function of the time, an `rbdae.Input`, or a quantity such as that of a controller
    resistance, inductance, constant : ohm, H, N m/A (= V s/rad)
    name, start : see `rbdae.Block`; the state is ``current``, A
    """

    states: ClassVar = MappingProxyType({"current": 0.0})
    inputs: ClassVar = ("voltage",)
    outputs: ClassVar = ("electrical_power", "loss")
    parameters: ClassVar = MappingProxyType({"resistance": 1.0, "inductance": 1e-3, "constant": 0.05})
    units: ClassVar = MappingProxyType({"current": "A", "voltage": "V", "electrical_power": "W", "loss": "W"})

    def __init__(
        self, along: Any, *, name: str | None = None, start: Mapping[str, float] | None = None, **values: Any
    ) -> None:
        inductance = values.get("inductance")
        if isinstance(inductance, (int, float)) and not isinstance(inductance, bool) and inductance == 0.0:
            del values["inductance"]
            left = {key: value for key, value in self.parameters.items() if key != "inductance"}
            self._set(states={}, algebraic=dict(self.states), parameters=left)
        super().__init__(along, name=name, start=start, **values)
        if self.states:
            _check.positive(
                self._owner_of(name), "inductance", self.values["inductance"], "give 0 for a circuit without it"
            )

    def law(self, t: Any, q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """Torque, and the rate of the current, or the circuit."""
        if not self.states:
            return p.constant * z.current, [u.voltage - p.resistance * z.current - p.constant * qd]
        return p.constant * s.current, [(u.voltage - p.resistance * s.current - p.constant * qd) / p.inductance]

    def observe(self, t: Any, q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """V i, and R i^2."""
        current = s.current if self.states else z.current
        return u.voltage * current, p.resistance * current * current

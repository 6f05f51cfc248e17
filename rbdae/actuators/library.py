"""Actuators and controllers of the library."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np

from rbdae import _check
from rbdae.actuators.block import Actuator, Block

# ------------------------------------------------------------ actuators


@final
class Source(Actuator):
    """A given torque or force along a coordinate: from a controller, an input, or a function of time.

    Parameters
    ----------
    along : joint, coordinate of a joint, or `rbdae.actuators.Points`
    effort : N m or N, on `b`
    name : str, optional
    """

    inputs: ClassVar = ("effort",)

    def law(self, t: Any, q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        return u.effort

    def _unit(self, name: str) -> str:
        """The unit of the effort follows from the coordinate."""
        return self.coordinate.effort_unit if name == "effort" and self.coordinate is not None else super()._unit(name)


@final
class DCMotor(Actuator):
    """A motor with its circuit: L di/dt + R i + k w = V, torque k i (force for a linear motor).

    R, L and k refer to the driven shaft: with a gear of ratio n take n k. With ``inductance=0`` the current is an
    algebraic unknown of 0 = V - R i - k w, and the inductance is not a parameter.

    Parameters
    ----------
    along : joint with one coordinate, or one of its coordinates
    voltage : V; a number, a function of time, an `rbdae.Input`, or a quantity such as a controller's output
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
        if not self.states:
            return p.constant * z.current, [u.voltage - p.resistance * z.current - p.constant * qd]
        return p.constant * s.current, [(u.voltage - p.resistance * s.current - p.constant * qd) / p.inductance]

    def observe(self, t: Any, q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """Electrical power V i and loss R i^2."""
        current = s.current if self.states else z.current
        return u.voltage * current, p.resistance * current * current


# ------------------------------------------------------------ controllers

_FAR = 1e300
"""A limit that is never reached."""


def _saturated(value: Any, p: Any) -> Any:
    return np.where(value < p.low, p.low, np.where(value > p.high, p.high, value))


class _Integrating(Block):
    """A controller with an integral that follows its limits."""

    inputs: ClassVar = ("measured", "setpoint")
    outputs: ClassVar = ("out", "error")

    def _wanted(self, s: Any, u: Any, p: Any) -> Any:
        """The output without limits."""
        return p.kp * (u.setpoint - u.measured) + s.integral

    def law(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        wanted = self._wanted(s, u, p)
        return [p.ki * (u.setpoint - u.measured) + p.kb * (_saturated(wanted, p) - wanted)]

    def observe(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        return _saturated(self._wanted(s, u, p), p), u.setpoint - u.measured


@final
class PI(_Integrating):
    """u = kp e + x, xdot = ki e with e = setpoint - measured, u between `low` and `high`.

    Anti-windup: xdot = ki e + (saturated u - u) kb, with the back-calculation gain kb (1/s; Astrom and Hagglund,
    *Advanced PID Control*, section 3.5); the integral then follows the limit.

    Parameters
    ----------
    measured, setpoint : numbers, functions of time, inputs, or quantities such as ``pin.rate``
    kp, ki, kb : gains
    low, high : limits of the output
    name, start : see `rbdae.Block`; the state is ``integral``, the output ``out``
    """

    states: ClassVar = MappingProxyType({"integral": 0.0})
    units: ClassVar = MappingProxyType({"setpoint": "=measured", "error": "=measured"})
    parameters: ClassVar = MappingProxyType({"kp": 1.0, "ki": 0.0, "kb": 0.0, "low": -_FAR, "high": _FAR})


@final
class PID(_Integrating):
    """u = kp e + x + d with xdot = ki e and a filtered derivative of the measured quantity, u between `low` and `high`.

    d = -kd (measured - y) / tau, ydot = (measured - y) / tau: the derivative of `measured`, not of the error, so that a
    step of the setpoint gives no kick, filtered with time constant tau (Astrom and Hagglund, *Advanced PID Control*,
    section 3.3). If the rate is itself a quantity, such as a joint's, use `PD` with ``rate=``.

    Parameters
    ----------
    measured, setpoint : as for `PI`
    kp, ki, kd, kb, tau : gains, s
    low, high : limits of the output
    name, start : see `rbdae.Block`; the states are ``integral`` and ``filtered``, the output ``out``
    """

    states: ClassVar = MappingProxyType({"integral": 0.0, "filtered": 0.0})
    units: ClassVar = MappingProxyType({"setpoint": "=measured", "error": "=measured", "filtered": "=measured"})
    parameters: ClassVar = MappingProxyType(
        {"kp": 1.0, "ki": 0.0, "kd": 0.0, "kb": 0.0, "tau": 1e-2, "low": -_FAR, "high": _FAR}
    )

    def _wanted(self, s: Any, u: Any, p: Any) -> Any:
        return super()._wanted(s, u, p) - p.kd * ((u.measured - s.filtered) / p.tau)

    def law(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        return [*super().law(t, s, z, u, p), (u.measured - s.filtered) / p.tau]


@final
class PD(Block):
    """u = kp (setpoint - measured) + kd (setpoint_rate - rate) + feedforward, between `low` and `high`.

    Parameters
    ----------
    measured, rate, setpoint, setpoint_rate, feedforward : as for `PI`
    kp, kd : gains
    low, high : limits of the output
    name : str, optional
        The output is ``out``.
    """

    inputs: ClassVar = ("measured", "rate", "setpoint", "setpoint_rate", "feedforward")
    outputs: ClassVar = ("out",)
    units: ClassVar = MappingProxyType({"setpoint": "=measured", "setpoint_rate": "=rate"})
    parameters: ClassVar = MappingProxyType({"kp": 1.0, "kd": 0.0, "low": -_FAR, "high": _FAR})

    def __init__(self, *, name: str | None = None, **values: Any) -> None:
        super().__init__(name=name, **{"setpoint_rate": 0.0, "feedforward": 0.0, **values})

    def law(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        return []

    def observe(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        wanted = p.kp * (u.setpoint - u.measured) + p.kd * (u.setpoint_rate - u.rate) + u.feedforward
        return _saturated(wanted, p)

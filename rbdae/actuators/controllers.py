"""Controllers: PI and PID on any quantity, with saturation."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np

from rbdae.actuators.block import Block

_FAR = 1e300
"""A limit that is never reached."""


def _saturated(value: Any, p: Any) -> Any:
    return np.where(value < p.low, p.low, np.where(value > p.high, p.high, value))


@final
class PI(Block):
    """u = kp e + x, xdot = ki e with e = setpoint - measured, u between `low` and `high`.

    Anti-windup: xdot = ki e + (saturated u - u) kb, with the back-calculation gain kb (1/s; Astrom and Hagglund,
    *Advanced PID Control*, section 3.5); the integral then follows the limit.

    Parameters
    ----------
    measured, setpoint : numbers, functions of the time, inputs, or quantities such as ``pin.rate``
    kp, ki, kb : gains
    low, high : limits of the output
    name, start : see `rbdae.Block`; the state is ``integral``, the output ``out``
    """

    states: ClassVar = MappingProxyType({"integral": 0.0})
    inputs: ClassVar = ("measured", "setpoint")
    outputs: ClassVar = ("out", "error")
    units: ClassVar = MappingProxyType({"setpoint": "=measured", "error": "=measured"})
    parameters: ClassVar = MappingProxyType({"kp": 1.0, "ki": 0.0, "kb": 0.0, "low": -_FAR, "high": _FAR})

    def law(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The rate of the integral."""
        e = u.setpoint - u.measured
        wanted = p.kp * e + s.integral
        return [p.ki * e + p.kb * (_saturated(wanted, p) - wanted)]

    def observe(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The output and the error."""
        e = u.setpoint - u.measured
        return _saturated(p.kp * e + s.integral, p), e


@final
class PID(Block):
    """u = kp e + x + d with xdot = ki e and a filtered derivative of the measured quantity, u between `low` and `high`.

    d = -kd (measured - y) / tau, ydot = (measured - y) / tau: the derivative of `measured` alone, so that a step of the
    setpoint gives no kick, through a filter of the time constant tau (Astrom and Hagglund, *Advanced PID Control*,
    section 3.3). Where the rate is a quantity, as that of a joint, give it as ``rate=`` to `PD`.

    Parameters
    ----------
    measured, setpoint : as for `PI`
    kp, ki, kd, kb, tau : gains, s
    low, high : limits of the output
    name, start : see `rbdae.Block`; the states are ``integral`` and ``filtered``, the output ``out``
    """

    states: ClassVar = MappingProxyType({"integral": 0.0, "filtered": 0.0})
    inputs: ClassVar = ("measured", "setpoint")
    outputs: ClassVar = ("out", "error")
    units: ClassVar = MappingProxyType({"setpoint": "=measured", "error": "=measured", "filtered": "=measured"})
    parameters: ClassVar = MappingProxyType(
        {"kp": 1.0, "ki": 0.0, "kd": 0.0, "kb": 0.0, "tau": 1e-2, "low": -_FAR, "high": _FAR}
    )

    def law(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The rates of the integral and of the filter."""
        e, slope = u.setpoint - u.measured, (u.measured - s.filtered) / p.tau
        wanted = p.kp * e + s.integral - p.kd * slope
        return [p.ki * e + p.kb * (_saturated(wanted, p) - wanted), slope]

    def observe(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The output and the error."""
        e, slope = u.setpoint - u.measured, (u.measured - s.filtered) / p.tau
        return _saturated(p.kp * e + s.integral - p.kd * slope, p), e


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
        """No state."""
        return []

    def observe(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The output."""
        wanted = p.kp * (u.setpoint - u.measured) + p.kd * (u.setpoint_rate - u.rate) + u.feedforward
        return _saturated(wanted, p)

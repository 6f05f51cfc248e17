"""The library's actuators and controllers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np

from rbdae import _check
from rbdae.actuators.actuator import Actuator
from rbdae.actuators.block import Block

# ------------------------------------------------------------ actuators


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


@final
class HydraulicCylinder(Actuator):
    """A double-acting cylinder with a four-way valve (Merritt, *Hydraulic Control Systems*, chapters 5 and 6).

    Pressures follow the flows and the motion: with x = q - q0, V_A = v0 + A x, V_B = v0 + B (stroke - x),

        V_A / K pA_dot =  Q_A - A xdot - c (pA - pB),    V_B / K pB_dot = -Q_B + B xdot + c (pA - pB),

    with the force A pA - B pB that drives the points apart. The valve with opening u (-1 to 1) has the turbulent flows
    Q = k u root(pressure drop), root(d) = d / (d^2 + d0^2)^(1/4), which is linear for small d: from the supply to A and
    from B to the tank for u > 0, the other way round for u < 0.

    Parameters
    ----------
    along : `rbdae.actuators.Points`, or a coordinate of a joint
    opening : of the valve, -1 to 1
    area_a, area_b : m^2, of piston and ring
    stroke, dead_volume, retracted : m, m^3, and q where the piston is at the end of chamber A (q0)
    bulk_modulus, supply, tank, flow, leakage, smoothing : K, Pa, Pa, k (m^3/s/Pa^(1/2)), c (m^3/s/Pa), d0 (Pa)
    name, start : see `rbdae.Block`; the states are ``pressure_a`` and ``pressure_b``, Pa
    """

    states: ClassVar = MappingProxyType({"pressure_a": 1e5, "pressure_b": 1e5})
    inputs: ClassVar = ("opening",)
    outputs: ClassVar = ("flow_a", "flow_b")
    parameters: ClassVar = MappingProxyType(
        {
            "area_a": 1e-3, "area_b": 6e-4, "stroke": 0.5, "dead_volume": 1e-4, "retracted": 0.5, "bulk_modulus": 1.4e9,
            "supply": 2e7, "tank": 1e5, "flow": 1e-7, "leakage": 1e-13, "smoothing": 1e4,
        }
    )  # fmt: skip
    units: ClassVar = MappingProxyType({"pressure_a": "Pa", "pressure_b": "Pa", "flow_a": "m^3/s", "flow_b": "m^3/s"})

    def _flows(self, s: Any, u: Any, p: Any) -> tuple[Any, Any]:
        def root(d: Any) -> Any:
            return d / (d * d + p.smoothing * p.smoothing) ** 0.25

        out = u.opening > 0.0
        a = np.where(out, root(p.supply - s.pressure_a), root(s.pressure_a - p.tank))
        b = np.where(out, root(s.pressure_b - p.tank), root(p.supply - s.pressure_b))
        return p.flow * u.opening * a, p.flow * u.opening * b

    def law(self, t: Any, q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The force, and the rates of both pressures."""
        flow_a, flow_b = self._flows(s, u, p)
        leak = p.leakage * (s.pressure_a - s.pressure_b)
        x = q - p.retracted
        a = p.bulk_modulus / (p.dead_volume + p.area_a * x) * (flow_a - p.area_a * qd - leak)
        b = p.bulk_modulus / (p.dead_volume + p.area_b * (p.stroke - x)) * (-flow_b + p.area_b * qd + leak)
        return p.area_a * s.pressure_a - p.area_b * s.pressure_b, [a, b]

    def observe(self, t: Any, q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """Flow into A, and out of B."""
        return self._flows(s, u, p)


# ------------------------------------------------------------ controllers, and what follows a command

_FAR = 1e300
"""A limit that is never reached."""


def _saturated(value: Any, p: Any) -> Any:
    return np.where(value < p.low, p.low, np.where(value > p.high, p.high, value))


@final
class FirstOrderValve(Block):
    """A valve whose opening follows a command: tau xdot = command - x, the command between `low` and `high`.

    Parameters
    ----------
    command : a number, a function of the time, an input, or a quantity
    tau : s
    low, high : limits of the command
    name, start : see `rbdae.Block`; the state is ``opening``
    """

    states: ClassVar = MappingProxyType({"opening": 0.0})
    inputs: ClassVar = ("command",)
    parameters: ClassVar = MappingProxyType({"tau": 1e-2, "low": -1.0, "high": 1.0})

    def law(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The rate of the opening."""
        return [(_saturated(u.command, p) - s.opening) / p.tau]


class _Integrating(Block):
    """A controller with an integral that follows its limits."""

    inputs: ClassVar = ("measured", "setpoint")
    outputs: ClassVar = ("out", "error")

    def _wanted(self, s: Any, u: Any, p: Any) -> Any:
        """The output without limits."""
        return p.kp * (u.setpoint - u.measured) + s.integral

    def law(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The rate of the integral."""
        wanted = self._wanted(s, u, p)
        return [p.ki * (u.setpoint - u.measured) + p.kb * (_saturated(wanted, p) - wanted)]

    def observe(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The output and the error."""
        return _saturated(self._wanted(s, u, p), p), u.setpoint - u.measured


@final
class PI(_Integrating):
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
    units: ClassVar = MappingProxyType({"setpoint": "=measured", "error": "=measured"})
    parameters: ClassVar = MappingProxyType({"kp": 1.0, "ki": 0.0, "kb": 0.0, "low": -_FAR, "high": _FAR})


@final
class PID(_Integrating):
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
    units: ClassVar = MappingProxyType({"setpoint": "=measured", "error": "=measured", "filtered": "=measured"})
    parameters: ClassVar = MappingProxyType(
        {"kp": 1.0, "ki": 0.0, "kd": 0.0, "kb": 0.0, "tau": 1e-2, "low": -_FAR, "high": _FAR}
    )

    def _wanted(self, s: Any, u: Any, p: Any) -> Any:
        return super()._wanted(s, u, p) - p.kd * ((u.measured - s.filtered) / p.tau)

    def law(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The rates of the integral and of the filter."""
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
        """No state."""
        return []

    def observe(self, t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """The output."""
        wanted = p.kp * (u.setpoint - u.measured) + p.kd * (u.setpoint_rate - u.rate) + u.feedforward
        return _saturated(wanted, p)

"""A hydraulic cylinder, and a valve of first order."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np

from rbdae.actuators.actuator import Actuator
from rbdae.actuators.block import Block


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
        wanted = np.where(u.command < p.low, p.low, np.where(u.command > p.high, p.high, u.command))
        return [(wanted - s.opening) / p.tau]


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

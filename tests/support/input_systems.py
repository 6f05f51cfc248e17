"""Mechanisms with inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

import rbdae
from rbdae.forces import AbstractForce, Motor, StateElement
from rbdae.joints import Revolute


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fan(AbstractForce):
    """A torque about a joint that is not linear in its input: current i with z = i + i^3 / 10 an algebraic unknown
    of voltage and rate, torque 0.5 i, and a draught w with 0.3 wdot = u^2 - w that brakes."""

    joint: Any
    voltage: Any
    name: str | None = None

    @property
    def bodies(self) -> Any:
        """Those of the joint."""
        return self.joint.bodies

    def elements(self) -> tuple[StateElement]:
        """One, with the draught and the current."""
        coordinate = self.joint.coordinates()[0]

        def law(t: float, x: Any, out: Any) -> None:
            _, rate, gradient = coordinate.at(x)
            w, i, u = x[48], x[49], x[50]
            for k in range(24):
                out[k] = (0.5 * i - 0.1 * w * rate) * gradient[k]
            out[24] = (u * u - w) / 0.3
            out[25] = i + 0.1 * i * i * i + 0.2 * rate - u

        return (StateElement(law, None, ("w", "i"), np.array([0.1, 0.4]), 1, (self.voltage,)),)


def pendulum(torque: float = 0.5, voltage: float = 0.7, fan: bool = True, weight: bool = True) -> rbdae.System:
    """A pendulum with a motor whose torque is an input, and a fan under a voltage."""
    system = rbdae.System(gravity=(0, 0, -9.81 * weight))
    u = system.add_input("torque", torque, unit="N m")
    body = system.add_body("bob", mass=1.5, inertia=(0.3, 0.2, 0.1), position=(0, 0, -1), angular_velocity=(0.3, 0, 0))
    pin = system.add_joint(Revolute(system.ground, body, at_b=(0, 0, 1), axis_a=(1, 0, 0), name="pin"))
    system.add_force(Motor(pin, torque=u, name="motor"))
    if fan:
        system.add_force(Fan(pin, system.add_input("voltage", voltage, unit="V"), name="fan"))
    return system


def arm() -> rbdae.System:
    """An arm with six axes, each with a motor under an input."""
    system = rbdae.System()
    before, end, height = system.ground, (0.0, 0.0, 0.0), 0.0
    lengths, axes = (0.4, 0.5, 0.4, 0.2, 0.15, 0.1), ((0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1))
    for k, (length, axis) in enumerate(zip(lengths, axes, strict=True), 1):
        mass = 12.0 / k
        J = mass * length**2 / 12.0
        link = system.add_body(
            f"link {k}", mass=mass, inertia=(J + 0.01, J + 0.02, 0.3 * J + 0.015), position=(0, 0, height + length / 2)
        )
        joint = Revolute(before, link, at_a=end, at_b=(0, 0, -length / 2), axis_a=axis, name=f"axis {k}")
        torque = system.add_input(f"torque {k}", unit="N m")
        system.add_force(Motor(system.add_joint(joint), torque=torque, name=f"motor {k}"))
        before, end, height = link, (0.0, 0.0, length / 2), height + length
    return system

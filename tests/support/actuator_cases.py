"""Every class of `rbdae.actuators`, each on a small mechanism with numbers of order one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import rbdae
from rbdae import actuators
from rbdae.joints import Prismatic, Revolute


def mechanism() -> rbdae.System:
    """A pendulum on a pin and a carriage on a rail, which nothing connects."""
    system = rbdae.System()
    arm = system.add_body("arm", mass=1.5, inertia=(0.3, 0.2, 0.1), position=(0, 0, -1), angular_velocity=(0.3, 0, 0))
    cart = system.add_body("cart", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0, 1.5, -1), velocity=(0, 0.2, 0))
    system.add_joint(Revolute(system.ground, arm, at_b=(0, 0, 1), axis_a=(1, 0, 0), name="pin"))
    system.add_joint(Prismatic(system.ground, cart, at_a=(0, 1.5, -1), axis_a=(0, 1, 0), name="rail"))
    return system


def setpoint(t: Any) -> Any:
    """Moves slowly."""
    return 1.0 + 0.2 * np.sin(3.0 * t)


def warm(t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
    """A winding that warms up, whose loss is not linear in an algebraic unknown."""
    return [z.flow - p.loss * s.heat], [z.flow + 0.1 * z.flow**3 - u.power - 0.3 * s.heat]


def measured(t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
    """What it shows."""
    return [s.heat + z.flow]


def held(t: float, u: Any, m: Any) -> Any:
    """A sampled controller with an integral."""
    return [-0.8 * u.angle - 0.3 * u.rate - m.sum], {"sum": m.sum + 0.01 * u.angle}


def _points(system: rbdae.System) -> actuators.Points:
    arm, cart = system.bodies
    return actuators.Points(arm, cart, at_a=(0.0, 0.1, 0.2))


class Maxwell(rbdae.Actuator):
    """A spring and a damper, one after the other, between two points: the state is the stretch of the damper."""

    states: ClassVar = {"stretch": 0.0}
    parameters: ClassVar = {"stiffness": 3.0, "viscosity": 2.0, "length": 1.2}

    def law(self, t: Any, q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        f = p.stiffness * (q - p.length - s.stretch)
        return -f, [f / p.viscosity]


def _sampled(s: rbdae.System) -> None:
    pin = s.joints[0]
    inputs = {"angle": pin.angle, "rate": pin.rate}
    control = s.add_block(
        actuators.Sampled(0.02, held, ("torque",), inputs=inputs, memory={"sum": 0.1}, name="control")
    )
    s.add_force(actuators.Source(pin, effort=control.torque, name="held"))


def _heat(s: rbdae.System) -> None:
    s.add_block(
        rbdae.block(
            warm, states={"heat": 0.2}, algebraic={"flow": 0.5}, inputs={"power": s.joints[0].rate},
            outputs=("shown",), observe=measured, parameters={"loss": 0.4}, name="heat",
        )
    )  # fmt: skip
    s.add_force(actuators.Source(s.joints[1], effort="heat.shown", name="blown"))


def _controlled(kind: Callable[..., Any], **gains: float) -> Callable[[rbdae.System], None]:
    """A controller of the displacement whose output is a force."""

    def add(s: rbdae.System) -> None:
        rail = s.joints[1]
        given = {"rate": rail.rate} if kind is actuators.PD else {}
        control = s.add_block(
            kind(measured=rail.displacement, setpoint=setpoint, low=-0.4, high=0.9, name="control", **given, **gains)
        )
        s.add_force(actuators.Source(rail, effort=control.out, name="push"))

    return add


def _dc_motor(s: rbdae.System) -> None:
    """One with a controller of its own current, and one whose current is algebraic."""
    s.add_force(actuators.DCMotor(s.joints[0].angle, voltage=setpoint, inductance=0.0, constant=0.3, name="dc0"))
    s.add_block(actuators.PI(measured="dc.current", setpoint=setpoint, kp=2.0, ki=3.0, name="pi"))
    s.add_force(
        actuators.DCMotor(s.joints[0], voltage="pi.out", resistance=1.2, inductance=0.3, constant=0.6, name="dc")
    )


EXAMPLES: dict[type, Callable[[rbdae.System], Any]] = {
    actuators.DCMotor: _dc_motor,
    actuators.FunctionBlock: _heat,
    Maxwell: lambda s: s.add_force(Maxwell(_points(s), name="maxwell")),
    actuators.PD: _controlled(actuators.PD, kp=0.4, kd=0.2),
    actuators.PI: _controlled(actuators.PI, kp=0.4, ki=0.6, kb=2.0),
    actuators.PID: _controlled(actuators.PID, kp=0.4, ki=0.6, kd=0.2, kb=2.0, tau=0.3),
    actuators.Sampled: _sampled,
    actuators.Source: lambda s: s.add_force(
        actuators.Source(s.joints[0], effort=s.add_input("torque", 0.4), name="source")
    ),
}  # fmt: skip
"""What adds one of each class to the mechanism, with what it needs."""

_TOGETHER = (actuators.DCMotor, actuators.FunctionBlock, Maxwell)


def system_of(kind: type) -> rbdae.System:
    """The mechanism with one of a class."""
    system = mechanism()
    EXAMPLES[kind](system)
    return system


def one(kind: type) -> Any:
    """One of a class."""
    return next(force for force in system_of(kind).forces if type(force) is kind)


def together() -> rbdae.System:
    """The mechanism with several of them, some of which read each other."""
    system = mechanism()
    for kind in _TOGETHER:
        EXAMPLES[kind](system)
    return system

"""A pendulum on a carriage that is driven along a rail: rheonomic constraints."""

from __future__ import annotations

from functools import partial
from math import cos, pi, sin
from typing import Any

import numpy as np

from rbdae import _check
from rbdae.drives import PrescribedDisplacement
from rbdae.joints import Prismatic, Revolute
from rbdae.system import System


def _sine(amplitude: float, frequency: float, phase: float, t: Any) -> Any:
    return amplitude * np.sin(frequency * t + phase)


def driven_pendulum(
    *, amplitude: float = 0.1, frequency: float = 6.0, length: float = 1.0, mass: float = 1.0, angle: float = 0.3
) -> System:
    """A body "carriage" at s(t) = amplitude sin(frequency t), and a body "pendulum" that hangs from it.

    A textbook problem; its motion follows the scalar equation

        (J + m c^2) phi'' = m c (s'' cos phi - g sin phi),    c = length / 2,  J = m length^2 / 12,

    phi about the second spatial axis, the rod's end at s - length sin phi. phi(0) = angle and
    phi'(0) = m c s'(0) cos(angle) / (J + m c^2): at rest except for the jerk with which the carriage starts (velocities
    are projected in the mass metric).

    Parameters
    ----------
    amplitude : float
        m
    frequency : float
        angular frequency, 1/s
    length, mass : float
        m, kg; of the pendulum, a thin rod
    angle : float
        rad, at the start
    """
    a, w, m, half = amplitude, frequency, mass, 0.5 * angle
    l = _check.positive("model driven_pendulum", "length", length, "give the length of the rod")
    system = System(gravity=(0.0, 0.0, -9.81))
    carriage = system.add_body("carriage", mass=1.0, inertia=(0.1, 0.1, 0.1))
    pendulum = system.add_body(
        "pendulum",
        mass=m,
        inertia=(m * l * l / 12.0, m * l * l / 12.0, 1e-3 * m * l * l),
        position=(-0.5 * l * sin(2.0 * half), 0.0, -0.5 * l * cos(2.0 * half)),
        orientation=(cos(half), 0.0, sin(half), 0.0),
    )
    rail = system.add_joint(Prismatic(system.ground, carriage, axis_a=(1.0, 0.0, 0.0), name="rail"))
    system.add_joint(
        Revolute(
            carriage, pendulum, at_b=(0.0, 0.0, 0.5 * l), axis_a=(0.0, 1.0, 0.0), axis_b=(0.0, 1.0, 0.0), name="hinge"
        )
    )
    law = (partial(_sine, a, w, 0.0), partial(_sine, a * w, w, 0.5 * pi), partial(_sine, -a * w * w, w, 0.0))
    system.add_joint(PrescribedDisplacement(rail, law, name="motor"))
    return system

"""A pendulum on a carriage that is driven along a rail: rheonomic constraints."""

from __future__ import annotations

from functools import partial
from math import cos, pi, sin
from typing import Any

import numpy as np

from rbdae.drives import PrescribedDisplacement
from rbdae.joints import Prismatic, Revolute
from rbdae.system import System


def _sine(amplitude: float, frequency: float, phase: float, t: Any) -> Any:
    return amplitude * np.sin(frequency * t + phase)


def driven_pendulum(*, amplitude: float = 0.1, frequency: float = 6.0) -> System:
    """A body "carriage" at s(t) = amplitude sin(frequency t), and a body "pendulum" that hangs from it.

    A textbook problem; its motion follows the scalar equation

        (J + m c^2) phi'' = m c (s'' cos phi - g sin phi),    c = l / 2,  J = m l^2 / 12,  l = 1 m,  m = 1 kg,

    phi about the second spatial axis, the rod's end at s - l sin phi. phi(0) = 0.3 and
    phi'(0) = m c s'(0) cos(0.3) / (J + m c^2): at rest except for the jerk with which the carriage starts (velocities
    are projected in the mass metric).

    Parameters
    ----------
    amplitude : float
        m
    frequency : float
        angular frequency, 1/s
    """
    a, w, m, l, half = amplitude, frequency, 1.0, 1.0, 0.15
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

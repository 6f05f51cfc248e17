"""A wheel that friction slows down: its angle over many turns has a closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

import rbdae

SPIN, FRICTION = 2.0 * np.pi, 1e-3
"""The first rate, rad/s, and the torque of friction at a rate of one, N m s/rad."""

K = FRICTION / 1.13
"""Of exp(-K t), with which the rate falls."""


def wheel() -> tuple[rbdae.System, rbdae.joints.Revolute]:
    """The system, and the joint that was added to it without a name."""
    system = rbdae.System(gravity=(0, 0, 0))
    body = system.add_body(
        "wheel", mass=1.0, inertia=(0.1, 0.12, 0.13), position=(1, 0, 0), angular_velocity=(0, 0, SPIN)
    )
    pin = rbdae.joints.Revolute(system.ground, body, at_b=(-1, 0, 0))
    system.add_joint(pin)
    system.add_force(rbdae.forces.Friction(pin, FRICTION, name="grease"))
    return system, pin


def angle(t: Any) -> Any:
    """The angle at a time."""
    return SPIN * -np.expm1(-K * np.asarray(t)) / K


def time(angle: float) -> float:
    """When the wheel has turned so far."""
    return float(-np.log1p(-K * angle / SPIN) / K)

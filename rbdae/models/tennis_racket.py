"""The tennis racket of [NS], section 7, Example B."""

from __future__ import annotations

import math

from rbdae import _check
from rbdae.system import System


def tennis_racket(disturbance: float = 1e-3, *, spin: float = 50.0) -> System:
    """A free rotation about the axis of the medial moment of inertia: body "racket", to be followed for 1 s.

    The body turns over again and again; the smaller the disturbance, the longer it waits. The paper leaves
    translation out, so the centre of mass is a pivot here, and the mass (1 kg) has no influence.

    Parameters
    ----------
    disturbance : float
        The second and third component of the angular velocity at the start, rad/s; the paper takes 1.0, 0.1,
        1e-3 and 1e-5.
    spin : float
        The first component, rad/s.
    """
    owner = "model tennis_racket"
    small = _check.number(owner, "disturbance", disturbance)
    # Euler angles 3-1-3 away from their singularity, as in the paper.
    theta1, theta2, theta3 = math.pi / 3, math.pi / 4, math.pi / 2
    c, s = math.cos(theta2 / 2), math.sin(theta2 / 2)
    plus, minus = (theta1 + theta3) / 2, (theta1 - theta3) / 2
    system = System(gravity=(0.0, 0.0, 0.0))
    system.add_body(
        "racket",
        mass=1.0,
        inertia=(41.6, 11.6, 50.0),
        pivot=(0.0, 0.0, 0.0),
        orientation=(c * math.cos(plus), s * math.cos(minus), s * math.sin(minus), c * math.sin(plus)),
        angular_velocity=(_check.number(owner, "spin", spin), small, small),
    )
    return system

"""The heavy top of [NS], section 7, Example A."""

from __future__ import annotations

import math

from rbdae import _check
from rbdae._arrays import ArrayLike
from rbdae.system import System


def heavy_top(
    *,
    inertia: ArrayLike = (50.0, 42.0, 10.0),
    mass: float = 110.9,
    length: float = 0.1,
    gravity: float = 9.81,
    tilt: float = math.pi / 3,
    angular_velocity: ArrayLike = (0.0, 0.0, 20.0),
) -> System:
    """A slightly unsymmetrical top on a fixed point: body "top", to be followed for 2 s.

    Parameters
    ----------
    inertia : (3,) or (3, 3) array_like
        About the fixed point, kg m^2.
    mass, length : float
        Mass in kg, and distance in m from the fixed point along d3 to the centre of mass. The paper gives
        their product alone, 11.09 kg m; a short length keeps the inertia about the centre of mass physical.
    gravity : float
        m/s^2, against the third spatial axis.
    tilt : float
        Rotation about the first spatial axis at the start, rad; the second of the Euler angles 3-1-3.
    angular_velocity : (3,) array_like
        At the start, in the body frame, rad/s; the paper also takes (0, 0, 500).
    """
    owner = "model heavy_top"
    half = 0.5 * _check.number(owner, "tilt", tilt)
    system = System(gravity=(0.0, 0.0, -_check.number(owner, "gravity", gravity)))
    system.add_body(
        "top",
        mass=mass,
        inertia=inertia,
        center_of_mass=(0.0, 0.0, _check.number(owner, "length", length)),
        pivot=(0.0, 0.0, 0.0),
        orientation=(math.cos(half), math.sin(half), 0.0, 0.0),
        angular_velocity=angular_velocity,
    )
    return system

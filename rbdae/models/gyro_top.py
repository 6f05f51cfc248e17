"""The gyro top of [BS09], section 5.2."""

from __future__ import annotations

import math

from rbdae import _check
from rbdae.system import System

_HEIGHT, _RADIUS, _DENSITY, _GRAVITY = 0.1, 0.05, 2700.0, 9.81


def gyro_top(*, tilt: float = math.pi / 3, precession: float = 10.0) -> System:
    """A cone on its tip in steady precession: body "top", to be followed for 1 s.

    Height 0.1 m, radius 0.05 m, density 2700 kg/m^3; the tip is fixed, the centre of mass L = 0.075 m from it along d3.
    Moments of inertia about the tip are J1 = 3 M (4 r^2 + H^2)/80 + M L^2 and J3 = 3 M r^2/10. The spin is that of
    a precession without nutation,

        w_s = M g L / (J3 w_p) + (J1 - J3) w_p cos(tilt) / J3,    Omega = (0, w_p sin(tilt), w_p cos(tilt) + w_s),

    140.6 rad/s about d3 in all. The centre of mass follows
    L (sin(tilt) sin(w_p t), -sin(tilt) cos(w_p t), cos(tilt)).

    Parameters
    ----------
    tilt : float
        Angle between d3 and the vertical, a rotation about the first spatial axis, rad.
    precession : float
        w_p, rad/s; not zero.

    Raises
    ------
    ValueError
        if `precession` is zero, for which no spin is steady
    """
    owner = "model gyro_top"
    theta, turning = _check.number(owner, "tilt", tilt), _check.number(owner, "precession", precession)
    if turning == 0.0:
        raise ValueError(f"{owner}: precession must not be zero, got {precession!r}; the paper takes 10.0")
    mass = _DENSITY * math.pi * _RADIUS**2 * _HEIGHT / 3
    length = 0.75 * _HEIGHT
    across = 3 * mass * (4 * _RADIUS**2 + _HEIGHT**2) / 80 + mass * length**2
    along = 3 * mass * _RADIUS**2 / 10
    spin = mass * _GRAVITY * length / (along * turning) + (across - along) / along * turning * math.cos(theta)
    system = System(gravity=(0.0, 0.0, -_GRAVITY))
    system.add_body(
        "top",
        mass=mass,
        inertia=(across, across, along),
        center_of_mass=(0.0, 0.0, length),
        pivot=(0.0, 0.0, 0.0),
        orientation=(math.cos(0.5 * theta), math.sin(0.5 * theta), 0.0, 0.0),
        angular_velocity=(0.0, turning * math.sin(theta), turning * math.cos(theta) + spin),
    )
    return system

"""Tops as free bodies on a ball joint: Bruels and Cardona's, and that of [GR95]."""

from __future__ import annotations

import math

from rbdae import _check
from rbdae.joints.spherical import Spherical
from rbdae.system import System


def bruels_cardona_top() -> System:
    """The heavy top of Bruels and Cardona: body "top", its frame in the centre of mass; to be followed for 2 s.

    15 kg, moments of inertia (0.234375, 0.46875, 0.234375) kg m^2 about the centre of mass, which begins 1 m from the
    fixed point along the second axis, with angular velocity (0, 150, -4.61538) rad/s, gravity 9.81 m/s^2 against
    the third axis. The third component is a rounded number: other ones, such as -60/13, give other digits.
    The centre of mass is at (0.60555056, 0.59895768, -0.52398303) after 0.2 s, at (0.17334396, 0.64008859, -0.74849079)
    after 1 s and at (-0.15041682, -0.72416559, -0.67302227) after 2 s. Source: [BC10]; the numbers
    are our own, and at 0.2 s those in Exudyn's heavy-top example.
    """
    system = System(gravity=(0.0, 0.0, -9.81))
    top = system.add_body(
        "top",
        mass=15.0,
        inertia=(0.234375, 0.46875, 0.234375),
        position=(0.0, 1.0, 0.0),
        velocity=(4.61538, 0.0, 0.0),
        angular_velocity=(0.0, 150.0, -4.61538),
    )
    system.add_joint(Spherical(system.ground, top, at_b=(0.0, -1.0, 0.0), name="tip"))
    return system


def rotations_top(case: int = 1) -> System:
    """The top of [GR95], section 11.6: body "top", in coordinates and constraints; to be followed for 2 s.

    5 kg, moments of inertia (0.8, 0.8, 1.8) kg m^2 about the centre of mass (which no real body has: the third one
    exceeds the sum of the others), 1.3 m from the fixed point along d3, tilted by pi/9 about the first axis. The paper
    has figures alone; for a symmetrical top, spin and momentum about the vertical are constant.

    Parameters
    ----------
    case : 1 or 2
        1: dropped with a spin of 50 rad/s; 2: thrown with a precession of -10 rad/s besides.
    """
    if _check.count("model rotations_top", "case", case) > 2:
        raise ValueError(f"model rotations_top: case must be 1 or 2, got {case!r}; 1 is dropped, 2 is thrown")
    theta, precession = math.pi / 9, 0.0 if case == 1 else -10.0
    c, s = math.cos(theta), math.sin(theta)
    # Euler angles 3-1-3, psi = phi = 0: Omega = (thetadot, psidot sin theta, psidot cos theta + phidot)
    omega = (0.0, precession * s, precession * c + 50.0)
    system = System(gravity=(0.0, 0.0, -9.81))
    top = system.add_body(
        "top",
        mass=5.0,
        inertia=(0.8, 0.8, 1.8),
        position=(0.0, -1.3 * s, 1.3 * c),
        orientation=(math.cos(0.5 * theta), math.sin(0.5 * theta), 0.0, 0.0),
        velocity=(1.3 * omega[1], 0.0, 0.0),
        angular_velocity=omega,
        allow_unphysical=True,
    )
    system.add_joint(Spherical(system.ground, top, at_b=(0.0, 0.0, -1.3), name="tip"))
    return system

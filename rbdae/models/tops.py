"""Bodies that rotate about a point: free rotations, and tops on a pivot or a ball joint."""

from __future__ import annotations

import math

from rbdae import _check
from rbdae._arrays import ArrayLike
from rbdae.joints import Spherical
from rbdae.system import System


def free_body(angular_velocity: ArrayLike = (10.0, 20.0, 20.0)) -> System:
    """A body that rotates without torques, [BS09], section 5.1: body "body", for 1 s.

    Moments of inertia are (6, 8, 3) kg m^2. The paper gives no mass and no translation, so the centre of mass is a
    pivot here, and the mass (1 kg) has no influence. `rbdae.closed_form.FreeBody` has the motion in closed form.

    Parameters
    ----------
    angular_velocity : (3,) array_like
        Initial value in the body frame, rad/s.
    """
    system = System(gravity=(0.0, 0.0, 0.0))
    system.add_body(
        "body",
        mass=1.0,
        inertia=(6.0, 8.0, 3.0),
        pivot=(0.0, 0.0, 0.0),
        angular_velocity=angular_velocity,
    )
    return system


def tennis_racket(disturbance: float = 1e-3, *, spin: float = 50.0) -> System:
    """A free rotation about the medial axis of inertia, [NS], section 7, Example B: body "racket", for 1 s.

    The body flips periodically, less often for smaller disturbances. The paper leaves out translation, so the centre of
    mass is a pivot here, and the mass (1 kg) has no influence.

    Parameters
    ----------
    disturbance : float
        Second and third component of the initial angular velocity, rad/s; the paper takes 1.0, 0.1, 1e-3 and 1e-5.
    spin : float
        First component, rad/s.
    """
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
        angular_velocity=(spin, disturbance, disturbance),
    )
    return system


def heavy_top(
    *,
    inertia: ArrayLike = (50.0, 42.0, 10.0),
    mass: float = 110.9,
    length: float = 0.1,
    gravity: float = 9.81,
    tilt: float = math.pi / 3,
    angular_velocity: ArrayLike = (0.0, 0.0, 20.0),
) -> System:
    """A slightly unsymmetrical top on a fixed point, [NS], section 7, Example A: body "top", for 2 s.

    Parameters
    ----------
    inertia : (3,) or (3, 3) array_like
        About the fixed point, kg m^2.
    mass, length : float
        Mass in kg, and distance in m from the fixed point along d3 to the centre of mass. The paper gives
        only their product, 11.09 kg m; a short length keeps the inertia about the centre of mass physical.
    gravity : float
        m/s^2, against the third spatial axis.
    tilt : float
        Initial rotation about the first spatial axis, rad; the second of the Euler angles 3-1-3.
    angular_velocity : (3,) array_like
        At the start, in the body frame, rad/s; the paper also takes (0, 0, 500).
    """
    half = 0.5 * tilt
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_body(
        "top",
        mass=mass,
        inertia=inertia,
        center_of_mass=(0.0, 0.0, length),
        pivot=(0.0, 0.0, 0.0),
        orientation=(math.cos(half), math.sin(half), 0.0, 0.0),
        angular_velocity=angular_velocity,
    )
    return system


def gyro_top(*, tilt: float = math.pi / 3, precession: float = 10.0) -> System:
    """A cone on its tip in steady precession, [BS09], section 5.2: body "top", for 1 s.

    Height 0.1 m, radius 0.05 m, density 2700 kg/m^3; the tip is fixed, the centre of mass L = 0.075 m from it along d3.
    Moments of inertia about the tip are J1 = 3 M (4 r^2 + H^2)/80 + M L^2 and J3 = 3 M r^2/10. The spin for
    precession without nutation is

        w_s = M g L / (J3 w_p) + (J1 - J3) w_p cos(tilt) / J3,    Omega = (0, w_p sin(tilt), w_p cos(tilt) + w_s),

    in total 140.6 rad/s about d3. The centre of mass follows
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
    theta, turning = tilt, precession
    if turning == 0.0:
        raise ValueError(f"model gyro_top: precession must not be zero, got {precession!r}; the paper takes 10.0")
    height, radius, density, gravity = 0.1, 0.05, 2700.0, 9.81
    mass = density * math.pi * radius**2 * height / 3
    length = 0.75 * height
    across = 3 * mass * (4 * radius**2 + height**2) / 80 + mass * length**2
    along = 3 * mass * radius**2 / 10
    spin = mass * gravity * length / (along * turning) + (across - along) / along * turning * math.cos(theta)
    system = System(gravity=(0.0, 0.0, -gravity))
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


def bruels_cardona_top() -> System:
    """The heavy top of Bruels and Cardona: body "top" with its frame in the centre of mass, for 2 s.

    15 kg, moments of inertia (0.234375, 0.46875, 0.234375) kg m^2 about the centre of mass, initially 1 m from the
    fixed point along the second axis, with angular velocity (0, 150, -4.61538) rad/s, gravity 9.81 m/s^2 against
    the third axis. The third component is rounded: other values, such as -60/13, give other digits.
    The centre of mass is at (0.60555056, 0.59895768, -0.52398303) after 0.2 s, at (0.17334396, 0.64008859, -0.74849079)
    after 1 s and at (-0.15041682, -0.72416559, -0.67302227) after 2 s. Source: [BC10]; the numbers
    are our own and agree at 0.2 s with Exudyn's heavy-top example.
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
    """The top of [GR95], section 11.6: body "top", in coordinates and constraints, for 2 s.

    5 kg, moments of inertia (0.8, 0.8, 1.8) kg m^2 about the centre of mass (unphysical: the third
    exceeds the sum of the others), 1.3 m from the fixed point along d3, tilted by pi/9 about the first axis. The paper
    has only figures; for a symmetrical top, spin and momentum about the vertical are constant.

    Parameters
    ----------
    case : 1 or 2
        1: dropped with a spin of 50 rad/s; 2: thrown with an additional precession of -10 rad/s.
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

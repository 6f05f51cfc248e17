"""Pendulums and chains: benchmark A01 of [IFToMM], SUNDIALS' example with a period of 2 s, links in a row, a pendulum
on a carriage that is driven along a rail, and two bodies with a spherical joint and a bushing."""

from __future__ import annotations

import math
from functools import partial
from math import cos, pi, sin
from typing import Any, Final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, cross
from rbdae.drives import PrescribedDisplacement
from rbdae.forces.springs import Bushing
from rbdae.joints import Prismatic, Revolute, Spherical
from rbdae.system import System

# cvPendulum of SUNDIALS: with a rod of 1 m that starts horizontally the period is 2 s
CV_GRAVITY: Final = 13.750371636040745654980191559621114395801712


def pendulum(*, gravity: float = 9.81, length: float = 1.0, mass: float = 1.0, side: float = -1.0) -> System:
    """A point mass on a massless rod, initially horizontal and at rest: body "bob", for 10 s.

    Its coordinates at 10 s are (-0.275087462576, -0.961419205099), its period is 2.367841947576 s (elliptic
    functions). Sources: [IFToMM], benchmark A01; `cv_pendulum` starts on the other side. A body must have a moment of
    inertia, unlike a point mass; so the model has twice the mass half way along the rod, with a moment of inertia that
    gives the point mass's motion and energy.

    Parameters
    ----------
    gravity : float
        m/s^2, against the second spatial axis.
    length, mass : float
        m, kg
    side : float
        The bob starts at (-length, 0) if negative, at (length, 0) if positive. The body frame's origin is the hinge,
        its first axis points to the bob.
    """
    l = _check.positive("model pendulum", "length", length, "give the length of the rod")
    system = System(gravity=(0.0, -gravity, 0.0))
    # m c = m_p l and J + m c^2 = m_p l^2 with c = l/2: mass 2 m_p, J = m_p l^2 / 2
    bob = system.add_body(
        "bob",
        mass=2.0 * mass,
        inertia=3 * (0.5 * mass * l * l,),
        center_of_mass=(0.5 * l, 0.0, 0.0),
        orientation=(1.0, 0.0, 0.0, 0.0) if side > 0.0 else (0.0, 0.0, 0.0, 1.0),
    )
    system.add_joint(Revolute(system.ground, bob, name="hinge"))
    return system


def cv_pendulum() -> System:
    """The pendulum of SUNDIALS' example cvPendulum: body "bob" starts at (1, 0) and returns every 2 s; for 30 s.

    The speed at the bottom, after 0.5 s, is 5.24411510858424 m/s.
    """
    return pendulum(gravity=CV_GRAVITY, side=1.0)


def chain(
    n: int = 10, *, planar: bool = False, length: float = 1.0, mass: float = 1.0, gravity: float = 9.81
) -> System:
    """`n` equal links hang from the ground and fall from the horizontal: bodies "link1", "link2", ...

    The links are round rods along the first axis at the start, a tenth of their length in diameter. The motion soon
    becomes chaotic.

    Parameters
    ----------
    n : int
        Number of links.
    planar : bool
        Hinges about the second axis in place of ball joints.
    length, mass : float
        Values for each link, m and kg.
    gravity : float
        m/s^2, against the third axis.
    """
    links, hinged = _check.count("model chain", "n", n), _check.flag("model chain", "planar", planar)
    l = _check.positive("model chain", "length", length, "give the length of a link")
    radius = 0.05 * l
    across = mass * (3.0 * radius**2 + l**2) / 12.0
    system = System(gravity=(0.0, 0.0, -gravity))
    before, end = system.ground, (0.0, 0.0, 0.0)
    for k in range(links):
        link = system.add_body(
            f"link{k + 1}",
            mass=mass,
            inertia=(0.5 * mass * radius**2, across, across),
            center_of_mass=(0.5 * l, 0.0, 0.0),
            position=(k * l, 0.0, 0.0),
        )
        name = f"joint{k + 1}"
        if hinged:
            axis = (0.0, 1.0, 0.0)
            system.add_joint(Revolute(before, link, at_a=end, axis_a=axis, axis_b=axis, name=name))
        else:
            system.add_joint(Spherical(before, link, at_a=end, name=name))
        before, end = link, (l, 0.0, 0.0)
    return system


def double_pendulum(*, gravity: float = 9.81) -> System:
    """Two links of 1 m and 1 kg on hinges, from the horizontal at rest: `chain` with n = 2, for 2 s.

    Parameters
    ----------
    gravity : float
        m/s^2, against the third axis.
    """
    return chain(2, planar=True, gravity=gravity)


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


def linked_bodies(stiffness: ArrayLike = 1e4) -> System:
    """Bodies "first" and "second", linked by a spherical joint, the first one held by a bushing; no gravity.

    Compare runs up to 0.5 s: the motion is chaotic, and at the paper's 4 s no digit is left in double precision. The
    second body starts where the joint requires it, (67) and (68) of the paper.

    Parameters
    ----------
    stiffness : float, (3,) or (3, 3) array_like
        Stiffness of the bushing between the centre of mass of "first" and the origin, N/m.
    """
    inertia = (41.6, 11.6, 50.0)
    rho1, rho2 = np.array((1.0, 2.0, -3.0)), np.array((5.0, -6.0, -7.0))
    omega1, omega2 = np.array((3.0, 2.0, 1.0)), np.array((24.0, 15.0, 12.0))
    c, s = 0.5, 0.5 * math.sqrt(3.0)
    rotation = np.array(((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)))  # of both bodies, as in Example A
    system = System(gravity=(0.0, 0.0, 0.0))
    first = system.add_body("first", mass=10.0, inertia=inertia, orientation=rotation, angular_velocity=omega1)
    second = system.add_body(
        "second",
        mass=20.0,
        inertia=inertia,
        position=rotation @ (rho1 - rho2),
        orientation=rotation,
        velocity=rotation @ (cross(omega1, rho1) - cross(omega2, rho2)),
        angular_velocity=omega2,
    )
    system.add_joint(Spherical(first, second, at_a=rho1, at_b=rho2))
    system.add_force(Bushing(first, stiffness=stiffness))
    return system

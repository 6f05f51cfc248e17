"""Slider-crank mechanisms: SUNDIALS' plane one and IFToMM's spatial one."""

from __future__ import annotations

import math

import numpy as np

from rbdae import forces
from rbdae._arrays import cross
from rbdae.joints import PointOnPlane, Prismatic, Revolute, Spherical, Universal
from rbdae.system import System


def planar_slider_crank(*, stiffness: float = 1.0, damping: float = 1.0) -> System:
    """The slider crank of SUNDIALS' example idaSlCrank: bodies "crank" and "rod", for 10 s.

    The crank has 0.5 m and moment of inertia 1 kg m^2. The rod has 1 m; its mass of 1 kg, with a moment of inertia of
    2 kg m^2 about it, is at the slider's pin, the origin of its frame, which stays on the first axis of space. A spring
    of 1 m connects the midpoints of both, and a force of 1 N acts along the first axis, 1 m beyond the pin. The
    mechanism starts at rest, without gravity. Crank angle q, slider position x and rod angle p, from the example's own
    output: (0.57904, 1.3803, -0.27715) at 2 s, (-1.4300, 0.93903, 0.51790) at 5 s, (1.2757, 1.0236, -0.49881) at 10 s.

    Parameters
    ----------
    stiffness, damping : float
        Of the spring, N/m and N s/m: the sensitivity parameters of the example.
    """
    system = System(gravity=(0.0, 0.0, 0.0))
    q, p = 0.5 * math.pi, math.asin(-0.5)
    crank = system.add_body(
        "crank", mass=1.0, inertia=3 * (1.0,), orientation=(math.cos(q / 2), 0.0, 0.0, math.sin(q / 2))
    )
    rod = system.add_body(
        "rod",
        mass=1.0,
        inertia=3 * (2.0,),
        position=(math.cos(p), 0.0, 0.0),
        orientation=(math.cos(p / 2), 0.0, 0.0, math.sin(p / 2)),
    )
    ground = system.ground
    system.add_joint(Revolute(ground, crank, name="bearing"))
    system.add_joint(Revolute(crank, rod, at_a=(0.5, 0.0, 0.0), at_b=(-1.0, 0.0, 0.0), name="crank pin"))
    system.add_joint(PointOnPlane(ground, rod, axis_a=(0.0, 1.0, 0.0), name="slider"))
    spring = forces.SpringDamper(
        crank, rod, at_a=(0.25, 0, 0), at_b=(-0.5, 0, 0), stiffness=stiffness, damping=damping, length=1.0
    )
    system.add_force(spring)
    system.add_force(forces.Force(rod, (1.0, 0.0, 0.0), at=(1.0, 0.0, 0.0)))
    return system


def spatial_slider_crank(*, spin: float = 6.0, gravity: float = 9.81) -> System:
    """A crank about the first axis, a rod on a ball joint and a universal joint, a slider along the first axis.

    Bodies "crank", "rod" and "slider", for 5 s. The crank of 0.08 m turns about (0.1, 0.12) and is initially upright,
    the rod has 0.3 m, so the slider is at x = sqrt(0.09 - y^2 - z^2) with (y, z) the end of the crank. Only curves are
    published. Source: [IFToMM], "Rigid slider crank"; data as in Exudyn's example slidercrank3Dbenchmark. Here one arm
    of the universal joint's cross is along the slider's first axis, the other perpendicular to it and to the rod.

    Parameters
    ----------
    spin : float
        Initial angular velocity of the crank, rad/s.
    gravity : float
        m/s^2, against the third axis.
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    A = np.array((0.0, 0.1, 0.12))
    B = A + np.array((0.0, 0.0, 0.08))
    C = np.array((math.sqrt(0.3**2 - B @ B), 0.0, 0.0))
    x = np.array((1.0, 0.0, 0.0))
    along = (C - B) / 0.3
    across = cross(along, x)
    across /= np.linalg.norm(across)
    # velocities of the rod's end and of the slider at a constant distance; the rod does not turn about `third`
    v_b = np.array((0.0, -0.08 * spin, 0.0))
    v_c = (along @ v_b) / along[0] * x
    pivoting = cross(along, (v_c - v_b) / 0.3)
    third = cross(x, across)
    omega = pivoting - (pivoting @ third) / (along @ third) * along
    frame = np.stack([along, across, cross(along, across)], axis=1)
    crank = system.add_body(
        "crank", mass=0.12, inertia=(1e-4, 1e-5, 1e-4), position=A, angular_velocity=(spin, 0.0, 0.0)
    )
    rod = system.add_body(
        "rod",
        mass=0.5,
        inertia=(4e-4, 4e-3, 4e-3),
        position=0.5 * (B + C),
        orientation=frame,
        velocity=0.5 * (v_b + v_c),
        angular_velocity=frame.T @ omega,
    )
    slider = system.add_body("slider", mass=2.0, inertia=3 * (1e-4,), position=C, velocity=v_c)
    ground = system.ground
    system.add_joint(Revolute(ground, crank, at_a=A, axis_a=x, axis_b=x, name="bearing"))
    system.add_joint(Spherical(crank, rod, at_a=(0.0, 0.0, 0.08), at_b=(-0.15, 0.0, 0.0), name="crank pin"))
    system.add_joint(Universal(slider, rod, at_b=(0.15, 0.0, 0.0), axis_a=x, axis_b=(0, 1, 0), name="slider pin"))
    system.add_joint(Prismatic(ground, slider, axis_a=x, name="guide"))
    return system

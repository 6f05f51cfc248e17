"""The stiff flyball governor: benchmark A05 of [IFToMM]."""

from __future__ import annotations

import math

from rbdae import forces
from rbdae.joints import Prismatic, Revolute
from rbdae.system import System


def flyball_governor(
    *, stiffness: float = 8e5, damping: float = 4e4, spin: float = 0.16 * 2 * math.pi, gravity: float = 9.81
) -> System:
    """A shaft, a slider on it, two rods with a ball each, coupled to the slider by stiff springs.

    Bodies "shaft", "slider", "right" and "left". Shaft and rods are 1 m x 0.01 m x 0.01 m, the slider is a cube of
    0.1 m, all of 3000 kg/m^3; the balls are points of 5 kg. The rods begin 30 degrees below the horizontal, the slider
    half way up the shaft, the springs unstretched. Only curves are published, no numbers. Sources: [IFToMM],
    benchmark A05, and Exudyn's example stiffFlyballGovernor for the spin and the distance 0.1 m of the rods' hinges.

    Parameters
    ----------
    stiffness, damping : float
        Values for each spring, N/m and N s/m.
    spin : float
        Initial angular velocity of the mechanism about the shaft, rad/s.
    gravity : float
        m/s^2, against the third axis.
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    thin, rod, cube, ball = 0.01, 0.3, 3.0, 5.0
    across, own = rod * (1.0 + thin**2) / 12, rod * thin**2 / 6
    turning = (0.0, 0.0, spin)
    shaft = system.add_body(
        "shaft", mass=rod, inertia=(across, across, own), center_of_mass=(0, 0, 0.5), angular_velocity=turning
    )
    slider = system.add_body(
        "slider", mass=cube, inertia=3 * (cube * 0.1**2 / 6,), position=(0, 0, 0.5), angular_velocity=turning
    )
    system.add_joint(Revolute(system.ground, shaft, name="bearing"))
    system.add_joint(Prismatic(shaft, slider, name="sleeve"))
    center = (0.5 * rod + ball) / (rod + ball)
    lump = across + rod * (0.5 - center) ** 2 + ball * (1.0 - center) ** 2
    alpha = math.radians(30.0)
    for name, side in (("right", 1.0), ("left", -1.0)):
        # first axis from the hinge to the ball; the left rod is the right one turned about the shaft
        c, s = math.cos(alpha), math.sin(alpha)
        arm = system.add_body(
            name,
            mass=rod + ball,
            inertia=(own, lump, lump),
            center_of_mass=(center, 0, 0),
            position=(0.05 * side, 0, 1.0),
            orientation=((side * c, 0, side * s), (0, side, 0), (-s, 0, c)),
            velocity=(0, 0.05 * side * spin, 0),
            angular_velocity=(-s * spin, 0, c * spin),
        )
        axis = (0, side, 0)
        system.add_joint(
            Revolute(shaft, arm, at_a=(0.05 * side, 0, 1.0), axis_a=axis, axis_b=(0, 1, 0), name=f"{name} hinge")
        )
        spring = forces.SpringDamper(
            slider, arm, at_a=(0.05 * side, 0, 0), at_b=(0.5, 0, 0), stiffness=stiffness, damping=damping, length=0.5
        )
        system.add_force(spring)
    return system

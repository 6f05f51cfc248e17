"""Two bodies with a spherical joint and a bushing: [NS], section 7, Example C."""

from __future__ import annotations

import math

import numpy as np

from rbdae._arrays import ArrayLike, cross
from rbdae.forces.springs import Bushing
from rbdae.joints import Spherical
from rbdae.system import System


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

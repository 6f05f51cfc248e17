"""An arm of six axes: the PUMA 560."""

from __future__ import annotations

from typing import Final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, cross
from rbdae.joints import Revolute
from rbdae.system import System

X, Y, Z = np.eye(3)
# of links 1 to 6: own axis and where it passes in the frame before; mass, centre of mass, moments of inertia about it
LINKS: Final = (
    (Z, 0.0 * X, 1.0, (0.0, 0.0, 0.0), (0.35, 0.35, 0.35)),
    (Y, 0.2435 * Y, 17.4, (0.068, 0.006, -0.016), (0.13, 0.524, 0.539)),
    (Z, 0.4318 * X - 0.0934 * Z, 4.8, (0.0, -0.07, 0.014), (0.066, 0.0125, 0.078)),
    (-Y, -0.0203 * X - 0.4331 * Y, 0.82, (0.0, 0.0, -0.019), (1.8e-3, 1.8e-3, 1.3e-3)),
    (Y, 0.0 * X, 0.34, (0.0, 0.0, 0.0), (3e-4, 3e-4, 4e-4)),
    (-Y, 0.0 * X, 0.09, (0.0, 0.0, 0.032), (1.5e-4, 1.5e-4, 4e-5)),
)


def arm6(angles: ArrayLike = (0.0, 0.5, 1.0, 0.3, 0.8, 0.0), rates: ArrayLike = 6 * (0.5,)) -> System:
    """The PUMA 560, six links on hinges, "link1" .. "link6", falls without motors and friction for 0.5 s.

    At angles of zero the upper arm is along the first axis of space and the forearm upright, as is "axis1". Frames are
    those of modified Denavit-Hartenberg parameters. Source: B. Armstrong, O. Khatib, J. Burdick: The explicit dynamic
    model and inertial parameters of the PUMA 560 arm, IEEE Conference on Robotics and Automation (1986) 510-518. Its
    inertias of motors are left out. Its 0.086 kg m^2 of link 3 are more than a body can have, here 0.078. Of link 1 it
    has the moment about "axis1" alone; the others have no influence.

    Parameters
    ----------
    angles, rates : (6,) array_like of "axis1" .. "axis6" at the start, rad and rad/s
    """
    q, qd = (_check.real(f"model arm6: {name}", x, (6,)) for name, x in (("angles", angles), ("rates", rates)))
    system = System(gravity=(0.0, 0.0, -9.81))
    before, R, at, v, w = system.ground, np.eye(3), *np.zeros((3, 3))
    for k, (axis, arm, mass, center, inertia) in enumerate(LINKS):
        v, at, first = v + cross(w, R @ arm), at + R @ arm, np.cos(q[k]) * X + np.sin(q[k]) * cross(axis, X)
        R = R @ np.stack([first, cross(axis, first), axis], axis=1)
        w = w + qd[k] * R[:, 2]
        given = {"position": at, "orientation": R, "velocity": v, "angular_velocity": R.T @ w}
        link = system.add_body(f"link{k + 1}", mass=mass, inertia=inertia, center_of_mass=center, **given)
        system.add_joint(Revolute(before, link, arm, 0 * X, axis, Z, name=f"axis{k + 1}", normal_a=X, normal_b=X))
        before = link
    return system

"""Chains of any number of uniform links, such as the double pendulum."""

from __future__ import annotations

from rbdae import _check
from rbdae.joints import Revolute, Spherical
from rbdae.system import System


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

"""The quick-return mechanism of a shaper: two loops in a plane."""

from __future__ import annotations

import math
from typing import Any

from rbdae import _check, forces
from rbdae.body import Body
from rbdae.joints import PointOnLine, Prismatic, Revolute
from rbdae.system import System


def quick_return_shaper(*, spin: float = 5.0 * math.pi, force: float = 1000.0, redundant: bool = False) -> System:
    """A crank whose block slides in a rocker, a link, and a ram that it moves: two turns are 0.8 s; no gravity.

    Bodies "crank" (0.2 m about (0, 0.3), 100 kg m^2), "block" (0.5 kg, 0.001 kg m^2), "rocker" (0.7 m about the origin,
    6 kg at 0.4 m, 9.999 kg m^2), "link" (0.6 m, 4 kg, 6 kg m^2) and "ram" (2 kg, at the height 0.9 m). At angles q, p,
    s of crank, rocker, link: tan(p) = (0.3 + 0.2 sin q) / (0.2 cos q), 0.7 sin p + 0.6 sin s = 0.9, and the ram is at
    0.7 cos p + 0.6 cos s. Source: assignment 7 of Multibody Dynamics B, A. L. Schwab's course at TU Delft (2018), where
    the block has no moment of inertia and the rocker 10 kg m^2. The crank's mass, and the ram's inertia, do not count.

    Parameters
    ----------
    spin, force : initial angular velocity of the crank, rad/s; force on the ram along the first axis, N
    redundant : full hinges at the pins of crank and ram, where three of five equations are redundant in the plane
    """
    close = Revolute if _check.flag("model quick_return_shaper", "redundant", redundant) else PointOnLine
    system, x, O = System(gravity=(0.0, 0.0, 0.0)), (1.0, 0.0, 0.0), (0.0, 0.3, 0.0)
    p = math.atan2(0.3, 0.2)
    s = math.pi - math.asin((0.9 - 0.7 * math.sin(p)) / 0.6)
    end = (0.7 * math.cos(p), 0.7 * math.sin(p), 0.0)

    def body(name: str, mass: float, inertia: float, angle: float, center: float, at: Any, **more: Any) -> Body:
        more |= {"orientation": (math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)), "position": at}
        return system.add_body(name, mass=mass, inertia=3 * (inertia,), center_of_mass=(center, 0.0, 0.0), **more)

    ground, crank = system.ground, body("crank", 1.0, 100.0, 0.0, 0.0, O, angular_velocity=(0.0, 0.0, spin))
    block, rocker = body("block", 0.5, 0.001, p, 0.0, (0.2, 0.3, 0.0)), body("rocker", 6.0, 9.999, p, 0.4, 3 * (0.0,))
    link = body("link", 4.0, 6.0, s, 0.3, end)
    ram = body("ram", 2.0, 1.0, 0.0, 0.0, (end[0] + 0.6 * math.cos(s), 0.9, 0.0))
    system.add_joint(Revolute(ground, crank, at_a=O, name="crank bearing"))
    system.add_joint(Revolute(ground, rocker, name="rocker bearing"))
    system.add_joint(Prismatic(rocker, block, axis_a=x, name="slot"))
    system.add_joint(close(crank, block, at_a=(0.2, 0.0, 0.0), name="crank pin"))
    system.add_joint(Revolute(rocker, link, at_a=(0.7, 0.0, 0.0), name="link pin"))
    system.add_joint(Prismatic(ground, ram, at_a=(0.0, 0.9, 0.0), axis_a=x, name="guide"))
    system.add_joint(close(link, ram, at_a=(0.6, 0.0, 0.0), name="ram pin"))
    system.add_force(forces.Force(ram, (force, 0.0, 0.0)))
    return system

"""The quick return of a shaper: a crank drives a lever through a die, and a link the ram; the motor's speed droops.

python examples/quick_return.py
"""

from __future__ import annotations

import numpy as np

import rbdae
from rbdae.joints import Prismatic, Revolute

CRANK, PIVOT, LEVER, LINK, RAM = 0.12, 0.30, 0.75, 0.25, 0.70
"""m: length of the crank, depth of the lever's pivot below it, lever, link, height of the ram above that pivot."""


def torque(t: float, angle: float, rate: float) -> float:
    """Torque of the motor: 60 N m at stall, 6 N m s/rad of droop."""
    return 60.0 - 6.0 * rate


def build() -> rbdae.System:
    """The mechanism with the crank to the right, at 2 rad/s."""
    s = rbdae.System(gravity=(0, -9.81, 0))
    axis = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    tilt = np.arctan2(CRANK, PIVOT)  # of the lever from the vertical, to the right
    lever_end = np.array((LEVER * np.sin(tilt), LEVER * np.cos(tilt) - PIVOT, 0.0))
    drop = np.arcsin((RAM - PIVOT - lever_end[1]) / LINK)
    link_end = lever_end + LINK * np.array((np.cos(drop), np.sin(drop), 0.0))

    def turned(angle: float) -> tuple[float, float, float, float]:
        return (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))

    crank = s.add_body(
        "crank", mass=4.0, inertia=(0.01, 0.02, 0.02), position=(CRANK / 2, 0, 0), angular_velocity=(0, 0, 2.0)
    )
    die = s.add_body("die", mass=0.5, inertia=(1e-3,) * 3, position=(CRANK, 0, 0), orientation=turned(-tilt))
    middle = (lever_end - np.array((0.0, PIVOT, 0.0))) / 2
    lever = s.add_body("lever", mass=8.0, inertia=(0.4, 0.01, 0.4), position=middle, orientation=turned(-tilt))
    link = s.add_body("link", mass=2.0, inertia=(0.001, 0.01, 0.01), position=(lever_end + link_end) / 2,
                      orientation=turned(drop))  # fmt: skip
    ram = s.add_body("ram", mass=15.0, inertia=(0.1, 0.1, 0.1), position=link_end)
    bearing = s.add_joint(Revolute(s.ground, crank, at_b=(-CRANK / 2, 0, 0), **axis, name="bearing"))
    s.add_joint(Revolute(crank, die, at_a=(CRANK / 2, 0, 0), **axis, name="pin"))
    s.add_joint(Prismatic(lever, die, axis_a=(0, 1, 0), name="slot"))
    s.add_joint(Revolute(s.ground, lever, at_a=(0, -PIVOT, 0), at_b=(0, -LEVER / 2, 0), **axis, name="pivot"))
    s.add_joint(Revolute(lever, link, at_a=(0, LEVER / 2, 0), at_b=(-LINK / 2, 0, 0), **axis, name="head"))
    s.add_joint(Revolute(link, ram, at_a=(LINK / 2, 0, 0), **axis, name="eye"))
    s.add_joint(Prismatic(s.ground, ram, at_a=(0, RAM - PIVOT, 0), axis_a=(1, 0, 0), name="guide"))
    s.add_force(rbdae.forces.Motor(bearing, torque=torque, name="motor"))
    return s


if __name__ == "__main__":
    problem = rbdae.formulate(build(), "null-space", redundant="minimum-norm")
    solution = rbdae.solve(problem, (0.0, 2.0), rtol=1e-8, atol=1e-8, projection=True)
    print("crank", solution.joints["bearing"].angle[-1], "ram", solution.joints["guide"].displacement[-1])

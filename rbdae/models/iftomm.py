"""Mechanisms in loops of [IFToMM]: the N-four-bar, Bricard's mechanism, the stiff flyball governor."""

from __future__ import annotations

import math

import numpy as np

from rbdae import _check, forces
from rbdae._arrays import cross
from rbdae.joints import PointOnLine, Prismatic, Revolute, Universal
from rbdae.system import System


def n_four_bar(n: int = 2, *, redundant: bool = False) -> System:
    """`n` windows of uniform rods, 1 m and 1 kg, initially upright: bodies "bar0" .. and "coupler1" .. .

    The tops start with 1 m/s to the right; gravity is 9.81 m/s^2 against the second axis. When all rods are
    collinear the mechanism has n + 1 degrees of freedom instead of one, and the constraints are dependent. On its
    regular branch it is a pendulum, ((n + 1)/3 + n) phi'' = -((n + 1)/2 + n) g cos(phi); for n = 2 the top of "bar0"
    is at (0.328458111539, 0.944518538179) after 10 s, with velocity (1.423051470202, -0.494868845481). Source:
    [IFToMM], benchmark A02, which asks for constant energy over 10 s (n = 40 in its first edition). The rods' moment
    about their own axis has no influence. To pass the singular positions use
    ``formulate(..., "index-0", redundant="minimum-norm")`` and ``solve(..., projection=True)`` with a one-step method.

    Parameters
    ----------
    n : int
        Number of windows.
    redundant : bool
        Close the windows with full hinges: three of their five equations are redundant in the plane.
    """
    owner = "model n_four_bar"
    windows = _check.count(owner, "n", n)
    full = _check.flag(owner, "redundant", redundant)
    rod = {"mass": 1.0, "inertia": (1.0 / 12, 1.0 / 12, 1.0 / 12), "center_of_mass": (0.5, 0.0, 0.0)}
    upright = (0.5**0.5, 0.0, 0.0, 0.5**0.5)
    system = System(gravity=(0.0, -9.81, 0.0))
    bars = [
        system.add_body(
            f"bar{k}",
            position=(float(k), 0.0, 0.0),
            orientation=upright,
            angular_velocity=(0.0, 0.0, -1.0),
            **rod,  # type: ignore[arg-type]
        )
        for k in range(windows + 1)
    ]
    for k, bar in enumerate(bars):
        system.add_joint(Revolute(system.ground, bar, at_a=(float(k), 0.0, 0.0), name=f"foot{k}"))
    for k in range(1, windows + 1):
        coupler = system.add_body(
            f"coupler{k}",
            position=(k - 1.0, 1.0, 0.0),
            velocity=(1.0, 0.0, 0.0),
            **rod,  # type: ignore[arg-type]
        )
        system.add_joint(Revolute(bars[k - 1], coupler, at_a=(1.0, 0.0, 0.0), name=f"left{k}"))
        close = Revolute if full else PointOnLine
        system.add_joint(close(bars[k], coupler, at_a=(1.0, 0.0, 0.0), at_b=(1.0, 0.0, 0.0), name=f"right{k}"))
    return system


def bricard(*, redundant: bool = True) -> System:
    """Five rods and six hinges in a loop that can move because of its special geometry: bodies "rod1" .. "rod5".

    The rods are 1 m long, of square cross-section 0.1 m, 1 kg; they start at rest along the edges of a cube, in gravity
    9.81 m/s^2 against the second axis, for 10 s. There is one degree of freedom although 30 coordinates have 30
    equations: one of them is redundant. No numbers are published, but the energy is constant. Source: [IFToMM],
    benchmark A04; the placement is taken from Exudyn's example bricardMechanism.

    Parameters
    ----------
    redundant : bool
        False leaves out one equation of the last hinge, which the others imply.
    """
    full = _check.flag("model bricard", "redundant", redundant)
    points = np.array(((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)), dtype=float)
    ends = points[1:] - points[:-1]
    x, y, z = np.eye(3)
    axes = (y, z, x, y, z, x)
    width, mass = 0.1, 1.0
    inertia = (mass * width**2 / 6, mass * (1 + width**2) / 12, mass * (1 + width**2) / 12)
    system = System(gravity=(0.0, -9.81, 0.0))
    frames, bodies = [np.eye(3)], [system.ground]
    for k, (point, end) in enumerate(zip(points[:-1], ends, strict=True)):
        # first axis along the rod, second axis along the hinge at its beginning
        frame = np.stack([end, axes[k], cross(end, axes[k])], axis=1)
        body = system.add_body(
            f"rod{k + 1}", mass=mass, inertia=inertia, center_of_mass=(0.5, 0, 0), position=point, orientation=frame
        )
        before = (0.0, 0.0, 0.0) if k == 0 else (1.0, 0.0, 0.0)
        axis = frames[-1].T @ axes[k]
        system.add_joint(Revolute(bodies[-1], body, at_a=before, axis_a=axis, axis_b=(0, 1, 0), name=f"hinge{k + 1}"))
        frames.append(frame)
        bodies.append(body)
    last = {"at_a": (1.0, 0.0, 0.0), "at_b": points[-1], "name": "hinge6"}
    if full:
        system.add_joint(Revolute(bodies[-1], system.ground, axis_a=frames[-1].T @ x, axis_b=x, **last))
    else:
        system.add_joint(Universal(bodies[-1], system.ground, axis_a=frames[-1].T @ x, axis_b=y, **last))
    return system


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

"""The N-four-bar mechanism: benchmark A02 of [IFToMM]."""

from __future__ import annotations

from rbdae import _check
from rbdae.joints import PointOnLine, Revolute
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

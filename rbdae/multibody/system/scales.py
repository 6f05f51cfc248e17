"""The length, mass and rate of a model, by which tolerances compare lengths with angles, and both with rounding.

A model of a watch and one of a crane are the same in other units: what is called redundant, closed or drifted must not
depend on the unit. So every decision is made on numbers without one. They come from here and from nowhere else:

* displacements are compared as x over `length`, and turns in radians;
* violations of joint equations are compared with `sizes(length)`, those of velocities with these times `rate`;
* positions are rounded by their distance from the origin: no violation falls below that of `reach`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.kernels.constraints.drives import LENGTH
from rbdae.kernels.records import POINT
from rbdae.multibody.system.bodies import BodyMotion


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Parameters
    ----------
    length : m; the largest radius of gyration, or distance of a joint from the reference point of a moving body
    reach : m; the largest of the length and the distances of bodies and joints from the origin of space at the start
    mass : kg; the largest of a body
    rate : 1/s; the largest of (gravity/length)^(1/2), the initial velocities over the length, (stiffness/mass)^(1/2) of
        springs between points; 1 for a model in which nothing of this is given
    factors : (rows,) of the sizes of joint equations
    lengths : (rows,) bool, which joint equations have a length in their size besides
    turning : (6 n,) bool, which components of (xdot, Omega) of all bodies are angular
    """

    length: float
    reach: float
    mass: float
    rate: float
    factors: Vec
    lengths: Bools
    turning: Bools

    def sizes(self, length: float) -> Vec:
        """The change of a joint equation when directions turn by a radian and points move by a length, (rows,): 1 for
        an angle, the length for a displacement, the length times that of the rod for half a square."""
        return np.where(self.lengths, length * self.factors, self.factors)

    def columns(self, G: Mat) -> Mat:
        """G (..., 6 n) with respect to velocities over `length`, where they are those of points."""
        return np.asarray(G * np.where(self.turning, 1.0, self.length))


def measured(
    bodies: Any,
    primitives: Any,
    rheonomic: Mapping[int, Any],
    joints: Sequence[Any],
    elements: Any,
    gravity: Vec,
    motion: BodyMotion,
    alike: Scales | None = None,
) -> Scales:
    """The scales of packed arrays at an initial motion; `joints` have points on bodies by number, `alike` has the same
    joints and initial positions."""
    n, start = len(motion.x), motion.places
    of = np.array([body for joint in joints for body in joint.bodies], dtype=int)
    points = np.array([point for joint in joints for point in joint.points]).reshape(-1, 3)
    turning = np.sqrt(bodies["inertia"][:n].trace(axis1=1, axis2=2) / bodies["mass"][:n])
    length = float(max(turning.max(), np.linalg.norm(points[of < n], axis=1).max(initial=0.0)))
    ends = start[of, :3] + np.einsum("ai,aij->aj", points, start[of, 3:].reshape(-1, 3, 3))
    reach = max(length, float(np.abs(start[:, :3]).max()), float(np.abs(ends).max(initial=0.0)))
    mass = float(bodies["mass"][:n].max())
    rates = [
        float(np.sqrt(np.linalg.norm(gravity) / length)),
        float(np.linalg.norm(motion.xd, axis=1).max()) / length,
        float(np.linalg.norm(motion.om, axis=1).max()),
        float(np.sqrt(np.max(elements["stiffness"][elements["shaping"] == POINT], initial=0.0) / mass)),
    ]
    if alike is not None and alike.length == length:
        return replace(alike, reach=reach, mass=mass, rate=max(rates) or 1.0)
    sizes = [_size(p, start, i in rheonomic and rheonomic[i].kind == LENGTH) for i, p in enumerate(primitives)]
    rows = [size for n_rows, size in zip(primitives["n"].tolist(), sizes, strict=True) for _ in range(n_rows)]
    return Scales(
        length=length,
        reach=reach,
        mass=mass,
        rate=max(rates) or 1.0,
        factors=np.array([factor or length for factor, _ in rows], dtype=float),
        lengths=np.array([long for _, long in rows], dtype=bool),
        turning=np.arange(6 * n) % 6 >= 3,
    )


def _size(p: Any, start: Mat, driven_length: bool) -> tuple[float, bool]:
    """The factor of the size of a primitive's equations, and whether a length comes to it."""
    if p["linear"]:
        return 1.0, True
    points = [bool(p[name][0] or p[name][4]) for name in ("A", "B")]
    if all(points):  # half a square: the rod's length, or its own at the start where it is driven
        Z = np.concatenate([start[b].reshape(4, 3) for b in p["body"]])
        l2 = float(2.0 * abs(p["offset"][0])) if not driven_length else 0.0
        return float(np.sqrt(l2)) or float(np.linalg.norm(p["A"] @ Z)), True
    norms = [float(np.linalg.norm(p[name])) for name, point in zip(("A", "B"), points, strict=True) if not point]
    return float(np.prod(norms)), any(points)

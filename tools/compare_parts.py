"""Bodies and joints for the systems of `compare_systems.py`.

Only public names of rbdae are used, so the same file works before and after a change of what is inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import rbdae

joints = rbdae.joints


def frame(body: Any) -> Rotation:
    """Where a body points at the start."""
    return Rotation.from_quat(np.array(body.orientation)[[1, 2, 3, 0]])


def add(system: Any, name: str, seed: int, at: Sequence[float], pivot: bool = False) -> Any:
    """A body with seeded mass, inertia, centre of mass, orientation and velocities."""
    rng = np.random.default_rng(seed)
    axes = Rotation.from_rotvec(rng.uniform(-0.8, 0.8, 3)).as_matrix()
    moments = rng.uniform(2.0, 3.5, 3)
    place = {"pivot": at} if pivot else {"position": at, "velocity": rng.uniform(-0.5, 0.5, 3)}
    return system.add_body(
        name,
        mass=rng.uniform(0.5, 2.0),
        inertia=axes @ np.diag(moments) @ axes.T,
        center_of_mass=rng.uniform(-0.3, 0.3, 3),
        orientation=Rotation.from_rotvec(rng.uniform(-0.7, 0.7, 3)),
        angular_velocity=rng.uniform(-1.0, 1.0, 3),
        **place,
    )


# how far apart along its axis (or at all) a joint has its two points
JOINTS = {
    "Spherical": 0.0,
    "Revolute": 0.0,
    "Prismatic": 0.3,
    "Cylindrical": 0.3,
    "Planar": 0.0,
    "Universal": 0.0,
    "Fixed": 0.0,
    "Rod": 0.6,
    "PointOnLine": 0.3,
    "PointOnPlane": 0.0,
}
AT, AXIS = (0.2, 0.3, -0.4), (0.9, 0.4, -0.6)


def fit(system: Any, kind: str, a: Any, b: Any, name: str, at: Any = AT, axis: Any = AXIS) -> Any:
    """Add a joint that fits the bodies as they are placed; `at` and `axis` are in the frame of `a`."""
    u = np.array(axis, float) / np.linalg.norm(axis)
    end = a.position + frame(a).apply(np.array(at, float) + JOINTS[kind] * u)
    given: dict[str, Any] = {"at_a": at, "at_b": frame(b).inv().apply(end - b.position), "name": name}
    if kind not in ("Spherical", "Rod"):
        given["axis_a"] = u
    if "axis_a" in given and not kind.startswith("Point"):
        other = np.cross(u, (0.3, -0.5, 0.8)) if kind == "Universal" else u
        given["axis_b"] = frame(b).inv().apply(frame(a).apply(other))
    return system.add_joint(getattr(joints, kind)(a, b, **given))


@dataclass(frozen=True, eq=False)
class Tie(joints.AbstractJoint):
    """A joint of any primitive constraints."""

    a: Any
    b: Any
    parts: tuple[Any, ...]
    name: str
    at_a: Any = field(default_factory=lambda: np.zeros(3))
    at_b: Any = field(default_factory=lambda: np.zeros(3))

    def primitives(self) -> tuple[Any, ...]:
        """Its parts."""
        return self.parts


def wave(mean: float, amplitude: float, frequency: float) -> tuple[Callable[[float], float], ...]:
    """A law of motion with its two derivatives."""
    a, w = amplitude, frequency
    return (
        lambda t: mean + a * math.sin(w * t),
        lambda t: a * w * math.cos(w * t),
        lambda t: -a * w * w * math.sin(w * t),
    )

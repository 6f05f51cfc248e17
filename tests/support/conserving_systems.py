"""Systems that are free in space, for laws of energy and momentum, and the forces of one of them, written out."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import rbdae
from rbdae.forces import Bushing, SpringDamper
from rbdae.joints import (
    Cylindrical,
    Fixed,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Rod,
    Screw,
    Spherical,
    Universal,
)

POINTS = {"at_a": (1.0, 0.0, 0.0), "at_b": (-1.0, 0.0, 0.0)}
AXES = {"axis_a": (0.0, 0.6, 0.8), "axis_b": (0.0, 0.6, 0.8)}
JOINTS: dict[str, Any] = {
    "spherical": lambda a, b: Spherical(a, b, **POINTS),
    "revolute": lambda a, b: Revolute(a, b, **POINTS, **AXES),
    "cylindrical": lambda a, b: Cylindrical(a, b, **POINTS, **AXES),
    "prismatic": lambda a, b: Prismatic(a, b, **POINTS, **AXES),
    "planar": lambda a, b: Planar(a, b, **POINTS, **AXES),
    "universal": lambda a, b: Universal(a, b, **POINTS, axis_a=(0.0, 0.6, 0.8), axis_b=(1.0, 0.0, 0.0)),
    "fixed": lambda a, b: Fixed(a, b, **POINTS),
    "rod": lambda a, b: Rod(a, b, at_a=(0.5, 0.0, 0.1), at_b=(-0.5, 0.2, 0.0)),
    "point on line": lambda a, b: PointOnLine(a, b, **POINTS, axis_a=(0.0, 0.6, 0.8)),
    "point on plane": lambda a, b: PointOnPlane(a, b, **POINTS, axis_a=(0.0, 0.6, 0.8)),
    "screw": lambda a, b: Screw(a, b, **POINTS, **AXES, pitch=3.0),
}


def free_body(**options: Any) -> rbdae.System:
    """[BS09], section 5.1."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    system.add_body("body", mass=1.0, inertia=(6.0, 8.0, 3.0), angular_velocity=(10.0, 20.0, 20.0), **options)
    return system


def chain(joint: str, n: int = 2, *, springs: bool = True, damping: float = 0.0, resting: bool = False) -> rbdae.System:
    """n bodies in a row, free in space, with stiff springs; their centre of mass rests if asked for."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    rng = np.random.default_rng(3)
    velocities = rng.normal(size=(n, 2, 3))
    if resting:
        velocities[:, 0] -= np.arange(1.0, n + 1.0) @ velocities[:, 0] / np.arange(1.0, n + 1.0).sum()
    bodies = [
        system.add_body(
            f"b{k}",
            mass=1.0 + k,
            inertia=np.array((2.0, 2.5, 3.0)) * (1.0 + 0.5 * k),
            position=(2.0 * k, 0.0, 0.0),
            velocity=velocities[k, 0],
            angular_velocity=velocities[k, 1],
        )
        for k in range(n)
    ]
    for a, b in pairwise(bodies):
        system.add_joint(JOINTS[joint](a, b))
    if springs:
        ends: dict[str, Any] = {"at_a": (0.3, 0.5, 0.0), "at_b": (0.0, 0.7, 0.2)}
        system.add_force(SpringDamper(bodies[0], bodies[-1], stiffness=200.0, length=1.0, damping=damping, **ends))
        system.add_force(Bushing(bodies[0], bodies[1], stiffness=50.0, rotational_stiffness=20.0))
    return system


def relative_energy(solution: rbdae.Solution) -> float:
    """Largest change of the energy, relative to the largest kinetic energy."""
    e = solution.energy
    return float(np.abs(e.total - e.total[0]).max() / e.kinetic.max())


def momentum_error(solution: rbdae.Solution) -> float:
    """Largest change of any component of the angular momentum about the origin, relative to its size."""
    L = solution.momentum.angular
    return float(np.abs(L - L[0]).max() / np.linalg.norm(L[0]))


def hinge(Z: Any) -> Any:
    """The revolute joint of `chain`: two directions of the first body, the axis of the second one, as in `Revolute`."""
    (x1, *d1), (x2, *d2) = Z
    D1, D2 = np.array(d1).T, np.array(d2).T
    across = np.array([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6]])
    axis = np.array([0.0, 0.6, 0.8])
    return np.array([*(x1 + D1[:, 0] - x2 + D2[:, 0]), *((D1 @ v) @ (D2 @ axis) for v in across)])


def spring(Z0: Any, Z1: Any) -> Any:
    """A spring of 150 N/m and 1 m between points of both bodies: F = 2 (V1 - V0) / (s1 - s0) d_mean, s = |d|^2."""
    A = np.array([[1.0, 0.3, 0.5, 0.0], [-1.0, 0.0, -0.7, -0.2]])
    d0, d1 = np.einsum("bi,bik->k", A, Z0), np.einsum("bi,bik->k", A, Z1)
    l0, l1 = np.sqrt(d0 @ d0), np.sqrt(d1 @ d1)
    near = abs(complex(l1 - l0)) < 1e-12
    V = [75.0 * (length - 1.0) ** 2 for length in (l0, l1)]
    c = 150.0 * (l0 - 1.0) / l0 if near else 2.0 * (V[1] - V[0]) / (l1**2 - l0**2)
    return -c * np.einsum("bi,k->bik", A, 0.5 * (d0 + d1))

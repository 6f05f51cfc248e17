"""The mechanisms as trees of links, for packages that have joints themselves.

The frame of a link has its axes and begins at its joint; that of a link without a joint begins at its centre.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from .mechanisms import Array, Chain, HeavyTop, LinkedBodies, Mechanism


@dataclass(frozen=True)
class Link:
    """A rigid body on a ball joint, or free.

    Parameters
    ----------
    parent : int
        -1 for the ground.
    at : (3,) ndarray
        The joint's point in the frame of the parent; of a free body, its start.
    mass, centre, inertia : float and (3,) ndarray
        The centre in the link's frame, principal moments about it.
    rotation : scipy Rotation
        From the link to its parent, at the start.
    spin : (3,) ndarray
        Angular velocity against the parent, in the link's frame, at the start.
    free : bool
        Whether it moves without a joint, against the ground.
    velocity : (3,) ndarray
        Of a free body at the start.
    stiffness : float
        Of the spring between the origin and the centre of a free body, N/m.
    """

    parent: int
    at: Array
    mass: float
    centre: Array
    inertia: Array
    rotation: Rotation
    spin: Array
    free: bool = False
    velocity: Array | None = None
    stiffness: float = 0.0


def links(mechanism: Mechanism) -> list[Link]:
    """The links, parents first."""
    y = mechanism.y0
    zero = np.zeros(3)
    match mechanism:
        case HeavyTop(mass=mass, inertia=J, length=l):
            about_centre = J - mass * l**2 * np.array((1.0, 1.0, 0.0))
            start = Rotation.from_quat(y[:4], scalar_first=True)
            return [Link(-1, zero, mass, np.array((0.0, 0.0, l)), about_centre, start, y[4:])]
        case LinkedBodies(masses=masses, inertias=Js, points=points):
            R = [Rotation.from_quat(y[7 * b + 3 : 7 * b + 7], scalar_first=True) for b in (0, 1)]
            om, relative = (y[17:20], y[23:26]), R[0].inv() * R[1]
            first = Link(
                -1,
                y[:3],
                masses[0],
                zero,
                Js[0],
                R[0],
                om[0],
                free=True,
                velocity=y[14:17],
                stiffness=mechanism.stiffness,
            )
            return [
                first,
                Link(0, points[0], masses[1], -points[1], Js[1], relative, om[1] - relative.inv().apply(om[0])),
            ]
        case Chain(n=n, mass=mass, inertia=J, length=l):
            half, tip = np.array((0.5 * l, 0.0, 0.0)), np.array((l, 0.0, 0.0))
            return [Link(k - 1, tip if k else zero, mass, half, J, Rotation.identity(), zero) for k in range(n)]
    raise ValueError(mechanism.name)


def gravity(mechanism: Mechanism) -> Array:
    """(3,) of the field."""
    return np.array(mechanism.system.gravity, dtype=float)


AXES = {HeavyTop: "ZXZ", LinkedBodies: "XYZ", Chain: "YXZ"}
"""Axes of three hinges in place of a ball joint, for packages without ball joints: singular far from these motions."""


def angles(link: Link, axes: str) -> tuple[Array, Array]:
    """(3,) angles of three hinges at the start, and (3,) their rates."""
    found = link.rotation.as_euler(axes)
    return found, np.linalg.solve(columns(found, axes), link.spin)


def columns(angles: Array, axes: str) -> Array:
    """(3, 3) the angular velocity in the link's frame is this times the rates of the hinges' angles."""
    unit = {"X": np.array((1.0, 0.0, 0.0)), "Y": np.array((0.0, 1.0, 0.0)), "Z": np.array((0.0, 0.0, 1.0))}
    inner = Rotation.from_euler(axes[1:], angles[1:]), Rotation.from_euler(axes[2], angles[2])
    return np.column_stack((inner[0].inv().apply(unit[axes[0]]), inner[1].inv().apply(unit[axes[1]]), unit[axes[2]]))

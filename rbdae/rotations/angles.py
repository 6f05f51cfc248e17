"""The common part of charts of three angles: turns about axes, each of them turned by those before it.

    R = exp(a1 e_i^) exp(a2 e_j^) exp(a3 e_k^)

Axes are numbers from 0 to 2.
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.rotations.quaternions.algebra import multiplied

Axes = tuple[int, int, int]


def nearest(mirror: float, a: Vec, b: Vec) -> Vec:
    """The angles of a rotation that are nearest to b: each up to full turns, and with the first and third ones half a
    turn farther and the second one reflected, mirror - a2."""
    other = np.array((a[0] + np.pi, mirror - a[1], a[2] + np.pi))
    both = [x + 2.0 * np.pi * np.round((b - x) / (2.0 * np.pi)) for x in (a, other)]
    return min(both, key=lambda x: float(np.abs(x - b).sum()))


def quaternion(axes: Axes, a: Vec) -> Vec:
    """The unit quaternion (..., 4) of angles (..., 3), the scalar part not negative."""
    turns = np.zeros((3, *a.shape[:-1], 4))
    for m, axis in enumerate(axes):
        turns[m, ..., 0], turns[m, ..., 1 + axis] = np.cos(0.5 * a[..., m]), np.sin(0.5 * a[..., m])
    p = multiplied(multiplied(turns[0], turns[1]), turns[2])
    return np.where(p[..., :1] < 0.0, -p, p)


def tangents(axes: Axes, a: Vec, frame: str) -> tuple[Mat, Mat]:
    """T (3, 3, ...) and dT/da (3, 3, 3, ...) of angles (3, ...).

    The columns of T are the axes about which the body turns. In space each is turned by those before it, in the body
    back by those after it; a turn about another column turns them with that angular velocity.
    """
    T, D = np.zeros((3, 3, *a.shape[1:])), np.zeros((3, 3, 3, *a.shape[1:]))
    sign, order = (-1.0, (2, 1, 0)) if frame == "material" else (1.0, (0, 1, 2))
    turned = np.zeros_like(T)
    turned[range(3), range(3)] = 1.0
    for done, m in enumerate(order):
        i, j, k = ((axes[m] + further) % 3 for further in range(3))
        T[:, m] = turned[:, i]
        for l in order[:done]:
            D[:, m, l] = sign * np.cross(T[:, l], T[:, m], axis=0)
        c, s = np.cos(a[m]), sign * np.sin(a[m])
        turned[:, j], turned[:, k] = c * turned[:, j] + s * turned[:, k], c * turned[:, k] - s * turned[:, j]
    return T, D

"""Polylines of which pictures consist, moving: points of shape (m, k, 3), m times, in metres."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec

Moving = Any
"""Points or directions over m times, (m, 3), or polylines of k points, (m, k, 3)."""

_CUBE = np.array(
    [
        (-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, -1), (-1, -1, 1), (1, -1, 1), (1, -1, -1),
        (1, -1, 1), (1, 1, 1), (1, 1, -1), (1, 1, 1), (-1, 1, 1), (-1, 1, -1), (-1, 1, 1), (-1, -1, 1),
    ],
    dtype=float,
)  # fmt: skip
"""All edges of a cube in one line without a break."""


def cuboid(edges: Vec) -> Mat:
    """The edges of a cuboid about the origin as one line, (16, 3)."""
    out: Mat = _CUBE * (0.5 * edges)
    return out


def unit(v: Moving) -> Moving:
    """Vectors (..., 3) by their lengths; zero stays zero."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return v / np.where(length > 0.0, length, 1.0)


def across(v: Moving, wanted: Vec) -> Moving:
    """Unit vectors at right angles to v (m, 3), as far as possible in the plane across `wanted`."""
    out = np.cross(wanted, v)
    axis = np.eye(3)[np.argmin(np.abs(v), axis=-1)]
    poor = np.linalg.norm(out, axis=-1) < 1e-3 * np.linalg.norm(v, axis=-1)
    out[poor] = np.cross(axis[poor], v[poor])
    return unit(out)


def segment(p: Moving, q: Moving) -> Moving:
    """From p to q, both (m, 3)."""
    return np.stack([p, q], axis=1)


def combined(p: Moving, directions: tuple[Moving, ...], table: Mat) -> Moving:
    """Points p + sum_j table[i, j] directions[j], (m, k, 3), of a table (k, j)."""
    return p[:, None, :] + np.einsum("kj,mjc->mkc", table, np.stack(directions, axis=1))


def arc(p: Moving, e1: Moving, e2: Moving, radius: float, turn: float = 2 * np.pi, k: int = 25) -> Moving:
    """From e1 towards e2 about p, unit vectors (m, 3)."""
    angle = np.linspace(0.0, turn, k)
    return combined(p, (e1, e2), radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))


def arrow(p: Moving, v: Moving, side: Moving, head: float) -> Moving:
    """From p along v with a head of a size, at most 0.4 |v|; one line."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    h = np.minimum(head, 0.4 * length)
    tip, along = p + v, unit(v)
    return np.stack([p, tip, tip - h * along + 0.4 * h * side, tip, tip - h * along - 0.4 * h * side], axis=1)


def turning_arrow(p: Moving, e1: Moving, e2: Moving, radius: float) -> Moving:
    """Three quarters of a circle about p with a head."""
    curve = arc(p, e1, e2, radius, 1.5 * np.pi, 19)
    return np.concatenate([curve, arrow(curve[:, -1], 0.6 * radius * e1, e2, 0.5 * radius)[:, 1:]], axis=1)


def coil(p: Moving, e1: Moving, e2: Moving, radius: float) -> Moving:
    """Two and a half turns of a flat spiral about p."""
    u = np.linspace(0.2, 1.0, 41)
    angle = 5 * np.pi * u
    return combined(p, (e1, e2), radius * np.stack([u * np.cos(angle), u * np.sin(angle)], axis=1))


def zigzag(p: Moving, q: Moving, side: Moving, width: float, teeth: int = 6) -> Moving:
    """A spring from p to q: straight ends, and teeth of half a width, at most a quarter of its length, to each side."""
    along = np.concatenate([[0.0, 0.2], 0.2 + 0.6 * (np.arange(2 * teeth) + 0.5) / (2 * teeth), [0.8, 1.0]])
    up = np.concatenate([[0.0, 0.0], np.tile([1.0, -1.0], teeth), [0.0, 0.0]])
    half = np.minimum(0.5 * width, 0.25 * np.linalg.norm(q - p, axis=-1, keepdims=True))
    return combined(p, (q - p, half * side), np.stack([along, up], axis=1))


__all__ = [
    "Moving",
    "across",
    "arc",
    "arrow",
    "coil",
    "combined",
    "cuboid",
    "segment",
    "turning_arrow",
    "unit",
    "zigzag",
]

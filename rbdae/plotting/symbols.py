"""The symbols of pictures for joints, drives, forces and the ground, by their data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import value_of
from rbdae.forces.symbol import Symbol
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint, Rheonomic
from rbdae.joints.primitives import Coincidence, Distance, Dot2
from rbdae.plotting import shapes
from rbdae.plotting.placed import Placed
from rbdae.plotting.shapes import Moving

_FARTHER = 1.0 + 1e-6

Shown: TypeAlias = Iterator[Moving]
"""Polylines, (m, k, 3)."""


def joint_lines(joint: AbstractJoint, here: Placed, size: float, eye: Vec) -> Shown:
    """The symbol of a joint or drive: a rod's line, the slide's rail, a plane's square, rings about axes that turn.

    Parameters
    ----------
    here : where the bodies are
    size : of a symbol, m
    eye : the direction of sight, by which flat symbols turn
    """
    p, q = here.at(joint.a, joint.at_a), here.at(joint.b, joint.at_b)
    if (law := joint.rheonomic()) is not None:
        yield from _drive(joint, law, here, (p, q), size, eye)
        return
    parts = joint.primitives()
    if any(isinstance(part, Distance) for part in parts):
        yield shapes.segment(p, q)
    planes = sum(isinstance(part, Dot2) for part in parts)
    if isinstance(joint, AbstractAxialJoint):
        yield from _axial(joint, here, p, q, size, planes)
    elif not planes and any(isinstance(part, Coincidence) for part in parts):
        yield from _ball(q, 0.5 * size)


def _ball(p: Moving, radius: float) -> Shown:
    e = np.broadcast_to(np.eye(3)[:, None, :], (3, len(p), 3))
    for k in range(3):
        yield shapes.arc(p, e[k], e[k - 1], radius)


def _frame(joint: AbstractAxialJoint, here: Placed) -> tuple[Moving, Moving, Moving]:
    """The axis, the normal and what is across both, on the first body."""
    u, n = here.along(joint.a, joint.axis_a), here.along(joint.a, joint.normal_a)
    return u, n, np.cross(u, n)


def _axial(joint: AbstractAxialJoint, here: Placed, p: Moving, q: Moving, size: float, planes: int) -> Shown:
    """A joint with an axis: `planes` of its equations keep its point in planes of the first body."""
    u, n, b = _frame(joint, here)
    free = joint.free_motions
    if "translation" in free and _is_rail(joint, here):
        p, q = q, p  # the sleeve is on the first body
    if planes >= 2:
        yield _rail(p, q, u if "rotation" not in free or "translation" in free else n, size)
    elif planes == 1:
        foot = q - np.einsum("mc,mc->m", q - p, u)[:, None] * u
        yield shapes.combined(foot, (n, b), 1.5 * size * np.array([(1, 1), (-1, 1), (-1, -1), (1, -1), (1, 1)]))
    if "ball" in free:
        yield shapes.combined(q, (here.along(joint.a, joint.axis_a),), size * np.array([(-1.0,), (1.0,)]))
        yield shapes.combined(q, (here.along(joint.b, joint.axis_b),), size * np.array([(-1.0,), (1.0,)]))
    elif "rotation" in free:
        yield shapes.combined(q, (u,), size * np.array([(-1.0,), (1.0,)]))
        yield shapes.arc(q, n, b, 0.5 * size)
    elif "translation" in free:
        box = shapes.cuboid(size * np.array([1.6, 1.0, 1.0]))
        yield shapes.combined(q, (u, n, b), box)
    elif planes:  # a point on a line or plane
        yield from _ball(q, 0.3 * size)
    else:
        yield shapes.combined(q, (n, b), 0.5 * size * np.array([(1, 1), (-1, -1), (0, 0), (1, -1), (-1, 1)]))


def _is_rail(joint: AbstractAxialJoint, here: Placed) -> bool:
    """Whether the second body is the rail: the ground is, else the one whose points reach farther along the axis; of
    two alike the first."""
    if joint.a.fixed or joint.b.fixed:
        return joint.b.fixed
    reaches = [
        float(np.ptp(here.points[body.name] @ axis))
        for body, axis in ((joint.a, joint.axis_a), (joint.b, joint.axis_b))
    ]
    return reaches[1] > _FARTHER * reaches[0]


def _rail(p: Moving, q: Moving, u: Moving, size: float) -> Moving:
    """The line through p along u, as far as q comes."""
    s = np.einsum("mc,mc->m", q - p, u)
    ends = np.array([(min(s.min(), 0.0) - 1.5 * size,), (max(s.max(), 0.0) + 1.5 * size,)])
    return shapes.combined(p, (u,), ends)


def _drive(
    joint: AbstractJoint, law: Rheonomic, here: Placed, ends: tuple[Moving, Moving], size: float, eye: Vec
) -> Shown:
    """An arrow between the points, or for an angle a turn from the direction where it is zero."""
    p, q = ends
    if law.e1 is not None and law.e2 is not None:
        yield shapes.turning_arrow(q, here.along(joint.a, law.e1), here.along(joint.a, law.e2), size)
        return
    if isinstance(joint.primitives()[0], Coincidence):  # the vector from b to a is prescribed
        p, q = q, p
    yield shapes.arrow(p, q - p, shapes.across(q - p, eye), size)


def force_lines(force: AbstractForce, here: Placed, times: Vec, size: float, eye: Vec) -> Shown:
    """The symbol of a force: what its `AbstractForce.symbol` says. Vectors are scaled by the largest one of these
    times."""
    symbol = force.symbol
    if symbol is None:
        return
    p = here.at(*symbol.points[0])
    if symbol.law is not None:
        v = _vectors(force, symbol, here, times)
        v = v / max(np.linalg.norm(v, axis=1).max(initial=0.0), 1e-300)
        e1 = shapes.across(v, eye)
        if symbol.look == "force":
            yield shapes.arrow(p, 4.0 * size * v, e1, size)
        else:
            yield shapes.turning_arrow(p, e1, np.cross(shapes.unit(v), e1), 1.5 * size)
    elif symbol.look in ("stops", "surface"):
        yield from _obstacles(symbol, here, size, eye)
    elif symbol.axis is not None:
        axis = here.along(symbol.points[0][0], symbol.axis)
        e1 = shapes.across(axis, eye)
        draw = shapes.coil if symbol.look == "coil" else shapes.turning_arrow
        yield draw(p, e1, np.cross(axis, e1), size)
    elif len(symbol.points) == 2:
        q = here.at(*symbol.points[1])
        side = shapes.across(q - p, eye)
        if symbol.look == "spring":
            yield shapes.zigzag(p, q, side, size)
        else:
            yield shapes.arrow(p, q - p, side, size)


def _obstacles(symbol: Symbol, here: Placed, size: float, eye: Vec) -> Shown:
    """Bars across an axis, a square in a plane, or three circles of a sphere."""
    body, point = symbol.points[0]
    if symbol.axis is None:
        e = [here.along(body, axis) for axis in np.eye(3)]
        for k in range(3):
            yield shapes.arc(here.at(body, point), e[k], e[k - 1], symbol.radius)
        return
    axis = here.along(body, symbol.axis)
    if symbol.look == "surface":
        e1 = shapes.across(axis, eye)
        square = 3.0 * size * np.array([(1, 1), (-1, 1), (-1, -1), (1, -1), (1, 1)])
        yield shapes.combined(here.at(body, point), (e1, np.cross(axis, e1)), square)
        return
    for body, point in symbol.points:
        side = shapes.across(axis, eye)
        yield shapes.combined(here.at(body, point), (side,), size * np.array([(-1.0,), (1.0,)]))


def _vectors(force: AbstractForce, symbol: Symbol, here: Placed, times: Vec) -> Moving:
    assert symbol.law is not None
    v = np.array([value_of(f"force {force.name!r}", symbol.law, float(t)) for t in times])
    if not symbol.turning:
        return v
    body = symbol.points[0][0]
    return np.stack([here.along(body, row)[k] for k, row in enumerate(v)])


def ground_lines(points: Mat, m: int, size: float, down: Vec, eye: Vec) -> Shown:
    """A hatched foot under each point (k, 3)."""
    side = shapes.across(down[None], eye)[0]
    for point in points:
        foot = np.array([(0, 0), (-1, 1.2), (1, 1.2), (0, 0)], dtype=float)
        base = np.array([(-1.6, 1.2), (1.6, 1.2)])
        hatches = [np.array([(x, 1.2), (x - 0.5, 1.8)]) for x in (-1.1, -0.35, 0.4, 1.15)]
        for line in (foot, base, *hatches):
            yield np.broadcast_to(point + size * line @ np.stack([side, down]), (m, len(line), 3))


__all__ = ["Shown", "force_lines", "ground_lines", "joint_lines"]

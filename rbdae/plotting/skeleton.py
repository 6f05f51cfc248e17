"""The picture of a body: lines between the points where something acts on it, or the box of its inertia."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.body import Body
from rbdae.plotting.shapes import cuboid
from rbdae.system import System

_SAME = 1e-6  # two points of a body are one where their distance is below this part of its size
_FLAT = 1e-3  # as a part of the size: what is off a line or plane by less lies in it


def attachments(system: System) -> dict[str, Mat]:
    """The points where joints and forces act on a body, the ground included, by its name, (k, 3) in its frame; that of
    its pivot is the origin."""
    out: dict[str, list[Vec]] = {body.name: [] for body in (*system.bodies, system.ground)}
    for body in system.bodies:
        if body.pivot is not None:
            out[body.name].append(np.zeros(3))
            out[system.ground.name].append(body.pivot)
    for joint in system.joints:
        out[joint.a.name].append(joint.at_a)
        out[joint.b.name].append(joint.at_b)
    for force in system.forces:
        symbol = force.symbol
        for body, point in () if symbol is None else symbol.points:
            out[body.name].append(point)
    return {name: distinct(np.array(points).reshape(-1, 3)) for name, points in out.items()}


def distinct(points: Mat, size: float = 0.0) -> Mat:
    """Points (k, 3) without those that are one with an earlier one."""
    size = max(size, float(np.ptp(points, axis=0).max(initial=0.0)) if len(points) else 0.0)
    out: list[Vec] = []
    for point in points:
        if all(np.linalg.norm(point - other) > _SAME * size for other in out):
            out.append(point)
    return np.array(out).reshape(-1, 3)


def inertia_box(body: Body) -> tuple[Vec, Mat]:
    """Edges (3,), in m, of the homogeneous cuboid with the mass and principal inertias of a body, and its axes, columns
    of (3, 3) in the body frame. An edge whose square would be negative (an unphysical inertia) is 0."""
    moments, axes = np.linalg.eigh(body.central_inertia)
    squares = 6.0 * (moments.sum() - 2.0 * moments) / body.mass
    return np.sqrt(np.maximum(squares, 0.0)), axes


def size_of(body: Body, points: Mat) -> float:
    """The size of a body with points (k, 3), m: how far they are from the centre of mass, or the largest edge of its
    box."""
    reach = np.linalg.norm(points - body.center_of_mass, axis=1).max(initial=0.0)
    return float(max(reach, inertia_box(body)[0].max()))


def skeleton(
    body: Body, points: Mat, least: float, most: float, plane: bool
) -> tuple[tuple[Mat, ...], tuple[Mat, ...]]:
    """The lines of a body in its own frame, each (k, 3): those between its points, and its box, if there is one.

    Between two points a line, among more in a plane the edges of their hull, else a star from the centre of mass. A
    centre that lies off the line of one or two points is a point, too. Where lines do not show how the body turns, a
    box around the centre of mass does: with one point at most, in space also with a single line.

    Parameters
    ----------
    points : (k, 3), where something acts on it
    least, most : limits of the largest edge of a box, m
    plane : all motion is in a plane
    """
    center = body.center_of_mass
    away = points[np.linalg.norm(points - center, axis=1) > _SAME * size_of(body, points)]
    lines = _edges(away, center)
    if len(points) > 1 and (plane or len(lines) > 1 or len(lines[0]) > 2):
        return lines, ()
    edges, axes = inertia_box(body)
    largest = float(edges.max())
    shown = float(np.clip(largest, least, most))
    box = cuboid(edges * (shown / largest) if largest > 0.0 else np.full(3, shown))
    return lines, (center + box @ axes.T,)


def _edges(points: Mat, center: Vec) -> tuple[Mat, ...]:
    if len(points) == 0:
        return ()
    if len(points) <= 2 and not _reached(points, center):
        points = np.vstack([points, center])
    middle = points.mean(axis=0)
    _, values, directions = np.linalg.svd(points - middle)
    values = np.pad(values, (0, 3 - len(values)))
    if len(points) == 1 or values[1] <= _FLAT * values[0]:
        along = (points - middle) @ directions[0]
        return (points[[np.argmin(along), np.argmax(along)]],)
    if values[2] <= _FLAT * values[0]:
        from scipy.spatial import ConvexHull

        order = ConvexHull((points - middle) @ directions[:2].T).vertices
        inner = [k for k in range(len(points)) if k not in set(order.tolist())]
        star = [np.stack([center, points[k]]) for k in inner if np.linalg.norm(points[k] - center) > 0.0]
        return (points[[*order, order[0]]], *star)
    return tuple(np.stack([center, point]) for point in points)


def _reached(points: Mat, center: Vec) -> bool:
    """Whether the centre lies between two points, on their line."""
    if len(points) < 2:
        return False
    v, w = points[1] - points[0], center - points[0]
    u = float(np.clip(v @ w / (v @ v), 0.0, 1.0))
    return bool(np.linalg.norm(w - u * v) <= 0.02 * np.linalg.norm(v))


__all__ = ["attachments", "distinct", "inertia_box", "size_of", "skeleton"]

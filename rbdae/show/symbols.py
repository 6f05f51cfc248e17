"""Lines of a scene: places of bodies, and symbols of bodies, joints, drives, forces and the ground.

Points and directions are (m, 3), polylines (m, k, 3), at m times, in metres.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np

from rbdae._arrays import ArrayLike, Mat, Vec, sense
from rbdae.body import Body
from rbdae.forces.base import AbstractForce, Symbol
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint, Rheonomic
from rbdae.joints.primitives import Coincidence, Distance, Dot2
from rbdae.problem.problem import Problem
from rbdae.problem.quantities import BodyState
from rbdae.system import System

Moving: TypeAlias = Any
"""Points or directions at m times, (m, 3), or polylines of k points, (m, k, 3)."""
Polylines: TypeAlias = Iterator[Moving]

_SAME = 1e-6  # points of a body closer than this part of its size are one
_FLAT = 1e-3  # points off a line or plane by less than this part of the size lie in it
_SQUARE = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1), (1, 1)])
_ACROSS = np.array([(-1.0,), (1.0,)])
_CUBE = np.array(  # all edges in one unbroken line
    [
        (-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, -1), (-1, -1, 1), (1, -1, 1), (1, -1, -1),
        (1, -1, 1), (1, 1, 1), (1, 1, -1), (1, 1, 1), (-1, 1, 1), (-1, 1, -1), (-1, 1, 1), (-1, -1, 1),
    ],
    dtype=float,
)  # fmt: skip

# ---------------------------------------------------------------- places


@final
class Placed:
    """Positions and orientations of all bodies, by their states, and of the ground at m times."""

    def __init__(self, system: System, states: dict[str, BodyState], m: int) -> None:
        self.system = system
        self.states = states
        self._x = {name: np.asarray(state.position).reshape(m, 3) for name, state in states.items()}
        self._R = {name: state.orientation.as_matrix().reshape(m, 3, 3) for name, state in states.items()}
        self._x[system.ground.name] = np.zeros((m, 3))
        self._R[system.ground.name] = np.broadcast_to(np.eye(3), (m, 3, 3))

    @cached_property
    def points(self) -> dict[str, Mat]:
        """Distinct points where joints and forces act on each body or the ground, (k, 3) in its frame, by name; a pivot
        is the origin."""
        system = self.system
        out: dict[str, list[Vec]] = {body.name: [] for body in (*system.bodies, system.ground)}
        for body in system.bodies:
            if body.pivot is not None:
                out[body.name].append(np.zeros(3))
                out[system.ground.name].append(body.pivot)
        for joint in system.joints:
            out[joint.a.name].append(joint.at_a)
            out[joint.b.name].append(joint.at_b)
        for force in system.forces:
            for body, point in () if force.symbol is None else force.symbol.points:
                out[body.name].append(point)
        return {name: _distinct(np.array(points).reshape(-1, 3)) for name, points in out.items()}

    def at(self, body: Body, point: ArrayLike) -> Moving:
        """A body's point, (3,) in its frame, in space, (m, 3); points (k, 3) give (m, k, 3)."""
        x = self._x[body.name]
        arm = self.along(body, point)
        return arm + (x if arm.ndim == 2 else x[:, None, :])

    def along(self, body: Body, direction: ArrayLike) -> Moving:
        """A body's direction, (3,) in its frame, in space, (m, 3); directions (k, 3) give (m, k, 3)."""
        return np.einsum("mij,...j->m...i", self._R[body.name], np.asarray(direction, dtype=float))


def _distinct(points: Mat) -> Mat:
    size = float(np.ptp(points, axis=0).max(initial=0.0)) if len(points) else 0.0
    out: list[Vec] = []
    for point in points:
        if all(np.linalg.norm(point - other) > _SAME * size for other in out):
            out.append(point)
    return np.array(out).reshape(-1, 3)


def placed(problem: Problem, t: Vec, y: Mat) -> Placed:
    """The places of the bodies at times (m,) and states (m, n)."""
    return Placed(problem.system, dict(problem.states(t, y)), len(t))


def placed_at(run: Any, t: Vec) -> Placed:
    """The places of the bodies at any times of a run, such as a `rbdae.Solution`. Raises ValueError outside the run,
    for a solution without its problem, and between the times of a run that kept no steps."""
    problem = run.problem
    if problem is None:
        raise ValueError("this solution was loaded without its problem: use rbdae.load(path, problem)")
    rising = slice(None, None, sense(run.t))
    times, states = run.t[rising], run.y[rising]
    rows = np.searchsorted(times, t)
    if (rows < len(times)).all() and np.array_equal(times[rows], t):
        return placed(problem, t, states[rows])
    return placed(problem, t, run(t))


# ---------------------------------------------------------------- shapes


def unit(v: Moving) -> Moving:
    """Unit vectors of vectors (..., 3); zero stays zero."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return v / np.where(length > 0.0, length, 1.0)


def across(v: Moving, wanted: Vec) -> Moving:
    """Unit vectors at right angles to v (m, 3), as far as possible in the plane across `wanted`."""
    out = np.cross(wanted, v)
    axis = np.eye(3)[np.argmin(np.abs(v), axis=-1)]
    poor = np.linalg.norm(out, axis=-1) < 1e-3 * np.linalg.norm(v, axis=-1)
    out[poor] = np.cross(axis[poor], v[poor])
    return unit(out)


def combined(p: Moving, directions: tuple[Moving, ...], table: Mat) -> Moving:
    """Points p + sum_j table[i, j] directions[j], (m, k, 3), for a table (k, j)."""
    return p[:, None, :] + np.einsum("kj,mjc->mkc", table, np.stack(directions, axis=1))


def arc(p: Moving, e1: Moving, e2: Moving, radius: float, turn: float = 2 * np.pi, k: int = 25) -> Moving:
    """An arc about p from e1 towards e2, unit vectors (m, 3)."""
    angle = np.linspace(0.0, turn, k)
    return combined(p, (e1, e2), radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))


def arrow(p: Moving, v: Moving, side: Moving, head: float) -> Moving:
    """An arrow from p along v as one line, with a head of this size, at most 0.4 |v|."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    h = np.minimum(head, 0.4 * length)
    tip, along = p + v, unit(v)
    return np.stack([p, tip, tip - h * along + 0.4 * h * side, tip, tip - h * along - 0.4 * h * side], axis=1)


def turning_arrow(p: Moving, e1: Moving, e2: Moving, radius: float) -> Moving:
    """Three quarters of a circle about p with a head."""
    curve = arc(p, e1, e2, radius, 1.5 * np.pi, 19)
    return np.concatenate([curve, arrow(curve[:, -1], 0.6 * radius * e1, e2, 0.5 * radius)[:, 1:]], axis=1)


def zigzag(p: Moving, q: Moving, side: Moving, width: float) -> Moving:
    """A spring from p to q: straight ends, and teeth of half the width to each side, at most a quarter of its
    length."""
    teeth = 6
    along = np.concatenate([[0.0, 0.2], 0.2 + 0.6 * (np.arange(2 * teeth) + 0.5) / (2 * teeth), [0.8, 1.0]])
    up = np.concatenate([[0.0, 0.0], np.tile([1.0, -1.0], teeth), [0.0, 0.0]])
    half = np.minimum(0.5 * width, 0.25 * np.linalg.norm(q - p, axis=-1, keepdims=True))
    return combined(p, (q - p, half * side), np.stack([along, up], axis=1))


def _rings(p: Moving, axes: Moving, radius: float) -> Polylines:
    """Three circles about p in the planes of three axes, (3, m, 3)."""
    for k in range(3):
        yield arc(p, axes[k], axes[k - 1], radius)


def _ball(p: Moving, radius: float) -> Polylines:
    yield from _rings(p, np.broadcast_to(np.eye(3)[:, None, :], (3, len(p), 3)), radius)


# ---------------------------------------------------------------- joints and forces


def joint_lines(joint: AbstractJoint, here: Placed, size: float, eye: Vec) -> Polylines:
    """The symbol of a joint or drive: a rod's line, the slide's rail, a plane's square, rings about axes that turn; of
    this size, m. Flat symbols turn towards `eye`, the viewing direction."""
    p, q = here.at(joint.a, joint.at_a), here.at(joint.b, joint.at_b)
    if (law := joint.rheonomic()) is not None:
        yield _drive(joint, law, here, (p, q), size, eye)
        return
    parts = joint.primitives()
    if any(isinstance(part, Distance) for part in parts):
        yield np.stack([p, q], axis=1)
    planes = sum(isinstance(part, Dot2) for part in parts)
    if isinstance(joint, AbstractAxialJoint):
        yield from _axial(joint, here, (p, q), size, planes)
    elif not planes and any(isinstance(part, Coincidence) for part in parts):
        yield from _ball(q, 0.5 * size)


def _axial(joint: AbstractAxialJoint, here: Placed, ends: tuple[Moving, Moving], size: float, planes: int) -> Polylines:
    """Symbol of a joint with an axis; `planes` of its equations keep its point in planes of the first body."""
    u, n = here.along(joint.a, joint.axis_a), here.along(joint.a, joint.normal_a)
    b, of = np.cross(u, n), joint.coordinates()
    free = {each.name for each in of} if joint.n_constraints + len(of) >= 6 else set()
    p, q = ends[::-1] if "displacement" in free and joint.b.fixed else ends  # the sleeve is on the moving body
    if planes >= 2:
        along = u if "angle" not in free or "displacement" in free else n
        s = np.einsum("mc,mc->m", q - p, along)  # the rail is as long as q moves
        yield combined(p, (along,), np.array([(min(s.min(), 0.0) - 1.5 * size,), (max(s.max(), 0.0) + 1.5 * size,)]))
    elif planes == 1:
        foot = q - np.einsum("mc,mc->m", q - p, u)[:, None] * u
        yield combined(foot, (n, b), 1.5 * size * _SQUARE)
    if joint.ball:
        yield combined(q, (u,), size * _ACROSS)
        yield combined(q, (here.along(joint.b, joint.axis_b),), size * _ACROSS)
    elif "angle" in free:
        yield combined(q, (u,), size * _ACROSS)
        yield arc(q, n, b, 0.5 * size)
    elif "displacement" in free:
        yield combined(q, (u, n, b), _CUBE * 0.5 * size * np.array([1.6, 1.0, 1.0]))
    elif planes:  # a point on a line or plane
        yield from _ball(q, 0.3 * size)
    else:
        yield combined(q, (n, b), 0.5 * size * np.array([(1, 1), (-1, -1), (0, 0), (1, -1), (-1, 1)]))


def _drive(
    joint: AbstractJoint, law: Rheonomic, here: Placed, ends: tuple[Moving, Moving], size: float, eye: Vec
) -> Moving:
    """An arrow between the points, or for an angle an arc from its zero direction."""
    p, q = ends
    if law.e1 is not None and law.e2 is not None:
        return turning_arrow(q, here.along(joint.a, law.e1), here.along(joint.a, law.e2), size)
    if isinstance(joint.primitives()[0], Coincidence):  # the vector from b to a is prescribed
        p, q = q, p
    return arrow(p, q - p, across(q - p, eye), size)


def force_lines(force: AbstractForce, here: Placed, times: Vec, size: float, eye: Vec) -> Polylines:
    """The symbol of a force, from `AbstractForce.symbol`. Vectors are scaled by the largest at these times."""
    symbol = force.symbol
    if symbol is None:
        return
    p = here.at(*symbol.points[0])
    if symbol.law is not None:
        v = _vectors(force, symbol, here, times)
        v = v / max(np.linalg.norm(v, axis=1).max(initial=0.0), 1e-300)
        e1 = across(v, eye)
        if symbol.look == "force":
            yield arrow(p, 4.0 * size * v, e1, size)
        else:
            yield turning_arrow(p, e1, np.cross(unit(v), e1), 1.5 * size)
    elif symbol.look in ("stops", "surface"):
        yield from _obstacles(symbol, here, size, eye)
    elif symbol.axis is not None:
        axis = here.along(symbol.points[0][0], symbol.axis)
        e1 = across(axis, eye)
        yield turning_arrow(p, e1, np.cross(axis, e1), size)
    elif len(symbol.points) == 2:
        q = here.at(*symbol.points[1])
        side = across(q - p, eye)
        yield zigzag(p, q, side, size) if symbol.look == "spring" else arrow(p, q - p, side, size)


def _obstacles(symbol: Symbol, here: Placed, size: float, eye: Vec) -> Polylines:
    """Bars across an axis, a square in a plane, or three circles of a sphere."""
    body, point = symbol.points[0]
    if symbol.axis is None:
        yield from _rings(here.at(body, point), [here.along(body, axis) for axis in np.eye(3)], symbol.radius)
        return
    axis = here.along(body, symbol.axis)
    side = across(axis, eye)
    if symbol.look == "surface":
        yield combined(here.at(body, point), (side, np.cross(axis, side)), 3.0 * size * _SQUARE)
        return
    for body, point in symbol.points:
        yield combined(here.at(body, point), (side,), size * _ACROSS)


def _vectors(force: AbstractForce, symbol: Symbol, here: Placed, times: Vec) -> Moving:
    assert symbol.law is not None
    v = np.array([symbol.law.at(f"force {force.name!r}", float(t)) for t in times])
    if not symbol.turning:
        return v
    body = symbol.points[0][0]
    return np.stack([here.along(body, row)[k] for k, row in enumerate(v)])


def ground_lines(points: Mat, m: int, size: float, down: Vec, eye: Vec) -> Polylines:
    """A hatched foot under each point (k, 3)."""
    side = across(down[None], eye)[0]
    foot = np.array([(0, 0), (-1, 1.2), (1, 1.2), (0, 0)], dtype=float)
    base = np.array([(-1.6, 1.2), (1.6, 1.2)])
    hatches = [np.array([(x, 1.2), (x - 0.5, 1.8)]) for x in (-1.1, -0.35, 0.4, 1.15)]
    for point in points:
        for line in (foot, base, *hatches):
            yield np.broadcast_to(point + size * line @ np.stack([side, down]), (m, len(line), 3))


# ---------------------------------------------------------------- bodies


def inertia_box(body: Body) -> tuple[Vec, Mat]:
    """Edges (3,), in m, of the homogeneous cuboid with a body's mass and principal inertias, and its axes, columns of
    (3, 3) in the body frame. Edges with a negative square (unphysical inertia) are 0."""
    moments, axes = np.linalg.eigh(body.central_inertia)
    squares = 6.0 * (moments.sum() - 2.0 * moments) / body.mass
    return np.sqrt(np.maximum(squares, 0.0)), axes


def size_of(body: Body, points: Mat) -> float:
    """The size of a body with points (k, 3), m: their distance from the centre of mass, or the box's largest edge."""
    reach = np.linalg.norm(points - body.center_of_mass, axis=1).max(initial=0.0)
    return float(max(reach, inertia_box(body)[0].max()))


def skeleton(
    body: Body, points: Mat, least: float, most: float, plane: bool
) -> tuple[tuple[Mat, ...], tuple[Mat, ...]]:
    """Lines of a body in its own frame, each (k, 3): those between its points (k, 3) where joints and forces act, and
    its box if it has one, whose largest edge is within `least` and `most`, m.

    Two points are joined by a line, more points in a plane by the edges of their hull, others by a star from the centre
    of mass. The centre counts as a point if it lies off the line of one or two points. If lines do not show rotation
    (at most one point, in space also a single line), there is a box around the centre of mass.
    """
    center = body.center_of_mass
    lines = _edges(points[np.linalg.norm(points - center, axis=1) > _SAME * size_of(body, points)], center)
    if len(points) > 1 and (plane or len(lines) > 1 or len(lines[0]) > 2):
        return lines, ()
    edges, axes = inertia_box(body)
    largest = float(edges.max())
    shown = float(np.clip(largest, least, most))
    edges = edges * (shown / largest) if largest > 0.0 else np.full(3, shown)
    return lines, (center + (_CUBE * 0.5 * edges) @ axes.T,)


def _edges(points: Mat, center: Vec) -> tuple[Mat, ...]:
    if len(points) == 0:
        return ()
    if len(points) == 1 or (len(points) == 2 and not _between(center, *points)):
        points = np.vstack([points, center])
    middle = points.mean(axis=0)
    _, values, directions = np.linalg.svd(points - middle)
    values = np.pad(values, (0, 3 - len(values)))
    if values[1] <= _FLAT * values[0]:
        along = (points - middle) @ directions[0]
        return (points[[np.argmin(along), np.argmax(along)]],)
    if values[2] <= _FLAT * values[0]:
        from scipy.spatial import ConvexHull

        order = ConvexHull((points - middle) @ directions[:2].T).vertices
        inner = [k for k in range(len(points)) if k not in set(order.tolist())]
        star = [np.stack([center, points[k]]) for k in inner if np.linalg.norm(points[k] - center) > 0.0]
        return (points[[*order, order[0]]], *star)
    return tuple(np.stack([center, point]) for point in points)


def _between(center: Vec, first: Vec, second: Vec) -> bool:
    """Whether the centre lies between two points on their line."""
    v, w = second - first, center - first
    return bool(np.linalg.norm(w - np.clip(v @ w / (v @ v), 0.0, 1.0) * v) <= 0.02 * np.linalg.norm(v))

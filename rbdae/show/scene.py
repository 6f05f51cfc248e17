"""A moving mechanism as lines in space, for pictures, animations and pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.body import Body
from rbdae.show.symbols import (
    Moving,
    Placed,
    force_lines,
    ground_lines,
    inertia_box,
    joint_lines,
    placed,
    placed_at,
    size_of,
    skeleton,
    unit,
)
from rbdae.system import System

Kind: TypeAlias = Literal["body", "joint", "spring", "drive", "ground"]
Traces: TypeAlias = bool | Sequence[str] | Mapping[str, tuple[str, ArrayLike]]
"""All centres of mass, no traces, some bodies' centres, or named points: a body and a point in its frame."""

_SYMBOL = 0.03  # size of a symbol, as a part of the mechanism's size at the start
_OF_BODY = 0.25  # its upper limit, as a part of the bodies' median size
_SAMPLES = 100  # times at which the motion is tested for being plane
_LEAVES = 1e-4  # tolerated part of all motion out of a plane


@final
@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """An unbroken line of a body, joint or force, which may have several, or of the "ground": points (m, k, 3), k >= 2,
    in space, m. "drive" is the kind of drives and loads; a thin one is thinner than others of its kind, such as the box
    of an inertia."""

    name: str
    kind: Kind
    points: Moving
    thin: bool = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Lines and traces of a mechanism at m times.

    Attributes
    ----------
    t : (m,), s
    lines : lines of bodies, joints, forces and the ground
    traces : points that leave a trace, by name, (m, 3), m
    size : size of a symbol, m
    plane : right, up and towards the eye, rows of (3, 3), if all motion of the run is parallel to one plane
    up : (3,), against gravity; without gravity the plane's up, or the third axis
    """

    t: Vec
    lines: tuple[Line, ...]
    traces: Mapping[str, Mat]
    size: float
    plane: Mat | None
    up: Vec

    def bounds(self) -> Mat:
        """The smallest and the largest coordinates of all lines and traces, (2, 3)."""
        points = [line.points.reshape(-1, 3) for line in self.lines] + list(self.traces.values())
        every = np.concatenate(points) if points else np.zeros((1, 3))
        return np.stack([every.min(axis=0), every.max(axis=0)])


def scene(solution: Any, times: ArrayLike, *, bodies: Iterable[str] | None = None, traces: Traces = True) -> Scene:
    """The scene of a run at times between its first and last.

    A body is drawn as lines between the points where joints and forces act on it, or, with one point at most, as the
    homogeneous cuboid with its mass and principal inertias. The size of symbols fits the mechanism.

    Raises ValueError for times outside the run, unknown bodies, and a solution without its problem or without times.

    Parameters
    ----------
    solution : a `rbdae.Solution`, or an object with the same interface
    times : (m,), at least one, s; the run's own times if it kept no steps
    bodies : names of the bodies to draw, with their joints and forces; None for all
    traces : True for the centres of mass of these bodies, False for no traces, names of bodies, or named points:
        ``{"coupler": ("rod", (0.3, 0.1, 0.0))}``
    """
    t = np.atleast_1d(_check.times(times))
    if not len(t):
        raise ValueError("scene needs at least one time, got none; pass e.g. solution.t")
    here = placed_at(solution, t)
    system, problem = here.system, solution.problem
    shown = chosen(system, bodies)
    size, limits = _sizes(system, placed(problem, np.array([problem.t0]), problem.y0[None]))
    rows = np.unique(np.linspace(0, len(solution.t) - 1, _SAMPLES).astype(int))
    frame = plane_of_motion(placed(problem, solution.t[rows], solution.y[rows]), size / _SYMBOL)
    up = _up(system) if frame is None else frame[1]
    eye = np.cross(up, np.eye(3)[np.argmin(np.abs(up))]) if frame is None else frame[2]
    lines = [
        Line(body.name, "body", here.at(body, line), bool(thin))
        for body in shown
        for thin, some in enumerate(skeleton(body, here.points[body.name], *limits, frame is not None))
        for line in some
    ]
    lines += _symbols(here, t, shown, size, eye)
    if bodies is None:
        feet = ground_lines(here.points[system.ground.name], len(t), size, -up, eye)
        lines += [Line(system.ground.name, "ground", line) for line in feet]
    against = up if frame is None or not np.any(system.gravity) else _up(system)
    return Scene(t, tuple(lines), _traces(here, shown, traces), size, frame, against)


def plane_of_motion(here: Placed, size: float) -> Mat | None:
    """The plane along two axes of space that holds all velocities: right, up and towards the eye, rows of (3, 3). None
    if there is no such plane, or at rest. The size of the mechanism, m, relates angular velocities to velocities.

    Up is against gravity, or y or z if gravity is normal to the plane. A motion along a line leaves a choice: the plane
    that contains gravity comes first, then xy.
    """
    states, gravity = here.states.values(), here.system.gravity
    turns = np.concatenate([state.orientation.apply(state.angular_velocity).reshape(-1, 3) for state in states])
    slides = np.concatenate([np.asarray(state.velocity).reshape(-1, 3) for state in states]) / size
    most = max(np.abs(turns).max(initial=0.0), np.abs(slides).max(initial=0.0))
    if not 0.0 < most < np.inf:
        return None
    out = {}
    for k in (2, 1, 0):  # the normal
        across = np.delete(np.abs(turns), k, axis=1).max(initial=0.0)
        out[k] = max(across, np.abs(slides[:, k]).max(initial=0.0)) / most
    normal = min(out, key=lambda k: (max(out[k], 1e-7), abs(gravity[k])))
    if out[normal] > _LEAVES:
        return None
    towards = np.eye(3)[normal]
    up = -(gravity - (gravity @ towards) * towards)
    if np.linalg.norm(up) <= 1e-3 * np.linalg.norm(gravity):
        up = np.eye(3)[2 if normal == 1 else 1]
    up = unit(up)
    right = np.cross(up, towards)
    sign = -1.0 if right[np.argmax(np.abs(right))] < 0.0 else 1.0
    return np.stack([sign * right, up, sign * towards])


def traces_at(
    solution: Any, times: ArrayLike, *, bodies: Iterable[str] | None = None, traces: Traces = True
) -> dict[str, Mat]:
    """`Scene.traces` at other times than the scene's: (k, 3) by name."""
    here = placed_at(solution, np.atleast_1d(_check.times(times)))
    return _traces(here, chosen(here.system, bodies), traces)


def chosen(system: System, wanted: Iterable[str] | None) -> tuple[Body, ...]:
    """Bodies by name, all for None; refuses unknown names."""
    if wanted is None:
        return system.bodies
    bodies = {body.name: body for body in system.bodies}
    return tuple(bodies[name] for name in _check.known("bodies", "body", wanted, bodies))


def axis_label(v: Vec) -> str:
    """The label of a spatial axis along a direction."""
    k = int(np.argmax(np.abs(v)))
    return f"{'' if v[k] > 0.0 else '-'}{'xyz'[k]} [m]"


def _sizes(system: System, first: Placed) -> tuple[float, tuple[float, float]]:
    """Size of a symbol, and limits of the largest edge of a box, m.

    From the extent of the mechanism at the start; a body on its own has the size of its box.
    """
    every = [first.at(body, body.center_of_mass) for body in system.bodies]
    every += [first.at(body, first.points[body.name])[0] for body in (*system.bodies, system.ground)]
    extent = float(np.linalg.norm(np.ptp(np.concatenate(every), axis=0)))
    boxes = [float(inertia_box(body)[0].max()) for body in system.bodies]
    if extent <= 1e-9 * max(boxes):
        return _SYMBOL * max(boxes), (0.0, np.inf)
    sizes = [min(size_of(body, first.points[body.name]), extent) for body in system.bodies]
    size = min(_SYMBOL * extent, _OF_BODY * float(np.median(sizes)))
    return size, (2.0 * size, 0.6 * extent)


def _up(system: System) -> Vec:
    length = float(np.linalg.norm(system.gravity))
    return -system.gravity / length if length > 0.0 else np.array((0.0, 0.0, 1.0))


def _symbols(here: Placed, t: Vec, shown: tuple[Body, ...], size: float, eye: Vec) -> list[Line]:
    names = {body.name for body in shown}
    out: list[Line] = []
    for joint in here.system.joints:
        if names & {body.name for body in joint.bodies}:
            kind: Kind = "joint" if joint.rheonomic() is None else "drive"
            out += [Line(joint.name or "", kind, line) for line in joint_lines(joint, here, size, eye)]
    for force in here.system.forces:
        if force.symbol is not None and names & {body.name for body in force.bodies}:
            kind = "spring" if force.symbol.look in ("spring", "coil") else "drive"
            out += [Line(force.name or "", kind, line) for line in force_lines(force, here, t, size, eye)]
    return out


def _traces(here: Placed, shown: tuple[Body, ...], traces: Traces) -> dict[str, Mat]:
    if isinstance(traces, (bool, np.bool_)):
        return {body.name: here.at(body, body.center_of_mass) for body in shown if traces}
    by_name = {body.name: body for body in here.system.bodies}
    if not isinstance(traces, Mapping):
        return {
            name: here.at(by_name[name], by_name[name].center_of_mass)
            for name in _check.known("traces", "body", traces, by_name)
        }
    points = {}
    for label, pair in traces.items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"traces must be like {{'tip': ('rod', (0, 0, 1))}}, got {_check.show(traces)}")
        (name,) = _check.known("traces", "body", [pair[0]], by_name)
        points[label] = here.at(by_name[name], _check.vector(f"trace {label!r}", "point", pair[1]))
    return points

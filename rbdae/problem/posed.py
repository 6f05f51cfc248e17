"""A problem from other coordinates of its joints: the bodies on one side of a joint move as one, and loops follow
(`rbdae.problem.posed_loops`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec, cross
from rbdae.joints.base import AbstractJoint
from rbdae.problem.posed_loops import SpatialMotion, WantedCoordinate, followed, reached
from rbdae.problem.problem import Problem
from rbdae.quantities.coordinate import Coordinate


def posed(problem: Problem, joints: Mapping[str, Any]) -> Problem:
    """The problem from its start with other coordinates of some joints; those of other joints stay, but for loops.

    Parameters
    ----------
    joints : by name a value, or (value, rate), in SI units; of joints with several coordinates a mapping by their names

    Raises
    ------
    TypeError, ValueError
        for names that there are not, joints without such coordinates, and values in closed loops that contradict each
        other
    """
    if not isinstance(joints, Mapping):
        raise TypeError(f'joints must be a mapping by name, got {_check.show(joints)}; give {{"pin": 0.3}}')
    known = {joint.name or "": joint for joint in problem.system.joints}
    motion = SpatialMotion.of(problem, problem.t0, problem.y0)
    in_loops = list[WantedCoordinate]()
    for name, given in joints.items():
        if name not in known:
            raise _check.unknown("joint", name, known)
        for coordinate, value in _wanted(known[name], given):
            more = _moved(problem, motion, known[name], coordinate, value)
            in_loops += [] if more is None else [more]
    if in_loops:
        motion = followed(problem, motion, in_loops)
    return problem.at(problem.t0, motion.written(problem))


def _wanted(joint: AbstractJoint, given: Any) -> list[tuple[Coordinate, Any]]:
    """Coordinates of a joint with what is given for them."""
    own = {each.name: each for each in joint.coordinates() if each.side == 0 and each.shape != "root"}
    owner = f"joint {joint.name!r}"
    if not own:
        raise ValueError(f"{owner}: a {type(joint).__name__} has no coordinate that can be given alone; give t= and y=")
    if not isinstance(given, Mapping):
        if len(own) > 1:
            raise ValueError(
                f"{owner}: it has {len(own)} coordinates; give a mapping with some of {', '.join(own)}, got "
                f"{_check.show(given)}"
            )
        given = {next(iter(own)): given}
    for name in given:
        if name not in own:
            raise _check.unknown(f"coordinate of {owner}", name, own)
    return [(own[name], value) for name, value in given.items()]


def _moved(
    problem: Problem, at: SpatialMotion, joint: AbstractJoint, coordinate: Coordinate, given: Any
) -> WantedCoordinate | None:
    """Move the bodies on one side of a joint; what is wanted of a joint in a closed loop, where others follow."""
    system = problem.system
    number = {id(body): k for k, body in enumerate((*system.bodies, system.ground))}
    a, b = (number[id(body)] for body in (joint.a, joint.b))
    owner = f"joint {joint.name!r}"
    present, rate = at.coordinate(system, coordinate, a, b)
    value = given[0] if isinstance(given, (tuple, list)) and len(given) == 2 else given
    change = (target := _check.number(owner, coordinate.name, value)) - present
    faster = _check.number(owner, "rate", given[1]) - rate if value is not given else 0.0
    pairs = [(number[id(j.a)], number[id(j.b)]) for j in system.joints if j is not joint]
    moving = reached(pairs, b)
    if a in moving:
        return WantedCoordinate(joint, coordinate, (a, b), target, None if value is given else rate + faster)
    still = a
    if len(system.bodies) in moving:  # the ground stays
        moving, still, change, faster = reached(pairs, a), b, -change, -faster
    assert coordinate.axis is not None
    axis = at.R[a] @ coordinate.axis
    reference = system.bodies[a].reference if a < len(system.bodies) else np.zeros(3)
    center = at.x[a] + at.R[a] @ (coordinate.at_a - reference)
    turns = coordinate.shape == "angle"
    Q = _rotation(axis, change) if turns else np.eye(3)
    for k in moving:
        v = at.v[k] - at.v[still] - cross(at.w[still], at.x[k] - at.x[still])
        w = Q @ (at.w[k] - at.w[still])
        v = Q @ v
        at.x[k] = center + Q @ (at.x[k] - center) if turns else at.x[k] + change * axis
        at.R[k] = Q @ at.R[k]
        v += faster * (cross(axis, at.x[k] - center) if turns else axis)
        at.v[k] = v + at.v[still] + cross(at.w[still], at.x[k] - at.x[still])
        at.w[k] = w + at.w[still] + (faster * axis if turns else 0.0)
    return None


def _rotation(axis: Vec, angle: float) -> Mat:
    """Rodrigues' formula about a unit axis."""
    K = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K))

"""A problem from other coordinates of its joints: the bodies on one side of a joint move as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import POINT, cross
from rbdae.joints.base import AbstractJoint
from rbdae.multibody.choices.states import write
from rbdae.multibody.system.bodies import BodyMotion
from rbdae.problem.problem import Problem
from rbdae.problem.quantities import angular_velocities
from rbdae.quantities.coordinate import Coordinate
from rbdae.rotations.vectors import spurrier_klumpp


def posed(problem: Problem, joints: Mapping[str, Any]) -> Problem:
    """The problem from its start with other coordinates of some joints; all other joints keep theirs. By name there is
    a value, or (value, rate), in SI units; of joints with several coordinates a mapping by their names.

    Raises TypeError and ValueError for unknown names, joints without such coordinates, and joints in closed loops,
    where others would follow.
    """
    if not isinstance(joints, Mapping):
        raise TypeError(f'joints must be a mapping by name, got {_check.show(joints)}; give {{"pin": 0.3}}')
    known = {packed.name: k for k, packed in enumerate(problem.model.joints)}
    n = problem.model.n
    Z = np.zeros((n + 1, 2, 4, 3))  # (x, d1, d2, d3) and their rates; the ground is the last
    Z[:n] = problem.natural(problem.t0, problem.y0).reshape(n, 2, 4, 3)
    Z[n, 0, 1:] = np.eye(3)
    for name, given in joints.items():
        if name not in known:
            raise _check.unknown("joint", name, known)
        for coordinate, value in _wanted(problem.system.joints[known[name]], given):
            _move(problem, Z, known[name], coordinate, value)
    R, Omega = np.swapaxes(Z[:n, 0, 1:], 1, 2), angular_velocities(Z[:n].reshape(n, 24))
    motion = BodyMotion(Z[:n, 0, 0], spurrier_klumpp(R), Z[:n, 1, 0], Omega)
    workspace = problem.workspace
    y = write(workspace.model, workspace.settings, workspace.layout, motion, problem.selection, problem.t0)
    return problem.at(problem.t0, y)


def _wanted(joint: AbstractJoint, given: Any) -> list[tuple[Coordinate, Any]]:
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


def _move(problem: Problem, Z: Any, k: int, coordinate: Coordinate, given: Any) -> None:
    """Move the bodies on one side of the k-th joint, in place: a turn or a shift, seen from the body on the other
    side."""
    from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

    joint, pairs = problem.system.joints[k], [packed.bodies for packed in problem.model.joints]
    a, b = pairs.pop(k)
    owner = f"joint {joint.name!r}"
    pair = Z[[a, b]].swapaxes(0, 1).ravel()
    present, rate, _ = coordinate.referred(joint.a.reference, joint.b.reference).at(pair)
    value, faster = given, 0.0
    if isinstance(given, (tuple, list)) and len(given) == 2:
        value, faster = given[0], _check.number(owner, "rate", given[1]) - float(rate)
    change = _check.number(owner, coordinate.name, value) - float(present)
    moving, still = _reached(pairs, b), a
    if a in moving:
        raise ValueError(f"{owner} is in a closed loop, where other joints follow it; give t= and y= of a state there")
    if problem.model.n in moving:
        moving, still, change, faster = _reached(pairs, a), b, -change, -faster
    assert coordinate.axis is not None
    (x, *directors), frame = Z[a, 0], Z[still].copy()
    axis = coordinate.axis @ directors
    center = x + (coordinate.at_a - joint.a.reference) @ directors
    turns = coordinate.shape == "angle"
    Q = Rotation.from_rotvec(change * axis).as_matrix() if turns else np.eye(3)
    spin = frame[1, 1:].T @ frame[0, 1:]  # [w]x of the other side
    for k in sorted(moving):
        at, rates = Z[k]
        own = rates - frame[1] * POINT - (at - frame[0] * POINT) @ spin.T
        at = (at - center * POINT) @ Q.T + center * POINT
        if turns:
            own = own @ Q.T + faster * cross(axis, at - center * POINT)
        else:
            at, own = at + change * axis * POINT, own + faster * axis * POINT
        Z[k] = at, own + frame[1] * POINT + (at - frame[0] * POINT) @ spin.T


def _reached(pairs: Sequence[tuple[int, int]], first: int) -> set[int]:
    """The bodies that hang together with one."""
    found = {first}
    while more := {k for pair in pairs if not found.isdisjoint(pair) for k in pair} - found:
        found |= more
    return found

"""Random trees and loops of every joint with every force and drive, by a seed, and in any units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from inside import Vec
from redundant_systems import SI, Maker, Units

import rbdae
from rbdae import drives, forces, joints
from rbdae.body import Body
from rbdae.joints import JOINTS

SLIDING = (joints.Prismatic, joints.Cylindrical)
TURNING = (joints.Revolute, joints.Cylindrical)


def _hang(make: Maker, parent: Body | None, point: Vec, kind: Any) -> tuple[Body, Any]:
    """A body that hangs from a parent by a joint of a kind."""
    rng = make.rng
    away = 0.5 * make.direction()
    axis = make.direction()
    body = make.body(point + away, rng.standard_normal(3), point)
    end = point + (0.4 * axis if kind in (*SLIDING, joints.Rod, joints.PointOnLine) else 0.0 * axis)
    return body, make.join(kind, parent, body, point, axis, end=end)


def _spring(make: Maker, a: Body, b: Body | None) -> Iterator[Any]:
    u, rng = make.units, make.rng
    at_a, at_b = 0.3 * rng.standard_normal((2, 3)) * u.length
    at_b = at_b if b is not None else make.place(2.0 * rng.standard_normal(3))
    k, c = 20 * u.of(0, 1, -2), 0.8 * u.of(0, 1, -1)
    yield forces.SpringDamper(a, b, stiffness=k, damping=c, length=0.3 * u.length, force=u.force, at_a=at_a, at_b=at_b)
    yield forces.Bushing(
        a,
        b,
        stiffness=np.array((1.0, 2.0, 0.5)) * k,
        damping=0.5 * c,
        at_a=at_a,
        at_b=at_b,
        rotational_stiffness=3.0 * u.torque,
        rotational_damping=0.2 * u.torque * u.time,
    )
    yield _user_spring(a, b, k, u)


def _user_spring(a: Body, b: Body | None, k: float, u: Units) -> Any:
    """-k |P|^2/length^2 P between the origins of two frames, by functions of the user."""
    k = k / u.length**2

    def force(t: float, x: Vec, out: Vec) -> None:
        P = x[0:3] - x[12:15]
        out[:] = 0.0
        out[0:3] = -k * (P @ P) * P
        out[12:15] = -out[0:3]

    def jacobian(t: float, x: Vec, out: Vec) -> None:
        P = x[0:3] - x[12:15]
        J = np.zeros((24, 24))
        J[0:3, 0:3] = -k * (P @ P * np.eye(3) + 2.0 * np.outer(P, P))
        J[0:3, 12:15] = J[12:15, 0:3] = -J[0:3, 0:3]
        J[12:15, 12:15] = J[0:3, 0:3]
        out[:576], out[576:] = J.ravel(), 0.0

    return forces.UserForce(a if b is None else (a, b), force, jacobian)


def _single(make: Maker, body: Body) -> Iterator[Any]:
    u = make.units
    size = float(make.rng.uniform(1.0, 4.0))
    swell = u.force * make.direction()

    def gust(t: float) -> Any:
        return swell * np.cos(1.3 * t / u.time)

    yield forces.Force(body, make.direction(size) * u.force, at=0.2 * make.direction() * u.length, frame="body")
    yield forces.Force(body, gust)
    yield forces.Torque(body, make.direction(size) * u.torque)


def _of_joint(make: Maker, joint: Any) -> Iterator[Any]:
    u = make.units
    turn, slide = u.torque * u.time, u.force / u.speed
    if isinstance(joint, TURNING):
        yield forces.TorsionalSpringDamper(joint, stiffness=4 * u.torque, damping=0.3 * turn, angle=0.2)
        yield forces.Motor(joint, torque=1.5 * u.torque)
    if isinstance(joint, SLIDING):
        k = 30 * u.of(0, 1, -2)
        yield forces.TranslationalSpringDamper(joint, stiffness=k, damping=0.4 * slide, displacement=0.1 * u.length)
        yield forces.Motor(joint, force=1.5 * u.force)
    if isinstance(joint, (joints.Cylindrical, joints.Planar)):
        yield forces.Friction(joint, rotational=0.1 * turn, translational=0.2 * slide)
    elif isinstance(joint, (joints.Revolute, joints.Spherical, joints.Universal)):
        yield forces.Friction(joint, 0.1 * turn)
    elif isinstance(joint, joints.Prismatic):
        yield forces.Friction(joint, 0.2 * slide)


def _wave(make: Maker, size: float, start: float) -> Any:
    """A law that begins at a value, in units of the size."""
    return make.units.law(
        size,
        lambda t: start + 0.2 * np.sin(2 * t),
        lambda t: 0.4 * np.cos(2 * t),
        lambda t: -0.8 * np.sin(2 * t),
    )


def _drive(make: Maker, joint: Any, body: Body) -> Any:
    """A drive of a joint, or of a point of a body that hangs freely."""
    u = make.units
    if isinstance(joint, joints.Revolute):
        return drives.PrescribedAngle(joint, _wave(make, 1.0, 0.0))
    if isinstance(joint, SLIDING):
        return drives.PrescribedDisplacement(joint, _wave(make, u.length, 0.4))
    if isinstance(joint, joints.Spherical):
        away = make.place(np.array((2.0, -1.0, 1.5)))
        distance = float(np.linalg.norm(body.position - away)) / u.length
        return drives.DrivenRod(make.system.ground, body, _wave(make, u.length, distance), at_a=away)
    return None


def _guided(make: Maker) -> None:
    """A body of which a point follows a curve."""
    body = make.body((2.0, 1.0, -1.0), make.rng.standard_normal(3), (2.0, 1.0, -1.0))
    place, speed = make.place((2.0, 1.0, -1.0)) / make.units.length, make.direction(0.5)
    law = make.units.law(
        make.units.length,
        lambda t: place + speed * t + 0.1 * t * t,
        lambda t: speed + 0.2 * t,
        lambda t: np.full(3, 0.2),
    )
    make.system.add_joint(drives.PointMotion(body, make.system.ground, law))


def varied_system(seed: int, units: Units = SI) -> rbdae.System:
    """The system of a seed: three to five bodies; every third one has a loop, of the others every second one a
    drive."""
    rng = np.random.default_rng((10, seed))
    make = Maker(rng, units)
    kinds: list[Any] = list(JOINTS)
    made: list[tuple[Body, Any]] = []
    n = int(rng.integers(3, 6))
    for k in range(n):
        parent = None if k == 0 else made[int(rng.integers(len(made)))][0]
        kind = kinds[(seed + 3 * k) % len(kinds)] if k else rng.choice(kinds)
        made.append(_hang(make, parent, rng.standard_normal(3) + np.array((0, 0, k)), kind))
    if seed % 3 == 0:
        make.join(joints.Rod, made[-1][0], None, (0.0, 0, n), end=(1.0, 1.0, n))
    elif seed % 2 == 0:
        for body, joint in made:
            drive = _drive(make, joint, body)
            if drive is not None:
                make.system.add_joint(drive)
                break
    if seed % 5 == 0:
        _guided(make)
    choices: list[Callable[[], Iterator[Any]]] = [lambda: _spring(make, made[0][0], made[1][0])]
    choices += [lambda: _spring(make, made[-1][0], None), lambda: _single(make, made[1][0])]
    pool = [force for choice in choices for force in choice()]
    pool += [force for _, joint in made for force in _of_joint(make, joint)]
    for k in rng.permutation(len(pool))[:4]:
        make.system.add_force(pool[int(k)])
    return make.system

"""Seeded random mechanisms: trees and loops of every joint, with every force and every drive, placed consistently.

`random_system(seed)` is the same mechanism for ever in this version of NumPy's generator; with other units of length,
mass and time it is the same mechanism in other numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from cases import JOINTS, free, matched
from inside import Vec
from maximal import gradient_at_start
from redundant_systems import SI, Units
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.body import Body
from rbdae.drives import DrivenRod, PointMotion, PrescribedAngle, PrescribedDisplacement
from rbdae.forces import (
    Bushing,
    Force,
    Friction,
    Motor,
    SpringDamper,
    Torque,
    TorsionalSpringDamper,
    TranslationalSpringDamper,
    UserForce,
)
from rbdae.joints import AbstractJoint, Cylindrical, Prismatic, Revolute

WELL_CONDITIONED = 0.05
"""Least singular value of the matrix of constraints (its rows normalised) that a joint or drive may leave."""


class Draw:
    """Random numbers in the units of one mechanism."""

    def __init__(self, seed: int, units: Units) -> None:
        self.rng = np.random.default_rng((seed, 1891))
        self.units = units
        self.gradient: Any = np.zeros((0, 0))

    def number(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def vector(self, size: float = 1.0) -> Vec:
        return np.asarray(size * self.rng.uniform(-1.0, 1.0, 3))

    def turn(self, size: float = 2.0) -> Rotation:
        return Rotation.from_rotvec(self.vector(size))

    def matrix(self, low: float, high: float) -> Any:
        """Symmetric, with eigenvalues in a range."""
        R = self.turn().as_matrix()
        out = R @ np.diag(self.rng.uniform(low, high, 3)) @ R.T
        return 0.5 * (out + out.T)

    def pick(self, values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def wave(self, size: float) -> Callable[[float], float]:
        """A law of time."""
        rate, phase = self.number(0.5, 3.0) / self.units.time, self.number(0.0, 6.0)
        return lambda t: size * math.sin(rate * t + phase)

    def law(self, start: Any, size: float) -> tuple[Callable[[float], Any], ...]:
        """(s, s', s'') from a value on, s' and s'' not zero there."""
        w, p = self.number(0.5, 2.0) / self.units.time, self.number(0.3, 1.2)
        direction = size if np.ndim(start) == 0 else self.vector(size)
        return (
            lambda t: start + direction * (math.sin(w * t + p) - math.sin(p)),
            lambda t: direction * w * math.cos(w * t + p),
            lambda t: -direction * w * w * math.sin(w * t + p),
        )


def random_system(seed: int, units: Units = SI) -> rbdae.System:
    """The mechanism of a seed: one to five bodies, joints, drives, forces. No equation follows from the others, and at
    least one motion is free."""
    draw = Draw(seed, units)
    u = draw.units
    system = rbdae.System(gravity=draw.vector(8.0 * u.length / u.time**2))
    for k in range(int(draw.rng.integers(1, 6))):
        _add_body(draw, system, k)
    pivots = [gradient_at_start(system, body, u.length) for body in system.bodies if body.pivot is not None]
    draw.gradient = np.vstack([np.zeros((0, 6 * len(system.bodies))), *pivots])
    for k, body in enumerate(system.bodies):
        if body.pivot is None and not draw.chance(0.1):
            _join(draw, system, body, draw.pick([system.ground, *system.bodies[:k]]), list(JOINTS))
    for _ in range(int(draw.rng.integers(0, 3))):
        _join(draw, system, *_two(draw, system), list(JOINTS))
    for _ in range(int(draw.rng.integers(0, 3))):
        _drive(draw, system)
    for kind in draw.rng.choice(list(FORCES), int(draw.rng.integers(0, 5))):
        _add_force(draw, system, FORCES[kind])
    return system


def _add_body(draw: Draw, system: rbdae.System, k: int) -> None:
    """A box of some density; the first bodies may turn about a pivot."""
    u = draw.units
    mass, sides = draw.number(0.5, 3.0) * u.mass, draw.rng.uniform(0.4, 1.0, 3) * u.length
    center = draw.vector(0.3 * u.length)
    R = draw.turn().as_matrix()
    inertia = R @ np.diag(mass * (sides @ sides - sides**2) / 3.0) @ R.T
    place: dict[str, Any] = {"position": draw.vector(1.5 * u.length), "velocity": draw.vector(u.length / u.time)}
    if k == 0 and draw.chance(0.2):
        place = {"pivot": draw.vector(u.length)}
        inertia = inertia + mass * (center @ center * np.eye(3) - np.outer(center, center))
    system.add_body(
        f"body{k}",
        mass=mass,
        inertia=0.5 * (inertia + inertia.T),
        center_of_mass=center,
        orientation=draw.turn(),
        angular_velocity=draw.vector(2.0 / u.time),
        **place,
    )


def _two(draw: Draw, system: rbdae.System) -> tuple[Body, Body]:
    a, b = draw.rng.choice(len(system.bodies) + 1, 2, replace=False)
    everything = [*system.bodies, system.ground]
    return everything[a], everything[b]


def _add_if_it_fits(draw: Draw, system: rbdae.System, joint: AbstractJoint) -> bool:
    """Add a joint, if its equations are independent of the others by a margin, and a motion stays free."""
    G = np.vstack([draw.gradient, gradient_at_start(system, joint, draw.units.length)])
    if len(G) >= G.shape[1] or np.linalg.svd(G, compute_uv=False)[-1] < WELL_CONDITIONED:
        return False
    draw.gradient = G
    system.add_joint(joint)
    return True


def _join(draw: Draw, system: rbdae.System, a: Body, b: Body, kinds: list[str]) -> None:
    """A joint of some kind that fits, if there is one."""
    if draw.chance(0.5):
        a, b = b, a
    size = draw.units.length
    for kind in draw.rng.permutation(kinds):
        if kind == "rod" and a.fixed and b.fixed:
            continue
        joint = matched(str(kind), a, b, draw.vector(0.5 * size), draw.vector() + 0.1, unit=size)
        if _add_if_it_fits(draw, system, joint):
            return


def _point(body: Body, r: Any) -> Vec:
    return np.asarray(body.position + np.array(body.rotation) @ r)


def _drive(draw: Draw, system: rbdae.System) -> None:
    size = draw.units.length
    able = [j for j in system.joints if isinstance(j, Revolute | Prismatic | Cylindrical)]
    kind = draw.pick(list(DRIVES))
    joint: AbstractJoint | None = None
    if kind in (PrescribedAngle, PrescribedDisplacement):
        motion = "rotation" if kind is PrescribedAngle else "translation"
        driven: list[Any] = [j for j in able if motion in free(j)]
        if driven:
            chosen = draw.pick(driven)
            apart = _point(chosen.b, chosen.at_b) - _point(chosen.a, chosen.at_a)
            start = 0.0 if motion == "rotation" else float(np.array(chosen.a.rotation) @ chosen.axis_a @ apart)
            joint = kind(chosen, draw.law(start, 0.5 if motion == "rotation" else 0.2 * size))
    else:
        a, b = _two(draw, system)
        ends = draw.vector(0.5 * size), draw.vector(0.5 * size)
        between = _point(a, ends[0]) - _point(b, ends[1])
        distance = float(np.linalg.norm(between))
        if kind is PointMotion:
            joint = PointMotion(a, b, draw.law(between, 0.3 * size), *ends)
        elif distance > 0.3 * size:
            joint = DrivenRod(a, b, draw.law(distance, 0.1 * size), *ends)
    if joint is not None:
        _add_if_it_fits(draw, system, joint)


DRIVES = (PrescribedAngle, PrescribedDisplacement, DrivenRod, PointMotion)

# ---------------------------------------------------------------- forces


def _either(draw: Draw, size: float) -> Any:
    """A constant or a law of time."""
    return draw.wave(size) if draw.chance(0.5) else draw.number(-size, size)


def _vector_law(draw: Draw, size: float) -> Any:
    if draw.chance(0.5):
        return draw.vector(size)
    waves = [draw.wave(size) for _ in range(3)]
    return lambda t: [wave(t) for wave in waves]


def _free(draw: Draw, system: rbdae.System, *motions: str) -> Any:
    """A joint that leaves one of these motions free."""
    able = [j for j in system.joints if free(j) & set(motions)]
    return draw.pick(able) if able else None


def _bushing(draw: Draw, system: rbdae.System) -> Any:
    u = draw.units
    a, b = _two(draw, system)
    k, c = u.force / u.length, u.force * u.time / u.length
    turning: dict[str, Any] = {}
    if draw.chance(0.5):
        turning = {
            "rotational_stiffness": draw.matrix(1.0, 8.0) * u.force * u.length,
            "rotational_damping": draw.matrix(0.1, 1.0) * u.force * u.length * u.time,
        }
    points = {"at_a": draw.vector(0.5 * u.length), "at_b": draw.vector(0.5 * u.length)}
    return Bushing(a, b, stiffness=draw.matrix(5.0, 40.0) * k, damping=draw.matrix(0.0, 3.0) * c, **points, **turning)


def _spring(draw: Draw, system: rbdae.System) -> Any:
    u = draw.units
    a, b = _two(draw, system)
    points = draw.vector(0.5 * u.length), draw.vector(0.5 * u.length)
    if np.linalg.norm(_point(a, points[0]) - _point(b, points[1])) < 0.3 * u.length:
        return None
    return SpringDamper(
        a,
        b,
        stiffness=draw.number(5.0, 40.0) * u.force / u.length,
        damping=draw.number(0.0, 3.0) * u.force * u.time / u.length,
        length=draw.number(0.0, 1.0) * u.length,
        force=_either(draw, 5.0 * u.force),
        at_a=points[0],
        at_b=points[1],
    )


def _torsion(draw: Draw, system: rbdae.System) -> Any:
    torque = draw.units.torque
    joint = _free(draw, system, "rotation")
    return joint and TorsionalSpringDamper(
        joint,
        stiffness=draw.number(1.0, 20.0) * torque,
        damping=draw.number(0.0, 2.0) * torque * draw.units.time,
        angle=draw.number(-1.0, 1.0),
        torque=_either(draw, 3.0 * torque),
    )


def _slide(draw: Draw, system: rbdae.System) -> Any:
    u = draw.units
    joint = _free(draw, system, "translation")
    return joint and TranslationalSpringDamper(
        joint,
        stiffness=draw.number(1.0, 20.0) * u.force / u.length,
        damping=draw.number(0.0, 2.0) * u.force * u.time / u.length,
        displacement=draw.number(-1.0, 1.0) * u.length,
        force=_either(draw, 3.0 * u.force),
    )


def _friction(draw: Draw, system: rbdae.System) -> Any:
    u = draw.units
    joint = _free(draw, system, "rotation", "translation", "ball", "plane")
    if joint is None:
        return None
    turning, sliding = draw.number(0.1, 2.0) * u.force * u.length * u.time, draw.number(0.1, 2.0) * u.force * u.time
    return Friction(
        joint,
        rotational=turning if free(joint) & {"rotation", "ball"} else None,
        translational=sliding / u.length if free(joint) & {"translation", "plane"} else None,
    )


def _motor(draw: Draw, system: rbdae.System) -> Any:
    u = draw.units
    joint = _free(draw, system, "rotation", "translation")
    if joint is None:
        return None
    if "rotation" in free(joint):
        return Motor(joint, torque=_either(draw, 4.0 * u.force * u.length))
    return Motor(joint, force=_either(draw, 4.0 * u.force))


def _user(draw: Draw, system: rbdae.System) -> Any:
    """Pulls the first body, or two at each other, with a force that depends on positions and velocities."""
    u = draw.units
    pull = np.kron(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.kron(np.eye(4)[:1].T @ np.eye(4)[:1], np.eye(3)))
    twist = np.zeros((24, 24))
    twist[3:6, 9:12] = draw.number(0.1, 1.0) * u.force * u.length * np.eye(3)  # of the first body, d1 x d3
    by_rate = -draw.number(0.1, 1.0) * u.force * u.time / u.length * pull
    by_place = twist - draw.number(1.0, 9.0) * u.force / u.length * pull

    def force(t: float, x: Any, out: Any) -> None:
        out[:] = by_place @ x[:24] + by_rate @ x[24:]

    return UserForce(draw.pick([system.bodies[:1], system.bodies[:2][::-1]]), force)


FORCES: dict[str, Callable[[Draw, rbdae.System], Any]] = {
    "Force": lambda d, s: Force(
        d.pick(s.bodies),
        _vector_law(d, 6.0 * d.units.force),
        d.vector(0.5 * d.units.length),
        d.pick(["space", "body"]),
    ),
    "Torque": lambda d, s: Torque(d.pick(s.bodies), _vector_law(d, 4.0 * d.units.torque), d.pick(["space", "body"])),
    "Bushing": _bushing,
    "SpringDamper": _spring,
    "TorsionalSpringDamper": _torsion,
    "TranslationalSpringDamper": _slide,
    "Friction": _friction,
    "Motor": _motor,
    "UserForce": _user,
}


def _add_force(draw: Draw, system: rbdae.System, make: Callable[[Draw, rbdae.System], Any]) -> None:
    force = make(draw, system)
    if force is not None:
        system.add_force(force)

"""Random systems with redundant joint equations, by a seed, and in any units of length, mass and time.

Planar linkages of hinges in a random plane of space (four-bars, parallelograms, slider-cranks), joints that are there
twice, Bricard's mechanism, chains that are closed twice; with drives, springs, torques and gravity in any direction.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from inside import Vec
from scipy.spatial.transform import Rotation

import rbdae
from rbdae import drives, forces, joints
from rbdae.body import Body


@final
@dataclass(frozen=True)
class Units:
    """What 1 m, 1 kg and 1 s of a generator's numbers are in the system that it makes."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    def of(self, length: float = 0.0, mass: float = 0.0, time: float = 0.0) -> float:
        """The unit of a quantity by its powers of length, mass and time."""
        return float(self.length**length * self.mass**mass * self.time**time)

    @property
    def speed(self) -> float:
        return self.of(1, 0, -1)

    @property
    def force(self) -> float:
        return self.of(1, 1, -2)

    @property
    def torque(self) -> float:
        return self.of(2, 1, -2)

    def law(self, size: float, s: Callable[[float], Any], *rates: Callable[[float], Any]) -> tuple[Any, ...]:
        """A law (s, s', s'') of a quantity of this size."""

        def scaled(f: Callable[[float], Any], order: int, t: float) -> Any:
            return np.asarray(f(t / self.time)) * size / self.time**order

        return tuple(partial(scaled, f, order) for order, f in enumerate((s, *rates)))


SI = Units()


@final
class Maker:
    """A system under construction: what it adds is given in a random frame, in numbers of the generator."""

    def __init__(self, rng: np.random.Generator, units: Units) -> None:
        self.rng, self.units = rng, units
        self.turn = Rotation.from_rotvec(rng.standard_normal(3))
        self.shift = rng.standard_normal(3)
        self.spin = np.zeros(3)
        self.system = rbdae.System(gravity=self.direction(9.81) * units.of(1, 0, -2))

    def direction(self, size: float = 1.0) -> Vec:
        """A random vector of a length."""
        v = self.rng.standard_normal(3)
        return np.asarray(size * v / np.linalg.norm(v))

    def place(self, point: Any) -> Vec:
        """A point of the frame in space."""
        return np.asarray(self.turn.apply(np.asarray(point, float)) + self.shift) * self.units.length

    def body(self, point: Any, spin: Any = (0.0, 0.0, 0.0), about: Any = (0.0, 0.0, 0.0)) -> Body:
        """A random body at a point, which turns about another one."""
        rng, u = self.rng, self.units
        moments = 0.05 + rng.uniform(0.05, 0.15, 3)
        axes = Rotation.from_rotvec(rng.standard_normal(3)).as_matrix()
        orientation = Rotation.from_rotvec(rng.standard_normal(3))
        omega = self.turn.apply(np.asarray(spin, float))
        arm = self.turn.apply(np.subtract(point, about))
        inertia = axes @ np.diag(moments) @ axes.T
        return self.system.add_body(
            f"body{len(self.system.bodies)}",
            mass=float(rng.uniform(0.5, 2.0)) * u.mass,
            inertia=0.5 * (inertia + inertia.T) * u.of(2, 1),
            center_of_mass=0.1 * rng.standard_normal(3) * u.length,
            position=self.place(point),
            orientation=orientation,
            velocity=np.cross(omega, arm) * u.speed,
            angular_velocity=orientation.inv().apply(omega) / u.time,
        )

    def at(self, body: Body, point: Any) -> Vec:
        """A point of the frame as the body sees it."""
        return np.asarray(body.rotation.T @ (self.place(point) - body.position))

    def seen(self, body: Body, axis: Any) -> Vec:
        """A direction of the frame as the body sees it."""
        return np.asarray(body.rotation.T @ self.turn.apply(np.asarray(axis, float)))

    def join(self, kind: Any, a: Body | None, b: Body | None, point: Any, axis: Any = (0, 0, 1), **more: Any) -> Any:
        """A joint at a point along an axis; None is the ground."""
        first, second = a or self.system.ground, b or self.system.ground
        given: dict[str, Any] = {"at_a": self.at(first, point), "at_b": self.at(second, more.pop("end", point))}
        if kind is joints.Universal:
            across = np.cross(axis, self.direction())
            given |= {"axis_a": self.seen(first, axis), "axis_b": self.seen(second, across)}
        elif kind in (joints.PointOnLine, joints.PointOnPlane):
            given |= {"axis_a": self.seen(first, axis)}
        elif kind not in (joints.Spherical, joints.Rod):
            given |= {"axis_a": self.seen(first, axis), "axis_b": self.seen(second, axis)}
        return self.system.add_joint(kind(first, second, **given, **more))

    def turn_by(self, hinge: Any, speed: float) -> None:
        """A drive of a hinge, from where it stands."""
        law = self.units.law(1.0, lambda t: speed * t + 0.3 * t * t, lambda t: speed + 0.6 * t, lambda t: 0.6)
        self.system.add_joint(drives.PrescribedAngle(hinge, law))

    def push(self) -> None:
        """Forces of some kinds on random bodies."""
        rng, u, system = self.rng, self.units, self.system
        bodies = system.bodies
        for _ in range(int(rng.integers(1, 4))):
            body = bodies[int(rng.integers(len(bodies)))]
            point, other = 0.3 * rng.standard_normal((2, 3)) * u.length
            away = self.place(3.0 * rng.standard_normal(3))
            force: Any
            match int(rng.integers(4)):
                case 0:
                    force = forces.SpringDamper(
                        body, stiffness=20 * u.of(0, 1, -2), damping=u.of(0, 1, -1), at_a=point, at_b=away
                    )
                case 1:
                    force = forces.Torque(body, self.direction(3.0) * u.torque, frame="body")
                case 2:
                    force = forces.Force(body, self.direction(5.0) * u.force, at=point)
                case _:
                    force = forces.Bushing(
                        body, stiffness=10 * u.of(0, 1, -2), damping=0.5 * u.of(0, 1, -1), at_a=other, at_b=away
                    )
            system.add_force(force)


def _planar_bars(make: Maker, points: Any, kinds: Any, driven: bool) -> None:
    """A closed chain of bars between points of the plane, hinged by joints of these kinds."""
    spin = (0.0, 0.0, float(make.rng.uniform(1.0, 3.0)) * float(make.rng.choice((-1.0, 1.0))))
    bodies: list[Body | None] = [None]
    for k, (start, end) in enumerate(itertools.pairwise(points)):
        bodies.append(make.body(0.5 * (start + end), spin if k == 0 else (0, 0, 0), points[0]))
    bodies.append(None)
    made = [make.join(kind, a, b, p) for kind, a, b, p in zip(kinds, bodies[:-1], bodies[1:], points, strict=True)]
    if driven:
        make.turn_by(made[0], spin[2])


def four_bar(make: Maker, driven: bool = False) -> None:
    """Four hinges."""
    r = make.rng.uniform(-0.15, 0.15, (4, 3)) * (1, 1, 0)
    points = np.array(((0.0, 0, 0), (0.2, 0.9, 0), (1.3, 1.2, 0), (1.6, 0, 0))) + r
    _planar_bars(make, points, [joints.Revolute] * 4, driven)


def mixed_four_bar(make: Maker, driven: bool = False) -> None:
    """A joint of another kind among the hinges, with equations left over."""
    r = make.rng.uniform(-0.15, 0.15, (4, 3)) * (1, 1, 0)
    points = np.array(((0.0, 0, 0), (0.2, 0.9, 0), (1.3, 1.2, 0), (1.6, 0, 0))) + r
    other = joints.Cylindrical if make.rng.random() < 0.5 else joints.Spherical
    kinds = [other, joints.Revolute, joints.Revolute]
    _planar_bars(make, points, [joints.Revolute, *(kinds[k] for k in make.rng.permutation(3))], driven)


def parallelogram(make: Maker, driven: bool = False) -> None:
    """Three parallel cranks and a coupler: a loop more than the motion needs."""
    angle = float(make.rng.uniform(0.4, 1.2))
    crank = np.array((np.cos(angle), np.sin(angle), 0.0)) * make.rng.uniform(0.6, 1.2)
    spin = (0.0, 0.0, float(make.rng.uniform(1.0, 3.0)))
    feet = np.array(((0.0, 0, 0), (0.9, 0, 0), (2.1, 0, 0)))
    cranks = [make.body(foot + 0.5 * crank, spin, foot) for foot in feet]
    coupler = make.body(feet[1] + crank)
    hinges = [make.join(joints.Revolute, None, body, foot) for body, foot in zip(cranks, feet, strict=True)]
    for body, foot in zip(cranks, feet, strict=True):
        make.join(joints.Revolute, body, coupler, foot + crank)
    if driven:
        make.turn_by(hinges[0], spin[2])


def slider_crank(make: Maker, driven: bool = False) -> None:
    """Three hinges and a slide."""
    angle, r, l = make.rng.uniform((0.5, 0.4, 1.2), (1.2, 0.7, 1.8))
    elbow = np.array((r * np.cos(angle), r * np.sin(angle), 0.0))
    foot = np.array((elbow[0] + np.sqrt(l * l - elbow[1] ** 2), 0.0, 0.0))
    spin = (0.0, 0.0, float(make.rng.uniform(1.0, 3.0)))
    crank, rod, slide = make.body(0.5 * elbow, spin), make.body(0.5 * (elbow + foot)), make.body(foot)
    hinge = make.join(joints.Revolute, None, crank, (0, 0, 0))
    make.join(joints.Revolute, crank, rod, elbow)
    make.join(joints.Revolute, rod, slide, foot)
    make.join(joints.Prismatic, None, slide, foot, (1, 0, 0))
    if driven:
        make.turn_by(hinge, spin[2])


def doubled(make: Maker, driven: bool = False) -> None:
    """A chain of which one joint is there twice, or has another one on its axis."""
    rng = make.rng
    points = np.cumsum(np.vstack([np.zeros(3), rng.standard_normal((3, 3))]), axis=0)
    before: Body | None = None
    first = None
    twice = int(rng.integers(3))
    for k in range(3):
        body = make.body(0.5 * (points[k] + points[k + 1]), rng.standard_normal(3), points[k])
        axis = make.direction()
        hinge = make.join(joints.Revolute, before, body, points[k], axis)
        first = first or hinge
        if k == twice:
            other = joints.Revolute if rng.random() < 0.5 else joints.Cylindrical
            make.join(other, before, body, points[k] + float(rng.uniform(0.2, 0.8)) * axis, axis)
        before = body
    if driven:
        make.turn_by(first, 1.5)


def closed_twice(make: Maker, driven: bool = False) -> None:
    """A chain that hangs from the ground at both ends, with the last joint there twice."""
    rng = make.rng
    points = np.array(((0.0, 0, 0), (0.8, 0.3, -0.9), (1.9, -0.2, -1.1), (2.6, 0.1, 0.2)))
    points = points + 0.2 * rng.standard_normal((4, 3))
    before: Body | None = None
    for k in range(3):
        body = make.body(0.5 * (points[k] + points[k + 1]), rng.standard_normal(3), points[k])
        kind = joints.Spherical if k != 1 else joints.Universal
        first = make.join(kind, before, body, points[k], make.direction())
        before = body
    make.join(joints.Spherical, before, None, points[3])
    make.join(
        *((joints.Spherical, before, None) if rng.random() < 0.5 else (joints.Spherical, None, before)), points[3]
    )
    if rng.random() < 0.5:
        make.join(joints.PointOnPlane, None, before, points[3], make.direction())
    assert first is not None and not driven


def bricard(make: Maker, driven: bool = False) -> None:
    """Six hinges along the edges of a cube."""
    points = np.array(((0.0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)))
    axes = np.eye(3)[[1, 2, 0, 1, 2, 0]]
    ends: list[Body | None] = [
        None,
        *(make.body(0.5 * (p + q)) for p, q in itertools.pairwise(points)),
        None,
    ]
    made = [
        make.join(joints.Revolute, a, b, p, u) for a, b, p, u in zip(ends[:-1], ends[1:], points, axes, strict=True)
    ]
    if driven:
        make.turn_by(made[0], 0.8)


KINDS: dict[str, Callable[..., None]] = {
    "four-bar": four_bar,
    "driven four-bar": partial(four_bar, driven=True),
    "mixed four-bar": mixed_four_bar,
    "parallelogram": parallelogram,
    "driven parallelogram": partial(parallelogram, driven=True),
    "slider-crank": slider_crank,
    "driven slider-crank": partial(slider_crank, driven=True),
    "doubled": doubled,
    "driven doubled": partial(doubled, driven=True),
    "closed twice": closed_twice,
    "bricard": bricard,
    "driven bricard": partial(bricard, driven=True),
}


def redundant_system(seed: int, units: Units = SI) -> rbdae.System:
    """The system of a seed; neighbouring seeds are of different kinds."""
    rng = np.random.default_rng((9, seed))
    make = Maker(rng, units)
    list(KINDS.values())[seed % len(KINDS)](make)
    make.push()
    return make.system


def kind(seed: int) -> str:
    """What sort of system it is."""
    return list(KINDS)[seed % len(KINDS)]

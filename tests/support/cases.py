"""Registries that the law tests go through: pairings, mechanisms, examples of every public value.

A new formulation, chart or joint comes in by itself through `rbdae.pairings`, or makes `test_registries.py` fail until
it is entered here.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple, cast, final
from unittest import mock

import inside
import numpy as np
import pytest
from inside import Vec, fill, twin
from scipy.spatial.transform import Rotation
from toy_force import LaggedDamper, Maxwell
from toy_joint import PinInSlot

import rbdae
from rbdae.adapter import Method
from rbdae.body import Body
from rbdae.formulations import FORMULATIONS
from rbdae.joints import (
    AbstractJoint,
    Coincidence,
    Cylindrical,
    Distance,
    Dot1,
    Dot2,
    Fixed,
    Planar,
    PointOnLine,
    PointOnPlane,
    Primitive,
    Prismatic,
    Revolute,
    Rod,
    Screw,
    Spherical,
    Universal,
)
from rbdae.rotations import CHARTS
from rbdae.solving import adapter


class Pairing(NamedTuple):
    formulation: str
    rotation: str
    velocity: str

    def __str__(self) -> str:
        return "/".join(self)

    @property
    def angular(self) -> bool:
        """Whether the unknowns are angular velocities, material or spatial ones."""
        return self.velocity in ("angular", "spatial")


ALL_PAIRINGS = [Pairing(*p) for p in rbdae.pairings()]

# ---------------------------------------------------------------- a sample in every run, all at night

NIGHTLY = "RBDAE_NIGHTLY" in os.environ
"""Whether tests have all their cases: `pytest -m nightly` sets it."""

ALWAYS = ("quaternion", "directors", "euler-313")
"""The charts that every test of every chart runs with."""

DRAWN = tuple(name for name in CHARTS if name not in ALWAYS)
"""The charts that take turns."""


def count(usual: int, nightly: int) -> int:
    """The number of cases of a test marked ``sampled``; case k is the same in both runs."""
    return nightly if NIGHTLY else usual


@cache
def charts(seed: str, k: int = 0) -> tuple[str, ...]:
    """The charts of case k of a test: those of `ALWAYS` and one drawn of the others, in any six cases on end each; all
    of them at night."""
    if NIGHTLY:
        return tuple(CHARTS)
    turns = np.random.default_rng(zlib.crc32(seed.encode())).permutation(len(DRAWN))
    return (*ALWAYS, DRAWN[turns[k % len(DRAWN)]])


@cache
def spatial_charts(seed: str, k: int = 0) -> tuple[str, ...]:
    """The charts that case k of a test has with spatial velocities: one, and all take turns; all of them at night."""
    names = tuple(CHARTS)
    if NIGHTLY:
        return names
    turns = np.random.default_rng(zlib.crc32(seed.encode())).permutation(len(names))
    return (names[turns[k % len(names)]],)


def takes_turns(value: Any) -> bool:
    """Whether a parameter of a test is, or has, a pairing, a chart that takes turns, or spatial velocities."""
    if isinstance(value, Pairing):
        return True
    if isinstance(value, tuple):
        return any(takes_turns(part) for part in value)
    return isinstance(value, str) and (value in DRAWN or value == "spatial")


def sample(k: int) -> list[Pairing]:
    """The pairings of case k of a test: see `charts` and `spatial_charts`."""
    return [
        p
        for p in ALL_PAIRINGS
        if p.rotation in (spatial_charts if p.velocity == "spatial" else charts)(p.formulation, k)
    ]


def turns(k: int) -> list[Pairing]:
    """The pairings that mechanism k of a registry has: of `sample` those in charts that take turns, and a third of the
    others, so that three mechanisms on end have them all. All of them at night."""
    mine, out = sample(k), []
    if NIGHTLY:
        return mine
    for i, formulation in enumerate(FORMULATIONS):
        its = [p for p in mine if p.formulation == formulation]
        usual = [p for p in its if p.rotation in ALWAYS and p.velocity != "spatial"]
        stride = min(3, len(usual))
        out += [p for p in its if p not in usual or usual.index(p) % stride == (i + k) % stride]
    return out


def covering(cases: Iterable[Any], start: int = 0) -> list[Any]:
    """Few of the cases, in which each mechanism, formulation, chart and velocity of all of them occurs; all at night. A
    case is a pairing, or a tuple with one; tests of other numbers `start` have other cases."""
    every = [*cases]
    if NIGHTLY:
        return every
    at = 37 * start % len(every)
    parts = [{*case} if isinstance(case, Pairing) else {*case[:-1], *case[-1]} for case in every[at:] + every[:at]]
    left, out = set().union(*parts), []
    while left:
        best = max(range(len(parts)), key=lambda k: len(left & parts[k]))
        left -= parts[best]
        out.append((best + at) % len(every))
    return [every[k] for k in sorted(out)]


PAIRINGS = sample(0)
WITH_NORM_MULTIPLIER = [
    f for f, *rest in ALL_PAIRINGS if rest == ["quaternion", "coordinate"] and not FORMULATIONS[f].projected
]
"""Formulations that [SNS15] is about."""
ALL_INFOS = {info.name: info for info in rbdae.solvers()}


def need(solver: str) -> None:
    """Skip the test where the solver's package is not there; tools/install-solvers fails without one."""
    if not ALL_INFOS[solver].available:
        pytest.skip(f"{ALL_INFOS[solver].package} is not installed: {ALL_INFOS[solver].install}")


@cache
def method(solver: str) -> Method:
    """What a solver says of itself."""
    package, _, name = solver.partition(":")
    return next(m for m in adapter(package).methods if m.name == name)


INFOS = {name: info for name, info in ALL_INFOS.items() if not method(name).pairings}
"""The solvers of forms by their kind; those for some forms alone have laws of their own (test_conserving)."""


REFERENCE = Pairing("index-0", "quaternion", "angular")

# ---------------------------------------------------------------- a joint for tests


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Tie(AbstractJoint):
    """Any list of primitive constraints between two bodies, which no joint of the library has."""

    a: Body
    b: Body
    at_a: Vec
    at_b: Vec
    parts: tuple[Primitive, ...]
    name: str | None

    def __init__(self, a: Body, b: Body, parts: Sequence[Primitive], at_a: Any, at_b: Any, name: str) -> None:
        fill(self, a=a, b=b, at_a=np.array(at_a, float), at_b=np.array(at_b, float), parts=tuple(parts), name=name)

    def primitives(self) -> tuple[Primitive, ...]:
        return self.parts


# ---------------------------------------------------------------- mechanisms

# neither diagonal nor flat, principal moments far apart
INERTIA = Rotation.from_rotvec((0.4, -0.7, 0.3)).as_matrix()
INERTIA = INERTIA @ np.diag((2.0, 3.1, 4.3)) @ INERTIA.T


def _turn(*rotvec: float) -> Rotation:
    return Rotation.from_rotvec(rotvec)


def attitude(body: Body) -> Rotation:
    """Of the body frame, as the body was added."""
    return Rotation.from_quat(body.orientation[[1, 2, 3, 0]])


def initial_values(body: Body) -> dict[str, Any]:
    """As `System.add_body` takes them."""
    names = ("position", "velocity", "angular_velocity")
    return {"orientation": attitude(body)} | {name: getattr(body, name) for name in names}


# centre of mass, position or the pivot, rotation vector, angular velocity, velocity
ROWS = {
    "top": ((0.2, -0.1, 0.4), (1, 2, -0.5), (0.7, -0.4, 1.1), (1.5, -0.8, 2.5)),
    "free": ((0.3, 0.1, -0.2), (0.5, -0.4, 0.3), (-0.3, 0.9, 0.5), (0.8, -1.1, 0.6), (0.5, 1, -0.7)),
    "hung": ((-0.1, 0.3, 0.2), (1, 0.5, 0), (1, 0.2, -0.4), (-0.5, 0.9, 1.3)),
    "hinged": ((0.1, -0.2, 0.3), (0.3, 0.1, 0.2), (0.4, 0.8, -0.3), (1.2, -0.4, 0.9)),
    "child": ((-0.2, 0.1, 0.1), (1, 0.2, 0.4), (-0.6, 0.3, 0.7), (0.5, 1.4, -0.8), (0.3, 0.2, -0.1)),
    "kite": ((0, 0, 0), (2, -1, 1.5), (0.9, -0.5, 0.2), (-1, 0.3, 1.1), (-0.4, 0.6, 0.2)),
    "tail": ((0.1, 0.1, 0), (2.5, -1.5, 1.5), (0.2, 0.7, -0.9), (0.6, -1.2, 0.4)),
    "tied 1": ((0.2, -0.1, 0.3), (0.1, 0.2, -0.3), (0.5, -0.3, 0.2), (0.8, 0.5, -1), (0.4, -0.2, 0.3)),
    "tied 2": ((-0.1, 0.2, 0.1), (1.2, 0.5, -0.2), (-0.4, 0.6, 0.3), (-0.6, 0.9, 0.7), (-0.3, 0.5, 0.1)),
    "tied 3": ((0.1, 0.1, 0.2), (2, 1, 0.5), (0.2, 0.1, 0.8), (0.3, -0.7, 1.1)),
    "a": ((0.2, 0.3, -0.1), (1, 0.5, -0.7), (0.3, 0.6, -0.8), (1.1, -0.6, 0.9), (0.7, -0.3, 0.5)),
    "b": ((-0.3, 0.1, 0.2), (1.8, 0.9, -0.3), (-0.5, 0.4, 1), (-0.9, 1.3, 0.2)),
    "first": ((0.2, -0.1, 0.3), (0.6, 0.2, -0.5), (0.5, -0.4, 0.3), (0.8, 0.5, -1), (0.4, -0.2, 0.3)),
    "second": ((-0.1, 0.2, 0.1), (1.5, 0.5, -0.2), (-0.4, 0.6, 0.5), (-0.6, 0.9, 0.7), (-0.3, 0.5, 0.1)),
    "bob": ((0, 0, 0), (3, -0.1, -0.3), (0.2, 0.4, -0.1), (0.5, 0.8, -0.4)),
}


def add_body(
    system: rbdae.System, name: str, mass: float, inertia: Any, row: Any = None, *, pivot: bool = False, **more: Any
) -> Body:
    """A body by a row of `ROWS`, the one of its name if no other is given; velocities may be left out."""
    names = ("center_of_mass", "pivot" if pivot else "position", "orientation", "angular_velocity", "velocity")
    given: dict[str, Any] = dict(zip(names, ROWS[name] if row is None else row, strict=False)) | more
    given["orientation"] = Rotation.from_rotvec(given["orientation"])
    return system.add_body(name, mass=mass, inertia=inertia, **given)


def tennis_racket() -> rbdae.System:
    return rbdae.models.tennis_racket(disturbance=1.0)


heavy_top, linked_bodies = rbdae.models.heavy_top, rbdae.models.linked_bodies


def skew_top() -> rbdae.System:
    """A pivot away from the origin, a tensor off its axes and an offset centre of mass."""
    system = rbdae.System(gravity=(0.5, -1.0, -9.0))
    add_body(system, "top", 1.3, INERTIA, pivot=True)
    return system


def branched() -> rbdae.System:
    """A chain of three that hangs from the ground, with a branch; offset centres of mass, one bushing with damping."""
    system = rbdae.System()
    near = ((1.0, -0.5, 0.4), (2.1, -0.8, 0.5), (3.2, -0.5, 0.2), (2.0, -2.4, 1.0))  # of where the joints want them
    bodies = [
        system.add_body(
            f"link{i}",
            mass=1.0 + 0.5 * i,
            inertia=(1.0 + 0.2 * i) * INERTIA,
            center_of_mass=(0.1 * i, -0.2, 0.3),
            position=near[i],
            orientation=_turn(0.5 + 0.3 * i, -0.6, 0.8 - 0.5 * i),
            velocity=(0.3, -0.1 * i, 0.2),
            angular_velocity=(1.0 - i, 0.7 * i, 0.4),
        )
        for i in range(4)
    ]
    # the third and fourth both hang from the second; one joint counts the child as its first body
    system.add_joint(Spherical(system.ground, bodies[0], at_a=(0.2, -0.3, 1.0), at_b=(-0.6, 0.3, 0.4), name="hook"))
    system.add_joint(Spherical(bodies[0], bodies[1], at_a=(0.7, -0.2, 0.5), at_b=(-0.5, 0.4, 0.1)))
    system.add_joint(Spherical(bodies[2], bodies[1], at_a=(-0.8, 0.1, 0.3), at_b=(0.6, 0.6, -0.2)))
    system.add_joint(Spherical(bodies[1], bodies[3], at_a=(0.3, -0.7, 0.5), at_b=(0.1, 0.9, -0.4)))
    system.add_force(
        rbdae.forces.Bushing(bodies[2], bodies[3], stiffness=30.0, damping=2.0, at_a=(0.2, 0.1, 0), at_b=(0, 0.3, 0.1))
    )
    return system


def bushed() -> rbdae.System:
    """A free body and a body with a pivot, held by anisotropic damped bushings at offset points, no joint."""
    system = rbdae.System(gravity=(0.0, 0.3, -9.81))
    free = add_body(system, "free", 2.0, INERTIA)
    hinged = add_body(system, "hinged", 1.5, 1.4 * INERTIA, ROWS["hung"], pivot=True)
    turned = _turn(0.3, 0.5, -0.2).as_matrix()
    stiffness = turned @ np.diag((40.0, 90.0, 10.0)) @ turned.T
    damping = turned.T @ np.diag((1.0, 0.3, 2.0)) @ turned
    bushing = rbdae.forces.Bushing
    system.add_force(
        bushing(free, hinged, stiffness=stiffness, damping=damping, at_a=(0.4, -0.2, 0.1), at_b=(0.3, 0.3, -0.5))
    )
    system.add_force(
        bushing(free, stiffness=(20.0, 0.0, 35.0), damping=damping, at_a=(-0.3, 0.5, 0.2), at_b=(0.1, 0.0, 1.0))
    )
    system.add_force(bushing(hinged, free, stiffness=0.0, damping=(0.0, 0.7, 0.2), at_a=(0, 0.2, 0), at_b=(0.6, 0, 0)))
    return system


def hinged_pair() -> rbdae.System:
    """A chain of two that begins at a pivot."""
    system = rbdae.System()
    hinged = add_body(system, "hinged", 2.0, INERTIA, pivot=True)
    child = add_body(system, "child", 1.2, 0.8 * INERTIA)
    # the child comes first in the joint, so trees must not lean on the order of the bodies
    system.add_joint(Spherical(child, hinged, at_a=(-0.5, 0.3, 0.2), at_b=(0.6, 0.2, -0.1)))
    return system


def mixed() -> rbdae.System:
    """The pair with a pivot, and a free pair beside it: two trees, a root of each sort."""
    system = hinged_pair()
    _, child = system.bodies
    kite = add_body(system, "kite", 0.7, 0.5 * INERTIA)
    tail = add_body(system, "tail", 0.4, 0.3 * INERTIA)
    system.add_joint(Spherical(kite, tail, at_a=(0.4, -0.3, 0.2), at_b=(-0.2, 0.3, 0.3)))
    system.add_force(
        rbdae.forces.Bushing(child, kite, stiffness=(15, 25, 5), damping=0.4, at_a=(0.5, 0, 0.2), at_b=(0, 0.3, -0.1))
    )
    return system


def loop() -> rbdae.System:
    """Three bodies in a closed loop over the ground."""
    system = rbdae.System()
    at = np.array(((0.0, 0, 0), (1.0, 0.3, -0.4), (2.1, -0.2, -0.9), (3.0, 0.1, 0.2)))
    bodies = []
    for i in range(3):
        turn = _turn(0.3 * i, 0.5 - 0.4 * i, 0.6)
        bodies.append(
            system.add_body(
                f"bar{i}",
                mass=1.0 + 0.3 * i,
                inertia=INERTIA / (1 + i),
                center_of_mass=(0.1, 0.2 * i, -0.1),
                position=at[i],
                orientation=turn,
                velocity=(0.1, -0.3, 0.2 * i),
                angular_velocity=(0.7, 0.4 * i, -0.9),
            )
        )
    reach = [attitude(bodies[i]).inv().apply(at[i + 1] - at[i]) for i in range(3)]
    system.add_joint(Spherical(system.ground, bodies[0], at_a=at[0]))
    system.add_joint(Spherical(bodies[0], bodies[1], at_a=reach[0]))
    system.add_joint(Spherical(bodies[1], bodies[2], at_a=reach[1]))
    system.add_joint(Spherical(bodies[2], system.ground, at_a=reach[2], at_b=at[3]))
    return system


def tied() -> rbdae.System:
    """All four primitives, between bodies and with the ground on either side."""
    system = rbdae.System(gravity=(0.4, 0.0, -9.81))
    first = add_body(system, "first", 2.0, INERTIA, ROWS["tied 1"])
    second = add_body(system, "second", 1.4, 0.7 * INERTIA, ROWS["tied 2"])
    third = add_body(system, "third", 0.9, 0.5 * INERTIA, ROWS["tied 3"], pivot=True)
    ground = system.ground
    r, u, w = (0.3, -0.2, 0.4), (1.0, 0.3, -0.5), (0.2, 1.0, 0.4)
    ties = [
        (first, second, [Dot1(u, w), Dot2(w, r, u), Distance(r, w, 1.0)]),
        (ground, first, [Dot2(u, r, w)]),
        (second, ground, [Distance(w, r, 1.0), Dot1(w, u), Dot2(w, u, r)]),
        (first, ground, [Coincidence(u, r)]),
        (second, third, [Dot2(u, w, r), Distance(u, u, 1.0)]),
        (ground, third, [Dot1(u, u)]),
    ]
    for k, (a, b, parts) in enumerate(ties):
        fitted = [_fitted(part, a, b) for part in parts]
        system.add_joint(Tie(a, b, fitted, r, u, f"tie-{k + 1}"))
    return system


def _fitted(primitive: Primitive, a: Body, b: Body) -> Primitive:
    """The primitive with a right-hand side that the initial positions satisfy to a digit."""
    Z = []
    for body in (a, b):
        Z += [body.position, *attitude(body).as_matrix().T]
    P, Q = primitive.A @ Z, primitive.B @ Z
    value = P if primitive.kind == "linear" else np.array((primitive.scale * P @ Q, 0.0, 0.0))
    return twin(primitive, offset=np.round(value, 1))


def floating() -> rbdae.System:
    """Two bodies in space with a joint and an undamped bushing between them: nothing touches the ground."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    a, b = add_body(system, "a", 2.0, INERTIA), add_body(system, "b", 1.1, 0.6 * INERTIA)
    system.add_joint(Spherical(a, b, at_a=(0.5, 0.2, 0.4), at_b=(-0.3, 0.4, -0.2)))
    system.add_force(rbdae.forces.Bushing(a, b, stiffness=50.0, at_a=(-0.4, 0.3, 0.1), at_b=(0.2, -0.5, 0.3)))
    return system


# every joint of the library, and how far apart along its axis (or at all) it lets its two points be
JOINTS: dict[str, tuple[type[AbstractJoint], float]] = {
    "spherical": (Spherical, 0.0),
    "revolute": (Revolute, 0.0),
    "prismatic": (Prismatic, 0.3),
    "cylindrical": (Cylindrical, 0.3),
    "planar": (Planar, 0.0),
    "universal": (Universal, 0.0),
    "fixed": (Fixed, 0.0),
    "rod": (Rod, 0.6),
    "point-on-line": (PointOnLine, 0.3),
    "point-on-plane": (PointOnPlane, 0.0),
    "screw": (Screw, 0.3),
}
PITCH = 0.7


def free(joint: AbstractJoint) -> set[str]:
    """The motions of a joint along which a force acts by itself: one turn, one slide, or two of them."""
    units = [each.unit for each in joint.coordinates()]
    names = {("rad", 1): "rotation", ("m", 1): "translation", ("m", 2): "plane"}
    return {name for (unit, n), name in names.items() if units.count(unit) == n} | ({"ball"} if joint.ball else set())


def further(kind: type[AbstractJoint], unit: float = 1.0) -> dict[str, Any]:
    """Arguments without which there is no such joint."""
    return {"pitch": PITCH * unit} if kind is Screw else {}


# joints of the tests' own, which the library does not have: the laws of joints hold for them, too
TOY_JOINTS: dict[str, tuple[type[AbstractJoint], float]] = {"pin-in-slot": (PinInSlot, 0.0)}


def matched(
    kind: str, a: Body, b: Body, at_a: Any, axis: Any, name: str | None = None, unit: float = 1.0
) -> AbstractJoint:
    """A joint that fits the bodies as they are placed: at `at_a` and along `axis` in the frame of `a`; lengths in
    multiples of `unit`."""
    cls, apart = (JOINTS | TOY_JOINTS)[kind]
    first, second = attitude(a), attitude(b)
    axis = np.array(axis, float) / np.linalg.norm(axis)
    end = a.position + first.apply(at_a + apart * unit * axis)
    ends = {"at_a": at_a, "at_b": second.inv().apply(end - b.position), "name": name, **further(cls, unit)}
    if kind in ("spherical", "rod"):
        return cls(a, b, **ends)
    if kind in ("point-on-line", "point-on-plane"):
        return cls(a, b, axis_a=axis, **ends)
    other = np.cross(axis, (0.3, -0.5, 0.8)) if kind == "universal" else axis
    return cls(a, b, axis_a=axis, axis_b=second.inv().apply(first.apply(other)), **ends)


def jointed(kind: str) -> rbdae.System:
    """A chain of two bodies: ground - joint - first - joint - second, the second being body `a` of its joint."""
    system = rbdae.System(gravity=(0.4, -0.6, -9.81))
    first, second = add_body(system, "first", 2.0, INERTIA), add_body(system, "second", 1.4, 0.7 * INERTIA)
    system.add_joint(matched(kind, system.ground, first, np.array((0.2, 0.3, -0.4)), (1.0, 0.4, -0.6), "outer"))
    system.add_joint(matched(kind, second, first, np.array((-0.4, 0.1, 0.3)), (0.3, 1.0, 0.5), "inner"))
    return system


def strutted(build: Callable[[], rbdae.System]) -> rbdae.System:
    """A mechanism with two forces that have internal states, between two bodies and to the ground."""
    system = build()
    first, last = system.bodies[0], system.bodies[-1]
    ends: dict[str, Any] = {"at_a": (0.3, -0.2, 0.4), "at_b": (-0.1, 0.5, 0.2)}
    system.add_force(Maxwell(first, last, stiffness=30.0, viscosity=4.0, length=0.7, stretch=0.2, **ends))
    system.add_force(LaggedDamper(last, damping=2.0, **ends))
    return system


SYSTEMS: dict[str, Callable[[], rbdae.System]] = {
    "A": heavy_top,
    "B": tennis_racket,
    "C": linked_bodies,
    "skew-top": skew_top,
    "bushed": bushed,
    "branched": branched,
    "mixed": mixed,
    "loop": loop,
    "tied": tied,
    "floating": floating,
}
JOINT_SYSTEMS = {f"joint-{kind}": partial(jointed, kind) for kind in JOINTS}
TOY_SYSTEMS = {f"joint-{kind}": partial(jointed, kind) for kind in TOY_JOINTS}
# a tree of spherical joints with a pivot, a tree of other joints, a loop: the structures of the null-space form
STATE_SYSTEMS = {
    "struts": partial(strutted, hinged_pair),
    "struts-tree": partial(strutted, partial(jointed, "revolute")),
    "struts-loop": partial(strutted, loop),
}
STATE_PAIRS = [
    (s, p) for k, s in enumerate(STATE_SYSTEMS) for p in turns(k) if s == "struts" or p.formulation.startswith("null")
]
STATE_IDS = [f"{s}-{p}" for s, p in STATE_PAIRS]
PAIRS = [(s, p) for k, s in enumerate(SYSTEMS) for p in turns(k)]
JOINT_PAIRS = [(s, p) for k, s in enumerate(JOINT_SYSTEMS) for p in turns(k)]
JOINT_IDS = [f"{s}-{p}" for s, p in JOINT_PAIRS]
PAIR_IDS = [f"{s}-{p}" for s, p in PAIRS]


def turned_rows(problem: rbdae.Problem, t: float, y: Vec) -> Any:
    """What the rows of the dynamics have to be multiplied by, so that they belong to the velocities v: with spatial
    ones they are those of the bodies' frames."""
    out = np.eye(inside.n_velocities(problem))
    if problem.velocity == "spatial":
        at = 0
        for body, z in zip(problem.system.bodies, problem.natural(t, y), strict=True):
            at += 0 if body.pivot is not None else 3
            out[at : at + 3, at : at + 3] = z[3:12].reshape(3, 3).T
            at += 3
    return out


# of the way from the centre of a chart to its singular set
MARGIN = 0.7


def formulated(*arguments: Any, code: str = "auto", **options: Any) -> rbdae.Problem:
    """`rbdae.formulate`; with ``code="plain"`` callbacks run in Python, as where there is no machine code."""
    if code != "plain":
        return rbdae.formulate(*arguments, code=cast(Any, code), **options)
    with mock.patch.dict(os.environ, RBDAE_LLVM="none"):
        return rbdae.formulate(*arguments, **options)


def formulate(
    system: rbdae.System, pairing: Sequence[str], *, consistent: str = "project", **options: Any
) -> rbdae.Problem:
    """The mechanisms of this file are placed and moved roughly, and are meant to be projected. A start that is
    near a singular set, or beyond it, becomes the reference: the tests look at states around it."""
    formulation, rotation, velocity = pairing
    given: dict[str, Any] = {"rotation": rotation, "velocity": velocity, "consistent": consistent} | options
    try:
        problem = formulated(system, formulation, **given)
        distance, _ = problem.interpretation.distance_to_singularity(problem.t0, problem.y0)
        near = distance < MARGIN * CHARTS[rotation].reach
    except ValueError as error:
        if "reference='start'" not in str(error):
            raise
        near = True
    return formulated(system, formulation, **given, reference="start") if near else problem


def problem(system: str, pairing: Pairing, **options: Any) -> rbdae.Problem:
    """A problem at the mechanism's own start; shared by tests of one code, so they must not write into it."""
    return _problem(os.environ.get("RBDAE_LLVM") == "none", system, pairing, **options)


@cache
def _problem(_plain: bool, system: str, pairing: Pairing, **options: Any) -> rbdae.Problem:
    return formulate(built(system), pairing, **options)


def built(system: str) -> rbdae.System:
    """The mechanism of that name."""
    return (SYSTEMS | JOINT_SYSTEMS | TOY_SYSTEMS | STATE_SYSTEMS)[system]()


# ---------------------------------------------------------------- the same mechanism elsewhere


def rebuild(
    system: rbdae.System,
    *,
    initial: Callable[[Body], dict[str, Any]] | None = None,
    turn: Rotation | None = None,
    shift: Any = (0.0, 0.0, 0.0),
    order: Sequence[int] | None = None,
) -> rbdae.System:
    """The system with other initial values, as a whole turned and shifted in space, or with its bodies, joints and
    forces added in another order."""
    turn = turn or Rotation.identity()
    shift = np.asarray(shift, float)
    out = rbdae.System(gravity=turn.apply(np.array(system.gravity)))
    made: dict[str, Body] = {"ground": out.ground}
    bodies = system.bodies
    for k in order if order is not None else range(len(bodies)):
        body = bodies[k]
        # the placement is given even where it was left out, as it has been turned and shifted
        given = (*body.given, "position", "orientation")
        values = {what: value for what, value in initial_values(body).items() if what in given}
        values |= initial(body) if initial else {}
        values["position"] = turn.apply(np.array(values["position"])) + shift
        values["orientation"] = turn * values["orientation"]
        if "velocity" in values:
            values["velocity"] = turn.apply(np.array(values["velocity"]))
        if body.pivot is not None:
            values = {what: values[what] for what in values if what not in ("position", "velocity")}
            values["pivot"] = turn.apply(np.array(body.pivot)) + shift
        made[body.name] = out.add_body(
            body.name, mass=body.mass, inertia=body.inertia, center_of_mass=body.center_of_mass, **values
        )

    def at(body: Body, point: Vec) -> Vec:
        return turn.apply(np.array(point)) + shift if body.fixed else point

    way = slice(None, None, 1 if order is None else -1)
    for joint in system.joints[way]:
        a, b = joint.bodies
        points = {"at_a": at(a, joint.at_a), "at_b": at(b, joint.at_b)}
        parts = {"parts": tuple(_moved(p, a.fixed, b.fixed, turn, shift) for p in joint.primitives())}
        more: dict[str, Any] = parts if isinstance(joint, Tie) else {}
        for side, body in (("a", a), ("b", b)):
            for what in (f"axis_{side}", f"normal_{side}"):
                if body.fixed and hasattr(joint, what):
                    more[what] = turn.apply(np.array(getattr(joint, what)))
        out.add_joint(twin(joint, a=made[a.name], b=made[b.name], **points, **more))
    for force in system.forces[way]:
        a, b = force.bodies
        K, D = (turn.as_matrix() @ x @ turn.as_matrix().T for x in (force.stiffness, force.damping))
        given: dict[str, Any] = {"stiffness": 0.5 * (K + K.T), "damping": 0.5 * (D + D.T), "name": force.name}
        ends = {"at_a": at(a, force.at_a), "at_b": at(b, force.at_b)}
        out.add_force(rbdae.forces.Bushing(made[a.name], made[b.name], **given, **ends))
    return out


def _moved(primitive: Primitive, first: bool, second: bool, turn: Rotation, shift: Vec) -> Primitive:
    """A primitive whose ground side has moved with the rest: c0 x + sum c_i d_i stays what it was, turned."""
    changes = {}
    for name in ("A", "B"):
        c = getattr(primitive, name).copy()
        for start, fixed in ((0, first), (4, second)):
            if fixed:
                c[start + 1 : start + 4] = turn.apply(c[start + 1 : start + 4]) + c[start] * shift
        changes[name] = c
    if primitive.kind == "linear":
        changes["offset"] = turn.apply(np.array(primitive.offset))
    return twin(primitive, **changes)


def stirred(system: rbdae.System, rng: np.random.Generator) -> rbdae.System:
    """The system with other, inconsistent initial values nearby."""

    def initial(body: Body) -> dict[str, Any]:
        return {
            "orientation": attitude(body) * Rotation.from_rotvec(0.2 * rng.standard_normal(3)),
            "position": body.position + 0.1 * rng.standard_normal(3),
            "velocity": body.velocity + 0.5 * rng.standard_normal(3),
            "angular_velocity": body.angular_velocity + 0.5 * rng.standard_normal(3),
        }

    return rebuild(system, initial=initial)


# ---------------------------------------------------------------- derivatives


def along(f: Callable[[Vec], Any], y: Vec, direction: Vec, h: float = 1e-3) -> Any:
    """Derivative of f at y along a direction: central differences of order four."""
    size = float(np.max(np.abs(direction), initial=0.0))
    if size == 0.0:
        return 0.0 * np.asarray(f(y))
    e = h * direction / size
    slope = 8.0 * (np.asarray(f(y + e)) - f(y - e)) - (np.asarray(f(y + 2 * e)) - f(y - 2 * e))
    return slope * size / (12.0 * h)


def differences(f: Callable[[Vec], Vec], y: Vec, h: float = 1e-3) -> Any:
    """df/dy, column by column."""
    return np.stack([along(f, y, e, h * max(1.0, abs(x))) for x, e in zip(y, np.eye(len(y)), strict=True)], axis=1)


def worst(found: Any, wanted: Any, floor: float = 0.0) -> tuple[float, tuple[int, ...]]:
    """Largest difference relative to the largest entry of its row (or of the vector), and where."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    if not found.size:
        return 0.0, ()
    scale = np.maximum(np.max(np.abs(wanted), axis=-1, keepdims=True), floor)
    error = np.abs(found - wanted) / np.where(scale > 0.0, scale, 1.0)
    error = np.where(np.isfinite(error), error, np.inf)
    where = np.unravel_index(int(np.argmax(error)), error.shape)
    return float(error[where]), tuple(int(i) for i in where)


def close(found: Any, wanted: Any, tolerance: float, floor: float = 1.0) -> bool:
    return worst(found, wanted, floor)[0] <= tolerance


# ---------------------------------------------------------------- states


def manifold_states(problem: rbdae.Problem, rng: np.random.Generator) -> Iterator[tuple[str, Vec]]:
    """The start, a random state on the manifold of positions and velocities, and one off it."""
    yield "at the start", problem.y0.copy()
    near = problem.y0 + 0.01 * rng.standard_normal(problem.n)
    projected = near.copy()
    inside.projection_in_python(rbdae.Projection(max_iterations=50).bind(problem))(problem.t0, projected)
    yield "on the manifold", projected
    yield "off the manifold", near + 0.15 * rng.standard_normal(problem.n)


ROTATIONS = list(CHARTS)


def _about(axis: tuple[float, float, float], angle: float) -> Rotation:
    return Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis))


@dataclass(frozen=True)
class ChartCase:
    """What a chart is by scipy: parameters of a rotation, the matrix of any parameters, and rotations at an angle from
    a singular one, if the chart has any."""

    parameters: Callable[[Rotation], Any]
    matrix: Callable[[Any], Any]
    beside_singular: Callable[[float], Rotation] | None = None

    @property
    def n(self) -> int:
        """The number of parameters."""
        return len(self.parameters(_turn(0.7, -0.4, 1.1)))


def _along_axis(length: Callable[[float], float], angle: Callable[[float], float], edge: float | None) -> ChartCase:
    """A chart of parameters along the axis: their length by the angle and back, and the angle of a singular rotation,
    if the inverse map goes there."""

    def parameters(r: Rotation) -> Any:
        phi = r.magnitude()
        return r.as_rotvec() * (length(phi) / phi if phi > 0.0 else length(1e-9) / 1e-9)

    def matrix(a: Any) -> Any:
        size = float(np.linalg.norm(a))
        return Rotation.from_rotvec(a * (angle(size) / size) if size > 0.0 else a).as_matrix()

    beside = None if edge is None else lambda tilt: _about((0.3, -0.5, 0.8), edge - tilt)
    return ChartCase(parameters, matrix, beside)


CHART_CASES = {
    "quaternion": ChartCase(
        lambda r: r.as_quat()[[3, 0, 1, 2]],
        lambda a: a @ a * Rotation.from_quat(a[[1, 2, 3, 0]]).as_matrix(),
    ),
    "directors": ChartCase(lambda r: r.as_matrix().T.reshape(9), lambda a: a.reshape(3, 3).T),
    "euler-313": ChartCase(
        lambda r: r.as_euler("ZXZ"),
        lambda a: Rotation.from_euler("ZXZ", a).as_matrix(),
        lambda tilt: Rotation.from_euler("ZXZ", (0.3, tilt, 0.5)),
    ),
    "bryant-321": ChartCase(
        lambda r: r.as_euler("ZYX"),
        lambda a: Rotation.from_euler("ZYX", a).as_matrix(),
        lambda tilt: Rotation.from_euler("ZYX", (0.3, np.pi / 2 - tilt, 0.5)),
    ),
    "rotation-vector": _along_axis(lambda phi: phi, lambda size: size, None),
    "rodrigues": _along_axis(lambda phi: np.tan(phi / 2), lambda size: 2 * np.arctan(size), np.pi),
    "conformal": _along_axis(lambda phi: 4 * np.tan(phi / 4), lambda size: 4 * np.arctan(size / 4), None),
    "linear": _along_axis(np.sin, np.arcsin, np.pi / 2),
    "quaternion-vector": _along_axis(lambda phi: np.sin(phi / 2), lambda size: 2 * np.arcsin(size), np.pi),
}

SINGULAR = [name for name, case in CHART_CASES.items() if case.beside_singular is not None]
"""Charts that some rotation has no parameters in."""

REGULAR = [name for name, chart in CHARTS.items() if chart.distance is None]
"""Charts without a singular set."""


# ---------------------------------------------------------------- prescribed motions


def driven() -> rbdae.System:
    """Every drive: a carriage that is pushed along its rail with a pendulum on it, an arm that is turned, and a rod of
    prescribed length from the arm to a body of which a point follows a curve."""
    joints, drives = rbdae.joints, rbdae.drives
    system = rbdae.System(gravity=(0.3, -0.5, -9.81))
    tilt, swing = _turn(0.1, 0.2, 0.3), _turn(-0.3, 0.1, 0.2)
    cart = system.add_body("cart", mass=2.0, inertia=0.2 * INERTIA, position=(0.1, 0.0, 0.0), orientation=tilt)
    bob = system.add_body(
        "bob", mass=1.0, inertia=0.1 * INERTIA, center_of_mass=(0.1, 0.0, -0.1), position=(0.0, 0.0, -1.0),
        orientation=swing, angular_velocity=(0.4, 1.5, -0.3),
    )  # fmt: skip
    arm = system.add_body("arm", mass=0.5, inertia=0.1 * INERTIA, position=(0.0, 1.0, 0.0))
    tool = system.add_body(
        "tool", mass=0.7, inertia=0.15 * INERTIA, position=(1.0, 1.0, 0.0), angular_velocity=(0.5, 0.2, -0.6)
    )
    rail = system.add_joint(joints.Prismatic(system.ground, cart, axis_a=(1, 0, 0), axis_b=None))
    system.add_joint(
        joints.Revolute(
            cart,
            bob,
            at_b=swing.inv().apply((0, 0, 1.0)),
            axis_a=tilt.inv().apply((0, 1, 0)),
            axis_b=None,
        )
    )
    hinge = system.add_joint(
        joints.Revolute(system.ground, arm, at_a=(0, 1, 0), axis_a=(1, 0, 0), axis_b=(1, 0, 0), name="hinge")
    )
    system.add_joint(
        drives.PrescribedDisplacement(
            rail,
            (lambda t: 0.1 + 0.05 * np.sin(3 * t), lambda t: 0.15 * np.cos(3 * t), lambda t: -0.45 * np.sin(3 * t)),
            name="push",
        )
    )
    system.add_joint(
        drives.PrescribedAngle(hinge, (lambda t: 0.3 + 2 * t + t * t, lambda t: 2 + 2 * t, lambda t: 2.0), name="motor")
    )
    system.add_joint(
        drives.DrivenRod(
            arm,
            tool,
            (lambda t: 1 + 0.1 * np.sin(t), lambda t: 0.1 * np.cos(t), lambda t: -0.1 * np.sin(t)),
            at_b=(0.1, 0.2, 0.3),
            name="hoist",
        )
    )
    system.add_joint(
        drives.PointMotion(
            tool,
            system.ground,
            (lambda t: (1, 1 + 0.1 * t * t, 0.0), lambda t: (0, 0.2 * t, 0.0), lambda t: (0, 0.2, 0.0)),
            name="guide",
        )
    )
    return system


# ---------------------------------------------------------------- loops


def four_bar(closing: str = "plain", pendulum: bool = False, length: float = 0.6) -> rbdae.System:
    """A four-bar linkage in the plane of x and z, placed roughly. The last joint leaves the plane free to the others
    (`plain`), or is a hinge as they are (`redundant`): three of its equations then follow from theirs. A pendulum may
    hang beside it."""
    joints = rbdae.joints
    system = rbdae.System()
    data: dict[str, Any] = {"mass": 1.0, "inertia": (0.01, 0.1, 0.1)}
    # body frames have their x along the bar and their z across the plane, as Euler angles like it
    along, up = _turn(0.5 * np.pi, 0.0, 0.0), _turn(0.5 * np.pi, 0.0, 0.0) * _turn(0.0, 0.0, 0.5 * np.pi)
    a = system.add_body("a", position=(0.0, 0.0, 0.5), orientation=up, **data)
    b = system.add_body("b", position=(0.5, -0.05, 1.0), orientation=along, **data)
    c = system.add_body("c", position=(1.02, 0.0, 0.5), orientation=up, **data)
    ground = system.ground
    across: dict[str, Any] = {"axis_a": (0, -1, 0)}
    hinge: dict[str, Any] = across | {"axis_b": (0, 0, 1)}
    system.add_joint(joints.Revolute(ground, a, at_b=(-0.5, 0, 0), name="A", **hinge))
    system.add_joint(joints.Revolute(a, b, at_a=(0.5, 0, 0), at_b=(-0.5, 0, 0), axis_b=(0, 0, 1), name="B"))
    system.add_joint(joints.Revolute(b, c, at_a=(length, 0, 0), at_b=(0.5, 0, 0), axis_b=(0, 0, 1), name="C"))
    if closing == "redundant":
        system.add_joint(joints.Revolute(ground, c, at_a=(1, 0, 0), at_b=(-0.5, 0, 0), name="D", **hinge))
    else:
        system.add_joint(joints.PointOnLine(ground, c, at_a=(1, 0, 0), at_b=(-0.5, 0, 0), name="D", **across))
    if pendulum:
        bob = add_body(system, "bob", 0.8, (0.2, 0.3, 0.25))
        system.add_joint(joints.Spherical(ground, bob, at_a=(3.0, 0.0, 0.0), at_b=(0.1, 0.4, 0.0), name="hook"))
    return system


def closed(system: rbdae.System, change: Callable[[str], dict[str, Any]] = lambda name: {}) -> rbdae.System:
    """The system with its bodies where assembly puts them, and with changed initial values."""
    done = rbdae.assemble(system)

    def initial(body: Body) -> dict[str, Any]:
        k = done.names.index(body.name)
        turn = Rotation.from_quat(done.orientation[k][[1, 2, 3, 0]])
        place = done.position[k] - turn.apply(np.array(body.center_of_mass))
        return {
            "orientation": turn,
            "position": place,
            "velocity": np.zeros(3),
            "angular_velocity": np.zeros(3),
        } | change(body.name)

    return rebuild(system, initial=initial)


def turning_four_bar(closing: str = "plain", spin: float = 1.5, pendulum: bool = False) -> rbdae.System:
    """The linkage closed and moving: both ways to close it start from the same state."""
    place = closed(
        four_bar("plain", pendulum), lambda name: {"angular_velocity": (0.0, 0.0, spin)} if name == "a" else {}
    )
    values = {body.name: body for body in place.bodies}

    return rebuild(four_bar(closing, pendulum), initial=lambda body: initial_values(values[body.name]))

"""A system packed into arrays: what all formulations and charts share.

Free bodies are referred to their centre of mass, bodies with a pivot to the pivot; points of joints and forces are
shifted accordingly.
"""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from rbdae._arrays import Bools, Ints, Mat, Vec
from rbdae.actuators.network import elements_of
from rbdae.forces.element import Element, StateElement, UnderReaction
from rbdae.forces.packing import Packed, Trial, pack
from rbdae.inputs import Input
from rbdae.joints.base import Rheonomic
from rbdae.joints.primitives import Combination, Primitive
from rbdae.kernels.constraints.drives import ANGLE, LENGTH
from rbdae.kernels.memory import of_scalars
from rbdae.kernels.records import BODY, DRIVE, FRICTION, POINT, PRIMITIVE
from rbdae.kernels.user_functions import UserFunction
from rbdae.multibody.system.bodies import BodyMotion, body_rows, renumbered
from rbdae.quantities.coordinate import referred
from rbdae.system import System


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """The length, mass and rate of a model, by which tolerances compare lengths with angles, and both with rounding.

    A model of a watch and one of a crane are the same in other units: what is called redundant, closed or drifted must
    not depend on the unit. So every decision is made on numbers without one. They come from here and from nowhere else:

    * displacements are compared as x over `length`, and turns in radians;
    * violations of joint equations are compared with `sizes(length)`, those of velocities with these times `rate`;
    * positions are rounded by their distance from the origin: no violation falls below that of `reach`.

    Parameters
    ----------
    length : m; the largest radius of gyration, or distance of a joint from the reference point of a moving body
    reach : m; the largest of the length and the distances of bodies and joints from the origin of space at the start
    mass : kg; the largest of a body
    rate : 1/s; the largest of (gravity/length)^(1/2), the initial velocities over the length, (stiffness/mass)^(1/2) of
        springs between points; 1 for a model in which nothing of this is given
    arm, distance : m; the length and the reach without bodies' radii of gyration, whatever the masses
    factors : (rows,) of the sizes of joint equations
    lengths : (rows,) bool, which joint equations have a length in their size besides
    turning : (6 n,) bool, which components of (xdot, Omega) of all bodies are angular
    """

    length: float
    reach: float
    mass: float
    rate: float
    arm: float
    distance: float
    factors: Vec
    lengths: Bools
    turning: Bools

    def sizes(self, length: float) -> Vec:
        """The change of a joint equation when directions turn by a radian and points move by a length, (rows,): 1 for
        an angle, the length for a displacement, the length times that of the rod for half a square."""
        return np.where(self.lengths, length * self.factors, self.factors)

    def columns(self, G: Mat) -> Mat:
        """G (..., 6 n) with respect to velocities over `length`, where they are those of points."""
        return np.asarray(G * np.where(self.turning, 1.0, self.length))


@dataclass(frozen=True, slots=True)
class PackedJoint:
    """A joint's name, bodies by number, primitives, points from reference points, `AbstractJoint.velocity_rows`."""

    name: str
    bodies: tuple[int, int]
    primitives: range
    points: tuple[Vec, Vec]
    velocity_rows: tuple[Mat | None, Mat | None]


@dataclass(frozen=True, slots=True)
class Tree:
    """A spanning tree: `order` lists the bodies, parents first; `parent` and `joint` belong to bodies (-1: root, n: the
    ground); `closing` lists the joints that are not in the tree."""

    order: list[int]
    parent: list[int]
    joint: list[int]
    closing: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Packed arrays of a system; body numbers are in the order of addition, the ground comes last.

    `system` is as it was when it was packed: what is added to the user's one later is not in it. `user_functions` are
    those that the kernels call, `rheonomic` the laws of primitives by their numbers, `frictions` the elements that are
    friction under the reaction of a joint. `start` is the initial motion of the reference points as bodies have it,
    `scales` what tolerances are relative to. `explicit` forms have no algebraic unknowns of forces.
    """

    system: System
    names: tuple[str, ...]
    bodies: Any
    primitives: Any
    drives: Any
    user_functions: tuple[UserFunction, ...]
    rheonomic: dict[int, Rheonomic]
    forces: Packed
    frictions: Any
    joints: tuple[PackedJoint, ...]
    tree: Tree
    scales: Scales
    start: BodyMotion
    explicit: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are packed again: addresses of the user's functions are good in one process."""
        return compile_system, (self.system, self.explicit)

    @property
    def n(self) -> int:
        """Number of moving bodies."""
        return len(self.names)

    @property
    def functions(self) -> tuple[UserFunction, ...]:
        """The user's functions that kernels call, of drives and of forces."""
        return (*self.user_functions, *self.forces.functions)

    @property
    def joint_rows(self) -> Ints:
        """The number of equations of each joint, (joints,)."""
        return np.array([self.primitives["n"][list(joint.primitives)].sum() for joint in self.joints], dtype=np.int64)

    def row_name(self, row: int) -> str:
        """The name of a joint equation, counted over all joints, for messages."""
        sizes = self.joint_rows
        ends = np.cumsum(sizes)
        k = int(np.searchsorted(ends, row, side="right"))
        return f"joint {self.joints[k].name!r}, equation {row - ends[k] + sizes[k] + 1} of {sizes[k]}"


def _pack_drive(law: Rheonomic, primitive: int, places: Mapping[Input, int]) -> Any:
    row = np.zeros((), dtype=DRIVE)
    for k, each in enumerate(law.motion.inputs):
        if each not in places:
            raise ValueError(
                f"{law.motion.owner}: input {each.name!r} does not belong to this system; use what its own "
                "add_input has returned"
            )
        row["input"][k] = places[each]
    row["n_inputs"] = len(law.motion.inputs)
    row["law"] = law.motion.user_function.address
    row["kind"] = law.kind
    row["primitive"] = primitive
    if law.e1 is not None and law.e2 is not None:
        row["e1"] = law.e1
        row["e2"] = law.e2
    return row


def _primitive_rows(found: Sequence[tuple[Primitive, tuple[int, int]]], shift: Mat, dtype: Any) -> Any:
    rows = np.zeros(len(found), dtype=dtype)
    for row, (primitive, pair) in zip(rows, found, strict=True):
        first, second = shift[pair[0]], shift[pair[1]]
        row["linear"], row["n"], row["body"] = primitive.kind == "linear", primitive.rows, pair
        row["A"], row["B"] = referred(primitive.A, first, second), referred(primitive.B, first, second)
        row["scale"], row["offset"] = primitive.scale, primitive.offset
        if isinstance(primitive, Combination):
            row["A"] *= primitive.parts[0].scale
            for part, ends in zip(primitive.parts[1:], row["more"], strict=False):
                ends[:] = part.scale * referred(part.A, first, second), referred(part.B, first, second)
    return rows


def _pack_joints(system: System, scalar: Any = np.float64) -> dict[str, Any]:
    """The fields of a model that its joints fill: bodies by their numbers, points from their reference points."""
    number, shift = _references(system)
    dtype = of_scalars(PRIMITIVE, scalar)
    found: list[tuple[Primitive, tuple[int, int]]] = []
    drives: list[Any] = []
    functions: list[UserFunction] = []
    rheonomic: dict[int, Rheonomic] = {}
    joints: list[PackedJoint] = []
    laws: dict[int, int] = {}
    places = {each: k for k, each in enumerate(each for each in system.inputs if each not in system.sources)}
    for joint in system.joints:
        pair = (number[id(joint.bodies[0])], number[id(joint.bodies[1])])
        first = len(found)
        for primitive in joint.primitives():
            if isinstance(primitive, Combination):
                functions.append(primitive.law(f"joint {joint.name!r}"))
                laws[len(found)] = functions[-1].address
            found.append((primitive, pair))
        law = joint.rheonomic()
        if law is not None:
            law = replace(law, motion=law.motion.under(system.sources))
            drives.append(_pack_drive(law, first, places))
            functions.append(law.motion.user_function)
            rheonomic[first] = law
        points = (joint.at_a - shift[pair[0]], joint.at_b - shift[pair[1]])
        joints.append(PackedJoint(joint.name or "", pair, range(first, len(found)), points, joint.velocity_rows()))
    rows = _primitive_rows(found, shift, dtype)
    for k, law in rheonomic.items():
        rows[k]["moving"] = law.kind == ANGLE
    for k, address in laws.items():
        rows[k]["law"] = address
    return {
        "primitives": rows,
        "drives": np.array(drives, DRIVE),
        "user_functions": tuple(functions),
        "rheonomic": rheonomic,
        "joints": tuple(joints),
    }


def _friction_row(
    name: str, friction: UnderReaction, element: int, joints: Mapping[int, PackedJoint], dtype: Any
) -> Any:
    if id(friction.joint) not in joints:
        raise ValueError(
            f"force {name!r}: its joint is no constraint of the system, so it has no reaction; add it with "
            "system.add_joint(...), or give normal= a number"
        )
    joint, row = joints[id(friction.joint)], np.zeros((), dtype=dtype)
    row["element"], row["first"], row["last"] = element, joint.primitives.start, joint.primitives.stop
    row["body"], row["moments"], row["point"] = joint.bodies, friction.length is not None, joint.points[1]
    row["axis"] = getattr(friction.joint, "axis_a", 0.0)
    row["length"] = 1.0 if friction.length is None else friction.length
    row["floor"] = friction.floor
    return row


def _pack_forces(
    system: System,
    joints: Sequence[PackedJoint],
    start: BodyMotion,
    explicit: bool,
    scalar: Any = np.float64,
    t0: float | None = None,
) -> dict[str, Any]:
    """The fields of a model that its forces fill: elements, and the records of those that are friction under the
    reaction of a joint. With a time `t0` laws are called there and checked."""
    (number, shift), ground = _references(system), len(system.bodies)
    packed = {id(joint): each for joint, each in zip(system.joints, joints, strict=True)}
    friction = of_scalars(FRICTION, scalar)
    frictions: list[Any] = []
    elements: list[tuple[str, Element | StateElement, tuple[int, ...]]] = []
    for force, element, bodies in elements_of(system.forces, system.joints):
        name = force.name or ""
        a, b = [*(number[id(body)] for body in bodies), ground, ground][:2]
        if isinstance(element, Element) and element.reaction is not None:
            frictions.append(_friction_row(name, element.reaction, len(elements), packed, friction))
        own = element.bodies if isinstance(element, StateElement) else None
        elements.append((name, element, (a, b) if own is None else tuple(number[id(body)] for body in own)))
    trial = None if t0 is None else Trial(t0, [body.name for body in system.bodies], system.source)
    forces = pack(elements, shift, start.natural, scalar, system.inputs, system.sources, explicit, trial)
    return {"forces": forces, "frictions": np.array(frictions, dtype=friction)}


def spanning_tree(n: int, anchored: Sequence[bool], edges: Sequence[tuple[int, int]]) -> Tree:
    """Spanning tree of bodies 0..n-1 and the ground n by breadth-first search.

    A component's root is the ground where a joint leads there, else a body with a pivot (`anchored`), else the first
    body. The order of the bodies stays as given where it already has parents first.
    """
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n + 1)]
    for k, (a, b) in enumerate(edges):
        neighbours[a].append((b, k))
        neighbours[b].append((a, k))
    parent, joint = [-1] * n, [-1] * n
    seen = [False] * n + [True]
    order: list[int] = []
    used: set[int] = set()

    def grow(root: int) -> None:
        queue = deque([root])
        while queue:
            a = queue.popleft()
            for b, k in neighbours[a]:
                if not seen[b]:
                    seen[b] = True
                    parent[b], joint[b] = a, k
                    used.add(k)
                    order.append(b)
                    queue.append(b)

    grow(n)
    for first in (True, False):
        for a in range(n):
            if not seen[a] and (anchored[a] or not first):
                seen[a] = True
                order.append(a)
                grow(a)
    if all(parent[a] in (-1, n) or parent[a] < a for a in range(n)):
        order = list(range(n))
    return Tree(order, parent, joint, [k for k in range(len(edges)) if k not in used])


def _references(system: System) -> tuple[dict[int, int], Mat]:
    """The bodies' numbers, and their reference points (n + 1, 3); the ground is the last."""
    bodies = (*system.bodies, system.ground)
    return {id(body): k for k, body in enumerate(bodies)}, np.array([body.reference for body in bodies])


def _measured(
    bodies: Any,
    primitives: Any,
    rheonomic: Mapping[int, Any],
    joints: Sequence[Any],
    elements: Any,
    gravity: Vec,
    motion: BodyMotion,
    alike: Scales | None = None,
) -> Scales:
    """The scales at an initial motion; `joints` have points on bodies; `alike` has the same joints and positions."""
    n, start = len(motion.x), motion.places
    masses = bodies["mass"][:n]
    mass, turning = float(masses.max()), math.sqrt((bodies["inertia"][:n].trace(axis1=1, axis2=2) / masses).max())
    if alike is None:
        of = np.array([body for joint in joints for body in joint.bodies], dtype=int)
        points = np.array([point for joint in joints for point in joint.points]).reshape(-1, 3)
        ends = start[of, :3] + np.einsum("ai,aij->aj", points, start[of, 3:].reshape(-1, 3, 3))
        arm = _longest(points[of < n])
        distance = max(float(np.abs(start[:, :3]).max()), float(np.abs(ends).max(initial=0.0)))
    else:
        arm, distance = alike.arm, alike.distance
    length = max(turning, arm)
    reach = max(length, distance)
    rates = [math.sqrt(math.sqrt(gravity @ gravity) / length), _longest(motion.xd) / length, _longest(motion.om)]
    if len(elements):
        springs = elements["stiffness"][elements["shaping"] == POINT]
        rates.append(math.sqrt(springs.max(initial=0.0) / mass))
    if alike is not None and alike.length == length:
        return replace(alike, reach=reach, mass=mass, rate=max(rates) or 1.0)
    sizes = [_size(p, start, i in rheonomic and rheonomic[i].kind == LENGTH) for i, p in enumerate(primitives)]
    rows = [size for n_rows, size in zip(primitives["n"].tolist(), sizes, strict=True) for _ in range(n_rows)]
    return Scales(
        length=length,
        reach=reach,
        mass=mass,
        rate=max(rates) or 1.0,
        arm=arm,
        distance=distance,
        factors=np.array([factor or length for factor, _ in rows], dtype=float),
        lengths=np.array([long for _, long in rows], dtype=bool),
        turning=np.arange(6 * n) % 6 >= 3,
    )


def _longest(vectors: Mat) -> float:
    """The largest length of vectors (n, 3); 0 of none."""
    return math.sqrt((vectors * vectors).sum(axis=1).max(initial=0.0))


def _size(p: Any, start: Mat, driven_length: bool) -> tuple[float, bool]:
    """The factor of the size of a primitive's equations, and whether a length comes to it."""
    if p["linear"]:
        return 1.0, True
    points = [bool(p[name][0] or p[name][4]) for name in ("A", "B")]
    if all(points):  # half a square: the rod's length, or its own at the start where it is driven
        Z = np.concatenate([start[b].reshape(4, 3) for b in p["body"]])
        l2 = float(2.0 * abs(p["offset"][0])) if not driven_length else 0.0
        return float(np.sqrt(l2)) or float(np.linalg.norm(p["A"] @ Z)), True
    norms = [float(np.linalg.norm(p[name])) for name, point in zip(("A", "B"), points, strict=True) if not point]
    return float(np.prod(norms)), any(points)


def compile_system(system: System, explicit: bool = False, t0: float | None = None) -> Model:
    """Pack a system, for `explicit` forms or for others; with a time `t0` the laws of its forces and drives are called
    there and checked. Every joint and force kind is known here by its data, never by its class name."""
    bodies = system.bodies
    if not bodies:
        raise ValueError("the system has no body: add one with system.add_body(...)")
    shift = _references(system)[1]
    start = BodyMotion.stated(bodies).at(shift[:-1])
    rows, joints = body_rows(system, BODY), _pack_joints(system)
    pairs = [joint.bodies for joint in joints["joints"]]
    tree = spanning_tree(len(bodies), [body.pivot is not None for body in bodies], pairs)
    forces = _pack_forces(system, joints["joints"], start, explicit, t0=t0)
    of_joints = joints["primitives"], joints["rheonomic"], joints["joints"]
    scales = _measured(rows, *of_joints, forces["forces"].elements, system.gravity, start)
    if t0 is not None:
        for law in joints["rheonomic"].values():
            law.motion.check(t0, 1.0 / scales.rate, 1.0 if law.kind == ANGLE else scales.length)
    names = tuple(body.name for body in bodies)
    return Model(
        copy.copy(system), names, rows, **joints, **forces, tree=tree, scales=scales, start=start, explicit=explicit
    )


def with_numbers(model: Model, system: System, *, forces_too: bool) -> Model:
    """The model of a system with other masses, inertias and gravity, and other numbers of forces if `forces_too`."""
    rows = renumbered(model.bodies, model.system, system)
    if forces_too:
        model = replace(model, **_pack_forces(system, model.joints, model.start, model.explicit))
    joints = model.primitives, model.rheonomic, model.joints
    scales = _measured(rows, *joints, model.forces.elements, system.gravity, model.start, alike=model.scales)
    return replace(model, system=copy.copy(system), bodies=rows, scales=scales)


def varied(model: Model, system: System, scalar: Any = complex) -> Model:
    """The model of a system with a number that has an imaginary part, or with symbols (`scalar` is object)."""
    joints = _pack_joints(system, scalar)
    joints = {name: joints[name] for name in ("primitives", "joints")}
    joints["primitives"]["law"] = model.primitives["law"]  # whose functions live as long as the model
    forces = _pack_forces(system, joints["joints"], model.start, model.explicit, scalar)
    return replace(model, bodies=body_rows(system, of_scalars(BODY, scalar)), **joints, **forces)

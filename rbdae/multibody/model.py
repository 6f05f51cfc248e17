"""A system packed into arrays: what all formulations and charts share.

Free bodies are referred to their centre of mass, bodies with a pivot to the pivot; points of joints and forces are
shifted accordingly.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec, copied, cross
from rbdae.actuators.network import elements_of
from rbdae.forces.checks import check_laws
from rbdae.forces.element import AnyElement, Element, PointSpring, StateElement
from rbdae.forces.packing import KernelElement, Packed, pack
from rbdae.inputs import Input
from rbdae.joints.base import Rheonomic
from rbdae.joints.primitives import Primitive
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.kernels.memory import of_scalars
from rbdae.kernels.records import BODY, BUSHING, DRIVE, FRICTION, PRIMITIVE
from rbdae.laws.user_functions import UserFunction
from rbdae.multibody.body_records import body_row, body_rows
from rbdae.multibody.graph import Tree, spanning_tree
from rbdae.multibody.scales import Scales, measured
from rbdae.rotations.euler_map import rotation_matrices
from rbdae.system import Body, System


@dataclass(frozen=True, slots=True)
class PackedJoint:
    """A joint's name, its bodies by number, its primitives and points (from the bodies' reference points), and its
    `AbstractJoint.velocity_rows`."""

    name: str
    bodies: tuple[int, int]
    primitives: range
    points: tuple[Vec, Vec]
    velocity_rows: tuple[Mat | None, Mat | None]


def pack_frictions(
    system: System, joints: Sequence[PackedJoint], elements: Sequence[Any], packed: Packed, scalar: Any = np.float64
) -> Any:
    """The elements that are friction under the reaction of a joint; their records get their numbers."""
    out: list[Any] = []
    place = {id(joint): k for k, joint in enumerate(system.joints)}
    for i, (name, element, _) in enumerate(elements):
        friction = element.reaction if isinstance(element, Element) else None
        if friction is None:
            continue
        if id(friction.joint) not in place:
            raise ValueError(
                f"force {name!r}: its joint is no constraint of the system, so it has no reaction; add it with "
                "system.add_joint(...), or give normal= a number"
            )
        joint = joints[place[id(friction.joint)]]
        row = np.zeros((), dtype=of_scalars(FRICTION, scalar))
        row["element"], row["first"], row["last"] = i, joint.primitives.start, joint.primitives.stop
        row["body"], row["moments"], row["point"] = joint.bodies, friction.length is not None, joint.points[1]
        row["axis"] = getattr(friction.joint, "axis_a", 0.0)
        row["length"] = 1.0 if friction.length is None else friction.length
        row["floor"] = friction.floor
        out.append(row)
        packed.elements["reaction"][i] = len(out)
    return np.array(out, dtype=of_scalars(FRICTION, scalar))


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Packed arrays of a system; body numbers are in the order of addition, the ground comes last.

    `system` is as it was when it was packed: what is added to the user's one later is not in it. `user_functions` are
    those that the kernels call, `rheonomic` the laws of primitives by their numbers, `frictions` the elements that are
    friction under the reaction of a joint.
    `x`, `p`, `xd`, `om` are the initial reference points, quaternions, velocities and material angular velocities.
    `scales` is what tolerances are relative to. `explicit` forms have no algebraic unknowns of forces.
    """

    system: System
    names: tuple[str, ...]
    bodies: Any
    primitives: Any
    bushings: Any
    drives: Any
    user_functions: tuple[UserFunction, ...]
    rheonomic: dict[int, Rheonomic]
    forces: Packed
    frictions: Any
    joints: tuple[PackedJoint, ...]
    tree: Tree
    scales: Scales
    x: Mat
    p: Mat
    xd: Mat
    om: Mat
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

    def row_name(self, row: int) -> str:
        """The name of a joint equation, counted over all joints, for messages."""
        for joint in self.joints:
            n = sum(int(self.primitives[k]["n"]) for k in joint.primitives)
            if row < n:
                return f"joint {joint.name!r}, equation {row + 1} of {n}"
            row -= n
        raise IndexError(f"no joint row {row}")


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


def _shift(A: Vec, c1: Vec, c2: Vec) -> Vec:
    out = A.astype(np.result_type(A, c1, c2))
    if A[0]:
        out[1:4] -= A[0] * c1
    if A[4]:
        out[5:8] -= A[4] * c2
    return out


def _primitive_rows(found: Sequence[tuple[Primitive, tuple[int, int]]], shift: Sequence[Vec], dtype: Any) -> Any:
    """The records of primitives between two bodies each."""
    rows = np.zeros(len(found), dtype=dtype)
    for row, (primitive, pair) in zip(rows, found, strict=True):
        first, second = shift[pair[0]], shift[pair[1]]
        row["linear"], row["n"], row["body"] = primitive.kind == "linear", primitive.rows, pair
        row["A"], row["B"] = _shift(primitive.A, first, second), _shift(primitive.B, first, second)
        row["scale"], row["offset"] = primitive.scale, primitive.offset
    return rows


def _bushing_row(spring: PointSpring, pair: tuple[int, int], shift: Sequence[Vec], dtype: Any) -> Any:
    row = np.zeros((), dtype=dtype)
    row["body"] = pair
    row["A"] = _shift(spring.A, *(shift[b] for b in pair))
    row["stiffness"] = spring.stiffness
    row["damping"] = spring.damping
    row["damped"] = bool(np.any(spring.damping))
    return row


@dataclass(frozen=True, slots=True, eq=False)
class _Joints:
    """The data that the joints of a system are packed into."""

    primitives: Any
    drives: Any
    user_functions: tuple[UserFunction, ...]
    rheonomic: dict[int, Rheonomic]
    joints: tuple[PackedJoint, ...]


def _pack_joints(system: System, number: Mapping[int, int], shift: Sequence[Vec], scalar: Any) -> _Joints:
    """Bodies by their numbers, points from their reference points."""
    dtype = of_scalars(PRIMITIVE, scalar)
    found: list[tuple[Primitive, tuple[int, int]]] = []
    drives: list[Any] = []
    functions: list[UserFunction] = []
    rheonomic: dict[int, Rheonomic] = {}
    joints: list[PackedJoint] = []
    places = {each: k for k, each in enumerate(each for each in system.inputs if each not in system.sources)}
    for joint in system.joints:
        pair = (number[id(joint.bodies[0])], number[id(joint.bodies[1])])
        first = len(found)
        found += [(primitive, pair) for primitive in joint.primitives()]
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
    return _Joints(rows, np.array(drives, DRIVE), tuple(functions), rheonomic, tuple(joints))


def _sorted_forces(
    parts: Iterable[tuple[str, AnyElement, tuple[Body, ...]]],
    number: Mapping[int, int],
    shift: Sequence[Vec],
    scalar: Any = np.float64,
) -> tuple[Any, list[tuple[str, KernelElement, tuple[int, ...]]]]:
    """Springs between points, which are bushings to the kernels, and all other elements with names and bodies."""
    springs: list[Any] = []
    dtype, ground = of_scalars(BUSHING, scalar), len(shift) - 1
    elements: list[tuple[str, KernelElement, tuple[int, ...]]] = []
    for name, element, bodies in parts:
        a, b = [*(number[id(body)] for body in bodies), ground, ground][:2]
        if isinstance(element, PointSpring):
            springs.append(_bushing_row(element, (a, b), shift, dtype))
        else:
            own = element.bodies if isinstance(element, StateElement) else None
            numbers = (a, b) if own is None else tuple(number[id(body)] for body in own)
            elements.append((name, element, numbers))
    return np.array(springs, dtype=dtype), elements


def _packed(system: System, *given: Any, explicit: bool) -> Packed:
    """The elements of forces with the inputs of the system."""
    return pack(*given, inputs=system.inputs, sources=system.sources, explicit=explicit)


def _initial_motion(system: System, shift: Sequence[Vec]) -> tuple[Mat, Mat, Mat, Mat, Mat]:
    """x, p, xd, om of the reference points, and R."""
    bodies = system.bodies
    p = np.array([body.orientation for body in bodies])
    R = rotation_matrices(p)
    om = np.array([body.angular_velocity for body in bodies])
    arm = np.array(shift[: len(bodies)])
    x = np.array([body.position for body in bodies]) + np.einsum("bij,bj->bi", R, arm)
    xd = np.array([body.velocity for body in bodies]) + np.einsum("bij,bj->bi", R, cross(om, arm))
    return x, p, xd, om, R


def _references(system: System) -> tuple[dict[int, int], list[Vec]]:
    """The bodies' numbers, and their reference points; the ground is the last."""
    bodies = (*system.bodies, system.ground)
    return {id(body): k for k, body in enumerate(bodies)}, [body.reference for body in bodies]


def _start(x: Mat, R: Mat) -> Mat:
    """The initial (x, d1, d2, d3) of bodies and the ground."""
    ground = np.concatenate([np.zeros(3), np.eye(3).reshape(9)])
    return np.vstack([np.hstack([x, np.swapaxes(R, 1, 2).reshape(len(x), 9)]), ground])


def compile_system(system: System, explicit: bool = False, t0: float | None = None) -> Model:
    """Pack a system, for `explicit` forms or for others; with a time `t0` the laws of its forces are called there and
    checked. Every joint and force kind is known here by its data, never by its class name."""
    bodies = system.bodies
    n = len(bodies)
    if n == 0:
        raise ValueError("the system has no body: add one with system.add_body(...)")
    number, shift = _references(system)
    parts = [*elements_of(system.forces, system.joints)]
    if t0 is not None:
        check_laws(parts, t0, system.source)
    joints = _pack_joints(system, number, shift, np.float64)
    bushings, elements = _sorted_forces(parts, number, shift)
    x, p, xd, om, R = _initial_motion(system, shift)
    start = _start(x, R)
    rows = body_rows(system, BODY)
    arms = [arm for joint in joints.joints for arm in zip(joint.bodies, joint.points, strict=True)]
    forces = _packed(system, elements, shift, start, explicit=explicit)
    return Model(
        system=copy.copy(system),
        names=tuple(body.name for body in bodies),
        bodies=rows,
        primitives=joints.primitives,
        bushings=bushings,
        drives=joints.drives,
        user_functions=joints.user_functions,
        rheonomic=joints.rheonomic,
        forces=forces,
        frictions=pack_frictions(system, joints.joints, elements, forces),
        joints=joints.joints,
        tree=spanning_tree(n, [body.pivot is not None for body in bodies], [joint.bodies for joint in joints.joints]),
        scales=measured(rows, joints.primitives, joints.rheonomic, arms, bushings, system.gravity, start, xd, om),
        x=x,
        p=p,
        xd=xd,
        om=om,
        explicit=explicit,
    )


def with_numbers(model: Model, system: System, *, forces_too: bool) -> Model:
    """The model of a system that has other masses, inertias and gravity, and other numbers of forces if `forces_too`;
    all else is the same."""
    bodies, old = system.bodies, model.system.bodies
    heavier = not np.array_equal(system.gravity, model.system.gravity)
    rows = copied(model.bodies)
    for k, (body, before) in enumerate(zip(bodies, old, strict=True)):
        if heavier or body is not before:
            rows[k] = body_row(body, system.gravity)
    start = _start(model.x, rotation_matrices(model.p))
    bushings, forces, frictions = model.bushings, model.forces, model.frictions
    if forces_too:
        number, shift = _references(system)
        bushings, elements = _sorted_forces(elements_of(system.forces, system.joints), number, shift)
        forces = _packed(system, elements, shift, start, explicit=model.explicit)
        frictions = pack_frictions(system, model.joints, elements, forces)
    arms = [arm for joint in model.joints for arm in zip(joint.bodies, joint.points, strict=True)]
    joints = rows, model.primitives, model.rheonomic, arms
    scales = measured(*joints, bushings, system.gravity, start, model.xd, model.om, alike=model.scales)
    own: Any = {"bushings": bushings, "forces": forces, "frictions": frictions, "scales": scales}
    return replace(model, system=copy.copy(system), bodies=rows, **own)


def varied(model: Model, system: System) -> Model:
    """The model of a system in which one number has an imaginary part: so have its records; all else is the same."""
    number, shift = _references(system)
    joints = _pack_joints(system, number, shift, complex)
    bushings, elements = _sorted_forces(elements_of(system.forces, system.joints), number, shift, complex)
    start = _start(model.x, rotation_matrices(model.p))
    forces = _packed(system, elements, shift, start, complex, explicit=model.explicit)
    bodies = body_rows(system, of_scalars(BODY, complex))
    return replace(
        model,
        bodies=bodies,
        primitives=joints.primitives,
        bushings=bushings,
        forces=forces,
        frictions=pack_frictions(system, joints.joints, elements, forces, complex),
        joints=joints.joints,
    )

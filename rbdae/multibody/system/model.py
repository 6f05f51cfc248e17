"""A system packed into arrays: what all formulations and charts share.

Free bodies are referred to their centre of mass, bodies with a pivot to the pivot; points of joints and forces are
shifted accordingly.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rbdae._arrays import Ints, Mat, Vec, copied
from rbdae.actuators.network import elements_of
from rbdae.forces.checks import check_laws
from rbdae.forces.element import Element, StateElement, UnderReaction
from rbdae.forces.packing import Packed, pack
from rbdae.inputs import Input
from rbdae.joints.base import Rheonomic
from rbdae.joints.primitives import Primitive
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.kernels.memory import of_scalars
from rbdae.kernels.records import BODY, DRIVE, FRICTION, PRIMITIVE
from rbdae.kernels.user_functions import UserFunction
from rbdae.multibody.system.bodies import BodyMotion, body_row, body_rows
from rbdae.multibody.system.graph import Tree, spanning_tree
from rbdae.multibody.system.scales import Scales, measured
from rbdae.quantities.forms import referred
from rbdae.system import System


@dataclass(frozen=True, slots=True)
class PackedJoint:
    """A joint's name, its bodies by number, its primitives and points (from the bodies' reference points), and its
    `AbstractJoint.velocity_rows`."""

    name: str
    bodies: tuple[int, int]
    primitives: range
    points: tuple[Vec, Vec]
    velocity_rows: tuple[Mat | None, Mat | None]


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
    """The records of primitives between two bodies each."""
    rows = np.zeros(len(found), dtype=dtype)
    for row, (primitive, pair) in zip(rows, found, strict=True):
        first, second = shift[pair[0]], shift[pair[1]]
        row["linear"], row["n"], row["body"] = primitive.kind == "linear", primitive.rows, pair
        row["A"], row["B"] = referred(primitive.A, first, second), referred(primitive.B, first, second)
        row["scale"], row["offset"] = primitive.scale, primitive.offset
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
    """An element that is friction under the reaction of a joint."""
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
    for name, element, bodies in elements_of(system.forces, system.joints):
        a, b = [*(number[id(body)] for body in bodies), ground, ground][:2]
        if isinstance(element, Element) and element.reaction is not None:
            frictions.append(_friction_row(name, element.reaction, len(elements), packed, friction))
        own = element.bodies if isinstance(element, StateElement) else None
        elements.append((name, element, (a, b) if own is None else tuple(number[id(body)] for body in own)))
    if t0 is not None and elements:
        check_laws(elements, start.natural, [body.name for body in system.bodies], t0, system.source)
    forces = pack(elements, shift, start.places, scalar, system.inputs, system.sources, explicit)
    return {"forces": forces, "frictions": np.array(frictions, dtype=friction)}


def _references(system: System) -> tuple[dict[int, int], Mat]:
    """The bodies' numbers, and their reference points (n + 1, 3); the ground is the last."""
    bodies = (*system.bodies, system.ground)
    return {id(body): k for k, body in enumerate(bodies)}, np.array([body.reference for body in bodies])


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
    scales = measured(rows, *of_joints, forces["forces"].elements, system.gravity, start)
    if t0 is not None:
        for law in joints["rheonomic"].values():
            law.motion.check(t0, 1.0 / scales.rate, 1.0 if law.kind == ANGLE else scales.length)
    names = tuple(body.name for body in bodies)
    return Model(
        copy.copy(system), names, rows, **joints, **forces, tree=tree, scales=scales, start=start, explicit=explicit
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
    if forces_too:
        model = replace(model, **_pack_forces(system, model.joints, model.start, model.explicit))
    joints = model.primitives, model.rheonomic, model.joints
    scales = measured(rows, *joints, model.forces.elements, system.gravity, model.start, alike=model.scales)
    return replace(model, system=copy.copy(system), bodies=rows, scales=scales)


def varied(model: Model, system: System) -> Model:
    """The model of a system in which one number has an imaginary part: so have its records; all else is the same."""
    joints = _pack_joints(system, complex)
    joints = {name: joints[name] for name in ("primitives", "joints")}
    forces = _pack_forces(system, joints["joints"], model.start, model.explicit, complex)
    return replace(model, bodies=body_rows(system, of_scalars(BODY, complex)), **joints, **forces)

"""A system packed into arrays: what all formulations and charts share.

Free bodies are referred to their centre of mass, bodies with a pivot to the pivot; points of joints and forces are
shifted accordingly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.body import Body
from rbdae.compiler.user_functions import UserFunction
from rbdae.forces.element import PointSpring
from rbdae.forces.packing import KernelElement, Packed, pack
from rbdae.joints.base import Rheonomic
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.kernels.records import BODY, BUSHING, DRIVE, PRIMITIVE
from rbdae.multibody.graph import Tree, spanning_tree
from rbdae.rotations.euler_map import rotation_matrices
from rbdae.system import System


@dataclass(frozen=True, slots=True)
class PackedJoint:
    """A joint's name, its bodies by number, its primitives and points (from the bodies' reference points), and the
    freedoms that it leaves its bodies (`AbstractJoint.velocity_rows`)."""

    name: str
    bodies: tuple[int, int]
    primitives: range
    points: tuple[Vec, Vec]
    freedoms: tuple[Mat | None, Mat | None]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Packed arrays of a system; body numbers are in the order of addition, the ground comes last.

    `foreign` are the user's functions that the kernels call, `rheonomic` the laws of primitives by their numbers.
    `x`, `p`, `xd`, `om` are the initial reference points, quaternions, velocities and material angular velocities.
    """

    system: System
    names: tuple[str, ...]
    bodies: Any
    primitives: Any
    bushings: Any
    drives: Any
    foreign: tuple[UserFunction, ...]
    rheonomic: dict[int, Rheonomic]
    forces: Packed
    joints: tuple[PackedJoint, ...]
    tree: Tree
    x: Mat
    p: Mat
    xd: Mat
    om: Mat

    @property
    def n(self) -> int:
        """Number of moving bodies."""
        return len(self.names)

    def row_name(self, row: int) -> str:
        """The name of a joint equation, counted over all joints, for messages."""
        for joint in self.joints:
            n = sum(int(self.primitives[k]["n"]) for k in joint.primitives)
            if row < n:
                return f"joint {joint.name!r}, equation {row + 1} of {n}"
            row -= n
        raise IndexError(f"no joint row {row}")


def _pack_body(row: Any, body: Body, gravity: Vec) -> None:
    row["mass"] = body.mass
    row["inertia"] = body.inertia
    row["inertia_inverse"] = np.linalg.inv(body.inertia)
    euler = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    row["euler"] = euler
    # a flat body has a singular Euler tensor: the forms that need the inverse refuse it by name
    if abs(np.linalg.det(euler)) > 1e-12 * np.trace(body.inertia) ** 3:
        row["euler_inverse"] = np.linalg.inv(euler)
    else:
        row["euler_inverse"] = np.nan
    row["radial"] = 0.5 * np.trace(body.inertia)
    row["center"] = body.center_of_mass
    row["nt"] = 3 if body.pivot is None else 0
    if body.pivot is None:
        row["weight"] = body.mass * gravity
    else:
        row["origin"] = body.pivot
        row["weight_d"] = np.outer(body.center_of_mass, body.mass * gravity).reshape(9)


def _pack_drive(law: Rheonomic, primitive: int) -> Any:
    row = np.zeros((), dtype=DRIVE)
    row["law"] = law.motion.user_function.address
    row["kind"] = law.kind
    row["primitive"] = primitive
    if law.e1 is not None and law.e2 is not None:
        row["e1"] = law.e1
        row["e2"] = law.e2
    return row


def _shift(A: Vec, c1: Vec, c2: Vec) -> Vec:
    out = A.copy()
    out[1:4] -= A[0] * c1
    out[5:8] -= A[4] * c2
    return out


def compile_system(system: System) -> Model:
    """Pack a system. Every joint and force kind is known here by its data, never by its class name."""
    bodies = system.bodies
    n = len(bodies)
    if n == 0:
        raise ValueError("the system has no body: add one with system.add_body(...)")
    number = {id(body): k for k, body in enumerate(bodies)}
    number[id(system.ground)] = n
    packed = np.zeros(n + 1, dtype=BODY)
    packed["parent"] = -1
    packed["fixed"][n] = 1
    packed["mass"][n] = 1.0  # divided by in places that do not count for the ground
    for k, body in enumerate(bodies):
        _pack_body(packed[k], body, system.gravity)
    shift = [body.reference for body in (*bodies, system.ground)]

    rows: list[Any] = []
    joints: list[PackedJoint] = []
    drives: list[Any] = []
    foreign: list[UserFunction] = []
    rheonomic: dict[int, Rheonomic] = {}
    for joint in system.joints:
        a, b = (number[id(body)] for body in joint.bodies)
        first = len(rows)
        for primitive in joint.primitives():
            row = np.zeros((), dtype=PRIMITIVE)
            row["linear"] = primitive.kind == "linear"
            row["n"] = primitive.rows
            row["body"] = (a, b)
            row["A"] = _shift(primitive.A, shift[a], shift[b])
            row["B"] = _shift(primitive.B, shift[a], shift[b])
            row["scale"] = primitive.scale
            row["offset"] = primitive.offset
            rows.append(row)
        law = joint.rheonomic()
        if law is not None:
            drives.append(_pack_drive(law, first))
            rows[first]["moving"] = law.kind == ANGLE
            foreign.append(law.motion.user_function)
            rheonomic[first] = law
        points = (joint.at_a - shift[a], joint.at_b - shift[b])
        joints.append(PackedJoint(joint.name or "", (a, b), range(first, len(rows)), points, joint.velocity_rows()))
    primitives = np.array(rows, dtype=PRIMITIVE) if rows else np.zeros(0, dtype=PRIMITIVE)

    springs: list[Any] = []
    elements: list[tuple[str, KernelElement, tuple[int, int]]] = []
    for force in system.forces:
        a, b = [*(number[id(body)] for body in force.bodies), n][:2]
        for element in force.elements():
            if not isinstance(element, PointSpring):
                elements.append((force.name or "", element, (a, b)))
                continue
            row = np.zeros((), dtype=BUSHING)
            row["body"] = (a, b)
            row["A"] = _shift(element.A, shift[a], shift[b])
            row["stiffness"] = element.stiffness
            row["damping"] = element.damping
            row["damped"] = bool(np.any(element.damping))
            springs.append(row)
    bushings = np.array(springs, dtype=BUSHING) if springs else np.zeros(0, dtype=BUSHING)

    p = np.array([body.orientation for body in bodies])
    R = rotation_matrices(p)
    om = np.array([body.angular_velocity for body in bodies])
    arm = np.array(shift[:n])
    x = np.array([body.position for body in bodies]) + np.einsum("bij,bj->bi", R, arm)
    xd = np.array([body.velocity for body in bodies]) + np.einsum("bij,bj->bi", R, np.cross(om, arm))
    ground = np.concatenate([np.zeros(3), np.eye(3).reshape(9)])
    start = np.vstack([np.hstack([x, np.swapaxes(R, 1, 2).reshape(n, 9)]), ground])
    forces = pack(elements, shift, start)
    if forces.n_states:
        raise NotImplementedError(f"internal state {forces.state_labels[0]!r}: no formulation has states of forces yet")
    tree = spanning_tree(n, [body.pivot is not None for body in bodies], [joint.bodies for joint in joints])
    return Model(
        system=system,
        names=tuple(body.name for body in bodies),
        bodies=packed,
        primitives=primitives,
        bushings=bushings,
        drives=np.array(drives, dtype=DRIVE) if drives else np.zeros(0, dtype=DRIVE),
        foreign=tuple(foreign),
        rheonomic=rheonomic,
        forces=forces,
        joints=tuple(joints),
        tree=tree,
        x=x,
        p=p,
        xd=xd,
        om=om,
    )

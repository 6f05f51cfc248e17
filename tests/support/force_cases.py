"""One system for each kind of force, for the laws of `test_forces.py`: free bodies, a pivot, the ground."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from by_numba import njit
from cases import INERTIA, add_body
from inside import Vec
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.body import Body
from rbdae.forces import (
    Bushing,
    Contact,
    Coulomb,
    Force,
    Friction,
    Limit,
    Motor,
    SpringDamper,
    Torque,
    TorsionalSpringDamper,
    TranslationalSpringDamper,
    UserForce,
)
from rbdae.joints import AbstractAxialJoint, Cylindrical, Planar, Prismatic, Revolute, Spherical, Universal

P, Q = np.array((0.3, -0.2, 0.4)), np.array((-0.1, 0.5, 0.2))


def turn(*rotvec: float) -> Any:
    return Rotation.from_rotvec(rotvec)


AXIS_A, AXIS_B = turn(0.4, -0.3, 0.2).as_matrix(), turn(-0.2, 0.5, 0.6).as_matrix()


AXIAL = {
    "revolute": Revolute,
    "prismatic": Prismatic,
    "cylindrical": Cylindrical,
    "planar": Planar,
    "universal": Universal,
}


def axial(a: Body, b: Body, free: str) -> AbstractAxialJoint:
    """A joint with axes, of which only the geometry counts here: no system has it, the bodies move as they like."""
    axes: dict[str, Any] = {
        "axis_a": AXIS_A[:, 2], "axis_b": AXIS_B[:, 2], "normal_a": AXIS_A[:, 0], "normal_b": AXIS_B[:, 0]
    }  # fmt: skip
    return AXIAL[free](a, b, at_a=P, at_b=Q, **axes)


def two_bodies(gravity: Any = (0.3, -0.5, -9.0), pivot: bool = False) -> tuple[rbdae.System, Body, Body]:
    """A free body with an offset centre of mass and another one, free or with a pivot."""
    system = rbdae.System(gravity=gravity)
    a = add_body(system, "a", 2.0, INERTIA)
    moving: dict[str, Any] = {} if pivot else {"velocity": (-0.2, 0.4, 0.1)}
    b = add_body(system, "b", 1.1, 0.6 * INERTIA, pivot=pivot, **moving)
    return system, a, b


STIFF = turn(0.3, 0.5, -0.2).as_matrix() @ np.diag((40.0, 90.0, 10.0)) @ turn(0.3, 0.5, -0.2).as_matrix().T
DAMP = turn(0.1, 0.7, 0.4).as_matrix() @ np.diag((1.0, 0.3, 2.0)) @ turn(0.1, 0.7, 0.4).as_matrix().T


def wave(t: float) -> float:
    return 3.0 + math.cos(2.0 * t)


@njit
def gusts(t):
    return np.array((math.sin(t) - 2.0, 1.0 + t, 0.5))


@njit
def mesh(t, x, out):
    """A nonlinear force between two points x_a and x_b that is no element: -(1 + v . P) |P|^2 P, v = Pdot."""
    p = x[0:3] - x[12:15]
    v = x[24:27] - x[36:39]
    size = (1.0 + (v * p).sum()) * (p * p).sum()
    for k in range(24):
        out[k] = 0.0
    for k in range(3):
        out[k] = -size * p[k]
        out[12 + k] = size * p[k]


@njit
def mesh_jacobian(t, x, out):
    p = x[0:3] - x[12:15]
    v = x[24:27] - x[36:39]
    u = 1.0 + (v * p).sum()
    n = (p * p).sum()
    for k in range(1152):
        out[k] = 0.0
    for i in range(3):
        for j in range(3):
            k = -p[i] * (v[j] * n + 2.0 * u * p[j])
            if i == j:
                k -= u * n
            d = -p[i] * n * p[j]
            for side in range(2):
                for other in range(2):
                    sign = 1.0 if side == other else -1.0
                    out[24 * (12 * side + i) + 12 * other + j] = sign * k
                    out[576 + 24 * (12 * side + i) + 12 * other + j] = sign * d


def nonlinear(t: float, s: Any, rate: Any) -> Any:
    """A law of the time, a coordinate and its rate, which may be complex."""
    return np.cos(t) - 3.0 * np.sin(1.5 * s) - 0.04 * rate**3


def sized(t: float, s: Any, rate: Any, u: Any) -> Any:
    """The same law by an input."""
    return u.size**2 * nonlinear(t, s, rate)


def mesh_in_python(t: float, x: Vec, out: Vec) -> None:
    plain = getattr(mesh, "py_func", mesh)
    plain(t, x, out)


def mesh_jacobian_in_python(t: float, x: Vec, out: Vec) -> None:
    plain = getattr(mesh_jacobian, "py_func", mesh_jacobian)
    plain(t, x, out)


Make = Callable[[rbdae.System, Body, Body], list[Any]]

# name -> the forces between the bodies a and b of `two_bodies`
FORCES: dict[str, Make] = {
    "force": lambda s, a, b: [Force(a, (3.0, -1.0, 2.0), at=P), Force(b, gusts, at=Q)],
    "thrust": lambda s, a, b: [Force(a, (3.0, -1.0, 2.0), at=P, frame="body"), Force(b, gusts, at=Q, frame="body")],
    "torque": lambda s, a, b: [Torque(a, (3.0, -1.0, 2.0)), Torque(b, gusts)],
    "body torque": lambda s, a, b: [Torque(a, (3.0, -1.0, 2.0), frame="body"), Torque(b, gusts, frame="body")],
    "spring": lambda s, a, b: [SpringDamper(a, b, stiffness=50.0, length=0.8, at_a=P, at_b=Q)],
    "damper": lambda s, a, b: [SpringDamper(a, b, damping=2.0, at_a=P, at_b=Q)],
    "actuator": lambda s, a, b: [SpringDamper(a, b, stiffness=50.0, damping=3.0, length=0.4, force=wave, at_b=Q)],
    "spring to the ground": lambda s, a, b: [
        SpringDamper(b, stiffness=50.0, damping=3.0, length=0.8, force=2.0, at_a=P, at_b=Q)
    ],
    "torsion": lambda s, a, b: [
        TorsionalSpringDamper(axial(a, b, "revolute"), stiffness=20.0, damping=2.0, angle=0.4, torque=wave),
        TorsionalSpringDamper(axial(s.ground, b, "cylindrical"), stiffness=20.0),
    ],
    "slide": lambda s, a, b: [
        TranslationalSpringDamper(axial(a, b, "prismatic"), stiffness=20.0, damping=2.0, displacement=0.4, force=wave),
        TranslationalSpringDamper(axial(b, s.ground, "cylindrical"), stiffness=30.0, force=1.5),
    ],
    "friction": lambda s, a, b: [
        Friction(axial(a, b, "revolute"), 1.3),
        Friction(axial(a, b, "prismatic"), 0.7),
        Friction(axial(a, b, "cylindrical"), rotational=0.7, translational=0.4),
        Friction(axial(s.ground, b, "planar"), rotational=0.3, translational=0.2),
    ],
    "ball friction": lambda s, a, b: [
        Friction(axial(a, b, "universal"), 1.3),
        Friction(Spherical(s.ground, b), rotational=0.8),
    ],
    "motor": lambda s, a, b: [
        Motor(axial(a, b, "revolute"), torque=wave),
        Motor(axial(a, b, "prismatic"), force=2.0),
    ],
    "laws": lambda s, a, b: [
        Motor(axial(a, b, "revolute"), torque=nonlinear),
        Motor(axial(a, b, "prismatic"), force=nonlinear),
        SpringDamper(a, b, force=lambda t, length, rate: 9.0 * length**3 + 0.5 * length * rate, at_a=P, at_b=Q),
        TorsionalSpringDamper(
            axial(s.ground, b, "cylindrical"), stiffness=2.0, torque=lambda t, s, rate: -0.03 * rate**3
        ),
    ],
    "dry": lambda s, a, b: [
        Coulomb(axial(a, b, "revolute"), 0.3, normal=5.0, radius=0.4, velocity=1.1),
        Coulomb(axial(a, b, "prismatic"), 0.3, normal=wave, velocity=0.8),
        Coulomb(axial(s.ground, b, "planar"), 0.2, normal=6.0, velocity=0.9),
        Limit(axial(a, b, "revolute"), 2.5, stiffness=3.0, exponent=1.7, damping=0.1),
        Limit(axial(a, b, "prismatic"), -4.0, -3.0, stiffness=2.0, damping=0.2),
    ],
    "contact": lambda s, a, b: [
        Contact(a, b, at_a=P, at_b=(0, 0, 3.0), stiffness=2.0, damping=0.1, mu=0.4, velocity=0.7),
        Contact(b, radius=4.0, at_a=Q, at_b=P, stiffness=1.5, exponent=2.0, damping=0.1, mu=0.3, velocity=0.9),
    ],
    "bushing": lambda s, a, b: [
        Bushing(a, b, stiffness=STIFF, damping=DAMP, rotational_stiffness=STIFF, rotational_damping=DAMP, at_a=P),
        Bushing(b, stiffness=0.0, rotational_stiffness=(3.0, 5.0, 0.0), rest=turn(0.5, 0.2, 0.3)),
    ],
    "user": lambda s, a, b: [UserForce((a, b), mesh, mesh_jacobian), UserForce(b, mesh, mesh_jacobian)],
    "inputs": lambda s, a, b: [
        Motor(axial(a, b, "prismatic"), force=sized, inputs={"size": s.add_input("size", 1.2)}),
        Coulomb(axial(s.ground, b, "planar"), 0.2, normal=s.add_input("normal", 6.0), velocity=0.9),
    ],
}


def system_of(kind: str, pivot: bool = False, jointed: bool = False, first: bool = False, **options: Any) -> Any:
    """A system with the forces of one kind (only the `first` of them), or of several: "spring + motor"."""
    system, a, b = two_bodies(pivot=pivot, **options)
    if jointed:
        system.add_joint(Spherical(a, b, at_a=(0.5, 0.2, 0.4), at_b=(-0.3, 0.4, -0.2)))
    made = [force for each in kind.split(" + ") for force in FORCES[each](system, a, b)]
    for force in made[:1] if first else made:
        system.add_force(force)
    return system

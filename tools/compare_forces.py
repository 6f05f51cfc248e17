"""Systems with every force, for `compare_systems.py`."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from compare_parts import AT, add, fit
from scipy.spatial.transform import Rotation

import rbdae

forces = rbdae.forces


def gusts(t: float) -> Any:
    """A force that changes with time."""
    return np.array((math.sin(t) - 2.0, 1.0 + t, 0.5))


def pull(t: float, x: Any, out: Any) -> None:
    """A nonlinear force between the points x_a and x_b: -(1 + v . p) p, with p = x_a - x_b and v its rate."""
    out[:24] = 0.0
    for k in range(3):
        p, v = x[k] - x[12 + k], x[24 + k] - x[36 + k]
        out[k] = -(1.0 + v * p) * p
        out[12 + k] = (1.0 + v * p) * p


def pull_jacobian(t: float, x: Any, out: Any) -> None:
    """The derivatives of `pull`."""
    out[:1152] = 0.0
    for k in range(3):
        p, v = x[k] - x[12 + k], x[24 + k] - x[36 + k]
        for side in range(2):
            for other in range(2):
                sign = 1.0 if side == other else -1.0
                where = 24 * (12 * side + k) + 12 * other + k
                out[where] = -sign * (1.0 + 2.0 * v * p)
                out[576 + where] = -sign * p * p


COMPILED = numba.njit(pull), numba.njit(pull_jacobian)


def two_bodies(pivot: bool = False) -> tuple[Any, Any, Any]:
    """A free body and another one, free or with a pivot."""
    system = rbdae.System(gravity=(0.3, -0.5, -9.0))
    return system, add(system, "a", 70, (1.0, 0.5, -0.7)), add(system, "b", 71, (1.8, 0.9, -0.3), pivot)


def applied() -> Any:
    """Forces and torques in space and in the body, constant and of time."""
    system, a, b = two_bodies()
    for frame_name in ("space", "body"):
        system.add_force(forces.Force(a, (3.0, -1.0, 2.0), at=AT, frame=frame_name))
        system.add_force(forces.Force(b, gusts, at=AT, frame=frame_name))
        system.add_force(forces.Torque(a, (3.0, -1.0, 2.0), frame=frame_name))
        system.add_force(forces.Torque(b, gusts, frame=frame_name))
    return system


def springs() -> Any:
    """Springs, a damper, an actuator; bushings that hold points and rotations."""
    system, a, b = two_bodies(pivot=True)
    axes = Rotation.from_rotvec((0.3, 0.5, -0.2)).as_matrix()
    stiff, damp = (axes @ np.diag(values) @ axes.T for values in ((40.0, 90.0, 10.0), (1.0, 0.3, 2.0)))
    ends = {"at_a": AT, "at_b": (-0.1, 0.5, 0.2)}
    system.add_force(forces.SpringDamper(a, b, stiffness=50.0, length=0.8, **ends))
    system.add_force(forces.SpringDamper(a, b, damping=2.0, at_a=AT))
    system.add_force(forces.SpringDamper(a, b, stiffness=50.0, damping=3.0, length=0.4, force=math.cos, at_b=AT))
    system.add_force(forces.SpringDamper(b, stiffness=50.0, damping=3.0, length=0.8, force=2.0, **ends))
    both = {"rotational_stiffness": 0.3 * stiff, "rotational_damping": 0.2 * damp}
    system.add_force(forces.Bushing(a, b, stiffness=stiff, damping=damp, **both, **ends))
    rest = Rotation.from_rotvec((0.5, 0.2, 0.3))
    system.add_force(forces.Bushing(b, stiffness=0.0, rotational_stiffness=(3.0, 5.0, 0.0), rest=rest))
    system.add_force(forces.Bushing(a, stiffness=(20.0, 0.0, 35.0), damping=(0.0, 0.7, 0.2)))
    return system


def hinge_forces() -> Any:
    """All forces of a hinge and of a slider."""
    system, a, b = two_bodies()
    hinge = fit(system, "Revolute", system.ground, a, "hinge")
    slider = fit(system, "Prismatic", b, a, "slider")
    system.add_force(forces.TorsionalSpringDamper(hinge, stiffness=20.0, damping=2.0, angle=0.4, torque=math.cos))
    system.add_force(
        forces.TranslationalSpringDamper(slider, stiffness=20.0, damping=2.0, displacement=0.4, force=math.cos)
    )
    system.add_force(forces.Motor(hinge, torque=math.cos))
    system.add_force(forces.Motor(slider, force=2.0))
    system.add_force(forces.Friction(hinge, 1.3))
    system.add_force(forces.Friction(slider, 0.7))
    return system


def cylinder_forces() -> Any:
    """Forces of a cylindrical and of a planar joint."""
    system, a, b = two_bodies()
    cylinder = fit(system, "Cylindrical", system.ground, a, "cylinder")
    plane = fit(system, "Planar", b, a, "plane")
    system.add_force(forces.TorsionalSpringDamper(cylinder, stiffness=20.0))
    system.add_force(forces.TranslationalSpringDamper(cylinder, stiffness=30.0, force=1.5))
    system.add_force(forces.Motor(cylinder, torque=3.0))
    for joint in (cylinder, plane):
        system.add_force(forces.Friction(joint, rotational=0.7, translational=0.4))
    return system


def ball_forces() -> Any:
    """Friction of a universal and of a ball joint."""
    system, a, b = two_bodies()
    system.add_force(forces.Friction(fit(system, "Spherical", system.ground, a, "ball"), 0.8))
    system.add_force(forces.Friction(fit(system, "Universal", a, b, "cross"), 1.3))
    return system


def user_forces() -> Any:
    """The user's functions: in Python, compiled where numba compiles, and with differences for a Jacobian."""
    system, a, b = two_bodies(pivot=True)
    system.add_force(forces.UserForce((a, b), pull, pull_jacobian, name="python"))
    system.add_force(forces.UserForce(b, COMPILED[0], COMPILED[1], name="compiled"))
    system.add_force(forces.UserForce(a, pull, difference_step=1e-6, name="differences"))
    return system

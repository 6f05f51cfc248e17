"""Joints and loops against MSC ADAMS and Dymola: a few numbers of their published results, see docs/validation.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.joints import Cylindrical, Prismatic, Revolute, Rod, Spherical, Universal


def run(system: rbdae.System, t_end: float, formulation: str = "null-space") -> rbdae.Solution:
    """At a tolerance far below that of the other programs."""
    problem = rbdae.formulate(system, formulation, redundant="minimum-norm")
    solution = rbdae.solve(problem, (0.0, t_end), solver="rbdae:dop853", rtol=1e-10, atol=1e-10, projection=True)
    assert solution.success
    return solution


# ---------------------------------------------------------------- MSC ADAMS, one body, 5 s

TILTED = Rotation.from_euler("x", -math.pi / 4)
# joint: position, velocity, angular velocity in space, force on the ground, all at 5 s; six digits are printed
ADAMS: dict[str, tuple[Any, ...]] = {
    "revolute": (
        (1.20996, 3.4064, 1.5936), (-5.15895, 0.385088, -0.385088), (0, 1.8341, 1.8341), (2.11895, 9.40977, -19.2164),
    ),
    "cylindrical": (
        (1.20996, -57.8852, -59.698), (-5.15895, -24.1315, -24.9017), (0, 1.8341, 1.8341),
        (2.11887, 14.3128, -14.3128),
    ),
    "prismatic": ((3, -59.2916, -58.2916), (0, -24.5166, -24.5166), (0, 0, 0), (0, 4.90332, -4.90332)),
    "rod": (
        (0.3652558, 2.66491, -0.7909707), (3.343841, -3.542206, -6.61872), (0.9769322, -8.194841, -0.2503987),
        (-0.537911, 9.010248, -25.02392),
    ),
}  # fmt: skip


@pytest.mark.parametrize("joint", ADAMS)
def test_adams_joints(joint):
    """Project Chrono's data/testing/joints, Revolute_Case02, Cylindrical_Case03, Prismatic_Case02, Distance_Case02."""
    system, at, arm = rbdae.System(gravity=(0, 0, -9.80665)), np.array((1.0, 2, 3)), np.array((-2.0, 0, 0))
    turn = Rotation.identity() if joint == "rod" else TILTED
    centre = np.array((-1.0, 4, 3)) if joint == "rod" else at - turn.apply(arm)
    rest = {"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0)}
    body = system.add_body("body", mass=1.0, inertia=(0.04, 0.1, 0.1), position=centre, orientation=turn, **rest)
    if joint == "rod":
        system.add_joint(Rod(system.ground, body, at_a=at, at_b=(2, 0, 0), name="j"))
    else:
        kind = {"revolute": Revolute, "cylindrical": Cylindrical, "prismatic": Prismatic}[joint]
        system.add_joint(kind(system.ground, body, at_a=at, at_b=arm, axis_a=turn.apply((0, 0, 1)), name="j"))
    solution = run(system, 5.0)
    state = solution.states["body"]
    found = (
        state.position[-1],
        state.velocity[-1],
        state.orientation[-1].apply(state.angular_velocity[-1]),
        solution.reactions["j"]["ground"].force[-1],
    )
    # sizes are up to 84 m, 35 m/s, 8 rad/s, 27 N
    for value, wanted, level in zip(found, ADAMS[joint], (6e-5, 6e-5, 2e-4, 6e-4), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=0, atol=level)


# ---------------------------------------------------------------- Dymola, loops of the Modelica Standard Library


def bar(system: rbdae.System, start: Any, along: Any, mass: float, across: float, own: float, **more: Any) -> Any:
    """A body without rotation at the start; its moments are those along and across the bar."""
    start, along = np.array(start, float), np.array(along, float)
    e = along / np.linalg.norm(along)
    inertia = across * np.eye(3) + (own - across) * np.outer(e, e)
    return system.add_body(mass=mass, inertia=inertia, position=start + along / 2, **more)


def cylinder(along: Any, diameter: float) -> tuple[float, float, float]:
    """Mass, moment across, moment along; steel of 7700 kg/m^3."""
    length, r = np.linalg.norm(along), diameter / 2
    mass = 7700.0 * math.pi * length * r * r
    return mass, mass * (length**2 + 3 * r * r) / 12, mass * r * r / 2


def test_dymola_spatial_four_bar():
    """Fourbar1 of the Modelica Standard Library 4.1.0, Dymola 2020x at 1e-6: a universal and a ball joint in a loop."""
    system, x = rbdae.System(gravity=(0, -9.80665, 0)), {"axis_a": (1, 0, 0), "axis_b": (1, 0, 0)}
    places = ((0, 0, 0), (0, 0.5, 0.1)), ((1, 0, 0), (0, 0.2, 0)), ((1, 0.2, 0), (-1, 0.3, 0.1))
    spin = ({"angular_velocity": (5.235987755982989, 0, 0)}, {}, {})
    crank, slider, rod = (
        bar(system, start, along, *cylinder(along, 0.05), name=f"b{k}", **spin[k])
        for k, (start, along) in enumerate(places)
    )
    pin = system.add_joint(Revolute(system.ground, crank, at_b=(0, -0.25, -0.05), **x, name="j1"))
    system.add_joint(Prismatic(system.ground, slider, at_a=(1, 0, 0), at_b=(0, -0.1, 0), **x))
    axes = {"axis_a": (0, 1, 0), "axis_b": (0, 0, 1)}
    system.add_joint(Universal(slider, rod, at_a=(0, 0.1, 0), at_b=(0.5, -0.15, -0.05), **axes))
    system.add_joint(Spherical(crank, rod, at_a=(0, 0.25, 0.05), at_b=(-0.5, 0.15, 0.05)))
    joint = run(system, 5.0, "index-0").joints[pin.name]
    # 9e-4 rad and 1.4e-3 rad/s after six turns are what Dymola's tolerance gives
    np.testing.assert_allclose(joint.angle[-1], 40.3282362, rtol=0, atol=1e-3)
    np.testing.assert_allclose(joint.rate[-1], 11.7394219, rtol=0, atol=2e-3)


def test_dymola_double_pendulum():
    """DoublePendulum of the same library: boxes of 0.5 m x 0.06 m x 0.06 m, a damper of 0.1 N m s in the first pin."""
    system, z = rbdae.System(gravity=(0, -9.80665, 0)), {"axis_a": (0, 0, 1)}
    mass = 7700.0 * 0.5 * 0.06**2
    across, own = mass * (0.5**2 + 0.06**2) / 12, mass * 0.06**2 / 6
    first, second = (bar(system, (k / 2, 0, 0), (0.5, 0, 0), mass, across, own, name=f"b{k}") for k in range(2))
    pin = system.add_joint(Revolute(system.ground, first, at_b=(-0.25, 0, 0), **z, name="pin"))
    system.add_joint(Revolute(first, second, at_a=(0.25, 0, 0), at_b=(-0.25, 0, 0), **z, name="elbow"))
    system.add_force(rbdae.forces.TorsionalSpringDamper(pin, damping=0.1))
    joints = run(system, 3.0).joints
    found = [getattr(joints[name], of)[-1] for name in ("pin", "elbow") for of in ("angle", "rate")]
    wanted = (-2.31792856, 4.0941102, -1.73649167, -0.0503767046)
    turns = np.round((np.array(found) - wanted) / (2 * math.pi)) * (2 * math.pi) * np.array((1, 0, 1, 0))
    np.testing.assert_allclose(found - turns, wanted, rtol=0, atol=2e-4)

"""Mechanisms against other programs and a closed form: a few of their published numbers, see docs/validation.md."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.joints import Cylindrical, Prismatic, Revolute, Rod, Spherical, Universal


def run(system: rbdae.System, t_end: float, formulation: str = "null-space", tol: float = 1e-10) -> rbdae.Solution:
    """At a tolerance far below that of the other programs."""
    problem = rbdae.formulate(system, formulation, redundant="minimum-norm")
    solution = rbdae.solve(problem, (0.0, t_end), solver="rbdae:dop853", rtol=tol, atol=tol, projection=True)
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


# ---------------------------------------------------------------- SD/FAST, reactions at given states


# slide, first pin, ball, second pin; their rates; for each of the four bodies the torque and the force of its joint at
# the joint's point, in its own frame; the printed digits
SD_FAST: dict[str, tuple[Any, ...]] = {
    "at rest": (
        (0, 0, (0, 0, 0), 0), (0, (0, 0, 0), 0), (
            ((0, 0, 68.6), (0, 784, 0)), ((0, 0, 0), (0, 686, 0)),
            ((0, 0, 0), (0, 490, 0)), ((0, 0, 0), (0, 294, 0)),
        ),
    ),
    "turned": (
        (1, 0.5, (0.2, -0.1, 2), -0.5), (0, (0, 0, 0), 0), (
            ((1.647327, 0.783211, 34.088183), (0, 359.274099, 3.34238)),
            ((1.688077, 0.351125, 0), (55.399123, 267.45557, 3.34238)),
            ((0, 0, 0), (-17.757553, 174.663042, -11.383057)),
            ((0.91089, 0.082353, 0), (-13.977214, 74.444715, 4.943682)),
        ),
    ),
    "turning": (
        (0, 0, (0, 0, 0), 0), (1, (3, 4, 2), 5), (
            ((-13.549253, 2.723897, -6.355912), (0, 34, -27.088584)),
            ((-10.840395, 0.015039, 0), (-0.440882, -64, -27.088584)),
            ((0, 0, 0), (0.692814, -256, -27.088584)),
            ((3.27693, -0.281928, 0), (3.796164, -372, 21.472977)),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("state", SD_FAST)
def test_sd_fast_tree(state):
    """Reactions at a state, which SD/FAST computed for Simbody's Simbody/tests/TestMobilizerReactionForces.cpp: a
    slider, a body on a pin, one on a ball joint, one on a pin, with products of inertia. Simbody meets them to 1e-5."""
    (slide, first, ball, second), (first_rate, ball_rate, second_rate), wanted = SD_FAST[state]
    system, z, inertia = rbdae.System(gravity=(0, -9.8, 0)), np.array((0, 0, 1.0)), 0.09 * np.eye(3) + 0.01
    turns = ("z", first, z, first_rate), ("ZXY", ball, None, ball_rate), ("z", second, z, second_rate)
    R, w, end, v = np.eye(3), np.zeros(3), np.array((slide + 0.1, 0.1, 0)), np.zeros(3)
    bodies = [system.add_body("b0", mass=10.0, inertia=inertia, position=(slide, 0, 0), velocity=v)]
    system.add_joint(Prismatic(system.ground, bodies[0], axis_a=(1, 0, 0), axis_b=(1, 0, 0), name="j0"))
    for k, (order, angles, axis, rate) in enumerate(turns, 1):
        w = w + R @ (rate if axis is None else rate * axis)  # rates are in the frame before
        R = R @ Rotation.from_euler(order, angles).as_matrix()
        arm = R @ (0, 0.2, 0)
        at = {"at_a": (0.1, 0.1, 0) if k == 1 else (0, 0.2, 0), "at_b": (0, -0.2, 0), "name": f"j{k}"}
        bodies.append(
            system.add_body(
                f"b{k}",
                mass=(20.0, 20.0, 30.0)[k - 1],
                inertia=inertia,
                position=end + arm,
                orientation=R,
                velocity=v + np.cross(w, arm),
                angular_velocity=R.T @ w,
            )
        )
        joint = Spherical(*bodies[-2:], **at) if axis is None else Revolute(*bodies[-2:], axis_a=z, axis_b=z, **at)
        system.add_joint(joint)
        end, v = end + 2 * arm, v + 2 * np.cross(w, arm)
    problem = rbdae.formulate(system, "index-0", consistent="check")
    reactions = problem.reactions(0.0, problem.y0)
    for k, body in enumerate(bodies):
        found = reactions[f"j{k}"][body.name]
        np.testing.assert_allclose(
            (found.torque @ body.rotation, found.force @ body.rotation), wanted[k], rtol=0, atol=6e-7
        )


# ---------------------------------------------------------------- MotionGenesis, the IVP test set, Bennett


def test_motion_genesis_babyboot():
    """A plate that turns about the axis of a pendulum, 10 s, unstable: Drake's multibody/benchmarks/chaotic_babyboot,
    whose four runs (three of MotionGenesis, one of MATLAB's ode45) agree to seven digits in angles, six in rates."""
    system, down = rbdae.System(gravity=(0, 0, -9.81)), np.array((0, 0, -1.0))
    swing, tilt = (Rotation.from_euler(axis, angle, degrees=True) for axis, angle in (("x", 90), ("z", 1)))
    rest = {"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0)}
    moments = ((5e-6, 5e-6, 1e-6), 0.01, 0.075, swing), ((2.5e-4, 5e-5, 2e-4), 0.1, 0.2, swing * tilt)
    rod, plate = (
        system.add_body(f"b{k}", mass=mass, inertia=J, position=swing.apply(arm * down), orientation=R, **rest)
        for k, (J, mass, arm, R) in enumerate(moments)
    )
    hinge, long = {"axis_a": (1, 0, 0), "axis_b": (1, 0, 0)}, {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    system.add_joint(Revolute(system.ground, rod, at_b=-0.075 * down, **hinge, name="A"))
    system.add_joint(Revolute(rod, plate, at_a=0.125 * down, **long, name="B"))
    joints = run(system, 10.0, "index-0", 1e-13).joints
    found = [getattr(joints[name], of)[-1] for of in ("angle", "rate") for name in "AB"]
    wanted = (*np.radians((-61.312983340691 - 90, -929.47789677244 - 1)), -6.7440081040646, -2.7795690128833)
    # the four runs differ by 3e-8 and 2e-7 rad, 3e-7 and 7e-6 rad/s
    assert (np.abs(np.subtract(found, wanted)) < (1e-8, 5e-8, 5e-8, 1e-6)).all()


# stars' first positions, and x and y of all at the end
PLEIADES = ((3, 3), (3, -3), (-1, 2), (-3, 0), (2, 0), (-2, -4), (2, 4))
PLEIADES_AT_3 = (
    (0.3706139143970502, 3.237284092057233), (-3.222559032418324, 0.659709145577531),
    (0.3425581707156584, 1.562172101400631), (-0.7003092922212495, -3.943437585517392),
    (-3.27138097397255, 5.225081843456543), (-2.59061243497747, 1.198213693392275),
    (-0.2429682344935824, 1.09144924042898),
)  # fmt: skip


def test_pleiades():
    """Seven stars of masses 1 to 7 that attract each other in a plane, G = 1: the reference at t = 3 of [IVP]."""
    system, rates = rbdae.System(), {3: (0, -1.25, 0), 4: (0, 1, 0), 5: (1.75, 0, 0), 6: (-1.5, 0, 0)}
    stars = [
        system.add_body(
            f"b{k}",
            mass=k + 1,
            inertia=(1, 1, 1),
            position=(*at, 0),
            velocity=rates.get(k, (0, 0, 0)),
            angular_velocity=(0, 0, 0),
        )
        for k, at in enumerate(PLEIADES)
    ]
    for a, b in itertools.combinations(stars, 2):
        strength = a.mass * b.mass
        system.add_force(rbdae.forces.SpringDamper(a, b, force=lambda t, r, rate, s=strength: s / r**2))
    solution = run(system, 3.0, "index-0", 1e-13)
    found = np.array([solution.states[star.name].position[-1] for star in stars])
    np.testing.assert_allclose(found[:, :2], np.reshape(PLEIADES_AT_3, (2, 7)).T, rtol=0, atol=1e-10)


def test_bennett():
    """Angles th between links and twists al of axes, in the frames of Denavit and Hartenberg (Bennett 1903):
    tan(th1/2) tan(th2/2) = sin((al2 + al1)/2) / sin((al2 - al1)/2) and th1 + th3 = th2 + th4 = 2 pi."""
    side, up = np.array((math.cos(1.0), math.sin(1.0), 0)), np.array((0, 0, 0.5))
    corners = [np.array((1.0, 0, 0)), side + up, np.array((-1.0, 0, 0)), up - side]
    along = [corners[(k + 1) % 4] - corners[k] for k in range(4)]
    axes = [sign * np.cross(along[k - 1], along[k]) for k, sign in enumerate((1, -1, -1, 1))]

    def turned(a: Any, b: Any, about: Any) -> float:
        """The angle from a to b."""
        return math.atan2(np.cross(a, b) @ about / np.linalg.norm(about), a @ b)

    twists = [turned(axes[k], axes[(k + 1) % 4], along[k]) for k in range(4)]
    start = [turned(along[k - 1], along[k], axes[k]) for k in range(4)]
    system = rbdae.System(gravity=(0, 0, -9.81))
    links = [system.ground, *(bar(system, corners[k], along[k], 1.0, 0.2, 0.01, name=f"b{k}") for k in (1, 2, 3))]
    for k, p in enumerate(corners):
        before, after = links[k - 1], links[k]
        ends = {"at_a": p - before.position, "at_b": p - after.position, "axis_a": axes[k], "axis_b": axes[k]}
        system.add_joint(Revolute(before, after, **ends, name=f"h{k}"))
    solution = run(system, 4.0, "index-0")
    th = [start[k] + solution.joints[f"h{k}"].angle for k in range(4)]
    wanted = math.sin((twists[1] + twists[0]) / 2) / math.sin((twists[1] - twists[0]) / 2)
    assert np.ptp(th[0]) > 3.0
    np.testing.assert_allclose(np.tan(th[0] / 2) * np.tan(th[1] / 2), wanted, rtol=1e-11)
    np.testing.assert_allclose(np.sin((th[0] + th[2], th[1] + th[3])), 0.0, rtol=0, atol=1e-11)

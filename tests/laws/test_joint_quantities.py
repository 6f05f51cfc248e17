"""Quantities of joints, forces and drives: by their definitions, as derivatives along the motion, as the power that
changes the energy, the same in every form, and over many turns."""

from __future__ import annotations

from functools import partial
from typing import Any

import cases
import numpy as np
import pytest
import wheel
from along_motion import along
from cases import Pairing
from inside import Vec
from test_reaction_friction import block

import rbdae
from rbdae import drives, forces, joints
from rbdae.problem.event import EventGroup

KINDS = [kind for kind in cases.JOINTS if kind not in ("fixed", "rod")]
FORMS = [
    Pairing("index-0", "quaternion", "angular"),
    Pairing("index-2", "directors", "coordinate"),
    Pairing("null-space", "quaternion", "angular"),
    Pairing("hamiltonian", "quaternion", "momentum"),
    Pairing("index-1", "bryant-321", "spatial"),
]
FREE = {"revolute": 1, "prismatic": 1, "cylindrical": 2, "planar": 3, "universal": 2}


def _force(joint: Any) -> Any:
    """Friction of a joint, with numbers for its motions."""
    free = cases.free(joint)
    turns, slides = bool(free & {"rotation", "ball"}), bool(free & {"translation", "plane"})
    given = {"rotational": 0.7} if turns else {}
    return forces.Friction(joint, **given, **({"translational": 0.4} if slides else {}))


def _system(kind: str) -> rbdae.System:
    """A chain with two joints of a kind, their friction, motors where they can act, and a spring."""
    system = cases.jointed(kind)
    for joint in system.joints:
        if cases.free(joint):
            system.add_force(_force(joint))
        if "rotation" in cases.free(joint):
            system.add_force(forces.Motor(joint, torque=lambda t: 2.0 + np.sin(t)))
        if "translation" in cases.free(joint):
            system.add_force(forces.Motor(joint, force=1.5))
    a, b = system.bodies
    system.add_force(
        forces.SpringDamper(a, b, stiffness=3.0, damping=0.4, length=0.2, at_a=(0.1, 0.9, 0), name="spring")
    )
    system.add_force(forces.Bushing(a, stiffness=2.0, damping=0.3, rotational_stiffness=1.0, name="bushing"))
    return system


def _driven() -> rbdae.System:
    """A carriage that a drive moves along a guide, an arm that another one turns, a rod that changes its length."""
    system = rbdae.System(gravity=(0.3, -0.2, -9.0))
    cart = system.add_body("cart", mass=2.0, inertia=(0.2, 0.3, 0.4), position=(0, 0, 0), velocity=(0.3, 0, 0))
    arm = system.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.2), position=(1, 0, 0), center_of_mass=(0.1, 0.2, 0.1))
    bob = system.add_body("bob", mass=0.5, inertia=(0.1, 0.1, 0.1), position=(1, 0, -1))
    tip = system.add_body("tip", mass=0.4, inertia=(0.1, 0.12, 0.2), position=(1, 2, 0))
    guide = joints.Prismatic(system.ground, cart, axis_a=(1, 0, 0), name="guide")
    hinge = joints.Revolute(cart, arm, at_b=(-1, 0, 0), axis_a=(0, 0, 1), name="hinge")
    for joint in (guide, hinge):
        system.add_joint(joint)
    system.add_joint(drives.PrescribedDisplacement(guide, lambda t: 0.3 * t + 0.1 * t * t, name="push"))
    system.add_joint(drives.PrescribedAngle(hinge, lambda t: 0.5 * t * t, name="turn"))
    system.add_joint(drives.DrivenRod(arm, bob, lambda t: 1.0 + 0.1 * t, name="hoist"))
    system.add_joint(
        drives.PointMotion(tip, system.ground, lambda t: (1.0 + 0.2 * t * t, 2.0 + 0.4 * t, 0.0), name="lift")
    )
    system.add_joint(joints.Rod(tip, bob, at_a=(0.1, 0, 0), name="rod"))
    system.add_force(forces.Friction(hinge, 0.6))
    system.add_force(forces.Friction(guide, 0.9))
    return system


def _values(of: dict[str, Any]) -> dict[str, Any]:
    return {f"{owner}.{name}": np.asarray(getattr(each, name)) for owner, each in of.items() for name in each}


# ------------------------------------------------------------ definitions


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_are_those_of_the_frames_of_both_bodies(kind):
    """Of the start, whose states are read by another way."""
    problem = cases.formulate(_system(kind), FORMS[KINDS.index(kind) % len(FORMS)])
    found, states = problem.joints(problem.t0, problem.y0), problem.states(problem.t0, problem.y0)
    first, second = problem.system.joints[1], found[problem.system.joints[1].name]
    a, b = (states[body.name] for body in first.bodies)
    A, B = a.orientation.as_matrix(), b.orientation.as_matrix()
    apart = A.T @ (b.position + B @ first.at_b - a.position - A @ first.at_a)
    spin = A.T @ B @ b.angular_velocity - a.angular_velocity
    if kind == "spherical":
        turn = (a.orientation.inv() * b.orientation).as_rotvec()
        np.testing.assert_allclose(second.angle * second.axis, turn, atol=1e-13)
        np.testing.assert_allclose(second.angular_velocity, spin, atol=1e-13)
        np.testing.assert_allclose(second.torque, -0.7 * spin, atol=1e-13)
        assert np.isclose(second.power, -0.7 * spin @ spin, rtol=1e-13)
        return
    u, n = first.axis_a, first.normal_a
    m = np.cross(u, n)
    seen = A.T @ B @ first.normal_b
    if kind in ("revolute", "cylindrical", "planar", "screw"):
        rate = second.rate if kind == "revolute" else second.angle_rate
        assert np.isclose(second.angle, np.arctan2(m @ seen, n @ seen), atol=1e-13)
        assert np.isclose(rate, u @ spin, atol=1e-13)
        assert np.isclose(second.torque, 2.0 + np.sin(problem.t0) - 0.7 * rate, atol=1e-12)
    if kind in ("prismatic", "cylindrical", "point-on-line", "screw"):
        assert np.isclose(second.displacement, u @ apart, atol=1e-13)
    if kind in ("prismatic", "cylindrical", "point-on-line", "screw"):
        rate = second.rate if kind in ("prismatic", "point-on-line") else second.displacement_rate
        assert np.isclose(second.force, 1.5 - 0.4 * rate, atol=1e-12)
    if kind in ("planar", "point-on-plane"):
        np.testing.assert_allclose((second.x, second.y), (n @ apart, m @ apart), atol=1e-13)
    if kind in ("planar", "point-on-plane"):
        np.testing.assert_allclose(
            (second.x_force, second.y_force), (-0.4 * second.x_rate, -0.4 * second.y_rate), atol=1e-12
        )
    if kind == "universal":  # the axis of b stays across that of a, and turns about it; b turns about its own
        v = A.T @ B @ first.axis_b
        assert np.isclose(second.angle_a, np.arctan2(v @ n, v @ np.cross(n, u)), atol=1e-13)
        np.testing.assert_allclose(second.angle_a_rate * u + second.angle_b_rate * v, spin, atol=1e-12)
        np.testing.assert_allclose(
            (second.angle_a_torque, second.angle_b_torque), (-0.7 * u @ spin, -0.7 * v @ spin), atol=1e-12
        )


@pytest.mark.parametrize("kind", KINDS)
def test_rates_and_accelerations_are_derivatives_along_the_motion(kind):
    problem = cases.formulate(_system(kind), FORMS[(KINDS.index(kind) + 2) % len(FORMS)])
    _derivatives(problem)


def _derivatives(problem: rbdae.Problem) -> None:
    t, y = problem.t0, problem.y0
    for of in (problem.joints, problem.forces):
        found = of(t, y)
        for name, each in found.items():
            pairs = [(q.removesuffix("acceleration") + "rate", q) for q in each if q.endswith("acceleration")]
            pairs += [(_value_of(each, q), q) for q in each if q.endswith("rate")]
            for below, above in pairs:
                rate = along(problem, partial(_read, of, name, below))
                assert np.isclose(getattr(each, above), rate, rtol=1e-8, atol=1e-8), (name, above)


def _read(of: Any, name: str, quantity: str, t: float, y: Vec) -> Any:
    return getattr(of(t, y)[name], quantity)


def _value_of(each: Any, rate: str) -> str:
    """The coordinate of a rate: the first quantity if it is the only one."""
    return rate.removesuffix("_rate") if rate != "rate" else next(iter(each))


@pytest.mark.parametrize("pairing", FORMS, ids=str)
def test_gradients_are_derivatives_by_the_unknowns(pairing):
    """Off the constraints, too."""
    problem = cases.formulate(_system("universal"), pairing)
    t, y, h = problem.t0, problem.y0 + 0.01 * np.cos(np.arange(problem.n)), 1e-3
    for label in ("inner.angle_b_rate", "outer.angle_b", "spring.force"):
        (found,) = problem.outputs([label]).jacobian(t, y)
        for k, unit in enumerate(np.eye(problem.n)):
            first, second = (
                (problem.quantity(label, t, y + j * h * unit) - problem.quantity(label, t, y - j * h * unit))
                / (2 * j * h)
                for j in (1, 2)
            )
            assert np.isclose(found[k], (4 * first - second) / 3, rtol=1e-8, atol=1e-8), (label, problem.labels[k])


# ------------------------------------------------------------ powers


@pytest.mark.parametrize("pairing", FORMS, ids=str)
@pytest.mark.parametrize("name", ["planar", "universal", "spherical", "cylindrical", "driven"])
def test_their_powers_change_the_energy(pairing, name):
    """Those of forces and drives are the rate of the kinetic energy and of that of the weight."""
    system = _driven() if name == "driven" else _system(name)
    problem = cases.formulate(system, pairing)
    t, y = problem.t0, problem.y0

    def energy(t: float, y: Vec) -> float:
        states = problem.states(t, y)
        weight = sum(b.mass * system.gravity @ states[b.name].center_of_mass for b in system.bodies)
        return float(problem.energy(t, y).kinetic - weight)

    found, loads = problem.joints(t, y), problem.forces(t, y)
    total = sum(np.sum([getattr(each, q) for q in each if q.endswith("power")]) for each in loads.values())
    total += sum(found[joint.name].power for joint in system.joints if joint.rheonomic())
    assert np.isclose(total, along(problem, energy), rtol=1e-7, atol=1e-7)
    for joint in system.joints:  # a joint has the power of what acts along it
        powers = [q for q in found[joint.name] if q.endswith("power")]
        if not powers or joint.rheonomic():
            continue
        acting = [f.name for f in system.forces if getattr(f, "joint", None) is joint]
        theirs = sum(getattr(loads[f], q) for f in acting for q in loads[f] if q.endswith("power"))
        theirs += (
            {"guide": found["push"].power, "hinge": found["turn"].power}.get(joint.name, 0.0)
            if name == "driven"
            else 0.0
        )
        assert np.isclose(sum(getattr(found[joint.name], q) for q in powers), theirs, rtol=1e-10, atol=1e-12), (
            joint.name
        )


def test_forces_of_drives_and_rods_are_their_reactions():
    problem = cases.formulate(_driven(), FORMS[0])
    t, y = problem.t0, problem.y0
    found, reactions, states = problem.joints(t, y), problem.reactions(t, y), problem.states(t, y)
    assert np.isclose(found["turn"].torque, reactions["turn"]["arm"].torque[2], rtol=1e-12)
    assert np.isclose(found["push"].force, reactions["push"]["cart"].force[0], rtol=1e-12)
    assert np.isclose(found["hinge"].torque, found["turn"].torque - 0.6 * found["hinge"].rate, rtol=1e-12)
    assert np.isclose(found["guide"].force, found["push"].force - 0.9 * found["guide"].rate, rtol=1e-12)
    line = states["bob"].position - states["arm"].position
    line = line / np.linalg.norm(line)
    assert np.isclose(found["hoist"].force, -reactions["hoist"]["bob"].force @ line, rtol=1e-12)
    assert np.isclose(found["hoist"].length, 1.0, rtol=1e-12) and np.isclose(found["hoist"].rate, 0.1, rtol=1e-10)
    np.testing.assert_allclose(found["lift"].force, reactions["lift"]["tip"].force, rtol=1e-12)
    ends = states["tip"].position + states["tip"].orientation.apply((0.1, 0, 0)), states["bob"].position
    line = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    assert np.isclose(found["rod"].force, -reactions["rod"]["bob"].force @ line, rtol=1e-12)
    assert list(found["rod"]) == ["force"]


def test_a_spring_pulls_its_points_together():
    problem = cases.formulate(_system("revolute"), FORMS[0])
    spring = problem.forces(problem.t0, problem.y0)["spring"]
    assert np.isclose(spring.force, 3.0 * (spring.length - 0.2) + 0.4 * spring.rate, rtol=1e-12)
    assert np.isclose(spring.power, -spring.force * spring.rate, rtol=1e-12)


# ------------------------------------------------------------ forms


@pytest.mark.plain  # an evaluation a form
@pytest.mark.parametrize("kind", ["revolute", "planar", "universal", "point-on-line", "driven"])
def test_they_are_the_same_in_every_form_and_chart(kind):
    """At one state; forms and charts take turns. Baumgarte's forms differ most, by 2e-14: their accelerations have the
    rounding errors of the constraints times beta^2."""
    pairings = cases.ALL_PAIRINGS[len(kind) :: 17 if cases.NIGHTLY else 61]
    system = _driven() if kind == "driven" else _system(kind)
    wanted: dict[str, Any] = {}
    for pairing in pairings:
        problem = cases.formulate(system, pairing)
        found = _values(problem.joints(problem.t0, problem.y0)) | _values(problem.forces(problem.t0, problem.y0))
        wanted = wanted or found
        for name, value in found.items():
            size = max(1.0, float(np.abs(value).max()))
            assert np.abs(value - wanted[name]).max() <= 1e-13 * size, (pairing, name, value, wanted[name])


def test_rows_have_the_values_that_they_have_alone():
    problem = cases.formulate(_system("universal"), FORMS[2])
    rng = np.random.default_rng(3)
    t, y = 0.1 * np.arange(5), problem.y0 + 1e-3 * rng.standard_normal((5, problem.n))
    for of in (problem.joints, problem.forces):
        rows = _values(of(t, y))
        for k in range(5):
            for name, value in _values(of(t[k], y[k])).items():
                np.testing.assert_allclose(value, rows[name][k], rtol=1e-12, atol=1e-13, err_msg=name)


# ------------------------------------------------------------ runs


@pytest.mark.parametrize("pairing", [FORMS[0], FORMS[2], Pairing("index-0", "rotation-vector", "angular")], ids=str)
def test_angles_count_a_hundred_turns(pairing, tmp_path):
    """At the steps, at a few output times between which there are many turns, after loading, and between the steps."""
    system, pin = wheel.wheel()
    problem = rbdae.formulate(system, pairing.formulation, rotation=pairing.rotation, velocity=pairing.velocity)
    given = {"solver": "rbdae:dop853", "rtol": 1e-9, "atol": 1e-9, "on_singularity": "switch"}
    run = rbdae.solve(problem, (0.0, 100.0), t_eval=[0.0, 0.3, 33.3, 71.0, 100.0], **given)
    angle = run.joints["revolute-1"].angle
    assert angle[-1] > 190 * np.pi
    np.testing.assert_allclose(angle, wheel.angle(run.t), atol=3e-6)
    np.testing.assert_array_equal(run.quantity(pin.angle), angle)
    np.testing.assert_allclose(run.forces["grease"].angle, angle, atol=1e-9)
    times = np.array([64.2, 12.345])
    np.testing.assert_allclose(run.quantity("revolute-1.angle", times), wheel.angle(times), atol=3e-6)
    again = rbdae.load(run.save(tmp_path / "run"), problem)
    np.testing.assert_array_equal(again.joints["revolute-1"].angle, angle)
    table = run.to_pandas(["joints", "forces"])
    np.testing.assert_array_equal(table["revolute-1.angle [rad]"], angle)
    assert "grease.power [W]" in table.columns


def test_angles_back_in_time_and_over_steps_longer_than_a_turn():
    system, _ = wheel.wheel()
    problem = rbdae.formulate(system, "index-0")
    run = rbdae.solve(problem, (0.0, -40.0), solver="scipy:RK45", rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(run.joints["revolute-1"].angle, wheel.angle(run.t), atol=1e-4)
    run = rbdae.solve(
        rbdae.formulate(system, "null-space"),
        (0.0, 40.0),
        solver="scipy:DOP853",
        rtol=1e-3,
        t_eval=np.arange(0, 40, 0.1),
    )
    assert np.diff(run.steps.t).max() > 0.55  # turns; rows are read from the step before them
    np.testing.assert_allclose(run.joints["revolute-1"].angle, wheel.angle(run.t), atol=0.05)
    t = np.arange(0.0, 40.0, 1.3)  # more than a turn from row to row, and nothing is known between them
    run = rbdae.solve(problem, (0.0, 40.0), solver="scipy:DOP853", rtol=1e-9, atol=1e-9, t_eval=t, dense_output=False)
    np.testing.assert_allclose(run.joints["revolute-1"].angle, wheel.angle(t), atol=1e-5)


def test_quantities_are_found_by_the_joint_that_was_given():
    """An unnamed one, its named twin, in a problem with other parameters; motors that were added before it."""
    system = rbdae.System()
    b = system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    pin = joints.Revolute(system.ground, b, at_b=(-1, 0, 0))
    motor = system.add_force(forces.Motor(pin, torque=2.0))
    named = system.add_joint(pin)
    late = forces.Motor(pin, torque=3.0)
    system.add_force(late)
    problem = rbdae.formulate(system, "index-0")
    for each in (
        problem,
        problem.with_parameters({"b.mass": 2.0}),
        problem.with_parameters({"revolute-1.at_b.x": -1.1}),
    ):
        assert each.quantity(pin.torque, each.t0, each.y0) == each.quantity(named.torque, each.t0, each.y0) == 5.0
        assert each.quantity(motor.quantity("torque"), each.t0, each.y0) == 2.0
        assert each.quantity(late.quantity("torque"), each.t0, each.y0) == 3.0
    other = joints.Revolute(system.ground, b)
    with pytest.raises(ValueError, match=r"Revolute\.angle: its Revolute is not in the system of this problem; add it"):
        problem.quantity(other.angle, problem.t0, problem.y0)
    with pytest.raises(ValueError, match=r"unknown quantity 'pin\.angel'"):
        problem.quantity("pin.angel", problem.t0, problem.y0)


# ------------------------------------------------------------ events


EVENTS = {
    "spherical": (partial(_system, "spherical"), FORMS[1]),
    "universal": (partial(_system, "universal"), FORMS[0]),
    "planar": (partial(_system, "planar"), FORMS[4]),
    "drives": (_driven, FORMS[3]),
    "friction": (block, FORMS[2]),
    "loop": (rbdae.models.bricard, FORMS[0]),
    "long": (partial(rbdae.models.chain, 20, planar=True), FORMS[0]),
}


def _event_values(problem: Any, labels: Any, t: float, y: Vec) -> tuple[Vec, bool]:
    """What events of these quantities are zeros of, and whether that is machine code."""
    events = [rbdae.Event(label, crossing=0.0) for label in labels]
    group = EventGroup.begun(problem.interpretation, events, 1.0)
    return group.at(t, y)[: len(labels)], group.machine is not None


@pytest.mark.parametrize("name", EVENTS)
def test_events_of_all_quantities_are_zeros_of_these_in_machine_code(name):
    make, form = EVENTS[name]
    problem = cases.formulate(make(), form, **({"redundant": "minimum-norm"} if name == "loop" else {}))
    y = rbdae.solve(problem, (0.0, 0.2), solver="sundials:ida" if problem.kind == "dae" else "rbdae:dop853").y[-1]
    wanted = {**_values(problem.joints(0.2, y)), **_values(problem.forces(0.2, y))}
    wanted = {label: float(value) for label, value in wanted.items() if value.ndim == 0}
    found, in_machine_code = _event_values(problem, list(wanted), 0.2, y)
    np.testing.assert_allclose(found, list(wanted.values()), rtol=1e-9, atol=1e-10)
    assert in_machine_code

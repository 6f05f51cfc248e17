"""Drives that read inputs: s(t, u) with the derivatives by t, what all code has of them, and that nothing jumps."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import rbdae
from rbdae import Table
from rbdae.drives import DrivenRod, PointMotion, PrescribedAngle, PrescribedDisplacement
from rbdae.joints import Prismatic, Revolute

FORMS = [("index-2", "generic"), ("index-1", "auto"), ("index-0", "auto"), ("null-space", "generic")]


def swing(t: Any, u: Any) -> Any:
    return u.size * np.sin(u.frequency * t)


def poised(t: Any, u: Any) -> Any:
    """A motion that goes on from a value and a rate."""
    return u.s + u.v * (t - u.t) + 0.5 * u.a * (t - u.t) ** 2


LAWS = {"one": 0.3, "three": (0.3, -0.7, 1.1), "law": (0.4, 3.0)}


def arm(kind: str, t: float | None = None, u: Any = ()) -> rbdae.System:
    """Two links, of which the first is driven by inputs, or by the motion that they give at the time t."""
    system = rbdae.System()
    one = system.add_body("one", mass=1.5, inertia=(0.3, 0.2, 0.1))
    two = system.add_body("two", mass=1.0, inertia=(0.1, 0.2, 0.1), center_of_mass=(0.02, 0, 0.1))
    pin = system.add_joint(Revolute(system.ground, one, at_b=(0, 0, 1), axis_a=(1, 0, 0), name="pin"))
    system.add_joint(Revolute(one, two, at_a=(0, 0, -1), at_b=(0, 0, 0.5), axis_a=(1, 0, 0), name="elbow"))
    if t is not None:
        s, v, a = motion(kind, t, u)
        system.add_joint(PrescribedAngle(pin, lambda x: s + v * (x - t) + 0.5 * a * (x - t) ** 2, name="drive"))
    elif kind == "law":
        size, frequency = system.add_input("size", 0.1), system.add_input("frequency", 2.0)
        inputs = {"size": size, "frequency": frequency}
        system.add_joint(PrescribedAngle(pin, swing, name="drive", inputs=inputs))
    else:
        names = ("angle",) if kind == "one" else ("angle", "rate", "acceleration")
        read = [system.add_input(name) for name in names]
        system.add_joint(PrescribedAngle(pin, read[0] if kind == "one" else read, name="drive"))
    return system


def motion(kind: str, t: float, u: Any) -> Any:
    if kind == "law":
        size, w = u
        return size * np.sin(w * t), size * w * np.cos(w * t), -size * w * w * np.sin(w * t)
    return (u, 0.0, 0.0) if kind == "one" else u


def slopes(f: Any, u: Any) -> Any:
    h, weights = 0.02, ((-1, -3), (9, -2), (-45, -1), (45, 1), (-9, 2), (1, 3))
    columns = [sum(a * f(u + k * h * e) for a, k in weights) / (60 * h) for e in np.eye(len(u))]
    return np.array(columns).T


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize(("form", "code"), FORMS)
def test_a_drive_by_inputs_is_the_motion_that_they_give(form, code, kind):
    p, t, u = rbdae.formulate(arm(kind), form, code=code), 0.3, np.atleast_1d(LAWS[kind]).astype(float)
    own = rbdae.formulate(arm(kind, t, LAWS[kind]), form, code=code, consistent="project")
    rng = np.random.default_rng(4)
    y, yd = p.y0 + 0.05 * rng.standard_normal(p.n), rng.standard_normal(p.n)
    for name, arguments in (("residual", (y, yd)), ("jacobian", (y, yd, 1.3))):
        wanted = getattr(own, name)(t, *arguments)
        level = {"rtol": 0, "atol": 1e-12 * max(1.0, np.abs(wanted).max())}
        np.testing.assert_allclose(getattr(p, name)(t, *arguments, u=u), wanted, **level)
    found = p.input_jacobian(t, y, yd, u=u)
    np.testing.assert_allclose(found, slopes(lambda u: p.residual(t, y, yd, u=u), u), rtol=0, atol=1e-7)
    if p.kind == "ode":
        found = p.input_jacobian(t, y, u=u)
        assert found.any() or kind == "one"
        np.testing.assert_allclose(found, slopes(lambda u: p.rhs(t, y, u=u), u), rtol=0, atol=1e-7)


def test_other_numbers_move_the_start_with_the_drive():
    p = rbdae.formulate(arm("law"), "index-2")
    q = p.with_inputs({"size": 0.4})
    here = q.joints(0.0, q.y0)["drive"]
    assert here.angle == pytest.approx(0.0, abs=1e-12)
    assert here.rate == pytest.approx(0.8, abs=1e-12)
    assert np.abs(q.residual(0.0, q.y0, q.yd0)).max() < 1e-10
    again = pickle.loads(pickle.dumps(q))
    np.testing.assert_array_equal(again.residual(0.1, q.y0, q.yd0), q.residual(0.1, q.y0, q.yd0))
    assert copy.deepcopy(q.system).inputs[0].name == "size"


T = np.linspace(0.0, 1.0, 9)
CURVES: dict[str, Any] = {"function": lambda t: 0.3 * np.sin(2.0 * t), "spline": Table(T, 0.3 * np.sin(2 * T), "cubic")}


@pytest.mark.parametrize("curve", CURVES)
def test_a_run_follows_an_input_with_rates_and_accelerations(curve):
    """From the first time on, where the slope of a table is that of its spline."""
    p = rbdae.formulate(arm("one"), "null-space")
    run = rbdae.solve(p, (0.0, 1.0), inputs={"angle": CURVES[curve]}, rtol=1e-9, atol=1e-9)
    drive, level = run.joints["drive"], 1e-8 if curve == "function" else 3e-4
    np.testing.assert_allclose(drive.angle, 0.3 * np.sin(2.0 * run.t), rtol=0, atol=level)
    np.testing.assert_allclose(drive.rate, 0.6 * np.cos(2.0 * run.t), rtol=0, atol=10 * level)
    np.testing.assert_allclose(drive.acceleration, -1.2 * np.sin(2.0 * run.t), rtol=0, atol=300 * level)
    assert np.abs(run.energy.balance).max() < 1e-6


def test_three_functions_are_taken_as_they_are():
    curves = {"angle": np.sin, "rate": np.cos, "acceleration": lambda t: -np.sin(t)}
    p = rbdae.formulate(arm("three"), "index-0").with_inputs(curves)
    wanted = rbdae.formulate(arm("one"), "index-0").with_inputs({"angle": np.sin})
    np.testing.assert_allclose(p.rhs(0.4, p.y0), wanted.rhs(0.4, p.y0), rtol=0, atol=1e-11)
    np.testing.assert_allclose(p.y0, wanted.y0, rtol=0, atol=1e-11)
    with pytest.raises(ValueError, match="give input 'acceleration' as a function, too"):
        rbdae.formulate(arm("three"), "index-0").with_inputs({"angle": np.sin, "rate": np.cos})


def slide(law: Any = poised, **inputs: Any) -> rbdae.System:
    system = rbdae.System(gravity=(0, 0, 0))
    body = system.add_body("body", mass=2.0, inertia=(1, 1, 1))
    track = system.add_joint(Prismatic(system.ground, body, axis_a=(0, 0, 1), name="track"))
    read = {name: system.add_input(name) for name in "svat"}
    system.add_joint(PrescribedDisplacement(track, law, inputs=read, name="drive"))
    return system


@pytest.mark.parametrize("solver", ["rbdae:dop853", "sundials:ida"])
def test_a_simulator_drives_by_accelerations(solver):
    """Each step goes on from the value and rate of the one before; a jump is refused, and nothing has changed."""
    p = rbdae.formulate(slide(), "index-2" if solver == "sundials:ida" else "null-space")
    sim = rbdae.Simulator(p, solver, dt=0.1, rtol=1e-9, atol=1e-9)
    s = v = 0.0
    for k in range(4):
        a = 1.0 - 0.5 * k
        sim.step({"s": s, "v": v, "a": a, "t": sim.t})
        s, v = s + 0.1 * v + 0.005 * a, v + 0.1 * a
        assert sim.states["body"].velocity[2] == pytest.approx(v, abs=1e-8)
        assert sim.joints["drive"].force == pytest.approx(2.0 * a, abs=1e-6)
    assert sim.joints["track"].displacement == pytest.approx(s, abs=1e-8)
    assert sim.joints["track"].rate == pytest.approx(v, abs=1e-8)
    with pytest.raises(ValueError, match=r"'drive'.*: its value jumps from .* at t = 0.4, where 's', 'v', 'a', 't'"):
        sim.step({"s": s + 0.1, "v": v, "t": sim.t})
    assert sim.inputs["s"] != s + 0.1
    sim.reset(inputs={"s": 0.7})
    assert sim.joints["track"].displacement == pytest.approx(0.7, abs=1e-12)


def test_steps_that_keep_energy_follow_inputs():
    runs = []
    for inputs in ({"size": 0.4, "frequency": 3.0}, None):
        p = rbdae.formulate(arm("law") if inputs else arm("law", 0.0, (0.4, 3.0)), "hamiltonian", velocity="momentum")
        p = p if inputs is None else p.with_inputs(inputs)
        runs.append(rbdae.solve(p, (0.0, 0.05), solver="rbdae:energy-momentum", step=0.01))
    angles = [run.joints["drive"].angle[-1] for run in runs]
    assert angles[0] == pytest.approx(0.4 * np.sin(0.15), abs=1e-12)
    assert angles[1] == pytest.approx(0.06, abs=1e-12)
    assert np.abs(runs[0].energy.balance).max() < 1e-12


def test_rods_and_points_read_inputs():
    """A length, and three components."""
    system = rbdae.System()
    a = system.add_body("a", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1.2))
    b = system.add_body("b", mass=1.0, inertia=(1, 1, 1), position=(1, 2, 3))
    system.add_joint(DrivenRod(system.ground, a, system.add_input("length", 1.2), name="rod"))
    system.add_joint(
        PointMotion(b, system.ground, [system.add_input(n, k + 1.0) for k, n in enumerate("xyz")], name="at")
    )
    p = rbdae.formulate(system, "index-2").with_inputs({"length": 1.5, "x": 1.1, "y": lambda t: 2.0 + t})
    np.testing.assert_allclose(p.states(0.0, p.y0)["a"].position, (0, 0, -1.5), atol=1e-12)
    np.testing.assert_allclose(p.states(0.0, p.y0)["b"].position, (1.1, 2, 3), atol=1e-12)
    np.testing.assert_allclose(p.states(0.0, p.y0)["b"].velocity, (0, 1, 0), atol=1e-12)
    assert np.abs(p.residual(0.0, p.y0, p.yd0)).max() < 1e-11


JUMPS: list[tuple[Any, str]] = [
    (
        lambda p: rbdae.solve(p, (0, 1), inputs={"angle": (T, T, "previous")}),
        "its value jumps from 0 to 0.125 at t = 0.125",
    ),
    (lambda p: rbdae.solve(p, (0, 1), inputs={"angle": (T, T)}), "a table of 'linear' values, whose rate jumps"),
    (lambda p: rbdae.solve(p, (0, 2), inputs={"angle": (T, T, "cubic")}), "ends at t = 1 while it moves"),
    (lambda p: rbdae.Simulator(p).step({"angle": 0.1}), "give a function of the time, a table with kind='cubic'"),
    (lambda p: rbdae.solve(p, (0, 1), inputs={"angle": lambda t: float(f"{t}")}), "cannot be differentiated"),
]


@pytest.mark.parametrize(("call", "words"), JUMPS, ids=[str(k) for k in range(len(JUMPS))])
def test_what_would_jump_is_refused_by_name(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call(rbdae.formulate(arm("one"), "null-space"))


def test_derivatives_of_a_number_that_holds_still_are_no_run():
    p = rbdae.formulate(arm("three"), "null-space").with_inputs({"rate": 1.0})
    for call in (lambda: rbdae.solve(p, (0, 1)), lambda: rbdae.Simulator(p)):
        with pytest.raises(ValueError, match="input 'angle' is a number, which holds still"):
            call()


BAD: list[tuple[Any, str]] = [
    (lambda pin, u: PrescribedAngle(pin, [u, u]), "takes 1 input, or 3 for s, s', s'', got 2"),
    (lambda pin, u: PrescribedAngle(pin, lambda t: t, inputs={"u": u}), r"must be a function \(t, u\)"),
    (lambda pin, u: PrescribedAngle(pin, swing, inputs={"size": u}), "did you mean|unknown name in a law 'frequency'"),
    (lambda pin, u: PrescribedAngle(pin, swing, inputs=[u]), "inputs must be a mapping by name"),
    (
        lambda pin, u: PrescribedAngle(pin, swing, inputs={"size": 1.0, "frequency": u}),
        "must be an input of the system",
    ),
    (lambda pin, u: PrescribedAngle(pin, swing, inputs={}), "reads 1 to 9 inputs, got 0"),
    (lambda pin, u: PrescribedAngle(pin, lambda t, u: (t, t), inputs={"u": u}), "a law of 1 number gives 2"),
    (lambda pin, u: PrescribedAngle(pin, rbdae.System().add_input("x")), "'x' does not belong to this system"),
]


@pytest.mark.parametrize(("make", "words"), BAD, ids=[str(k) for k in range(len(BAD))])
def test_what_is_no_law_of_inputs_is_refused_by_name(make, words):
    system = arm("one")
    pin = system.joints[0]
    with pytest.raises((TypeError, ValueError, AttributeError), match=words):
        system.add_joint(make(pin, system.add_input("u")))
        rbdae.formulate(system)

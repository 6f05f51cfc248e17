"""Inputs of a system, of laws of the motion and of drives: their values are no structure, all code sees the same ones,
derivatives by them are exact, and nothing jumps."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import cases
import numpy as np
import pytest
from cases import differences
from codes import cached
from input_systems import pendulum

import rbdae
from rbdae import Table
from rbdae.drives import DrivenRod, PointMotion, PrescribedAngle, PrescribedDisplacement
from rbdae.forces import CalledBack, Coulomb, Motor, SpringDamper, TorsionalSpringDamper
from rbdae.joints import Prismatic, Revolute

U = {"torque": 2.0, "voltage": -1.1}

FORMS = {
    "index-2": "plain",
    "index-1": "auto",
    "index-0": "auto",
    "null-space": "folded",
    "hamiltonian": "auto",
    "overdetermined": "plain",
}


def problem(form: str = "index-0", code: str = "auto") -> rbdae.Problem:
    return cases.formulated(pendulum(), form, code=code)


def state(p, seed=4):
    rng = np.random.default_rng(seed)
    return p.y0 + 0.05 * rng.standard_normal(p.n), rng.standard_normal(p.n)


# ---------------------------------------------------------------- laws that read inputs

OF_LAWS = {"gain": 1.3, "target": -0.5, "normal": 0.4}
SLOPE, LEVER = 0.1, 0.2


def push(t: float, angle: Any, rate: Any, u: Any) -> Any:
    return u.gain**2 * (u.target - angle) - u.gain * rate


def rising(t: Any) -> Any:
    return 1.0 + t


def pull(t: float, length: Any, rate: Any, u: Any) -> Any:
    return u.k * length**2 + math.sin(t) * rate


def lawful(torque: Any = push, values: Any = (0.7, 0.3, 2.0), **inputs: Any) -> rbdae.System:
    """A pendulum with three laws, of which two read the same input, and friction under an input."""
    system = rbdae.System()
    given = dict(
        zip(OF_LAWS, (system.add_input(name, value) for name, value in zip(OF_LAWS, values, strict=True)), strict=True)
    )
    bob = system.add_body("bob", mass=1.5, inertia=(0.3, 0.2, 0.1), position=(0, 0, -1), angular_velocity=(0.3, 0, 0))
    pin = system.add_joint(Revolute(system.ground, bob, at_b=(0, 0, 1), axis_a=(1, 0, 0), name="pin"))
    two = {name: given[name] for name in ("gain", "target")}
    system.add_force(Motor(pin, torque=torque, inputs=two, name="motor"))
    system.add_force(Coulomb(pin, 0.3, normal=given["normal"], radius=LEVER, velocity=SLOPE))
    system.add_force(SpringDamper(bob, at_b=(1, 1, 1), force=pull, inputs={"k": given["gain"]}))
    system.add_force(TorsionalSpringDamper(pin, stiffness=1.0, torque=push, inputs=two))
    return system


def by_numbers(u: dict[str, float]) -> rbdae.System:
    """The same with the numbers in its laws."""
    system = rbdae.System()
    bob = system.add_body("bob", mass=1.5, inertia=(0.3, 0.2, 0.1), position=(0, 0, -1), angular_velocity=(0.3, 0, 0))
    pin = system.add_joint(Revolute(system.ground, bob, at_b=(0, 0, 1), axis_a=(1, 0, 0), name="pin"))

    def torque(t: float, angle: Any, rate: Any) -> Any:
        return u["gain"] ** 2 * (u["target"] - angle) - u["gain"] * rate

    system.add_force(Motor(pin, torque=torque, name="motor"))
    system.add_force(Coulomb(pin, 0.3, normal=u["normal"], radius=LEVER, velocity=SLOPE))
    system.add_force(SpringDamper(bob, at_b=(1, 1, 1), force=lambda t, s, rate: u["gain"] * s**2 + math.sin(t) * rate))
    system.add_force(TorsionalSpringDamper(pin, stiffness=1.0, torque=torque))
    return system


# ---------------------------------------------------------------- drives that read inputs


def swing(t: Any, u: Any) -> Any:
    return u.size * np.sin(u.frequency * t)


def poised(t: Any, u: Any) -> Any:
    """A motion that goes on from a value and a rate."""
    return u.s + u.v * (t - u.t) + 0.5 * u.a * (t - u.t) ** 2


OF_DRIVES = {"one": 0.3, "three": (0.3, -0.7, 1.1), "law": (0.4, 3.0)}


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


# ---------------------------------------------------------------- the law

T0 = 0.3
SYSTEMS: dict[str, tuple[Callable[[], rbdae.System], Any, Callable[[], rbdae.System], float]] = {
    "torque": (pendulum, U.values(), lambda: pendulum(*U.values()), 1e-13),
    "laws": (lawful, OF_LAWS.values(), lambda: by_numbers(OF_LAWS), 1e-13),
    **{
        f"drive by {kind}": (lambda k=kind: arm(k), np.atleast_1d(u), lambda k=kind, u=u: arm(k, T0, u), 1e-12)
        for kind, u in OF_DRIVES.items()
    },
}
"""With inputs, their values, and the same system with these values in it; and the rounding of both."""


@cached
def made(name: str, form: str) -> tuple[rbdae.Problem, rbdae.Problem, rbdae.Problem]:
    """With the inputs of the system, with the values of the table, and by a system that has these."""
    make, of, own, _ = SYSTEMS[name]
    p, first = (cases.formulated(build(), form, code=FORMS[form], consistent="project") for build in (make, own))
    return p, p.with_inputs(dict(zip(p.inputs, map(float, of), strict=True))), first


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_all_code_has_the_values_of_its_inputs(name, form):
    """u= for one call, `with_inputs` for good, and a system that has these values."""
    p, other, first = made(name, form)
    y, yd = state(p)
    u, values, level = other.inputs, np.array([*other.inputs.values()]), SYSTEMS[name][3]
    assert [*u.values()] == [float(x) for x in SYSTEMS[name][1]]
    before = p.residual(T0, y, yd)
    calls = [("residual", (y, yd)), ("jacobian", (y, yd, 1.3)), ("sparse_jacobian", (y, yd, 1.3))]
    calls += [("rhs", (y,)), ("rhs_jacobian", (y,))] if p.kind == "ode" else []
    for call, arguments in calls:
        getattr(p, call)(T0, *arguments, u=np.full(len(u), 0.1))
        found = [getattr(p, call)(T0, *arguments, u=each) for each in (u, values)]
        found += [getattr(problem, call)(T0, *arguments) for problem in (other, first)]
        *ours, wanted = [x.toarray() if call == "sparse_jacobian" else x for x in found]
        for one in ours:
            np.testing.assert_allclose(one, wanted, rtol=0, atol=level * max(1.0, np.abs(wanted).max()))
        assert np.array_equal(ours[0], ours[1])
    assert np.array_equal(before, p.residual(T0, y, yd))
    assert name.startswith("drive") or np.abs(before - first.residual(T0, y, yd)).max() > 0.1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_input_jacobian_is_that_of_differences(name, form):
    p, other, _ = made(name, form)
    y, yd = state(p)
    u, values = other.inputs, np.array([*other.inputs.values()])
    found, by_differences = p.input_jacobian(T0, y, yd, u=u), 1e-7 if name.startswith("drive") else 1e-8
    wanted = differences(lambda x: p.residual(T0, y, yd, u=x), values)
    assert found.shape == (p.n_equations, len(u))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=by_differences)
    np.testing.assert_allclose(other.input_jacobian(T0, y, yd), found, rtol=0, atol=1e-13 * np.abs(found).max())
    assert name.startswith("drive") or np.abs(wanted).max(axis=0).min() > 1e-3
    if p.kind == "ode":
        wanted = differences(lambda x: p.rhs(T0, y, u=x), values)
        np.testing.assert_allclose(p.input_jacobian(T0, y, u=u), wanted, rtol=0, atol=by_differences)


def test_a_start_belongs_to_its_inputs():
    """Multipliers, rates and algebraic unknowns; positions and velocities stay."""
    p, other = problem("index-2").with_inputs(U), rbdae.formulate(pendulum(*U.values()), "index-2")
    np.testing.assert_allclose(p.y0, other.y0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(p.yd0, other.yd0, rtol=0, atol=1e-12)
    assert np.abs(p.residual(p.t0, p.y0, p.yd0)).max() < 1e-11
    again = pickle.loads(pickle.dumps(p))
    assert again.inputs == U
    np.testing.assert_array_equal(again.residual(0.1, p.y0, p.yd0), p.residual(0.1, p.y0, p.yd0))


def test_a_problem_from_another_state():
    p = problem("index-2").with_inputs(U)
    y = p.y0.copy()
    y[p.layout.v] *= 2.0
    y[p.layout.s] = 0.2
    y[p.layout.la] = 7.0
    q = p.at(0.4, y)
    assert (q.t0, q.inputs) == (0.4, U)
    np.testing.assert_array_equal(q.y0[: p.layout.s.start], y[: p.layout.s.start])
    assert q.y0[p.layout.s][0] == 0.2
    assert np.abs(q.residual(q.t0, q.y0, q.yd0)).max() < 1e-11
    y[2] += 0.1
    assert np.abs(p.constraints(0.4, y).position).max() > 0.09
    assert np.abs(p.constraints(0.4, p.at(0.4, y).y0).position).max() < 1e-12


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


T = np.linspace(0.0, 1.0, 6)
CURVES = {
    "function": lambda t: np.sin(3.0 * t),
    "lines": (T, np.sin(3.0 * T)),
    "spline": Table(T, np.sin(3.0 * T), "cubic"),
}


@pytest.mark.parametrize("curve", CURVES)
def test_inputs_that_are_functions_of_the_time(curve):
    p = problem()
    given = CURVES[curve]
    q = p.with_inputs({"torque": given, "voltage": -1.1})
    value = Table(*given) if isinstance(given, tuple) else given
    y, _ = state(p)
    assert q.inputs == {"voltage": -1.1}
    for t in (-0.5, 0.0, 0.13, 0.97, 1.5):
        wanted = p.rhs(t, y, u=[float(value(t)), -1.1])
        np.testing.assert_allclose(q.rhs(t, y), wanted, rtol=0, atol=1e-12)
    assert q.input_jacobian(0.1, y).shape == (p.n, 1)
    back = q.with_inputs({"torque": 0.25})
    assert back.inputs == {"torque": 0.25, "voltage": -1.1}
    np.testing.assert_allclose(back.rhs(0.2, y), p.rhs(0.2, y, u=[0.25, -1.1]), rtol=0, atol=1e-13)


def test_an_input_of_a_law_may_be_a_function_of_the_time():
    p = rbdae.formulate(lawful(), "index-0")
    q = p.with_inputs({**OF_LAWS, "gain": rising})
    y, _ = state(p)
    wanted = p.rhs(0.3, y, u=OF_LAWS)
    np.testing.assert_allclose(q.rhs(0.3, y), wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())
    assert q.input_jacobian(0.3, y).shape == (p.n, 2)
    columns = p.input_jacobian(0.3, y, u=OF_LAWS)[:, 1:]
    np.testing.assert_allclose(q.input_jacobian(0.3, y), columns, rtol=0, atol=1e-12)
    again = pickle.loads(pickle.dumps(q))
    np.testing.assert_array_equal(again.rhs(0.3, y), q.rhs(0.3, y))


@pytest.mark.parametrize("timed", [False, True])
def test_laws_with_inputs_may_be_called_back(timed):
    """With exact derivatives by the inputs, too, or by differences; some of the inputs may be functions of the time."""
    p = rbdae.formulate(lawful(), "index-1")
    y, yd = state(p)
    given = {"gain": rising} if timed else {}
    for law, level in (
        (CalledBack(push), 1e-12),
        (CalledBack(push, difference_step=1e-5), 1e-8),
    ):
        q = rbdae.formulate(lawful(law), "index-1").with_inputs({**OF_LAWS, **given})
        np.testing.assert_allclose(q.residual(0.3, y, yd), p.residual(0.3, y, yd, u=OF_LAWS), rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            q.jacobian(0.3, y, yd, 1.3), p.jacobian(0.3, y, yd, 1.3, u=OF_LAWS), rtol=0, atol=level
        )
        columns = p.input_jacobian(0.3, y, yd, u=OF_LAWS)[:, timed:]
        np.testing.assert_allclose(q.input_jacobian(0.3, y, yd), columns, rtol=0, atol=level)


def test_a_run_and_a_simulator_drive_laws():
    """A slide on a track that brakes it by Coulomb friction, v' = -mu N / m far above v0, with N from outside."""
    system = rbdae.System(gravity=(0, 0, 0))
    normal = system.add_input("normal", unit="N")
    body = system.add_body("body", mass=2.0, inertia=(1, 1, 1), velocity=(0, 0, 3.0))
    track = system.add_joint(Prismatic(system.ground, body, axis_a=(0, 0, 1), name="track"))
    system.add_force(Coulomb(track, 0.5, normal=normal, velocity=0.01))
    p = rbdae.formulate(system, "null-space")
    found = rbdae.solve(p, (0.0, 1.0), inputs={"normal": lambda t: 8.0 * t}, rtol=1e-9, atol=1e-9)
    assert found.joints["track"].rate[-1] == pytest.approx(3.0 - 0.5 * 8.0 / 2.0 / 2.0, abs=1e-7)
    assert np.abs(found.energy.balance).max() < 1e-6
    sim = rbdae.Simulator(p, "rbdae:dop853", dt=0.1, rtol=1e-9, atol=1e-9)
    for k in range(5):
        sim.step({"normal": 2.0 * k})
    assert sim.joints["track"].rate == pytest.approx(3.0 - 0.5 * 2.0 * 10 * 0.1 / 2.0, abs=1e-7)


def test_steps_that_keep_energy_have_the_inputs_of_laws_and_drives():
    """They are those of the same numbers."""
    lawful_one, numbered = lawful(values=tuple(OF_LAWS.values())), by_numbers(OF_LAWS)
    for systems, inputs in (((lawful_one, numbered), {}), ((arm("law"), arm("law", 0.0, (0.4, 3.0))), {"size": 0.4})):
        runs = []
        for system in systems:
            p = rbdae.formulate(system, "hamiltonian", velocity="momentum")
            p = p.with_inputs(inputs | {"frequency": 3.0}) if inputs and system is systems[0] else p
            runs.append(rbdae.solve(p, (0.0, 0.05), solver="rbdae:energy-momentum", step=0.01))
        assert np.abs(runs[0].energy.balance).max() < 1e-12
        if not inputs:
            np.testing.assert_allclose(runs[0].y, runs[1].y, rtol=0, atol=1e-12)
            assert runs[0].stats.evaluations == runs[1].stats.evaluations
        else:
            assert runs[0].joints["drive"].angle[-1] == pytest.approx(0.4 * np.sin(0.15), abs=1e-12)
            assert runs[1].joints["drive"].angle[-1] == pytest.approx(0.06, abs=1e-12)


TIMES = np.linspace(0.0, 1.0, 9)
MOTIONS: dict[str, Any] = {
    "function": lambda t: 0.3 * np.sin(2.0 * t),
    "spline": Table(TIMES, 0.3 * np.sin(2 * TIMES), "cubic"),
}


@pytest.mark.parametrize("curve", MOTIONS)
def test_a_run_follows_an_input_with_rates_and_accelerations(curve):
    """From the first time on, where the slope of a table is that of its spline."""
    p = rbdae.formulate(arm("one"), "null-space")
    run = rbdae.solve(p, (0.0, 1.0), inputs={"angle": MOTIONS[curve]}, rtol=1e-9, atol=1e-9)
    drive, level = run.joints["drive"], 1e-8 if curve == "function" else 3e-4
    np.testing.assert_allclose(drive.angle, 0.3 * np.sin(2.0 * run.t), rtol=0, atol=level)
    np.testing.assert_allclose(drive.rate, 0.6 * np.cos(2.0 * run.t), rtol=0, atol=10 * level)
    np.testing.assert_allclose(drive.acceleration, -1.2 * np.sin(2.0 * run.t), rtol=0, atol=300 * level)
    assert np.abs(run.energy.balance).max() < 1e-6


def test_a_drive_whose_law_of_inputs_is_called_moves_like_one_that_is_recorded():
    calls = []

    def counted(t, u):
        calls.append(t)
        return u.size * math.sin(u.frequency * t)

    def driven(law):
        system = rbdae.System(gravity=(0, 0, 0))
        inputs = {"size": system.add_input("size", 0.4), "frequency": system.add_input("frequency", 2.0)}
        body = system.add_body("arm", mass=1.0, inertia=(1, 2, 3))
        pin = system.add_joint(Revolute(system.ground, body, name="pin"))
        system.add_joint(PrescribedAngle(pin, law, inputs=inputs, name="motor"))
        return rbdae.formulate(system, "index-2")

    called, recorded = driven(counted), driven(lambda t, u: u.size * np.sin(u.frequency * t))
    assert [*recorded.laws.values()] == ["recorded"] != [*called.laws.values()]
    yd = np.cos(np.arange(called.n))
    for u in (None, [0.7, 3.0]):
        F = [p.residual(0.3, recorded.y0, yd, **({} if u is None else {"u": u})) for p in (called, recorded)]
        np.testing.assert_allclose(*F, rtol=0.0, atol=1e-13 * np.abs(F[1]).max())
    assert calls


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


# ---------------------------------------------------------------- what is refused

JUMPS: list[tuple[Any, str]] = [
    (
        lambda p: rbdae.solve(p, (0, 1), inputs={"angle": (TIMES, TIMES, "previous")}),
        "its value jumps from 0 to 0.125 at t = 0.125",
    ),
    (
        lambda p: rbdae.solve(p, (0, 1), inputs={"angle": (TIMES, TIMES)}),
        "a table of 'linear' values, whose rate jumps",
    ),
    (lambda p: rbdae.solve(p, (0, 2), inputs={"angle": (TIMES, TIMES, "cubic")}), "ends at t = 1 while it moves"),
    (
        lambda p: rbdae.solve(p.with_inputs({"angle": (TIMES, TIMES, "cubic")}), (0, 2)),
        "ends at t = 1 while it moves",
    ),
    (lambda p: rbdae.Simulator(p).step({"angle": 0.1}), "give a function of the time, a table with kind='cubic'"),
]


@pytest.mark.parametrize(("call", "words"), JUMPS, ids=[str(k) for k in range(len(JUMPS))])
def test_what_would_jump_is_refused_by_name(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call(rbdae.formulate(arm("one"), "null-space"))


def test_derivatives_of_a_number_that_holds_still_are_no_run():
    p = rbdae.formulate(arm("three"), "null-space").with_inputs({"rate": 1.0})
    for call in (lambda: rbdae.solve(p, (0, 1)), lambda: rbdae.Simulator(p)):
        with pytest.raises(ValueError, match="input 'angle' is a constant number"):
            call()


BAD: list[tuple[Any, str]] = [
    (lambda pin, u: Motor(pin, torque=push, inputs=[u]), "inputs must be a mapping by name"),
    (lambda pin, u: Motor(pin, torque=push, inputs={"gain": 2.0}), r"inputs\['gain'\] must be an input of the system"),
    (lambda pin, u: Motor(pin, torque=u, inputs={"gain": u}), "inputs= belong to a law"),
    (lambda pin, u: Motor(pin, torque=lambda t, s, rate, u: u.gian, inputs={"gain": u}), "did you mean 'gain'"),
    (lambda pin, u: Motor(pin, torque=rbdae.System().add_input("gain")), "input 'gain' does not belong to this system"),
    (lambda pin, u: Coulomb(pin, 0.1, normal=rbdae.System().add_input("n", -1.0), radius=1.0), "not be negative"),
    (lambda pin, u: PrescribedAngle(pin, [u, u]), "takes 1 input, or 3 for s, s', s'', got 2"),
    (lambda pin, u: PrescribedAngle(pin, swing, inputs={"size": u}), "did you mean|unknown name in a law 'frequency'"),
    (
        lambda pin, u: PrescribedAngle(pin, swing, inputs={"size": 1.0, "frequency": u}),
        "must be an input of the system",
    ),
    (lambda pin, u: PrescribedAngle(pin, lambda t, u: (t, t), inputs={"u": u}), "a law of 1 number gives 2"),
    (lambda pin, u: PrescribedAngle(pin, rbdae.System().add_input("x")), "'x' does not belong to this system"),
]


@pytest.mark.parametrize(("make", "words"), BAD, ids=[str(k) for k in range(len(BAD))])
def test_what_is_no_law_of_inputs_is_refused_by_name(make, words):
    system = rbdae.System()
    u = system.add_input("u", 0.2)
    body = system.add_body("body", mass=1.0, inertia=(1, 1, 1))
    pin = system.add_joint(Revolute(system.ground, body, name="pin"))
    with pytest.raises((TypeError, ValueError, AttributeError), match=words):
        made = make(pin, u)
        (system.add_force if isinstance(made, rbdae.forces.AbstractForce) else system.add_joint)(made)
        rbdae.formulate(system, "index-0").rhs(0.0, np.ones(13))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: p.rhs(0.0, p.y0, u={"torq": 1.0}), "unknown input 'torq'; did you mean 'torque'"),
        (lambda p: p.rhs(0.0, p.y0, u=[1.0]), r"in the order of add_input, must be real numbers of shape \(2,\)"),
        (lambda p: p.rhs(0.0, p.y0, u={"torque": np.nan}), "input 'torque' must be finite"),
        (lambda p: p.with_inputs({"torq": 1.0}), "unknown input 'torq'"),
        (lambda p: rbdae.System().add_input("k", unit=5), "input 'k': unit must be a string, got 5"),
        (lambda p: p.with_inputs([1.0, 2.0]), "must be a mapping by name"),
        (lambda p: p.with_inputs({"torque": "x"}), "input 'torque' must be a real number"),
        (lambda p: p.with_inputs({"torque": lambda: 1.0}), "input 'torque'"),
        (lambda p: p.with_inputs({"torque": (T, T, "previous")}), "cuts the run there"),
        (lambda p: p.with_inputs({"torque": (T, T[:3])}), "a value for each time"),
        (lambda p: Table(T[::-1], T), "the times must rise"),
        (lambda p: Table(T[:3], T[:3], "cubic"), "at least 4 times"),
        (lambda p: Table(T, T, "quadratic"), "unknown kind of table 'quadratic'"),
    ],
)
def test_wrong_inputs_are_refused_by_name(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call(problem())

"""Actuators, controllers and blocks: what holds for every class of `rbdae.actuators`, and in every form."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import cases
import numpy as np
import pytest
import test_derivatives as derivatives
from actuator_cases import EXAMPLES, mechanism, setpoint, system_of, together
from cases import Pairing
from scipy.integrate import solve_ivp

import rbdae
from rbdae import actuators
from rbdae.formulations import FORMULATIONS

FORMS = {
    "null-space/quaternion/angular": "rbdae:dop853",
    "index-0/quaternion/angular": "rbdae:dop853",
    "index-2/quaternion/angular": "sksundae:ida",
    "ggl/quaternion/angular": "assimulo:Radau5DAE",
    "hamiltonian-eliminated/quaternion/momentum": "rbdae:dop853",
}


def pairing(text: str) -> Pairing:
    return Pairing(*text.split("/"))


@pytest.fixture
def named(monkeypatch):
    """Mechanisms by name, for the laws that take one."""

    def add(name: str, build: Any) -> str:
        monkeypatch.setitem(cases.SYSTEMS, name, build)
        return name

    return add


def test_every_class_has_an_example():
    kinds = {value for value in vars(actuators).values() if isinstance(value, type) and issubclass(value, rbdae.Block)}
    assert {kind for kind in kinds if getattr(kind, "__final__", False)} <= set(EXAMPLES)


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_derivatives_of_each_class(kind, named, rng):
    name = named(f"actuator {kind.__name__}", lambda: system_of(kind))
    derivatives.check_residual(name, Pairing("index-2", "quaternion", "angular"), rng)


@pytest.mark.parametrize("form", FORMS)
def test_derivatives_of_several_in_each_form(form, named, rng):
    name = named("actuators", together)
    ode = FORMULATIONS[pairing(form).formulation].kind == "ode"
    (derivatives.check_rhs if ode else derivatives.check_residual)(name, pairing(form), rng)


# ---------------------------------------------------------------- the motion


def by_hand(t: float, y: Any) -> Any:
    """Rates of angle, rate, displacement, speed, and of the states of `together`, by Newton's law for each body."""
    angle, w, x, v, integral, current, heat, stretch = y
    # of the points (0, 0.1, 0.2) of the arm, whose frame is 1 below the pin, and of the carriage
    c, s = np.cos(angle), np.sin(angle)
    tip = np.array([0.1 * c + 0.8 * s, 0.1 * s - 0.8 * c])
    line = np.array([1.5 + x, -1.0]) - tip
    length = np.linalg.norm(line)
    along = line / length
    turn = -along @ [-tip[1], tip[0]]  # dlength / dangle
    volts = 2.0 * (setpoint(t) - current) + integral
    roots = np.roots([0.1, 0.0, 1.0, -w - 0.3 * heat])
    flow = roots[np.argmin(np.abs(roots.imag))].real
    f = 3.0 * (length - 1.2 - stretch)

    pull = -f
    torque = 0.6 * current + 0.3 * (setpoint(t) - 0.3 * w) - 1.5 * 9.81 * s + turn * pull
    force = heat + flow + along[0] * pull
    return [
        w, torque / (0.3 + 1.5), v, force / 2.0,
        3.0 * (setpoint(t) - current), (volts - 1.2 * current - 0.6 * w) / 0.3,
        flow - 0.4 * heat, f / 2.0,
    ]  # fmt: skip


T = np.linspace(0.0, 1.0, 6)
QUANTITIES = ("pin.angle", "pin.rate", "rail.displacement", "rail.rate", "pi.integral", "dc.current", "heat.heat")
QUANTITIES += ("maxwell.stretch",)


def read(of: Any) -> Any:
    """The quantities of what `joints` and `forces` of a problem or run give, one column each."""
    joints, forces = of
    owners = [(joints if name.split(".")[0] in joints else forces)[name.split(".")[0]] for name in QUANTITIES]
    return np.stack([getattr(each, name.split(".")[1]) for each, name in zip(owners, QUANTITIES, strict=True)], axis=-1)


@pytest.fixture(scope="module")
def exact():
    start = [0.0, 0.3, 0.0, 0.2, 0.0, 0.0, 0.2, 0.0]
    return solve_ivp(by_hand, (0.0, 1.0), start, method="DOP853", rtol=1e-10, atol=1e-10, t_eval=T).y.T


def solved(form: str, tolerance: float = 1e-9) -> tuple[rbdae.Problem, rbdae.Solution]:
    cases.need(FORMS[form])
    formulation, rotation, velocity = form.split("/")
    problem = rbdae.formulate(together(), formulation, rotation=rotation, velocity=velocity)
    solution = rbdae.solve(problem, (0.0, 1.0), solver=FORMS[form], rtol=tolerance, atol=tolerance)
    assert solution.success, solution.message
    return problem, solution


@pytest.mark.parametrize("form", FORMS)
def test_the_motion_is_that_of_a_reduction_by_hand(form, exact):
    """Of joints and states, between the steps; the work of the actuators is in the balance."""
    problem, solution = solved(form, 1e-8)
    states = solution(T)
    found = read((problem.joints(T, states), problem.forces(T, states)))
    assert np.abs(found - exact).max() < (1e-7 if problem.kind == "ode" else 3e-6)
    assert np.abs(solution.energy.balance).max() < 1e-5 * np.ptp(solution.energy.total)
    flow = problem.forces(T, states)["heat"].flow
    wanted = found[:, 1] + 0.3 * found[:, 6]
    np.testing.assert_allclose(flow + 0.1 * flow**3, wanted, rtol=0, atol=1e-9)


def test_a_run_with_actuators_in_a_file(tmp_path):
    """And its problem in copies: the same bits."""
    form = "index-2/quaternion/angular"
    problem, solution = solved(form, 1e-4)
    path = solution.save(tmp_path / "run.npz")
    wanted = read((solution.joints, solution.forces))
    for other in (problem, copy.copy(problem), copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))):
        loaded = rbdae.load(path, other)
        np.testing.assert_array_equal(read((loaded.joints, loaded.forces)), wanted)
        np.testing.assert_array_equal(loaded(0.123), solution(0.123))
        assert other.labels == problem.labels
        found = other.residual(0.1, problem.y0 + 0.1, problem.yd0)
        np.testing.assert_array_equal(found, problem.residual(0.1, problem.y0 + 0.1, problem.yd0))


@pytest.mark.parametrize("form", ["index-2/quaternion/angular", "index-0/quaternion/angular"])
def test_plain_code_and_recorded_code_are_one(form, rng):
    formulation, rotation, velocity = form.split("/")
    problems = [
        cases.formulated(together(), formulation, rotation=rotation, velocity=velocity, code=code)
        for code in ("auto", "plain")
    ]
    y = problems[0].y0 + 0.1 * rng.standard_normal(problems[0].n)
    yd = rng.standard_normal(len(y))
    F, J = ([p.residual(0.3, y, yd) for p in problems], [p.jacobian(0.3, y, yd, 7.0) for p in problems])
    np.testing.assert_allclose(F[1], F[0], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(J[1], J[0], rtol=1e-10, atol=1e-10)


# ---------------------------------------------------------------- unknowns


def test_labels_and_the_consistent_start_of_algebraic_unknowns():
    """States first, then algebraic unknowns, of each group of blocks that read each other."""
    p = rbdae.formulate(together(), "index-2")
    names = ["pi.integral", "dc.current", "dc0.current", "heat.heat", "heat.flow", "maxwell.stretch"]
    assert set(names) <= set(p.labels)
    of = {name: list(p.labels).index(name) for name in p.labels}
    algebraic = {"dc0.current", "heat.flow"}
    assert {p.labels[k] for k in np.flatnonzero(p.algebraic)} == algebraic
    assert not p.differential[p.algebraic].any() and (p.variable_index[p.algebraic] == 1).all()
    np.testing.assert_allclose(p.y0[of["dc0.current"]], 1.0 - 0.3 * 0.3, rtol=1e-14)
    flow = p.y0[of["heat.flow"]]
    np.testing.assert_allclose(flow + 0.1 * flow**3, 0.3 + 0.3 * 0.2, rtol=1e-14)
    np.testing.assert_allclose(p.residual(0.0, p.y0, p.yd0)[p.algebraic], 0.0, atol=1e-15)
    ode = rbdae.formulate(together(), "index-0")
    assert not ode.algebraic.any() and set(ode.labels) >= set(names) - algebraic
    assert not set(ode.labels) & algebraic
    assert ode.forces(0.0, ode.y0)["heat"].flow == pytest.approx(flow, rel=1e-13)


def nonlinear() -> rbdae.System:
    """A node that nothing depends on, with a solution in closed form."""
    system = mechanism()
    law = lambda t, s, z, u, p: [z.v + z.v**3 - 10.0 * t]  # noqa: E731
    system.add_block(rbdae.block(law, algebraic={"v": 0.8}, name="node"))
    return system


@pytest.mark.parametrize(
    ("form", "solver"),
    [
        ("index-1", "sksundae:ida"),
        ("index-2", "sksundae:ida"),
        ("index-2", "scikits.odes:ida"),
        ("index-2", "scikits.odes:ddaspk"),
        ("index-2", "sundials:ida"),
        ("index-2", "assimulo:ODASSL"),
        ("overdetermined", "assimulo:ODASSL"),
        ("index-2", "assimulo:Radau5DAE"),
        ("index-2", "solve_dae:BDF"),
    ],
)
def test_solvers_solve_for_algebraic_unknowns(form, solver):
    """IDA, DASPK and ODASSL took them for multipliers, which are not tested: they had 1e11 in place of 1.5."""
    cases.need(solver)
    p = rbdae.formulate(nonlinear(), form)
    solution = rbdae.solve(p, (0.0, 0.5), solver=solver)
    v = solution.forces["node"].v
    assert np.abs(v + v**3 - 10.0 * solution.t).max() < 1e-3
    t = np.array([0.0123, 0.21, 0.4567])
    v = p.forces(t, solution(t))["node"].v
    np.testing.assert_allclose(v + v**3, 10.0 * t, rtol=0, atol=1e-12)


class Valve(rbdae.Actuator):
    """A force that counts comparisons."""

    outputs = ("level",)

    def law(self, t, q, qd, s, z, u, p):
        return 2.0 * self.observe(t, q, qd, s, z, u, p)[0]

    def observe(self, t, q, qd, s, z, u, p):
        return [(q < 0.7) * 1.0 + (qd > 0.5) * 1.0]


def slide() -> tuple[rbdae.System, Any]:
    system = rbdae.System(gravity=(0, 0, 0))
    body = system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(0, 0, 1.0))
    axes = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    return system, system.add_joint(rbdae.joints.Prismatic(system.ground, body, **axes, name="z"))


def test_a_sum_of_comparisons_is_read_as_the_number_that_acts():
    """The force, its power, an output and an event of the force."""
    system, joint = slide()
    system.add_force(Valve(joint, name="m"))
    p = rbdae.formulate(system, "index-0")
    assert p.rhs(0.0, p.y0)[list(p.labels).index("b.vz")] == pytest.approx(4.0)
    read = p.forces(0.0, p.y0)["m"]
    assert (read.force, read.power, read.level) == (4.0, 4.0, 2.0)
    run = rbdae.solve(
        p, (0.0, 0.6), solver="rbdae:dop853", rtol=1e-9, atol=1e-9, events=rbdae.Event("m.force", below=3)
    )
    assert set(run.forces["m"].force) == {4.0, 2.0}
    (t,) = run.events[0].t
    assert t + 2.0 * t**2 == pytest.approx(0.7, abs=1e-4)  # the force jumps: the step across it has the tolerance

"""What somebody adds in a file of their own obeys the laws of what the library has: a joint, a force with a state, a
formulation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cases
import numpy as np
import pytest
import test_derivatives as derivatives
import test_equivalence as equivalence
import toy_term
from cases import Pairing
from force_cases import P, Q, two_bodies
from inside import Vec, pack
from toy_force import LaggedDamper, Maxwell
from toy_formulation import StiffJoints

import rbdae
from rbdae.forces import Bushing
from rbdae.forces.element import StateElement
from rbdae.forces.packing import Trial
from rbdae.formulations import FORMULATIONS

# a line in cases.TOY_JOINTS brings a toy under these laws
JOINTS = [(s, p) for k, s in enumerate(cases.TOY_SYSTEMS) for p in {p.formulation: p for p in cases.turns(k)}.values()]
JOINT_IDS = [f"{s}-{p}" for s, p in JOINTS]


@pytest.mark.parametrize("system, pairing", JOINTS, ids=JOINT_IDS)
def test_derivatives_of_a_joint(system: str, pairing: Pairing, rng):
    derivatives.check(system, pairing, rng)


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, pairing", JOINTS, ids=JOINT_IDS)
def test_a_joint_moves_the_same_in_all_pairings(system: str, pairing: Pairing):
    equivalence.test_all_pairings_are_one_motion(system, pairing, 0)


# ---------------------------------------------------------------- a force with an internal state


def strut(stretch: float = 0.2) -> tuple[Maxwell, rbdae.System]:
    """Between points beside the centres of mass, in no special position."""
    system, a, b = two_bodies()
    force = Maxwell(a, b, stiffness=30.0, viscosity=4.0, length=0.7, stretch=stretch, at_a=(0.3, -0.2, 0.4), at_b=Q)
    return system.add_force(force), system


@pytest.mark.parametrize("form", ["index-2", "index-0", "null-space", "hamiltonian"])
def test_a_force_with_a_state_needs_its_law_alone(form: str, rng):
    """The derived Jacobian is the one by hand, and nothing is called back."""
    problems = []
    for derived in (True, False):
        system, a, b = two_bodies()
        system.add_force(LaggedDamper(a, b, damping=2.0, at_a=(0.3, -0.2, 0.4), at_b=Q, derived=derived))
        problems.append(rbdae.formulate(system, form))
    mine, by_hand = problems
    assert mine.labels == by_hand.labels and set(mine.laws.values()) == {"recorded"}
    t, c = 0.3, 1.7
    y, yd = mine.y0 + 0.05 * rng.standard_normal(mine.n), rng.standard_normal(mine.n)
    found, wanted = ([p.residual(t, y, yd), p.jacobian(t, y, yd, c)] for p in problems)
    for one, other in zip(found, wanted, strict=True):
        assert np.abs(one - other).max() < 1e-12 * np.abs(other).max()
    if mine.kind == "ode":
        one, other = (p.rhs_jacobian(t, y) for p in problems)
        assert np.abs(one - other).max() < 1e-12 * np.abs(other).max()


def evaluated(force: rbdae.forces.AbstractForce, what: str, x: Vec) -> Vec:
    """What the only element of a force gives at x = (Z, Zdot, s)."""
    (element,) = force.elements()
    k = len(element.names)
    out = np.full((24 + k) * (1 if what == "function" else 48 + k), np.nan, dtype=x.dtype)
    getattr(element, what)(0.0, x, out)
    return out


def test_states_have_labels_and_initial_values():
    force, system = strut()
    assert rbdae.formulate(system, "index-0").y0[-1] == 0.2
    (element,) = force.elements()
    packed = pack([("one", element, (0, 1)), ("two", element, (1, 2))], [np.zeros(3)] * 3, np.zeros((3, 12)))
    assert packed.state_labels == ("one.stretch", "two.stretch")
    assert packed.n_states == 2
    assert np.array_equal(packed.state_start, (0.2, 0.2))
    assert list(packed.elements["state"]) == [0, 1]
    assert list(packed.elements["n_states"]) == [1, 1]
    assert pack([], [], np.zeros((0, 12))).n_states == 0


@pytest.mark.parametrize(
    "names, start, words",
    [
        (("s", "s"), (0.0, 0.0), "force 'one': two of its internal states are called 's'"),
        (("",), (0.0,), "must not be empty"),
    ],
)
def test_names_of_states_are_checked(names, start, words):
    with pytest.raises(ValueError, match=words):
        pack([("one", StateElement(max, max, names, np.array(start)), (0, 1))], [np.zeros(3)] * 2, np.zeros((2, 12)))


@pytest.mark.parametrize("start, words", [((0.0, 1.0), r"shape \(1,\)"), ((np.nan,), "finite")])
def test_the_start_of_states_is_checked(start, words):
    element = StateElement(max, max, ("s",), np.array(start))
    with pytest.raises(ValueError, match=f"force 'one': the start of its internal states.*{words}"):
        pack([("one", element, (0, 1))], [np.zeros(3)] * 2, np.zeros((2, 24)), trial=Trial(0.0, ["body"], dict))


# ---------------------------------------------------------------- a formulation

# a formulation of one's own takes the place of a name; a line here brings it under these laws
STIFF_JOINTS: Any = StiffJoints(alpha=2.0, beta=7.0)
OWN = {STIFF_JOINTS.name: STIFF_JOINTS}
own = pytest.mark.parametrize("form", OWN.values(), ids=OWN)


@own
@pytest.mark.parametrize("system, rotation", [("C", "quaternion"), ("tied", "directors"), ("loop", "euler-313")])
def test_derivatives_of_a_formulation(form, system, rotation, rng):
    derivatives.check(system, Pairing(form, rotation, "angular"), rng)


@own
@pytest.mark.parametrize("rotation", cases.charts("toys"))
def test_a_formulation_without_joints_is_the_same_motion(form, rotation):
    equivalence.test_all_pairings_are_one_motion("skew-top", Pairing(form, rotation, "angular"), 0)


@own
def test_a_formulation_is_as_good_as_one_of_the_table(form, monkeypatch, rng):
    """A line in the table gives it a name, with the default options, for problems and studies."""
    system = rbdae.models.pendulum()
    monkeypatch.setitem(FORMULATIONS, form.name, type(form)())
    assert {f for f, _, _ in rbdae.pairings()} >= {form.name}
    for code in ("plain", "auto"):
        named, value = (cases.formulated(system, f, code=code) for f in (form.name, type(form)()))
        y = value.y0 + 0.1 * rng.standard_normal(value.n)
        np.testing.assert_array_equal(named.rhs(0.0, y), value.rhs(0.0, y))
        other = cases.formulated(system, form, code=code)
        assert np.abs(other.rhs(0.0, y) - value.rhs(0.0, y)).max() > 1e-3
    runs = {"rotations": ["quaternion"], "solvers": ["scipy:DOP853"], "tolerances": [1e-6]}
    found = rbdae.compare(system, 0.02, formulations=[form.name, form], **runs)
    assert [row.case.formulation for row in found.rows] == [form.name, form]
    assert [row.failure for row in found.rows] == ["", ""]


@own
def test_a_run_of_a_formulation_knows_its_parameters(form, tmp_path):
    problem = rbdae.formulate(rbdae.models.pendulum(), form)
    run = rbdae.solve(problem, (0.0, 0.02), solver="scipy:DOP853", rtol=1e-6, atol=1e-6)
    run.save(tmp_path / "run.npz")
    again = rbdae.load(tmp_path / "run.npz", problem)
    np.testing.assert_array_equal(again.energy.total, run.energy.total)
    for name, value in form.parameters.items():
        changed = rbdae.formulate(problem.system, replace(form, **{name: value * (1.0 + 1e-6)}))
        with pytest.raises(ValueError, match=f"{name} of the formulation"):
            rbdae.load(tmp_path / "run.npz", changed)


@own
@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf, "1.0", None, True, (1.0,)], ids=str)
def test_parameters_of_a_formulation_are_checked_by_name(form, wrong):
    for name in form.parameters:
        with pytest.raises((TypeError, ValueError), match=f"{type(form).__name__}: {name} must "):
            replace(form, **{name: wrong})
    with pytest.raises(TypeError, match="'stiffness'"):
        type(form)(stiffness=1.0)


def test_a_stiff_ball_joint_is_a_bushing(rng):
    """The formulation's joint and the library's force are two codes for one thing."""
    jointed, a, b = two_bodies()
    jointed.add_joint(rbdae.joints.Spherical(a, b, at_a=P, at_b=Q, name="ball"))
    bushed, a, b = two_bodies()
    bushed.add_force(Bushing(a, b, stiffness=49.0, damping=4.0, at_a=P, at_b=Q))
    stiff = rbdae.formulate(jointed, STIFF_JOINTS, consistent="project")
    free = rbdae.formulate(bushed, "index-0")
    assert stiff.n == free.n
    for _ in range(3):
        y = stiff.y0 + 0.2 * rng.standard_normal(stiff.n)
        np.testing.assert_allclose(stiff.rhs(0.0, y), free.rhs(0.0, y), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(stiff.rhs_jacobian(0.0, y), free.rhs_jacobian(0.0, y), rtol=1e-11, atol=1e-11)
        c = stiff.constraints(0.0, y)
        np.testing.assert_allclose(stiff.multipliers(0.0, y), (49.0 * c.position + 4.0 * c.velocity)[-3:], rtol=1e-12)


def test_stiff_joints_tend_to_constraints():
    """In proportion to 1/beta^2, with an implicit solver and the formulation's own Jacobian."""
    system = rbdae.models.pendulum()
    exact = rbdae.formulate(system, "index-0")
    tight = {"solver": "scipy:Radau", "rtol": 1e-9, "atol": 1e-10}
    end = rbdae.solve(exact, (0.0, 0.5), **tight)
    wanted = exact.natural(0.5, end.y[-1])
    errors = []
    for beta in (200.0, 400.0):
        problem = rbdae.formulate(system, StiffJoints(alpha=0.5 * beta, beta=beta))
        run = rbdae.solve(problem, (0.0, 0.5), **tight)
        assert run.success and run.stats.jacobians > 0
        errors.append(np.abs(problem.natural(0.5, run.y[-1]) - wanted)[..., :12].max())
    assert errors[0] < 1e-2
    assert 3.0 < errors[0] / errors[1] < 5.0


def test_a_formulation_is_not_known_by_its_name():
    """Only the table's are; a value is taken as it is, and its choices are checked as all are."""
    system = cases.built("C")
    with pytest.raises(ValueError, match="unknown formulation 'stiff-joints'"):
        rbdae.formulate(system, StiffJoints.name)
    with pytest.raises(ValueError, match=r"unknown formulation 'index0'.*index-0"):
        rbdae.formulate(system, "index0")
    with pytest.raises(ValueError, match="stiff-joints has no form with velocity 'coordinate'; it has angular"):
        rbdae.formulate(system, StiffJoints(), velocity="coordinate")
    with pytest.raises(ValueError, match=r"'hamiltonian', .*, not to 'stiff-joints'"):
        rbdae.formulate(system, StiffJoints(), constraint="momentum")
    assert rbdae.formulate(system, StiffJoints()).formulation == StiffJoints.name
    assert StiffJoints.name not in FORMULATIONS and all(f != StiffJoints.name for f, _, _ in rbdae.pairings())


@pytest.mark.parametrize("solver", ["rbdae:energy-momentum", "rbdae:dop853"])
def test_a_term_for_all_bodies_is_known_to_equations_energy_and_steps(solver, monkeypatch):
    """It stands in one place: momentum decays by its rate, and its work is the change of the energy."""
    toy_term.add(monkeypatch)
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    body = system.add_body("body", mass=2.0, inertia=(1.0, 2.0, 3.0), velocity=(3.0, 0.0, 0.0))
    system.add_force(Bushing(body, stiffness=0.0, rotational_stiffness=1.0))
    steps = {"step": 0.01} if solver == "rbdae:energy-momentum" else {"rtol": 1e-10, "atol": 1e-10}
    form = "hamiltonian" if solver == "rbdae:energy-momentum" else "index-0"
    problem = cases.formulated(system, form, rotation="quaternion", code="plain")
    solution = rbdae.solve(problem, (0.0, 0.1), solver=solver, **steps)
    decay = np.exp(-toy_term.RATE * 0.1)
    assert abs(solution.states["body"].velocity[-1][0] - 3.0 * decay) < 1e-6
    assert abs(solution.energy.work[-1] + 9.0 * (1.0 - decay**2)) < 1e-5
    assert np.abs(solution.energy.balance).max() < 1e-9

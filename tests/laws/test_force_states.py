"""Forces with internal states in the equations: the laws of all formulations hold for their further unknowns."""

from __future__ import annotations

from typing import Any

import cases
import inside
import numpy as np
import pytest
import test_derivatives as derivatives
import test_equivalence as equivalence
from cases import STATE_IDS, STATE_PAIRS, Pairing, close
from test_toys import evaluated
from toy_force import LaggedDamper, Maxwell, swinging
from toy_formulation import StiffJoints

import rbdae

A_FEW = [
    Pairing("index-2", "quaternion", "angular"),
    Pairing("hamiltonian-eliminated", "directors", "momentum"),
    Pairing("null-space", "quaternion", "angular"),
]


SOME = [(s, p) for s in cases.STATE_SYSTEMS for p in cases.covering([p for name, p in STATE_PAIRS if name == s])]


@pytest.mark.parametrize("system, pairing", SOME, ids=[f"{s}-{p}" for s, p in SOME])
def test_derivatives_with_states(system: str, pairing: Pairing, rng):
    derivatives.check(system, pairing, rng)


@pytest.mark.parametrize("system", ["struts-tree", "struts"])
def test_a_formulation_of_ones_own_has_states(system: str, rng):
    form: Any = StiffJoints(alpha=2.0, beta=7.0)
    pairing = Pairing(form, "quaternion", "angular")
    derivatives.check(system, pairing, rng)
    problem = cases.problem(system, pairing)
    reference = cases.problem(system, cases.REFERENCE)
    s = problem.layout.s
    assert np.array_equal(problem.y0[s], reference.y0[s])
    assert close(problem.yd0[s], reference.yd0[s], 1e-12)


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, pairing", STATE_PAIRS, ids=STATE_IDS)
def test_forces_with_states_move_the_same_in_all_pairings(system: str, pairing: Pairing, rng):
    """Accelerations, rates of the states, reactions; and elimination agrees with the residual wherever the state is."""
    equivalence.test_all_pairings_are_one_motion(system, pairing, 0)
    equivalence.test_rates_and_residual_agree_off_the_manifold_too(system, pairing, rng)


HERE = [(s, p) for k, (s, p) in enumerate(SOME) if cases.NIGHTLY or s != "struts-loop" or k == len(SOME) - 1]
"""Loops add nothing to where states are but time."""


@pytest.mark.parametrize("system, pairing", HERE, ids=[f"{s}-{p}" for s, p in HERE])
def test_where_states_are(system: str, pairing: Pairing, rng):
    problem = cases.problem(system, pairing)
    s, la = problem.layout.s, problem.layout.la
    assert problem.labels[s] == ["maxwell-1.stretch", "laggeddamper-1.lag1", "laggeddamper-1.lag2"]
    assert np.array_equal(problem.y0[s], (0.2, 0.1, -0.2))
    assert problem.layout.v.stop == s.start and s.stop == la.start
    assert problem.differential[s].all()
    assert (problem.variable_index[s] == (0 if problem.index == 0 else 1)).all()
    # projection leaves states alone, and they come from no position
    y = problem.y0 + 0.01 * rng.standard_normal(problem.n)
    assert np.array_equal(problem.project(0.0, y)[s], y[s])
    # the only equation with their rates is their own
    jump = problem.jacobian(0.0, y, problem.yd0, 1.0) - problem.jacobian(0.0, y, problem.yd0, 0.0)
    assert close(jump[s, s], np.eye(3), 1e-12)
    assert not np.delete(jump[:, s], range(s.start, s.stop), axis=0).any()


def test_states_are_in_the_rates_of_the_reference(rng):
    """The rates of the states are what the user's functions say."""
    problem = cases.problem("struts", cases.REFERENCE)
    y = problem.y0 + 0.01 * rng.standard_normal(problem.n)
    Z, s = problem.natural(0.0, y), problem.layout.s
    rates = problem.rhs(0.0, y)[s]
    names = [body.name for body in problem.system.bodies]
    found = []
    first = s.start
    for force in problem.system.forces:
        k = sum(len(getattr(element, "names", ())) for element in force.elements())
        if not k:
            continue
        pair = [
            Z[names.index(b.name)] if not b.fixed else np.append(np.eye(4, 3, -1), np.zeros((4, 3)))
            for b in force.bodies
        ]
        x = np.concatenate([*(z[:12] for z in pair), *(z[12:] for z in pair), y[first : first + k]])
        found.append(evaluated(force, "function", x)[24:])
        first += k
    np.testing.assert_allclose(rates, np.concatenate(found), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("pairing", A_FEW, ids=str)
def test_forces_by_name_have_the_states_of_their_argument(pairing: Pairing, rng):
    """psi at one state, after an evaluation at another one."""
    problem = cases.problem("struts", pairing)
    y = problem.y0.copy()
    y[problem.layout.s] += rng.standard_normal(3)
    found = problem.matrices(0.0, problem.y0).psi
    other = problem.matrices(0.0, y).psi
    assert np.array_equal(problem.matrices(0.0, problem.y0).psi, found)
    assert not close(other, found, 1e-3)
    if problem.kind == "dae":
        v = problem.layout.v
        wanted = problem.residual(0.0, y, problem.yd0)[v] - problem.residual(0.0, problem.y0, problem.yd0)[v]
        assert close(found - other, wanted, 1e-11)


@pytest.mark.plain  # two models have the same bits by the same kernels alone
def test_states_have_no_energy_and_cost_nothing_where_there_are_none():
    problem = cases.problem("struts", cases.REFERENCE)
    without = cases.formulate(cases.hinged_pair(), cases.REFERENCE)
    y = np.delete(problem.y0, problem.layout.s)
    assert np.array_equal(y, without.y0)
    assert problem.energy(0.0, problem.y0).total == without.energy(0.0, y).total
    assert without.layout.s.start == without.layout.s.stop


SOLVERS = {
    "scipy:DOP853": (Pairing("index-0", "quaternion", "angular"), 1e-10, 1e-8),
    "sksundae:ida": (Pairing("index-2", "quaternion", "coordinate"), 1e-9, 1e-6),
    "assimulo:ODASSL": (Pairing("overdetermined", "quaternion", "coordinate"), 1e-9, 1e-5),
}


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_find_the_closed_form_of_a_state(solver: str, tmp_path):
    cases.need(solver)
    system, exact = swinging()
    pairing, tolerance, error = SOLVERS[solver]
    problem = cases.formulate(system, pairing)
    solution = rbdae.solve(problem, (0.0, 2.0), solver=solver, rtol=tolerance, atol=tolerance)
    assert solution.success
    s = problem.layout.s
    for read in (solution, rbdae.load(solution.save(tmp_path / "run"), problem)):
        bob = read.states["bob"]
        found = np.stack([bob.position[:, 0], bob.velocity[:, 0], read.y[:, s.start]], axis=1)
        wanted = np.array([exact(t) for t in read.t])
        assert np.abs(found - wanted).max() < error


def rocker() -> rbdae.System:
    """Rotates often enough to select its velocities again, with a strut across and one to the ground."""
    system = cases.turning_four_bar(spin=9.0)
    a, _, c = system.bodies
    system.add_force(Maxwell(a, c, stiffness=3.0, viscosity=1.0, length=1.1, stretch=0.05, at_a=(0.2, 0.0, 0.0)))
    system.add_force(LaggedDamper(c, damping=0.05, at_b=(0.4, 0.3, -0.8)))
    return system


def test_states_stay_where_velocities_are_selected_again(tmp_path):
    problem = rbdae.formulate(rocker(), "null-space", consistent="project")
    s = problem.layout.s
    # there and back, to other unknowns: states are not velocities
    other = inside.reselected(problem, 0.0, problem.y0)
    assert np.array_equal(other.y0[s], problem.y0[s])
    assert close(other.yd0[s], problem.yd0[s], 1e-12)
    assert np.array_equal(problem.translated(0.0, problem.y0, other)[s], problem.y0[s])
    times = np.linspace(0.0, 2.0, 41)
    options = {"solver": "scipy:DOP853", "rtol": 1e-10, "atol": 1e-10, "t_eval": times}
    solution = rbdae.solve(problem, (0.0, 2.0), **options)
    assert len(inside.segment_times(solution)) > 1
    twin = rbdae.formulate(rocker(), "index-0", consistent="project")
    wanted = rbdae.solve(twin, (0.0, 2.0), projection=True, **options)
    assert np.abs(solution.y[:, s] - wanted.y[:, twin.layout.s]).max() < 1e-6
    again = rbdae.load(solution.save(tmp_path / "run"), problem)
    assert np.array_equal(again.y[:, s], solution.y[:, s])
    assert close(again.energy.total, wanted.energy.total, 1e-6)

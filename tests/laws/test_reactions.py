"""Reactions along runs are as good as the states: they are those of the accelerations that belong to (q, v), whatever
the solver has made of its multipliers."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import cases
import numpy as np
import pytest
from cases import INFOS, NIGHTLY, PAIRINGS, REGULAR, method, need
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.adapter import Reason
from rbdae.formulations import FORMULATIONS

Array = np.ndarray

REFERENCE_TOLERANCE = 1e-11
SHARE = 1e-4
"""Of the largest reaction; what a state's error may add to it:"""
AMPLIFICATION = 100.0


class Reference(NamedTuple):
    """Natural coordinates with their rates, and reactions (times, joints and sides, 6), with what is unique."""

    t: Array
    natural: Array
    reactions: Array
    unique: Array


def wrenches(found: dict[str, dict[str, rbdae.Reaction]], n: int) -> tuple[Array, Array]:
    """Reactions as arrays (n, joints and sides, 6), and (joints and sides,) whether they are unique."""
    sides = [side for joint in found.values() for side in joint.values()]
    values = [np.concatenate([side.force, side.torque], axis=-1) for side in sides]
    return np.reshape(np.array(values), (len(sides), n, 6)).swapaxes(0, 1), np.array([np.all(s.unique) for s in sides])


@cache
def reference(model: str) -> Reference:
    """The motion by `index-0` with DOP853."""
    entry = rbdae.models.MODELS[model]
    problem = rbdae.formulate(entry(), "index-0", redundant="minimum-norm")
    t = np.linspace(0.0, entry.t_end, 21)
    run = rbdae.solve(
        problem,
        (0.0, t[-1]),
        solver="scipy:DOP853",
        rtol=REFERENCE_TOLERANCE,
        atol=REFERENCE_TOLERANCE,
        t_eval=t,
        projection=True,
    )
    assert run.success, run.message
    return Reference(t, problem.natural(t, run.y), *wrenches(run.reactions, len(t)))


def errors(model: str, problem: rbdae.Problem, run: rbdae.Solution) -> tuple[Array, Array, int]:
    """Errors of the state so far and of unique reactions, at the times that the run has reached, each relative to the
    largest, and the number of joints' sides with unique ones."""
    wanted, n = reference(model), len(run.t)
    natural = run.problem.natural(run.t, run.y)
    found, unique = wrenches(run.reactions, n)
    size = np.abs(wanted.natural).reshape(-1, wanted.natural.shape[-2], 2, 12).max(axis=(0, 1, 3))
    state = (np.abs(natural - wanted.natural[:n]).reshape(n, -1, 2, 12).max(axis=(1, 3)) / size).max(axis=1)
    state = np.maximum.accumulate(state)
    sure = unique & wanted.unique
    largest = np.abs(wanted.reactions).max(initial=0.0) or 1.0
    error = np.abs(found - wanted.reactions[:n])[:, sure].max(axis=(1, 2), initial=0.0) / largest
    return state, error, int(sure.sum())


def check(model: str, problem: rbdae.Problem, run: rbdae.Solution) -> None:
    """The law, at all times that the run has reached."""
    state, error, _ = errors(model, problem, run)
    assert (error < SHARE + AMPLIFICATION * state).all(), (
        f"{problem!r}: reactions are off by {error.max():.2g} of the largest where states are off by {state.max():.2g}"
    )


@pytest.mark.parametrize("formulation", ["index-1", "index-2", "ggl", "index-3"])
@pytest.mark.parametrize("solver", ["sksundae:ida", "scikits.odes:ida", "scikits.odes:ddaspk"])
def test_reactions_of_the_slider_crank_are_not_the_solvers_noise(solver, formulation):
    need(solver)
    problem = rbdae.formulate(rbdae.models.spatial_slider_crank(), formulation)
    t = reference("spatial_slider_crank").t
    run = rbdae.solve(problem, (0.0, t[-1]), solver=solver, rtol=1e-8, atol=1e-8, t_eval=t)
    assert run.success, run.message
    check("spatial_slider_crank", problem, run)


# ---------------------------------------------------------------- the law, over the registries


class Case(NamedTuple):
    model: str
    formulation: str
    rotation: str
    velocity: str
    solver: str

    def __str__(self) -> str:
        return "-".join(self)

    @property
    def makes_sense(self) -> bool:
        form = FORMULATIONS[self.formulation]
        solver = method(self.solver)
        flat = self.model == "bruels_cardona_top"  # its director mass has no inverse
        return (
            form.multipliers != "none"
            and solver.accepts(form.kind, form.index)
            and not solver.fixed_step
            and self.rotation in REGULAR
            and not (flat and (self.rotation, self.velocity) == ("directors", "momentum"))
        )


ALL = [
    case
    for model, entry in rbdae.models.MODELS.items()
    if entry().joints
    for pairing in PAIRINGS
    for solver in INFOS
    if (case := Case(model, *pairing, solver)).makes_sense
]


def share(n: int) -> set[Case]:
    """Drawn by a seed: first cases that bring a new model, form, chart, velocity or solver, then any, until n."""
    order = [ALL[k] for k in np.random.default_rng(9).permutation(len(ALL))]
    seen: set[tuple[int, str]] = set()
    chosen: dict[Case, None] = {}
    for case in order:
        if not (news := set(enumerate(case))) <= seen:
            chosen[case] = None
            seen |= news
    return set([*chosen, *(c for c in order if c not in chosen)][: max(n, len(chosen))])


SHARE_OF_ALL = share(0)

MAX_STEPS = {
    "sksundae:ida": {"max_num_steps": 10_000},
    "scikits.odes:ida": {"max_steps": 10_000},
    "scikits.odes:ddaspk": {"max_steps": 10_000},
}
"""Integrals of multipliers make their steps too small in some models, for minutes."""


TOLERANCES = {
    f"chain-{form}-quaternion-{velocity}-solve_dae:Radau": 1e-9
    for form in ("ggl", "hiller-anantharaman")
    for velocity in ("angular", "spatial")
}
"""At 1e-8 these stop after 5e-5 s: Newton's iteration stagnates for a chain that sets off from rest, not so at 1e-6."""


@pytest.mark.sampled
@pytest.mark.parametrize("case", ALL if NIGHTLY else [case for case in ALL if case in SHARE_OF_ALL], ids=str)
def test_reactions_along_runs_are_as_good_as_the_states(case):
    need(case.solver)
    problem = rbdae.formulate(
        rbdae.models.MODELS[case.model](),
        case.formulation,
        rotation=case.rotation,
        velocity=case.velocity,
        redundant="minimum-norm",
    )
    t = reference(case.model).t
    limit = MAX_STEPS.get(case.solver, {})
    tolerance = TOLERANCES.get(str(case), 1e-8)
    run = rbdae.solve(problem, (0.0, t[-1]), solver=case.solver, rtol=tolerance, atol=tolerance, t_eval=t, **limit)
    assert len(run.t) > 1 or run.reason is Reason.TOO_MANY_STEPS, run.message  # whatever stopped it later
    check(case.model, problem, run)


# ---------------------------------------------------------------- signs, and what the solver has computed


def hanging(pairing) -> rbdae.Problem:
    """A body of 2 kg at rest, its centre of mass below the ball joint that holds it from the ground."""
    turn = Rotation.from_rotvec((0.5, -0.6, 0.8))
    system = rbdae.System(gravity=(0.0, 0.0, -10.0))
    arm = turn.inv().apply((0.0, 0.0, 0.7))
    body = system.add_body("body", mass=2.0, inertia=(1.0, 1.2, 1.5), position=(0.3, 0.2, 0.3), orientation=turn)
    system.add_joint(rbdae.joints.Spherical(system.ground, body, at_a=(0.3, 0.2, 1.0), at_b=arm, name="hook"))
    return rbdae.formulate(system, pairing.formulation, rotation=pairing.rotation, velocity=pairing.velocity)


WEIGHT = (0.0, 0.0, 20.0)


@pytest.mark.parametrize("pairing", cases.turns(0), ids=str)
def test_multipliers_of_a_joint_are_the_force_on_its_second_body(pairing):
    """The sign that `Problem.multipliers` states, in every form; the run's own have it, too."""
    problem, form = hanging(pairing), FORMULATIONS[pairing.formulation]
    t, y, la = problem.t0, problem.y0, problem.layout.la
    np.testing.assert_allclose(problem.multipliers(t, y)[-3:], WEIGHT, rtol=0, atol=1e-10)
    np.testing.assert_allclose(problem.reactions(t, y)["hook"]["body"].force, WEIGHT, rtol=0, atol=1e-10)
    if form.multipliers == "none":
        return
    own = problem.run_multipliers(t, y) if form.multipliers == "values" else problem.yd0[la]
    np.testing.assert_allclose(own, problem.multipliers(t, y), rtol=0, atol=1e-10)
    # G^T la stands on the side of the inertia forces
    values, rates = (problem.jacobian(t, y, problem.yd0, c) for c in (0.0, 1.0))
    column = values if form.multipliers == "values" else rates - values
    rows = slice(problem.layout.q.stop, problem.layout.v.stop)
    G = problem.matrices(t, y, sparse=False).G
    if form.projected:  # L W over |p|^2 = 1 in place of the rows of the rotation, and no column of the norm
        e0, e = y[3], y[4:7]
        L = np.column_stack([-e, e0 * np.eye(3) - np.cross(np.eye(3), e)])
        np.testing.assert_allclose(column[rows, la][:3], G[1:, :3].T, rtol=0, atol=1e-10)
        np.testing.assert_allclose(column[rows, la][3:6], L @ G[1:, 3:].T, rtol=0, atol=1e-10)
        assert not column[rows, la][6].any()
        return
    found = cases.turned_rows(problem, t, y) @ column[rows, la]
    np.testing.assert_allclose(found, G.T, rtol=0, atol=1e-10)


@pytest.mark.parametrize("pairing", cases.turns(1), ids=str)
def test_multipliers_are_those_of_positions_and_velocities(pairing):
    """Whatever stands in y in their place; and what stands there is given by its own name, or refused."""
    problem, form = hanging(pairing), FORMULATIONS[pairing.formulation]
    y = np.array([problem.y0, problem.y0])
    y[:, problem.layout.n_differential :] = np.nan
    t = np.full(2, problem.t0)
    wanted = problem.multipliers(problem.t0, problem.y0)
    np.testing.assert_array_equal(problem.multipliers(t, y), [wanted, wanted])
    if form.multipliers == "values":
        y[:, problem.layout.la] = [[7.0], [8.0]]
        found = problem.run_multipliers(t, y)
        n_hidden = problem.layout.n_hidden
        np.testing.assert_array_equal(found[:, n_hidden:], y[:, problem.layout.la])
        assert not found[:, :n_hidden].any()
        assert problem.run_multipliers(0.0, problem.y0).shape == wanted.shape
        assert not np.shares_memory(problem.run_multipliers(t, y), y)
        with pytest.raises(ValueError, match="shape"):
            problem.run_multipliers(t, problem.y0)
        return
    instead = r"(, but their integrals, y\[\.\.\., problem\.layout\.la\])?"
    with pytest.raises(ValueError, match=rf"'{pairing.formulation}' has no multipliers{instead}; problem\.multipliers"):
        problem.run_multipliers(t, y)


@pytest.mark.parametrize("redundant", ["error", "minimum-norm"])
@pytest.mark.parametrize("formulation", ["index-0", "index-1", "hamiltonian-eliminated"])
def test_reactions_in_a_singular_position_are_not_said_to_be_unique(formulation, redundant):
    """Two rods in line can be stretched against each other by any force."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    bob = system.add_body("bob", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.6, 0.0))
    for name, x in (("left", -0.8), ("right", 0.8)):
        system.add_joint(rbdae.joints.Rod(system.ground, bob, at_a=(x, 0, 0), length=1.0, name=name))
    problem = rbdae.formulate(system, formulation, redundant=redundant)
    y = problem.y0.copy()
    assert all(side.unique for joint in problem.reactions(0.0, y).values() for side in joint.values())
    y[problem.labels.index("bob.y")] = 0.0
    sides = [side for joint in problem.reactions(0.0, y).values() for side in joint.values()]
    assert not any(side.unique for side in sides)
    if redundant == "minimum-norm":
        assert np.isfinite([side.force for side in sides]).all()

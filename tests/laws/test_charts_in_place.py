"""Charts that own loops centre again in place: the runs have every bit of those that begin again with a new problem,
and nothing is bound again."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import cases
import numpy as np
import pytest
from cases import Pairing
from inside import JIT, machine_function, segment_times

import rbdae
from rbdae.adapter import Reason
from rbdae.solving import segments

pytestmark = pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")

ALWAYS = {"on_singularity": "switch", "recentre": "always"}


def linked(rotation):
    """Two bodies with joints: laws of multipliers, an order of the bodies, a drift."""
    pairing = Pairing("index-0", rotation, "angular")
    return cases.formulate(rbdae.models.linked_bodies(), pairing, code="traced")


def tumbling(rotation, form="index-0"):
    """A free body that meets the singular sets of all charts."""
    given = {} if rotation == "quaternion" else {"reference": "start"}
    system = rbdae.System()
    system.add_body("body", mass=2.0, inertia=cases.INERTIA, angular_velocity=(2.0, -4.0, 1.0))
    return cases.formulate(system, Pairing(form, rotation, "angular"), code="traced", **given)


def tree(rotation):
    """Bodies that are not in the order of addition in y: the last of a chain comes first."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    third, second, first = (
        system.add_body(f"body-{k}", mass=1.0 + k, inertia=(0.3, 0.4, 0.5), position=(k - 0.5, 0.2 * k, 0.0))
        for k in (3, 2, 1)
    )
    for k, (a, b) in enumerate(((system.ground, first), (first, second), (second, third))):
        here = np.array((k, 0.1 * k, 0.0))
        at_a = here - (0.0 if k == 0 else np.array((k - 0.5, 0.2 * k, 0.0)))
        system.add_joint(rbdae.joints.Spherical(a, b, at_a=at_a, at_b=here - np.array((k + 0.5, 0.2 * (k + 1), 0.0))))
    problem = cases.formulate(system, Pairing("null-space", rotation, "angular"), code="traced", reference="start")
    assert problem.layout.order == (2, 1, 0)
    return problem


MODELS = {
    "rotation vector": (lambda: tumbling("rotation-vector"), 3.0),
    "Euler angles": (lambda: tumbling("bryant-321"), 3.0),
    "conformal": (lambda: tumbling("conformal"), 3.0),
    "linked": (lambda: linked("rotation-vector"), 0.1),
    "tree": (lambda: tree("euler-313"), 1.0),
}


def solve(problem, t_end, solver="rbdae:dopri5", **given):
    given = {"rtol": 1e-6, "atol": 1e-7} | ALWAYS | given
    return rbdae.solve(problem, (0.0, t_end), solver=solver, **given)


def segment_problems(solution):
    """The problems by which the rows of a run are read, one a segment."""
    return () if solution.segments is None else solution.segments.problems


def everything(run):
    """The numbers of a run, and of the problems that it has left behind."""
    yield "counts", replace(run.stats, seconds=0.0, wall_seconds=0.0)
    yield "words", (run.reason, run.message)
    yield "times", segment_times(run)
    yield "rows", (run.t.tobytes(), run.y.tobytes())
    yield "steps", None if run.steps is None else (run.steps.t.tobytes(), run.steps.y.tobytes())
    for k, p in enumerate(segment_problems(run)):
        yield f"start {k}", (p.t0, p.y0.tobytes(), p.yd0.tobytes(), p.selection.references is None)
        yield f"R_ref {k}", np.array([R.as_matrix() for R in p.reference_rotations.values()]).tobytes()
        yield f"rates {k}", p.rhs(p.t0, p.y0).tobytes()


def assert_same(one, two):
    for (name, a), (_, b) in zip(everything(one), everything(two), strict=True):
        assert a == b, name


@pytest.fixture
def begun_again(monkeypatch):
    """Runs that restart with a new problem at each change."""

    def run(*arguments, **given):
        with monkeypatch.context() as patch:
            patch.setattr(segments, "moving", lambda problem, policy: None)
            return solve(*arguments, **given)

    return run


@pytest.mark.parametrize("solver", ["rbdae:dopri5", "rbdae:dop853"])
@pytest.mark.parametrize("name", MODELS)
def test_every_bit_is_that_of_a_run_that_begins_again(name, solver, begun_again):
    make, t_end = MODELS[name]
    problem = make()
    one, two = solve(problem, t_end, solver), begun_again(problem, t_end, solver)
    assert one.success and one.stats.restarts == one.stats.steps - 1 > 3
    assert_same(one, two)


def at_changes(problem, t_end):
    """Output times on changes, between them, at both ends."""
    times = segment_times(solve(problem, t_end))
    return np.unique([0.0, *times[1:6:2], *np.linspace(0.05 * t_end, t_end, 7)])


OPTIONS = {
    "due": {"recentre": "due"},
    "first step": {"first_step": 1e-5, "max_step": 0.01},
    "control": {"safety": 0.8, "shrink": 0.4, "grow": 3.0, "beta": 0.0},
    "one step a segment": {"max_steps": 1},
    "limit": {"recentre": "due", "max_steps": 12},
    "tolerances": {"atol": [1e-6, 1e-7] * 6},
    "steps too large": {"recentre": "due", "first_step": 0.2, "rtol": 0.5, "atol": 30.0},
}


@pytest.mark.parametrize("option", OPTIONS)
def test_options_hold_in_every_segment(option, begun_again):
    problem = tumbling("rotation-vector")
    assert_same(solve(problem, 3.0, **OPTIONS[option]), begun_again(problem, 3.0, **OPTIONS[option]))


@pytest.mark.parametrize("kept", [True, False], ids=["steps", "no steps"])
@pytest.mark.parametrize("recentre", ["always", "due"])
def test_outputs_at_changes_and_between(recentre, kept, begun_again):
    problem = tumbling("rotation-vector")
    given = {"t_eval": at_changes(problem, 3.0), "dense_output": kept, "recentre": recentre}
    one, two = solve(problem, 3.0, **given), begun_again(problem, 3.0, **given)
    np.testing.assert_array_equal(one.t, given["t_eval"])
    assert set(one.t) & set(segment_times(one)) or recentre == "due"
    assert_same(one, two)


def test_nothing_is_bound_again(monkeypatch):
    """Contexts of machine code are made for the first two problems alone, whatever the number of changes."""
    made = []
    context = machine_function.Context.of
    monkeypatch.setattr(machine_function.Context, "of", lambda *a: made.append(1) or context(*a))
    found = []
    for t_end in (0.5, 3.0):
        made.clear()
        run = solve(tumbling("rotation-vector"), t_end)
        found.append((run.stats.restarts, len(made)))
    (few, one), (many, two) = found
    assert many > 4 * few > 12 and one == two, found


def test_runs_leave_the_problem_and_each_other_alone():
    problem = tumbling("rotation-vector")
    selection, rates = problem.selection, problem.rhs(0.0, problem.y0).tobytes()
    first = solve(problem, 3.0)
    before = [(p.selection.references.tobytes(), p.rhs(p.t0, p.y0).tobytes()) for p in segment_problems(first)]
    solve(problem, 1.3, recentre="due")
    middle = segment_problems(first)[3]
    rbdae.solve(middle, (middle.t0, 2.0), solver="rbdae:dopri5", **ALWAYS)
    after = [(p.selection.references.tobytes(), p.rhs(p.t0, p.y0).tobytes()) for p in segment_problems(first)]
    assert before == after
    assert problem.selection is selection and problem.rhs(0.0, problem.y0).tobytes() == rates
    with ThreadPoolExecutor(3) as pool:
        for other in pool.map(lambda _: solve(copy.copy(problem), 3.0), range(6)):
            assert_same(first, other)


def test_a_chart_that_is_left_within_one_step_ends_the_run(begun_again):
    problem = tumbling("rotation-vector")
    given = {"recentre": "due", "first_step": 0.2, "rtol": 0.9, "atol": 1e2, "grow": 50.0}
    one, two = solve(problem, 60.0, **given), begun_again(problem, 60.0, **given)
    assert_same(one, two)
    assert one.reason == Reason.CHART and "within one step" in one.message, one.message

"""What a run selects again on its way: switches compose, and a selection changes nothing but how a state is written.

Bricard's mechanism in the null-space form needs both within three seconds: the joint equation that is left out at the
start is needed later, and so are other independent velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import inside
import numpy as np
import pytest
from codes import cached
from inside import Vec

import rbdae
from rbdae.models import bricard

NEEDED_LATER = 16
"""Left out at the start, this equation is needed from 1 s on."""

END = 2.4
TIMES = np.linspace(0.0, END, 25)
TIGHT: dict[str, Any] = {"solver": "scipy:DOP853", "rtol": 1e-8, "atol": 1e-8}


@cached
def _problem(formulation: str = "null-space") -> rbdae.Problem:
    return inside.dropping(rbdae.formulate(bricard(), formulation, redundant="minimum-norm"), (NEEDED_LATER,))


class _Seen:
    """An event, and the states that it is asked at: body 1 changes the side of its frame's x axis."""

    def __init__(self, problem: rbdae.Problem) -> None:
        self.problem = problem
        self.states: list[tuple[float, Vec]] = []

    def __call__(self, t: float, y: Vec) -> float:
        self.states.append((t, y.copy()))
        return float(self.problem.natural(t, y)[0, 3]) - 0.3


@cached
def _run() -> tuple[rbdae.Solution, _Seen]:
    problem = _problem()
    seen = _Seen(problem)
    return rbdae.solve(problem, (0.0, END), t_eval=TIMES, events=seen, **TIGHT), seen


@cached
def _reference() -> rbdae.Solution:
    """Index 0, with a choice of equations that lasts."""
    problem = rbdae.formulate(bricard(), "index-0", redundant="minimum-norm")
    out = rbdae.solve(problem, (0.0, END), t_eval=TIMES, **TIGHT)
    assert out.stats.restarts == 0
    return out


def _changes() -> Iterator[tuple[float, rbdae.Problem, rbdae.Problem]]:
    """Time, and the problems before and after, of every change in the run."""
    segments = _run()[0].segments
    assert segments is not None
    yield from zip(segments.times, segments.problems[:-1], segments.problems[1:], strict=True)


# ---------------------------------------------------------------- one run, both switches


def test_one_run_selects_rows_and_velocities():
    run, _ = _run()
    assert run.success and run.stats.restarts == len(list(_changes()))
    changed = [
        (a.selection.rows is not b.selection.rows, a.selection.velocities is not b.selection.velocities)
        for _, a, b in _changes()
    ]
    assert all(any(fields) for fields in changed)
    assert any(rows for rows, _ in changed), "no rows were selected again"
    assert any(velocities for _, velocities in changed), "no velocities were selected again"
    last = list(_changes())[-1][2]
    assert inside.omitted_rows(last) != [NEEDED_LATER] and len(last.redundant) == 1


# ---------------------------------------------------------------- how often: restarts are counted


@pytest.mark.parametrize("velocity", ["angular", "spatial"])
def test_independent_velocities_last(velocity, monkeypatch):
    """Bricard's mechanism needs others once in two seconds; selected from G in another frame they would be bad ones,
    and selected eight times. Right after the selection, which is made once, no column of T has grown."""
    problem = rbdae.formulate(bricard(), "null-space", velocity=velocity, redundant="minimum-norm")
    select, selected = inside.Metric.select, []
    monkeypatch.setattr(inside.Metric, "select", lambda *given: selected.append(given) or select(*given))
    run = rbdae.solve(problem, (0.0, 2.0), solver="scipy:DOP853", rtol=1e-7, atol=1e-7)
    assert run.success and run.stats.restarts == len(inside.segment_times(run)) == len(selected) == 1
    t, after = run.segments.times[0], run.segments.problems[1]
    assert after.interpretation.growth(t, run(t)) == pytest.approx(1.0, abs=1e-6)


def test_the_strength_of_new_rows_is_their_own():
    """What a later switch compares with: the smallest singular value of the rows that are kept now."""
    looked_at = 0
    for t, a, b in _changes():
        if a.selection.rows is not b.selection.rows:
            G = b.interpretation.joint_matrix(t, _run()[0](t))
            kept, old = b.selection.rows, a.selection.rows
            assert kept.strength == pytest.approx(inside.strength(b.model, G, kept.dropped), rel=1e-6)
            assert kept.strength > 2.0 * inside.strength(b.model, G, old.dropped), "others are stronger there"
            looked_at += 1
    assert looked_at


REACH = {"rodrigues": 1.0, "quaternion-vector": 1.0, "linear": 0.5, "rotation-vector": 2.0, "conformal": 2.0}
"""Half turns from the centre of a chart to its singular set, along any axis."""


@pytest.mark.parametrize("rotation", REACH)
def test_charts_are_centred_as_often_as_the_attitude_needs(rotation):
    """A ball turns about a fixed axis: others come after two thirds of the way, so from the angle alone it follows how
    many."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    speed, angle = 20.0, 6.0
    spin = speed * np.array((0.48, -0.6, 0.64))
    system.add_body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.0, 0.0), angular_velocity=spin)
    problem = rbdae.formulate(system, "index-0", rotation=rotation, reference="start")
    more: dict[str, Any] = {"on_singularity": "switch", "max_step": 0.05 / speed, "rtol": 1e-6, "atol": 1e-6}
    run = rbdae.solve(problem, (0.0, angle / speed), solver="scipy:RK45", **more)
    due = 2.0 / 3.0 * np.pi * REACH[rotation]
    most, least = int(angle / due), int(angle / (due + 0.05))
    assert run.success and most == least == run.stats.restarts == len(inside.segment_times(run))


# ---------------------------------------------------------------- the motion


def test_the_motion_is_that_of_the_reference():
    run, wanted = _run()[0], _reference()
    assert np.array_equal(run.t, TIMES)
    found = run.problem.natural(run.t, run.y)
    assert np.abs(found - wanted.problem.natural(wanted.t, wanted.y)).max() < 1e-5


def test_a_run_is_read_without_a_seam():
    """Quantities of all times at once are those of each segment's problem, and continuous across the changes."""
    run, wanted = _run()[0], _reference()
    energy, natural = run.energy.total, run.problem.natural(run.t, run.y)
    assert np.abs(energy - energy[0]).max() < 1e-6 * run.energy.kinetic.max()
    assert run.drift.position.max() < 1e-6 and run.drift.velocity.max() < 1e-6
    for k in range(0, len(run.t), 3):
        t, y = float(run.t[k]), run.y[k]
        here = run.problem_at(t)
        assert np.array_equal(here.natural(t, y), natural[k])
        # sums of one row and of many round differently
        assert abs(here.energy(t, y).total - energy[k]) < 1e-13 * np.abs(energy).max()
        assert np.array_equal(here.constraints(t, y).position, run.problem.constraints(t, y).position)
        assert np.array_equal(here.rhs(t, y), run.problem.rhs(t, y))
        # the equation that is left out holds as far as positions do
        joints = here.constraints(t, y).velocity[inside.internal_constraints(here) :]
        assert np.abs(np.delete(joints, inside.omitted_rows(here))).max() < 1e-12
        for name, state in here.states(t, y).items():
            np.testing.assert_allclose(state.position, run.states[name].position[k], rtol=0, atol=1e-13)
            np.testing.assert_allclose(state.angular_velocity, run.states[name].angular_velocity[k], rtol=0, atol=1e-12)
    size = max(np.abs(r.force).max() for sides in wanted.reactions.values() for r in sides.values())
    for joint, sides in wanted.reactions.items():
        for body, reaction in sides.items():
            found = run.reactions[joint][body]
            np.testing.assert_allclose(found.force, reaction.force, rtol=0, atol=1e-4 * size)
            np.testing.assert_allclose(found.torque, reaction.torque, rtol=0, atol=1e-4 * size)
            assert np.array_equal(found.unique, reaction.unique)


def test_events_get_the_unknowns_of_the_first_problem():
    """In those of a later segment its energy would be another."""
    run, seen = _run()
    first, last = _problem(), max(t for t, _ in seen.states)
    assert last > inside.segment_times(run)[-1]
    energy = np.array([first.energy(t, y).total for t, y in seen.states[::5]])
    assert np.abs(energy - energy[0]).max() < 1e-5 * run.energy.kinetic.max()
    t, y = seen.states[-1]
    here = run.problem_at(t)
    assert np.abs(here.translated(t, first.translated(t, y, here), first) - y).max() < 1e-9
    (log,) = run.events
    assert len(log.t) > 0
    for t, y in zip(log.t, log.y, strict=True):
        assert abs(float(run.problem.natural(t, y)[0, 3]) - 0.3) < 1e-6


# ---------------------------------------------------------------- laws of switches


def test_a_switch_changes_its_own_field_only():
    for t, before, after in _changes():
        y = after.translated(t, after.y0, before)
        for switch in before.switches():
            new = switch.next(t, y, before.selection)
            rows = new.rows is not before.selection.rows
            velocities = new.velocities is not before.selection.velocities
            assert not (rows and velocities), f"{type(switch).__name__} has changed both"
            assert velocities <= isinstance(switch, inside.VelocitySwitch)
            assert rows or velocities or new is before.selection


def test_switches_compose_in_either_order():
    """Both at one state: the rows, and velocities that suit the same motion."""
    t, before, after = next(_changes())
    y = after.translated(t, after.y0, before)
    one, two = before.switches()
    a = two.next(t, y, one.next(t, y, before.selection))
    b = one.next(t, y, two.next(t, y, before.selection))
    assert a.rows.dropped == b.rows.dropped and np.array_equal(a.velocities.S, b.velocities.S)
    other = before.resumed(t, y, a)
    assert other.selection is a
    np.testing.assert_allclose(other.natural(t, other.y0), before.natural(t, y), rtol=0, atol=1e-6)


def test_there_and_back_is_the_identity():
    """On the manifold; off it other rows see another null space."""
    first = _problem()
    for t, before, after in _changes():
        here = after.project(t, after.y0)
        for problem in (before, first):
            y = after.translated(t, here, problem)
            back = problem.translated(t, y, after)
            scale = max(1.0, np.abs(y).max())
            assert np.abs(back - here).max() < 1e-12 * scale
            assert np.abs(after.translated(t, back, problem) - y).max() < 1e-12 * scale
            np.testing.assert_allclose(after.natural(t, here), problem.natural(t, y), rtol=0, atol=1e-12 * scale)


# code of a form with a right-hand side, with all its derivatives, takes seconds
@pytest.mark.parametrize("formulation", ["index-2", pytest.param("null-space", marks=pytest.mark.nightly)])
def test_two_selections_do_not_disturb_each_other(formulation, rng):
    """They share their working memory: interleaved evaluations give the bits of each alone."""
    one = _problem(formulation)
    other = inside.dropping(one, (8,))
    if inside.selects_velocities(one):
        other = inside.reselected(other, 0.0, other.y0)
    states = [p.y0 + 0.01 * rng.standard_normal(p.n) for p in (one, other)]
    rates = rng.standard_normal(one.n)

    def evaluations(problem: rbdae.Problem, y: Vec) -> list[Callable[[], Any]]:
        out: list[Callable[[], Any]] = [
            lambda: problem.residual(0.0, y, rates),
            lambda: problem.jacobian(0.0, y, rates, 2.0),
            lambda: problem.sparse_jacobian(0.0, y, rates, 2.0).toarray(),
            lambda: problem.constraints(0.0, y).velocity,
            lambda: problem.multipliers(0.0, y),
            lambda: problem.project(0.0, y),
        ]
        if problem.kind == "ode":
            out += [lambda: problem.rhs(0.0, y), lambda: problem.rhs_jacobian(0.0, y)]
        return out

    pair = [evaluations(p, y) for p, y in zip((one, other), states, strict=True)]
    alone = [[evaluate() for evaluate in calls] for calls in pair]
    assert not np.array_equal(alone[0][4], alone[1][4])
    for _ in range(2):
        for k in rng.permutation(len(pair[0])):
            for calls, wanted in zip(pair, alone, strict=True):
                assert np.array_equal(calls[k](), wanted[k])

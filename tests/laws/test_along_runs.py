"""What runs report, along runs: momentum, events across changes of selection, projections, files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cases
import inside
import numpy as np
import pytest
from codes import cached
from inside import Mat, Vec
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.joints import Revolute, Spherical

END = 0.4
GRAVITY = np.array([0.5, -1.0, -9.0])
PULL, AT = np.array([3.0, -2.0, 4.0]), np.array([0.1, 0.2, -0.1])
HOOK = np.array([-0.5, 0.1, 0.2])

FORMS = [
    ("index-0", "quaternion", "angular", "scipy:DOP853", 1e-10),
    ("index-2", "quaternion", "angular", "sksundae:ida", 1e-8),
    ("null-space", "quaternion", "angular", "scipy:DOP853", 1e-10),
    ("hamiltonian-eliminated", "quaternion", "momentum", "scipy:DOP853", 1e-10),
]


def _arm() -> rbdae.System:
    """Two bodies that hang from the ground; a spring with a damper between them, a force on the second."""
    system = rbdae.System(gravity=GRAVITY)
    turn = Rotation.from_rotvec((0.3, -0.5, 0.4))
    first = system.add_body(
        "first", mass=1.5, inertia=cases.INERTIA, orientation=turn, angular_velocity=(1.0, -2.0, 0.5)
    )
    second = system.add_body("second", mass=2.5, inertia=1.3 * cases.INERTIA, position=turn.apply((1.0, 0.2, 0.0)))
    system.add_joint(Spherical(system.ground, first, at_a=turn.apply(HOOK), at_b=HOOK, name="hook"))
    system.add_joint(Revolute(first, second, at_a=(0.6, 0.0, 0.1), axis_a=(0.0, 0.6, 0.8), axis_b=(0.0, 0.0, 1.0)))
    system.add_force(rbdae.forces.SpringDamper(first, second, stiffness=40.0, damping=2.0, length=0.3, at_a=AT))
    system.add_force(rbdae.forces.Force(second, PULL, at=AT))
    return system


@cached
def _run(form: str, rotation: str, velocity: str, solver: str, tolerance: float) -> rbdae.Solution:
    cases.need(solver)
    problem = rbdae.formulate(_arm(), form, rotation=rotation, velocity=velocity, consistent="project")
    out = rbdae.solve(problem, (0.0, END), solver=solver, rtol=tolerance, atol=tolerance)
    assert out.success, out.message
    return out


# ---------------------------------------------------------------- momentum


@pytest.mark.parametrize("case", FORMS, ids=lambda c: c[0])
def test_momentum_changes_by_applied_and_ground_forces(case):
    """dp/dt = weight + pull + force of the ground; dL/dt is the sum of their torques about the origin. Forces between
    the bodies do not count. Measured: 4e-11 of the forces, and 9e-7 with IDA."""
    run, h = _run(*case), 2e-3
    t = np.linspace(0.1, 0.9, 7) * END
    around = [run.problem.momentum(s, run(s)) for s in (t - 2 * h, t - h, t + h, t + 2 * h)]

    def rate(values: list[Mat]) -> Mat:
        return ((values[0] - values[3]) + 8.0 * (values[2] - values[1])) / (12.0 * h)

    y = run(t)
    states, hook = run.problem.states(t, y), run.problem.reactions(t, y)["hook"]["first"]
    place = states["first"].position + states["first"].orientation.apply(HOOK)
    force = hook.force + PULL + 4.0 * GRAVITY
    torque = hook.torque + np.cross(place, hook.force)
    torque += np.cross(states["second"].position + states["second"].orientation.apply(AT), PULL)
    for name, mass in (("first", 1.5), ("second", 2.5)):
        torque += np.cross(states[name].center_of_mass, mass * GRAVITY)
    size, most = np.abs(hook.force).max(), 1e3 * case[4]
    assert size > 10.0
    assert np.abs(rate([m.linear for m in around]) - force).max() < most * size
    assert np.abs(rate([m.angular for m in around]) - torque).max() < most * size
    assert np.array_equal(run.momentum.linear, run.problem.momentum(run.t, run.y).linear)


# ---------------------------------------------------------------- what a projection reports


@pytest.mark.parametrize("solver", ["scipy:RK45", "sksundae:cvode"])
def test_projections_report_what_they_did(solver):
    """Counts and sizes, of the projector and of the run, against the states before and after each call."""
    cases.need(solver)
    problem = rbdae.formulate(_arm(), "index-0", consistent="project")
    projector, sizes = rbdae.Projection().bind(problem), list[float]()

    class Watched:
        restart_tolerance, reach, drift = projector.restart_tolerance, projector.reach, projector.drift
        count = property(lambda self: projector.count)

        def bind(self, problem: rbdae.Problem) -> Watched:
            return self

        def __call__(self, t: float, y: Vec) -> bool:
            before = y.copy()
            changed = bool(projector(t, y))
            sizes.append(float(np.abs(y - before).max()))
            assert changed == (sizes[-1] > 0.0) and projector.drift(t, y) < 1e-13
            return changed

    run = rbdae.solve(problem, (0.0, END), solver=solver, rtol=1e-5, atol=1e-5, projection=Watched())
    changes = [size for size in sizes if size > 0.0]
    assert run.success and run.stats.projections == projector.count == len(changes) > 2
    assert (projector.skipped, projector.largest) == (len(sizes) - len(changes), max(changes))
    assert projector.total == pytest.approx(sum(changes), rel=1e-12) and projector.iterations >= projector.count


# ---------------------------------------------------------------- runs that change their selection


def _crossing(problem: rbdae.Problem, level: float) -> Callable[[float, Vec], float]:
    return lambda t, y: float(problem.natural(t, y)[0, 3]) - level


@cached
def switched() -> rbdae.Solution:
    """Bricard's mechanism: other rows and other velocities within three seconds; events on both sides."""
    problem = rbdae.formulate(rbdae.models.bricard(), "null-space", redundant="minimum-norm")
    problem = inside.dropping(problem, (16,))
    levels = (0.9, 0.6, 0.3, 0.0)
    events = [_crossing(problem, level) for level in levels]
    run = rbdae.solve(problem, (0.0, 2.4), solver="scipy:DOP853", rtol=1e-9, atol=1e-9, events=events)
    assert run.success and len(inside.segment_times(run)) > 1
    return run


def test_events_across_changes_of_selection():
    """Those of a run without changes, at the same times; their states are read by the selection of the time."""
    run = switched()
    problem = rbdae.formulate(rbdae.models.bricard(), "index-0", redundant="minimum-norm")
    events = [_crossing(problem, level) for level in (0.9, 0.6, 0.3, 0.0)]
    other = rbdae.solve(problem, (0.0, 2.4), solver="scipy:DOP853", rtol=1e-9, atol=1e-9, events=events)
    assert other.stats.restarts == 0
    found = np.concatenate([log.t for log in run.events])
    first = inside.segment_times(run)[0]
    assert (found < first).any() and (found > first).any()
    for one, two in zip(run.events, other.events, strict=True):
        np.testing.assert_allclose(one.t, two.t, rtol=0, atol=1e-6)
        if len(one.t):
            here, there = run.problem.natural(one.t, one.y), other.problem.natural(two.t, two.y)
            np.testing.assert_allclose(here, there, rtol=0, atol=1e-5)
            np.testing.assert_allclose(one.y, run(one.t), rtol=0, atol=1e-7)


def _same(one: Any, two: Any) -> None:
    """The same bits, whatever it is."""
    if isinstance(one, dict):
        assert list(one) == list(two)
        for key in one:
            _same(one[key], two[key])
    elif isinstance(one, Rotation):
        assert np.array_equal(one.as_quat(), two.as_quat())
    elif hasattr(one, "__dataclass_fields__"):
        for name in one.__dataclass_fields__:
            if not name.startswith("_"):
                _same(getattr(one, name), getattr(two, name))
    else:
        assert np.array_equal(one, two)


def test_a_switched_run_is_the_same_after_loading(tmp_path):
    """Times of the changes, states, energies, momentum, reactions, multipliers and dense output, bit for bit; the
    problem is another one of the same system, which leaves out another equation."""
    run = switched()
    problem = rbdae.formulate(rbdae.models.bricard(), "null-space", redundant="minimum-norm")
    again = rbdae.load(run.save(tmp_path / "run"), problem)
    assert inside.segment_times(again) == inside.segment_times(run)
    assert inside.omitted_rows(again.problem_at(0.0)) == [16]
    between = np.linspace(0.0, 2.4, 23)
    for read in (
        lambda s: s.t,
        lambda s: s.y,
        lambda s: s.states,
        lambda s: s.energy,
        lambda s: s.momentum,
        lambda s: s.drift,
        lambda s: s.multipliers,
        lambda s: s.reactions,
        lambda s: s.singular_times,
        lambda s: s(between),
        lambda s: [s.problem_at(t).rhs(t, s(t)) for t in between[::5]],
        lambda s: [s.problem_at(t).redundant for t in inside.segment_times(run)],
        lambda s: s.problem.constraints(s.t, s.y),
        lambda s: s.problem.rates(s.t, s.y)[0],
    ):
        _same(read(run), read(again))
    for one, two in zip(run.events, again.events, strict=True):
        _same(one, two)
    assert again.stats == run.stats and again.reason is run.reason and again.message == run.message
    assert (again.solver, again.rtol, again.atol) == (run.solver, run.rtol, run.atol)

"""Runs that stay in machine code do what runs do that come back to Python after each step: the same steps, events,
selections and projections, whatever is asked on the way."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
import pytest
from cases import Pairing
from inside import Controls, machine_call, projection_in_python, segment_times

import rbdae
from rbdae.adapter import Reason
from rbdae.problem import switches

ODE = Pairing("index-0", "quaternion", "angular")


def both(problem, span, between=lambda: None, **given):
    """The run in machine code, and the one that comes back to Python after each step for its progress."""
    out = []
    for progress in (False, lambda t: None):
        between()
        out.append(rbdae.solve(problem, span, progress=progress, **{"rtol": 1e-7, "atol": 1e-7, **given}))
    return out


def compare(free, other, bits=True):
    """The rows, the events, the end of two runs. Projected ones are the same but for rounding: near the constraints a
    loop projects by code of the model, and Python by the kernel of all models, which have the same bits on some
    processors alone."""
    assert free.reason == other.reason and free.message == other.message
    assert free.stats.steps == other.stats.steps
    assert len(free.t) == len(other.t) and len(segment_times(free)) == len(segment_times(other))
    for one, two in ((free, other), *zip(free.events, other.events, strict=True)):
        if bits:
            np.testing.assert_array_equal(one.t, two.t)
            np.testing.assert_array_equal(one.y, two.y)
        else:
            np.testing.assert_allclose(one.t, two.t, rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(one.y, two.y, rtol=1e-6, atol=1e-7)


def test_equal_controls_are_one():
    """Short runs find the memory again that a loop with the same controls has begun from."""
    assert len({Controls(safety=0.8), Controls(safety=0.8), Controls()}) == 2


# ---------------------------------------------------------------- events


SOLVERS = {
    "rbdae:dopri5": ("index-0", {}),
    "rbdae:dop853": ("index-0", {}),
    "sundials:ida": ("index-2", {}),
    "sundials:cvode": ("index-0", {}),
}


def top(solver, code="auto"):
    return cases.formulated(rbdae.models.heavy_top(), SOLVERS[solver][0], code=code)


def event(value, **attributes):
    """A function of time and state with attributes."""

    def one(t, y):
        return value(t, y)

    for name, setting in attributes.items():
        setattr(one, name, setting)
    return one


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("outputs", [None, np.linspace(0.0, 3.0, 40)], ids=["steps", "outputs"])
@pytest.mark.parametrize("terminal", [0, 3])
@pytest.mark.parametrize("projection", [None, True], ids=["free", "projected"])
def test_events_are_those_of_runs_that_ask_after_each_step(solver, outputs, terminal, projection):
    cases.need(solver)
    events = [
        event(lambda t, y: np.sin(3.0 * t) - 0.5),
        event(lambda t, y: y[0], terminal=terminal),
        event(lambda t, y: y[1], direction=-1.0),
    ]
    free, other = both(top(solver), (0.0, 3.0), solver=solver, events=events, t_eval=outputs, projection=projection)
    assert len(free.events[0].t) > 0 and len(free.events[1].t) > 2
    assert free.reason is (Reason.EVENT if terminal else Reason.FINISHED)
    compare(free, other, bits=projection is None)
    plain = rbdae.solve(top(solver), (0.0, 3.0), solver=solver, projection=projection, rtol=1e-7, atol=1e-7)
    if outputs is None and not terminal:  # events do not change the steps
        np.testing.assert_array_equal(free.t, plain.t)
        np.testing.assert_array_equal(free.y, plain.y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_zeros_at_the_ends_of_steps_and_runs_are_counted_once(solver):
    """At the start, at the end, at the end of a step, and all the time."""
    cases.need(solver)
    problem = top(solver)
    step = rbdae.solve(problem, (0.0, 1.0), solver=solver, rtol=1e-7, atol=1e-7).t[7]
    events = [
        event(lambda t, y: t),
        event(lambda t, y: t - 1.0),
        event(lambda t, y: t - step),
        event(lambda t, y: 0.0),
        event(lambda t, y: (t - step) ** 2),
    ]
    free, other = both(problem, (0.0, 1.0), solver=solver, events=events)
    compare(free, other)
    assert [len(each.t) for each in free.events] == [0, 1, 1, 0, 1]
    assert free.events[1].t[0] == 1.0 and free.events[2].t[0] == step


@pytest.mark.parametrize("solver", SOLVERS)
def test_back_in_time(solver):
    cases.need(solver)
    events = [event(lambda t, y: y[0]), event(lambda t, y: t + 0.3, terminal=True, direction=-1.0)]
    free, other = both(top(solver), (0.0, -1.0), solver=solver, events=events)
    compare(free, other)
    assert free.reason is Reason.EVENT and abs(free.t[-1] + 0.3) < 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_projected_run_back_in_time_begins_where_its_drive_is_then(solver):
    cases.need(solver)
    system = rbdae.System()
    link = system.add_body("link", mass=1.0, inertia=(1.0, 1.0, 1.0))
    hinge = system.add_joint(rbdae.joints.Revolute(system.ground, link, axis_a=(0, 0, 1), axis_b=(0, 0, 1)))
    angle = (lambda t: 0.3 + t + t * t, lambda t: 1.0 + 2.0 * t, lambda t: 2.0)
    system.add_joint(rbdae.drives.PrescribedAngle(hinge, angle))
    problem = rbdae.formulate(system, SOLVERS[solver][0], t0=0.5)
    run = rbdae.solve(problem, (0.5, 0.2), solver=solver, projection=True)
    np.testing.assert_allclose(run.y[0], problem.y0, rtol=0.0, atol=1e-12)
    assert run.drift.position.max() < 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_event_that_is_not_a_number_and_one_that_raises(solver):
    cases.need(solver)
    bad = event(lambda t, y: np.nan if t > 0.4 else 1.0)
    free, other = both(top(solver), (0.0, 1.0), solver=solver, events=bad)
    compare(free, other)
    assert free.reason is Reason.NOT_FINITE and "nan" in free.message

    def raising(t, y):
        if t > 0.4:
            raise ZeroDivisionError("of the user")
        return 1.0

    with pytest.raises(ZeroDivisionError, match="of the user"):
        rbdae.solve(top(solver), (0.0, 1.0), solver=solver, events=raising)


# ---------------------------------------------------------------- switches: asked where one may be due


class Asked:
    """How often switches have been asked in each of two runs."""

    def __init__(self):
        self.counts = []

    def begin(self):
        self.counts.append(0)


@pytest.fixture
def asked(monkeypatch):
    found = Asked()

    def counted(due):
        def asking(self, t, y):
            found.counts[-1] += 1
            return due(self, t, y)

        return asking

    for kind in switches.SWITCHES:
        monkeypatch.setattr(kind, "due", counted(kind.due))
    return found


def tumbling(rotation, spin=(2.0, -4.0, 1.0), inertia=cases.INERTIA, code="auto"):
    """A free body that meets the singular sets of all charts."""
    system = rbdae.System()
    system.add_body("body", mass=2.0, inertia=inertia, angular_velocity=spin)
    return cases.formulate(system, Pairing("index-0", rotation, "angular"), code=code, reference="start")


def four_bar():
    pairing = Pairing("null-space", "quaternion", "angular")
    return cases.formulate(cases.turning_four_bar("plain", pendulum=True), pairing)


def redundant():
    pairing = Pairing("index-0", "quaternion", "angular")
    system = cases.turning_four_bar("redundant")
    return cases.formulate(system, pairing, redundant="minimum-norm")


SWITCHING = {"on_singularity": "switch"}

SELECTING = {
    "rotation vector": (lambda: tumbling("rotation-vector"), 4.0, SWITCHING),
    "Euler angles": (lambda: tumbling("bryant-321"), 4.0, SWITCHING),
    "conformal": (lambda: tumbling("conformal"), 4.0, SWITCHING),
    "loops": (four_bar, 3.0, {}),
    "rows": (redundant, 3.0, {}),
}


@pytest.mark.parametrize("outputs", [False, True], ids=["steps", "outputs"])
@pytest.mark.parametrize("name", SELECTING)
def test_switches_are_asked_where_one_may_be_due_and_decide_the_same(name, outputs, asked):
    make, t_end, given = SELECTING[name]
    times = np.linspace(0.0, t_end, 57) if outputs else None
    free, other = both(make(), (0.0, t_end), asked.begin, solver="rbdae:dopri5", t_eval=times, **given)
    assert free.success and free.stats.evaluations == other.stats.evaluations, free.message
    compare(free, other)
    assert name == "rows" or len(segment_times(free)) > 0  # there was something to choose
    few, many = asked.counts
    assert few < many
    assert name in ("loops", "rows") or few <= 2 * len(segment_times(free)) + 1


def test_a_run_that_stops_at_a_singularity_stops_at_the_same_step(asked):
    steady = tumbling("rotation-vector", spin=(0.0, 0.0, 2.0), inertia=np.eye(3))
    free, other = both(steady, (0.0, 4.0), asked.begin, solver="rbdae:dopri5", max_step=4e-4)
    compare(free, other)
    assert free.reason is Reason.CHART
    few, many = asked.counts
    assert few <= 2 < many


def test_charts_that_are_always_centred_again_are():
    given = {"on_singularity": "switch", "recentre": "always", "rtol": 1e-5, "atol": 1e-5}
    free, other = both(tumbling("rotation-vector"), (0.0, 0.5), solver="rbdae:dopri5", **given)
    compare(free, other)
    assert len(segment_times(free)) == free.stats.steps - 1


def test_projected_runs_are_watched_too(asked):
    problem = cases.problem("C", Pairing("index-0", "euler-313", "angular"))
    free, other = both(
        problem, (0.0, 0.2), asked.begin, solver="rbdae:dopri5", on_singularity="switch", projection=True
    )
    assert free.success and len(segment_times(free)) == len(segment_times(other))
    np.testing.assert_allclose(free.y[-1], other.y[-1], atol=1e-6 * np.abs(other.y).max())
    few, many = asked.counts
    assert few < 0.5 * many
    assert max(free.drift.position.max(), free.drift.velocity.max()) < 1e-11 * np.abs(free.y).max()


# ---------------------------------------------------------------- projections


LONG = [
    Pairing("index-0", "bryant-321", "spatial"),
    Pairing("ggl", "directors", "coordinate"),
    Pairing("hamiltonian-eliminated", "quaternion", "momentum"),
    Pairing("null-space", "quaternion", "angular"),
]


def driven_chain():
    """Hinged links, the first of which is turned."""
    system = rbdae.models.chain(18, planar=True)
    (hinge, *_) = system.joints
    system.add_joint(rbdae.drives.PrescribedAngle(hinge, lambda t: 0.3 * t + 0.2 * t * t))
    return system


CASES = [
    *(cases.PAIRS[::29] if cases.NIGHTLY else ()),
    ("C", ODE),
    ("C", Pairing("index-0", "quaternion", "coordinate")),
    ("tied", Pairing("index-0", "directors", "coordinate")),
    ("branched", Pairing("hamiltonian-eliminated", "quaternion", "momentum")),
    ("A", Pairing("hamiltonian-eliminated", "directors", "momentum")),
]


@pytest.mark.parametrize("system, pairing", CASES, ids=["-".join(map(str, case)) for case in CASES])
def test_projections_are_those_in_python(system, pairing, rng):
    """The same state, to rounding, after the same Newton steps, however it is asked to project."""
    problem = cases.problem(system, pairing)
    ways = [rbdae.Projection(**given) for given in WAYS if pairing.velocity != "momentum" or "metric" not in given]
    sizes = [(size, ways[0]) for size in (1e-12, 1e-9, 1e-5, 1e-3)]
    for size, projection in [*sizes, *((1e-7, way) for way in ways)]:
        y = problem.y0.copy()
        n = problem.layout.v.stop
        y[:n] += size * rng.standard_normal(n)
        compare_with_python(projection.bind(problem), y)


def compare_with_python(projector, y):
    wanted, found = y.copy(), y.copy()
    other = projection_in_python(projector)
    assert other(0.1, wanted) == projector(0.1, found)
    assert abs(projector.iterations - other.iterations) <= 1  # the last one may be of rounding alone
    natural = projector.problem.natural(0.0, y)
    assert np.abs(found - wanted).max() <= 1e-11 * (1.0 + np.abs(wanted).max()) * max(1.0, np.abs(natural).max())


WAYS: list[dict[str, Any]] = [
    {}, {"velocity": False}, {"position": False}, {"velocities": "tangential"}, {"metric": "identity"},
]  # fmt: skip


@pytest.mark.parametrize("pairing", LONG, ids=str)
def test_long_chains_are_projected_by_elements_as_in_python(pairing, rng):
    """From anywhere: steps are halved, and far away the end is not the nearest state."""
    problem = cases.formulate(driven_chain(), pairing)
    n = problem.layout.v.stop
    for size in (0.0, 1e-7, 1e-3, 2e-2):
        y = problem.y0 + size * np.append(rng.standard_normal(n), np.zeros(problem.n - n))
        compare_with_python(rbdae.Projection(max_iterations=20).bind(problem), y)


class Watched:
    """A projection that keeps its projector, and counts its calls from Python."""

    def __init__(self, **given):
        self._projection = rbdae.Projection(**given)
        self.calls = 0

    def bind(self, problem):
        self.projector = self._projection.bind(problem)
        return self

    def __call__(self, t, y):
        self.calls += 1
        return self.projector(t, y)

    def __getattr__(self, name):
        return getattr(self.projector, name)

    @property
    def numbers(self):
        p = self.projector
        return p.count, p.skipped, p.iterations


PROJECTED = [
    ("C", ODE, 0.05),
    ("C", Pairing("null-space", "quaternion", "angular"), 0.05),
    ("C", Pairing("baumgarte-ode", "quaternion", "coordinate"), 0.05),
    ("C", Pairing("hamiltonian-eliminated", "quaternion", "momentum"), 0.05),
    ("A", ODE, 0.5),
    ("branched", Pairing("index-0", "quaternion", "spatial"), 0.2),
]


def projected(problem, t_end, solver="rbdae:dopri5", *, limits=None, **given):
    """Both runs, each with its projection."""
    found = []
    for progress in (False, lambda t: None):
        watched = Watched(**limits or {})
        run = rbdae.solve(problem, (0.0, t_end), solver=solver, projection=watched, progress=progress, **given)
        found.append((run, watched))
    return found


@pytest.mark.parametrize("outputs", [False, True], ids=["steps", "outputs"])
@pytest.mark.parametrize("system, pairing, t_end", PROJECTED, ids=[f"{s}-{p}" for s, p, _ in PROJECTED])
def test_runs_are_those_that_are_projected_from_python(system, pairing, t_end, outputs):
    """Steps, outputs, and what the projector counts."""
    problem = cases.problem(system, pairing)
    solver = "rbdae:dop853" if outputs else "rbdae:dopri5"
    times = np.linspace(0.0, t_end, 31) if outputs else None
    (free, mine), (other, theirs) = projected(problem, t_end, solver, t_eval=times, rtol=1e-7, atol=1e-7)
    assert free.success and other.success
    assert free.stats.steps == other.stats.steps
    assert free.stats.evaluations == other.stats.evaluations
    # a violation at the level of the tolerance, 1e-14, may be off the constraints in one and not in the other
    assert sum(mine.numbers[:2]) == sum(theirs.numbers[:2])
    assert free.stats.projections == mine.projector.count
    np.testing.assert_allclose(free.t, other.t, rtol=1e-9, atol=1e-9)
    scale = np.abs(other.y).max()
    np.testing.assert_allclose(free.y, other.y, atol=1e-9 * scale)
    size = max(theirs.projector.largest, 1e-12)
    assert mine.projector.largest == pytest.approx(theirs.projector.largest, abs=1e-2 * size + 1e-13 * scale)
    assert mine.projector.total == pytest.approx(
        theirs.projector.total, abs=(1e-2 * size + 1e-13 * scale) * len(free.t)
    )
    drift = free.drift
    assert max(drift.position.max(), drift.velocity.max()) < 1e-11 * max(1.0, scale)
    assert mine.calls == 1 < theirs.calls  # the start


def test_far_from_the_constraints_it_is_the_same():
    problem = cases.problem("C", ODE)
    (free, mine), (other, theirs) = projected(problem, 0.1, rtol=0.3, atol=0.3)
    assert free.success and other.success
    assert mine.calls == 1 and mine.numbers[2] > 2 * mine.numbers[0]
    assert free.stats.steps == other.stats.steps
    assert mine.numbers == theirs.numbers
    np.testing.assert_allclose(free.y, other.y, atol=1e-9 * np.abs(other.y).max())


def test_a_projection_that_fails_ends_the_run_with_its_reason():
    """The step does not count, and the outputs in it do not either."""
    problem = cases.problem("C", ODE)
    times = np.linspace(0.0, 1.0, 400)
    for solver in ("rbdae:dopri5", "rbdae:dop853"):
        given = {"rtol": 0.5, "atol": 0.5, "t_eval": times}
        (free, _), (other, _) = projected(problem, 1.0, solver, limits={"max_iterations": 3}, **given)
        assert free.reason == other.reason == Reason.PROJECTION
        assert free.message == other.message
        assert free.stats.steps == other.stats.steps
        np.testing.assert_allclose(free.t, other.t)
        np.testing.assert_allclose(free.y, other.y, atol=1e-9)
        assert len(free.t) < len(times)


def called(function, t, y):
    """The word and the result of a machine function."""
    out = np.full_like(y, np.nan)
    call = machine_call(function.address)
    return call(function.context, t, y.ctypes.data, None, 0.0, out.ctypes.data), out


@pytest.mark.parametrize("code", ["auto", "plain"])
@pytest.mark.parametrize("form", ["index-0", "index-2", "ggl", "null-space", "hamiltonian", "projected-1"])
def test_the_projection_as_a_machine_function_is_the_projection(form, code):
    problem = cases.formulated(rbdae.models.linked_bodies(), form, code=code)
    function, projector = problem.callbacks.machine("project"), rbdae.Projection().bind(problem)
    own = projector.machine()
    rng = np.random.default_rng(7)
    for size in (0.0, 1e-9, 1e-3):
        y = problem.y0 + size * rng.standard_normal(problem.n)
        expected = y.copy()
        projector(0.0, expected)
        for each in (function, own):
            status, out = called(each, 0.0, y)
            assert status == 0
            np.testing.assert_array_equal(out, expected)
        assert size == 0.0 or np.abs(out - y).max() > 0.01 * size
    for each, check in ((function, function.check), (own, projector.check)):
        check()
        status, _ = called(each, 0.0, np.full(problem.n, np.nan))
        assert status == 1
        with pytest.raises(rbdae.ProjectionError, match="start closer to a consistent position"):
            check()

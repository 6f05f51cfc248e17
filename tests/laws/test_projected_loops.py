"""Runs of machine code that are projected: they do what the projector does after each step, and ask it where its code
for states near the constraints does not."""

from __future__ import annotations

import ctypes

import cases
import numpy as np
import pytest
from cases import Pairing
from inside import JIT, correction, loops, machine_call, near_projection, project_through

import rbdae
from rbdae.adapter import Reason
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.methods import METHODS

pytestmark = pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")

# ---------------------------------------------------------------- the projection near the constraints

ODE = Pairing("index-0", "quaternion", "angular")
CASES = [
    *cases.PAIRS[::29],
    ("C", ODE),
    ("A", Pairing("index-2", "quaternion", "angular")),
    ("C", Pairing("index-0", "quaternion", "coordinate")),
    ("tied", Pairing("index-0", "directors", "coordinate")),
    ("branched", Pairing("hamiltonian-eliminated", "quaternion", "momentum")),
    ("A", Pairing("hamiltonian-eliminated", "directors", "momentum")),
]
LATER = cases.PAIRS[29::58]
"""Those of the night."""


@pytest.mark.parametrize(
    "system, pairing",
    [pytest.param(*case, id="-".join(map(str, case)), marks=[pytest.mark.nightly] * (case in LATER)) for case in CASES],
)
def test_near_the_constraints_it_is_the_projection(system, pairing, rng):
    """The same state, to rounding, after the same Newton iterations, or the word that it does not count."""
    problem = cases.problem(system, pairing, code="traced")
    counted = []
    for size in (1e-12, 1e-9, 1e-7, 1e-5, 1e-3):
        y = problem.y0.copy()
        n = problem.layout.v.stop
        y[:n] += size * rng.standard_normal(n)
        projector = rbdae.Projection().bind(problem)
        wanted = y.copy()
        changed = projector(0.1, wanted)
        found, off, iterations, counts = near_projection(problem, projector, 0.1, y)
        counted.append(counts)
        assert off == changed
        if not counts:
            assert projector.iterations > 2  # two steps are what there is
            continue
        assert abs(iterations - projector.iterations) <= 1  # the last one may be of rounding alone
        scale = 1.0 + np.abs(wanted).max()
        assert np.abs(found - wanted).max() <= 1e-11 * scale * max(1.0, float(np.abs(problem.natural(0.0, y)).max()))
    assert all(counted[:3])


# ---------------------------------------------------------------- runs


class Watched:
    """A projection that keeps its projectors, and counts their calls from Python."""

    def __init__(self, **given):
        self._projection = rbdae.Projection(**given)
        self.calls = 0

    def bind(self, problem):
        self.projector = self._projection.bind(problem)

        def counted(inner, t, y, info):
            self.calls += 1
            inner(t, y, info)

        project_through(self.projector, counted)
        return self.projector

    @property
    def numbers(self):
        p = self.projector
        return p.count, p.skipped, p.iterations


def both(problem, t_end, solver="rbdae:dopri5", *, limits=None, **given):
    """The run in machine code, and the one that comes back to Python after each step for its progress."""
    found = []
    for progress in (False, lambda t: None):
        watched = Watched(**limits or {})
        run = rbdae.solve(problem, (0.0, t_end), solver=solver, projection=watched, progress=progress, **given)
        found.append((run, watched))
    return found


RUNS = [
    ("C", ODE, 0.05),
    ("C", Pairing("null-space", "quaternion", "angular"), 0.05),
    ("C", Pairing("baumgarte-ode", "quaternion", "coordinate"), 0.05),
    ("C", Pairing("hamiltonian-eliminated", "quaternion", "momentum"), 0.05),
    ("A", ODE, 0.5),
    ("branched", Pairing("index-0", "quaternion", "spatial"), 0.2),
]
"""Without switches, which are asked in Python after each step."""


@pytest.mark.parametrize("outputs", [False, True], ids=["steps", "outputs"])
@pytest.mark.parametrize("system, pairing, t_end", RUNS, ids=[f"{s}-{p}" for s, p, _ in RUNS])
def test_runs_are_those_that_are_projected_from_python(system, pairing, t_end, outputs):
    """Steps, outputs, and what the projector counts."""
    problem = cases.problem(system, pairing, code="traced")
    solver = "rbdae:dop853" if outputs else "rbdae:dopri5"
    times = np.linspace(0.0, t_end, 31) if outputs else None
    (free, mine), (other, theirs) = both(problem, t_end, solver, t_eval=times, rtol=1e-7, atol=1e-7)
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
    assert mine.calls <= 3 < theirs.calls  # the start, and what is left to the projector


def test_a_projection_that_fails_ends_the_run_with_its_reason():
    """The step does not count, and the outputs in it do not either."""
    problem = cases.problem("C", ODE, code="traced")
    times = np.linspace(0.0, 1.0, 400)
    for solver in ("rbdae:dopri5", "rbdae:dop853"):
        given = {"rtol": 0.5, "atol": 0.5, "t_eval": times}
        (free, _), (other, _) = both(problem, 1.0, solver, limits={"max_iterations": 3}, **given)
        assert free.reason == other.reason == Reason.PROJECTION
        assert free.message == other.message
        assert free.stats.steps == other.stats.steps
        np.testing.assert_allclose(free.t, other.t)
        np.testing.assert_allclose(free.y, other.y, atol=1e-9)
        assert len(free.t) < len(times)


# ---------------------------------------------------------------- the loop alone


class Called:
    """A Python function as a machine function."""

    def __init__(self, function):
        kinds = (ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p)

        def called(context, t, y, yd, c, out):
            return function(t, np.frombuffer((ctypes.c_double * 2).from_address(y)), _view(out, 2 + correction.N_MORE))

        self._kept = ctypes.CFUNCTYPE(ctypes.c_int32, *kinds)(called)
        self.address = ctypes.cast(self._kept, ctypes.c_void_p).value
        self.context = 0

    def check(self):
        """Nothing is raised."""


def _view(address, n):
    return np.frombuffer((ctypes.c_double * n).from_address(address))


def spiral(t, y, out):
    """Outwards, off the circle."""
    out[:2] = y[1] + 0.1 * y[0], -y[0] + 0.1 * y[1]
    return 0


class Circle:
    """Onto the unit circle. `near` gives up where `far` says so; `anywhere` does what it is told."""

    def __init__(self, far=lambda t: False, anywhere=None):
        self.sizes = []
        self.asked = []

        def near(t, y, out):
            if far(t):
                return 1
            r = np.hypot(*y)
            out[:2] = y / r
            out[2 + correction.OFF] = abs(r - 1.0) > 1e-14
            out[2 + correction.ITERATIONS] = 2.0
            out[2 + correction.COUNTS] = not (t > 2.0 and far is None)
            self.sizes.append(np.abs(out[:2] - y).max())
            return 0

        def other(t, y, out):
            self.asked.append(t)
            out[:2] = y / np.hypot(*y)
            out[2] = 1.0
            return anywhere(t, out) if anywhere is not None else 0

        self.near, self.anywhere = Called(near), Called(other)
        self.result = correction.INFO + 1
        self.memory = np.zeros(self.result + 2 + correction.N_MORE)


def circled(circle, times=None, name="dopri5", budget=None):
    one = loops.Loop(
        METHODS[name], Called(spiral), (0.0, 3.0), np.array([1.0, 0.0]), 1e-6, 1e-6, times=times, correction=circle
    )
    while True:
        if budget is not None:
            one.s.budget = budget
        status = one.run()
        if status not in (at.PAUSED, at.FULL):
            return one, status
        one.grow() if status == at.FULL else None


@pytest.mark.parametrize("name", sorted(METHODS))
def test_steps_and_outputs_are_projected_and_counted(name):
    times = np.linspace(0.0, 3.0, 50)
    circle = Circle()
    one, status = circled(circle, times, name)
    assert status == at.FINISHED
    _, steps = one.steps()
    for y in (steps, one.rows):
        np.testing.assert_allclose(np.hypot(*y.T), 1.0, atol=1e-15)
    np.testing.assert_allclose(one.rows, np.stack([np.cos(times), -np.sin(times)], axis=-1), atol=1e-4)
    p, sizes = circle.memory, np.array(circle.sizes)
    moved = sizes[sizes > 1e-14]
    assert p[correction.COUNT] + p[correction.SKIPPED] == len(sizes) == len(steps) - 1 + len(times) - 2
    assert p[correction.NEWTON] == 2.0 * p[correction.COUNT]
    assert p[correction.LARGEST] == sizes.max()
    assert p[correction.TOTAL] == pytest.approx(moved.sum(), rel=1e-9)
    other, _ = circled(Circle(), times, name, budget=7)  # the same bits in many calls
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(steps, other.steps()[1])


def test_where_it_does_not_count_the_other_function_is_asked():
    circle = Circle(far=lambda t: t > 1.5)
    one, status = circled(circle)
    assert status == at.FINISHED
    assert circle.asked and min(circle.asked) > 1.5
    same, _ = circled(Circle())
    np.testing.assert_array_equal(one.steps()[1], same.steps()[1])


@pytest.mark.parametrize("times", [None, np.linspace(0.0, 3.0, 200)], ids=["steps", "outputs"])
def test_failures_take_the_step_back(times):
    def failing(t, out):
        return 1 if t > 2.0 else 0

    def not_finite(t, out):
        out[1] = np.nan if t > 2.0 else out[1]
        return 0

    for anywhere, word in ((failing, at.NOT_PROJECTED), (not_finite, at.PROJECTED_NOT_FINITE)):
        one, status = circled(Circle(far=lambda t: True, anywhere=anywhere), times)
        assert status == word
        assert one.t <= 2.0 < one.s.t_tried or times is not None
        assert one.steps()[0][-1] == one.t
        reached, rows = one.outputs()
        assert np.isfinite(rows).all() and np.isfinite(one.steps()[1]).all()
        assert times is None or reached[-1] <= one.t


def test_a_start_off_the_constraints_is_projected_and_counted():
    """As from Python: the same state, and the same numbers."""
    problem = cases.problem("C", ODE, code="traced")
    y = problem.y0 + 1e-6 * np.random.default_rng(2).standard_normal(problem.n)
    wanted, mine = y.copy(), y.copy()
    plain, projector = (rbdae.Projection().bind(problem) for _ in range(2))
    plain(0.0, wanted)
    projector.machine().start(0.0, mine)
    np.testing.assert_allclose(mine, wanted, atol=1e-13)
    assert (projector.count, projector.skipped, projector.iterations) == (1, 0, plain.iterations)
    assert projector.largest == projector.total == pytest.approx(plain.largest, rel=1e-6)
    before = mine.copy()
    projector.machine().start(0.0, mine)
    np.testing.assert_array_equal(mine, before)
    assert (projector.count, projector.skipped) == (1, 1)


# ---------------------------------------------------------------- for loops of a user


def called(function, t, y):
    out = np.full_like(y, np.nan)
    call = machine_call(function.address)
    return call(function.context, t, y.ctypes.data, None, 0.0, out.ctypes.data), out


@pytest.mark.parametrize("code", ["traced", "generic"])
@pytest.mark.parametrize("form", ["index-0", "index-2", "ggl", "null-space", "hamiltonian", "projected-1"])
def test_the_projection_as_a_machine_function_is_the_projection(form, code):
    if code == "traced" and not JIT:
        pytest.skip("without the JIT there is no code of one model")
    problem = rbdae.formulate(rbdae.models.linked_bodies(), form, code=code)
    function, projector = problem.callbacks.machine("project"), rbdae.Projection().bind(problem)
    rng = np.random.default_rng(7)
    for size in (0.0, 1e-9, 1e-3):
        y = problem.y0 + size * rng.standard_normal(problem.n)
        expected = y.copy()
        projector(0.0, expected)
        status, out = called(function, 0.0, y)
        assert status == 0
        np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
        assert size == 0.0 or np.abs(out - y).max() > 0.01 * size
    status, _ = called(function, 0.0, np.full(problem.n, np.nan))
    assert status == 1
    with pytest.raises(rbdae.ProjectionError, match="start closer to a consistent position"):
        function.check()

"""Runs of machine code that are projected: they do what the projector does after each step, and ask it where its code
for states near the constraints does not."""

from __future__ import annotations

import cases
import numpy as np
import pytest
from cases import Pairing
from inside import JIT, machine_call, near_projection, project_through

import rbdae
from rbdae.adapter import Reason

pytestmark = pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")

# ---------------------------------------------------------------- the projection near the constraints

ODE = Pairing("index-0", "quaternion", "angular")
CASES = [
    *cases.PAIRS[:: 29 if cases.NIGHTLY else 116],
    ("C", ODE),
    ("C", Pairing("index-0", "quaternion", "coordinate")),
    ("tied", Pairing("index-0", "directors", "coordinate")),
    ("branched", Pairing("hamiltonian-eliminated", "quaternion", "momentum")),
    ("A", Pairing("hamiltonian-eliminated", "directors", "momentum")),
]


@pytest.mark.parametrize("system, pairing", CASES, ids=["-".join(map(str, case)) for case in CASES])
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


def test_far_from_the_constraints_the_projector_is_asked():
    problem = cases.problem("C", ODE, code="traced")
    (free, mine), (other, theirs) = both(problem, 0.1, rtol=0.3, atol=0.3)
    assert free.success and other.success
    assert mine.calls > 1
    assert free.stats.steps == other.stats.steps
    assert mine.numbers == theirs.numbers
    np.testing.assert_allclose(free.y, other.y, atol=1e-9 * np.abs(other.y).max())


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

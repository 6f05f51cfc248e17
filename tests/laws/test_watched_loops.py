"""Runs of machine code with something to choose again on the way: switches are asked where one may be due, and decide
as they do when they are asked after each step."""

from __future__ import annotations

import cases
import numpy as np
import pytest
from cases import Pairing
from inside import JIT, segment_times, switches

import rbdae
from rbdae.adapter import Reason

pytestmark = pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")


@pytest.fixture
def asked(monkeypatch):
    """How often switches have been asked."""
    found = []
    for kind in switches.SWITCHES:
        due = kind.due
        monkeypatch.setattr(kind, "due", lambda self, t, y, due=due: found.append(t) or due(self, t, y))
    return found


def both(problem, t_end, asked, **given):
    """The run in machine code, and the one that comes back to Python after each step for its progress, with how often
    each has asked."""
    out = []
    for progress in (False, lambda t: None):
        asked.clear()
        run = rbdae.solve(problem, (0.0, t_end), solver="rbdae:dopri5", progress=progress, **given)
        out.append((run, len(asked)))
    return out


def tumbling(rotation, spin=(2.0, -4.0, 1.0), inertia=cases.INERTIA, code="traced"):
    """A free body that meets the singular sets of all charts."""
    system = rbdae.System()
    system.add_body("body", mass=2.0, inertia=inertia, angular_velocity=spin)
    return cases.formulate(system, Pairing("index-0", rotation, "angular"), code=code, reference="start")


def four_bar():
    pairing = Pairing("null-space", "quaternion", "angular")
    return cases.formulate(cases.turning_four_bar("plain", pendulum=True), pairing, code="traced")


def redundant():
    pairing = Pairing("index-0", "quaternion", "angular")
    system = cases.turning_four_bar("redundant")
    return cases.formulate(system, pairing, code="traced", redundant="minimum-norm")


SWITCHING = {"on_singularity": "switch"}
RUNS = {
    "rotation vector": (lambda: tumbling("rotation-vector"), 4.0, SWITCHING),
    "Euler angles": (lambda: tumbling("bryant-321"), 4.0, SWITCHING),
    "conformal": (lambda: tumbling("conformal"), 4.0, SWITCHING),
    "loops": (four_bar, 3.0, {}),
    "rows": (redundant, 3.0, {}),
}


@pytest.mark.parametrize("outputs", [False, True], ids=["steps", "outputs"])
@pytest.mark.parametrize("name", RUNS)
def test_runs_have_the_bits_of_those_that_ask_after_each_step(name, outputs, asked):
    make, t_end, given = RUNS[name]
    times = np.linspace(0.0, t_end, 57) if outputs else None
    (free, few), (other, many) = both(make(), t_end, asked, t_eval=times, rtol=1e-7, atol=1e-7, **given)
    assert free.success and other.success, free.message
    np.testing.assert_array_equal(free.t, other.t)
    np.testing.assert_array_equal(free.y, other.y)
    assert segment_times(free) == segment_times(other)
    assert name == "rows" or len(segment_times(free)) > 0  # there was something to choose
    assert free.stats.steps == other.stats.steps and free.stats.evaluations == other.stats.evaluations
    assert few < many
    assert name in ("loops", "rows") or few <= 2 * len(segment_times(free)) + 1


def test_a_run_that_stops_at_a_singularity_stops_at_the_same_step(asked):
    steady = tumbling("rotation-vector", spin=(0.0, 0.0, 2.0), inertia=np.eye(3))
    (free, few), (other, many) = both(steady, 4.0, asked, max_step=4e-4)
    assert free.reason == other.reason == Reason.CHART
    assert free.message == other.message
    np.testing.assert_array_equal(free.y, other.y)
    assert few <= 2 < many


def test_charts_that_are_always_centred_again_are(asked):
    given = {"on_singularity": "switch", "recentre": "always", "rtol": 1e-5, "atol": 1e-5}
    (free, _), (other, _) = both(tumbling("rotation-vector"), 0.5, asked, **given)
    np.testing.assert_array_equal(free.y, other.y)
    assert len(segment_times(free)) == free.stats.steps - 1


def test_projected_runs_are_watched_too(asked):
    given = {"on_singularity": "switch", "projection": True, "rtol": 1e-7, "atol": 1e-7}
    problem = cases.problem("C", Pairing("index-0", "euler-313", "angular"), code="traced")
    (free, few), (other, many) = both(problem, 0.2, asked, **given)
    assert free.success and len(segment_times(free)) == len(segment_times(other))
    np.testing.assert_allclose(free.y[-1], other.y[-1], atol=1e-6 * np.abs(other.y).max())
    assert few < 0.5 * many
    assert max(free.drift.position.max(), free.drift.velocity.max()) < 1e-11 * np.abs(free.y).max()

"""Where a guard of code of one model does not hold, the generic kernel takes over, to the last bit; it is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import Pairing
from inside import JIT, generic_callback
from traced_cases import Case, callbacks, difference

import rbdae

pytestmark = pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")

# pivots of joints; the order of pivots of loops, and pivots of joints on the way
GUARDED = [
    Case("loop", Pairing("index-0", "quaternion", "angular")),
    Case("model-planar_slider_crank", Pairing("index-0", "directors", "angular")),
    Case("model-spatial_slider_crank", Pairing("null-space", "quaternion", "angular")),
    Case("redundant", Pairing("null-space", "quaternion", "spatial")),
]


def _states(problem: rbdae.Problem, rng: np.random.Generator) -> Any:
    """States like the start, far from it, and where positions are degenerate or no numbers."""
    for size in (1e-3, 0.1, 1.0, 3.0):
        for _ in range(4):
            yield problem.y0 + size * rng.standard_normal(problem.n)
    yield np.zeros(problem.n)
    nowhere = problem.y0.copy()
    nowhere[0] = np.nan
    yield nowhere


@pytest.mark.parametrize("case", GUARDED, ids=str)
def test_both_sides_of_the_guards(case, rng):
    traced, generic = case.problems()
    assert traced.callbacks.code("rhs") == "traced"
    before, sides = 0, set()
    for y in _states(generic, rng):
        for name in ("rhs", "rhs_jacobian"):
            at = (0.0, y, y)
            with np.errstate(all="ignore"):
                found = callbacks(traced)[name](*at)
            handed = traced.callbacks.handed_over - before
            if name == "rhs":
                sides.add(bool(handed))
            if handed:
                own = np.empty_like(found)
                generic_callback(traced, name)(0.0, y, own)
                assert np.array_equal(found, own, equal_nan=True)
            elif np.isfinite(y).all():
                # pivots may be a thousandth of the best
                error = difference(lambda p, name=name: callbacks(p)[name], (traced, generic), at, rng)
                assert error <= 1e-11
            before = traced.callbacks.handed_over
    assert sides == {True, False}


def test_guards_hold_along_runs():
    """The order of pivots recorded at the start serves for nearly all of a run that selects velocities again."""
    problem = Case("model-spatial_slider_crank", Pairing("null-space", "quaternion", "angular")).problem("traced")
    solution = rbdae.solve(problem, (0.0, 3.0), solver="scipy:DOP853", rtol=1e-7, atol=1e-7, projection=True)
    assert solution.success and solution.segments is not None and len(solution.segments.problems) > 1
    parts = solution.segments.problems
    handed = sum(part.callbacks.handed_over for part in parts)
    assert handed <= 0.003 * solution.stats.evaluations
    memory = [part.workspace.memory for part in parts]
    assert all(other is memory[0] for other in memory)  # a switch compiles nothing
    rates = [key for key in memory[0].recorded if key[0].endswith(":rhs") and dict(key[1])["out"] == (problem.n,)]
    assert len(rates) == 1

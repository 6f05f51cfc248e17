"""Where a guard of code of one model does not hold, plain Python takes over, to the last bit, and is counted; or code
in which bodies are eliminated before joints."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import inside
import numpy as np
import pytest
import traced_cases
from cases import NIGHTLY, Pairing, count
from inside import Recording, TracedCall, Vec, evaluate
from traced_cases import Case

import rbdae

# signs of the pivots of joints, in their determinant
CRANK = Case("model-spatial_slider_crank", Pairing("null-space", "quaternion", "angular"))
GUARDED = [
    Case("loop", Pairing("index-0", "quaternion", "angular")),
    Case("model-planar_slider_crank", Pairing("index-0", "directors", "angular")),
    CRANK,
    Case("redundant", Pairing("null-space", "quaternion", "spatial")),
]


EVERY = [*GUARDED, *traced_cases.drawn(11)][: count(len(GUARDED), 400)]


class Inputs(NamedTuple):
    """What a recorded kernel takes."""

    t: float
    y: Vec
    yd: Vec
    c: float
    selection: Vec

    def answers(self, recording: Recording) -> list[float]:
        """Of all guards, by the graph."""
        values: dict[str, Any] = self._asdict() | {"t": [self.t], "c": [self.c]}
        with np.errstate(all="ignore"):
            return evaluate(recording.graph, [*recording.guards], values, recording.functions)


class Code:
    """Machine code that is called with any numbers of a selection, and says whether its guards held."""

    def __init__(self, found: Any, kernel: TracedCall, problem: rbdae.Problem) -> None:
        self._found, self._problem = found, problem
        self._out = np.empty(max(int(np.prod(kernel.shapes["out"])), 1))
        self._call = inside.machine_call(found.module["machine"])

    def holds(self, at: Inputs) -> bool:
        context = inside.machine_context(np.ascontiguousarray(at.selection), self._found, self._problem)
        y, yd, out = (np.ascontiguousarray(x).ctypes.data for x in (at.y, at.yd, self._out))
        return self._call(ctypes.c_void_p(context.ctypes.data), at.t, y, yd, at.c, out) == 0


def _many_inputs(problem: rbdae.Problem, rng: np.random.Generator) -> list[Inputs]:
    """Near the start and far from it; then with other selections; then where positions are degenerate, or no
    numbers."""
    own, n, yd = problem.workspace.numbers, problem.n, rng.standard_normal(problem.n)
    at = [(problem.y0 + size * rng.standard_normal(n), own) for size in (0.0, 1e-3, 0.1, 1.0, 3.0, 30.0) * 4]
    for size in (0.3, 3.0, 300.0) * 8:  # numbers of very different sizes
        near = problem.y0 + 0.3 * rng.standard_normal(n)
        at.append((near, own + size * rng.standard_normal(len(own)) ** 7))
    for value in (0.0, np.nan, np.inf, 1e200):
        at += [(np.full(n, value), own), (problem.y0, np.full(len(own), value))]
    return [Inputs(0.0, y, yd, 1.5, selection) for y, selection in at]


def _guarded(problem: rbdae.Problem) -> list[tuple[TracedCall, Recording]]:
    """The kernels of which a problem has code with guards, recorded once more."""
    found = [(kernel, inside.recording_of(problem, kernel)) for kernel in inside.traced_kernels(problem)]
    return [(kernel, recording) for kernel, recording in found if recording.guards]


@pytest.mark.sampled
@pytest.mark.parametrize("case", EVERY, ids=str)
def test_guards_hold_where_the_graph_says(case, rng):
    """Machine code hands over where a guard does not hold, and there alone; every guard holds for some inputs. Guards
    are pivots: positions that are singular to the last bit are not found by chance, so inputs that are no numbers, for
    which no comparison holds, are among those tried."""
    problem = _recorded(case)
    inputs, own = _many_inputs(problem, rng), problem.workspace.numbers
    for kernel, recording in _guarded(problem):
        wanted = [float(answer) for answer in recording.guards.values()]
        holds = np.array([np.equal(at.answers(recording), wanted) for at in inputs])
        assert holds.any(axis=0).all() and not holds.all(), kernel.name
        code = Code(kernel.code, kernel, problem)
        assert [code.holds(at) for at in inputs] == holds.all(axis=1).tolist(), kernel.name
        for k in np.flatnonzero(~holds.all(axis=1)):
            if inputs[k].selection is own:
                _assert_fallbacks(problem, kernel, inputs[k].y, inputs[k].yd)


@pytest.mark.sampled
@pytest.mark.parametrize("case", EVERY, ids=str)
def test_every_guard_alone_sends_a_state_elsewhere(case):
    """Singular positions make many guards fail at once. Here the answer that a guard should have is moved, by a number
    beside the selection's, in code made of the same graph: all other guards still hold, so it is this one's branch that
    is taken."""
    problem = _recorded(case)
    own = problem.workspace.numbers
    for kernel, recording in _guarded(problem):
        graph, wanted = recording.graph, np.array([*recording.guards.values()], dtype=float)
        places = [graph.node("input", "selection", len(own) + k) for k in range(len(wanted))]
        guards = {graph.condition("==", *pair): True for pair in zip(recording.guards, places, strict=True)}
        switched = Recording(graph, recording.outputs, guards, recording.functions, loaded=recording.loaded)
        code = Code(inside.machine_code(switched, kernel), kernel, problem)
        point = inside.recording_point(problem, kernel)
        assert code.holds(Inputs(*point, np.append(own, wanted))), kernel.name
        for k, turned in enumerate(np.abs(wanted - np.eye(len(wanted)))):
            assert not code.holds(Inputs(*point, np.append(own, turned))), (kernel.name, k)


def _recorded(case: Case) -> rbdae.Problem:
    """A problem that has recorded what it ever records; in the usual run what is quick to compile and has guards of
    every kind."""
    try:
        problem = case.problem("auto")
    except ValueError as error:
        assert "singular" in str(error)
        pytest.skip("a chart that does not fit the system")
    if NIGHTLY:
        traced_cases.ask_for_everything(problem)
        return problem
    problem.callbacks.code("rhs")
    problem.interpretation.independence(problem.t0, problem.y0)
    if problem.selection.velocities is not None:
        problem.interpretation.growth(problem.t0, problem.y0)
    return problem


def _assert_fallbacks(problem: rbdae.Problem, kernel: inside.TracedCall, y: Vec, yd: Vec) -> None:
    """The result of plain Python, or of code in another order, to the last bit."""
    numbers, vectors = iter((0.0, 1.5)), iter((y, np.resize(yd, kernel.shapes.get("yd", yd.shape))))
    given = [next(numbers if sign == "t" else vectors) for sign in kernel.entry.signs[1:-1]]
    results = [np.full(kernel.shapes["out"], np.nan) for _ in range(2)]
    with np.errstate(all="ignore"):
        kernel.call(*given, results[0])
        inside.kernel_after_guard(problem, kernel)(*given, results[1])
    assert np.array_equal(*results, equal_nan=True), kernel.name


def test_code_of_loops_holds_along_runs():
    """One recording serves for all states of a run that selects velocities again."""
    problem = CRANK.problem("auto")
    solution = rbdae.solve(problem, (0.0, 3.0), solver="scipy:DOP853", rtol=1e-7, atol=1e-7, projection=True)
    assert solution.success and len(solution.segments.problems) > 1
    parts = solution.segments.problems
    assert solution.stats.fallbacks == 0 and sum(part.callbacks._fallbacks for part in parts) == 0
    memory = [part.workspace.memory for part in parts]
    assert all(other is memory[0] for other in memory)  # a switch compiles nothing
    rates = [key for key in memory[0].recorded if key[0].name.endswith(":rhs") and dict(key[1])["out"] == (problem.n,)]
    assert len(rates) == 1

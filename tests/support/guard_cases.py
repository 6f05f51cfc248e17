"""Guards of recordings: how they fall at many inputs, and code in which each can be made to fall at will."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import inside
import numpy as np
from inside import Recording, TracedCall, Vec

import rbdae
from rbdae.graph.graph import Graph

_COMPARED = {"<": np.less, "<=": np.less_equal, "==": np.equal}
_ARITHMETIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "arctan2": np.arctan2}

Inputs = dict[str, Any]
"""Input vectors by name, each (length, samples)."""


class Guarded(NamedTuple):
    """A kernel of a problem, and what was recorded of it."""

    kernel: TracedCall
    recording: Recording

    @property
    def wanted(self) -> Any:
        """How its guards fell where it was recorded."""
        return np.array([*self.recording.guards.values()], dtype=float)


def guarded(problem: rbdae.Problem, names: Iterable[str] = ()) -> list[Guarded]:
    """The kernels of which a problem has code with guards, recorded once more; of all names, or of some."""
    wanted = set(names)
    found = [
        Guarded(kernel, inside.recording_of(problem, kernel))
        for kernel in inside.traced_kernels(problem)
        if not wanted or kernel.name in wanted
    ]
    return [each for each in found if each.recording.guards]


def evaluated(graph: Graph, nodes: Sequence[int], inputs: Inputs, functions: Sequence[Any]) -> Any:
    """The values of nodes, (nodes, samples)."""
    known: dict[int, Any] = {}
    samples = next(iter(inputs.values())).shape[1]
    with np.errstate(all="ignore"):
        for k in graph.needed(nodes):
            kind, *rest = graph.nodes[k]
            if kind == "const":
                known[k] = np.full(samples, inside.value_of(rest[0]))
            elif kind == "input":
                known[k] = inputs[rest[0]][rest[1]]
            elif kind == "call":
                known[k] = _called(functions[rest[0]], rest[1], np.array([known[j] for j in rest[3:]]))
            elif kind == "result":
                known[k] = known[rest[0]][rest[1]]
            else:
                known[k] = _computed(kind, *(known[j] for j in rest))
    return np.array([known[k] for k in nodes])


def _called(function: Any, n: int, values: Any) -> Any:
    """A function of the user, sample by sample: what it leaves in its last vector."""
    columns = []
    for column in values.T:
        out = column[1 + n :].copy()
        function.plain(column[0], column[1 : 1 + n].copy(), out)
        columns.append(out)
    return np.array(columns).T


def _computed(kind: str, x: Any, *others: Any) -> Any:
    if kind in _ARITHMETIC:
        return _ARITHMETIC[kind](x, others[0])
    if kind in _COMPARED:
        return _COMPARED[kind](x, others[0]).astype(float)
    if kind == "select":
        return np.where(x != 0.0, *others)
    if kind == "neg":
        return -x
    return 1.0 / x if kind == "rcp" else 1.0 - x if kind == "not" else getattr(np, kind)(x)


def many_inputs(problem: rbdae.Problem, rng: np.random.Generator) -> Inputs:
    """Near the start and far from it; then with other selections; then where positions are degenerate, or no
    numbers."""
    selection, n = inside.recording.selection_numbers(problem.workspace), len(problem.y0)
    states, selections = [], []
    for size in (0.0, 1e-3, 0.1, 1.0, 3.0, 30.0):
        for _ in range(8):
            states.append(problem.y0 + size * rng.standard_normal(n))
            selections.append(selection)
    for size in (0.3, 3.0, 300.0):
        for _ in range(24):
            states.append(problem.y0 + 0.3 * rng.standard_normal(n))
            selections.append(selection + size * rng.standard_normal(len(selection)) ** 7)  # of very different sizes
    for value in (0.0, np.nan, np.inf, 1e200):
        states += [np.full(n, value), problem.y0]
        selections += [selection, np.full(len(selection), value)]
    y, samples = np.array(states).T, len(states)
    yd = np.tile(rng.standard_normal((n, 1)), samples)
    return {
        "t": np.zeros((1, samples)),
        "y": y,
        "yd": yd,
        "c": np.full((1, samples), 1.5),
        "selection": np.array(selections).T,
    }


ROUNDS = 40


def search(each: Guarded, guard: int, inputs: Inputs, rng: np.random.Generator) -> float:
    """The largest quotient of the two sides of a guard "small <= large" that is found by going on from the best inputs,
    of which a few numbers are multiplied by something: above 1 the guard does not hold."""
    _, *sides = each.recording.graph.nodes[guard]
    best = 0.0
    for _ in range(ROUNDS):
        small, large = evaluated(each.recording.graph, sides, inputs, each.recording.functions)
        with np.errstate(all="ignore"):
            quotient = np.where(np.isfinite(small + large) & (large > 0.0), small / large, 0.0)
        k = int(np.argmax(quotient))
        best = max(best, float(quotient[k]))
        if best > 1.0:
            break
        inputs = dict(inputs)
        for name in ("y", "selection"):
            here = np.tile(inputs[name][:, k : k + 1], len(quotient))
            moved = rng.random(here.shape) < 3.0 / len(here)
            moved[:, 0] = False
            inputs[name] = np.where(moved, here * 10.0 ** rng.uniform(-2.0, 2.0, here.shape), here)
    return best


class Code:
    """Machine code that is called with any numbers of a selection, and says whether its guards held."""

    def __init__(self, found: Any, kernel: TracedCall, problem: rbdae.Problem) -> None:
        self._found = found
        self._data = inside.filled(found, problem)
        self._out = np.empty(max(int(np.prod(kernel.shapes["out"])), 1))
        self._call = inside.machine_call(found.module.address("machine"))

    def holds(self, inputs: Inputs, k: int) -> bool:
        """Of the k-th sample."""
        selection = np.ascontiguousarray(inputs["selection"][:, k])
        y, yd = (np.ascontiguousarray(inputs[name][:, k]) for name in ("y", "yd"))
        context = inside.machine_context(selection, self._found.functions, self._data)
        status = self._call(
            ctypes.c_void_p(context.ctypes.data),
            float(inputs["t"][0, k]),
            y.ctypes.data,
            yd.ctypes.data,
            float(inputs["c"][0, k]),
            self._out.ctypes.data,
        )
        return status == 0


def with_switches(problem: rbdae.Problem, each: Guarded) -> tuple[Code, Inputs]:
    """Code in which a guard holds where it falls as a further number of the selection says, and inputs at which all
    do: those of the recording."""
    recording, kernel = each.recording, each.kernel
    graph, selection = recording.graph, inside.recording.selection_numbers(problem.workspace)
    first = len(selection)
    guards = {
        graph.condition("==", guard, graph.node("input", "selection", first + k)): True
        for k, guard in enumerate(recording.guards)
    }
    switched = Recording(graph, recording.outputs, guards, recording.functions, loaded=recording.loaded)
    t, y, yd, c = inside.recording_point(problem, kernel)
    inputs = {"t": [t], "y": y, "yd": yd, "c": [c], "selection": [*selection, *each.wanted]}
    columns = {name: np.array(value, dtype=float)[:, None] for name, value in inputs.items()}
    return Code(inside.machine_code(switched, kernel), kernel, problem), columns


def turned(inputs: Inputs, place: int) -> Inputs:
    """The inputs with another answer in a place of the selection."""
    selection: Vec = inputs["selection"].copy()
    selection[place] = 1.0 - selection[place]
    return inputs | {"selection": selection}

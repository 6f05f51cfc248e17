"""Recorded results and their places as kinds of elements: with fewer operations, and several elements at a time; and
the numbers that they load, which follow from those of a model and are computed once for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.factoring import factored
from rbdae.graph.graph import Graph
from rbdae.graph.loaded import Loaded, LoadedNumbers, Tape
from rbdae.graph.symbols import Condition, Recorder
from rbdae.machine.element_text import IN_LANES
from rbdae.machine.elements import Kind, Place, Result
from rbdae.machine.module import as_it_comes
from rbdae.multibody.elements.element_recording import Motion, Recorded, places_of_selection

LANES = 4
"""Elements that are computed at a time, where there are twice as many."""

_MOST_NODES = 100_000

Shortened = tuple[Graph, list[int], list[Result], dict[int, bool]]
"""A graph, an order of its nodes, the results, and the conditions."""


def shortened(graph: Graph, results: list[Result], guards: Mapping[int, bool] = MappingProxyType({})) -> Shortened:
    """A graph with fewer operations where that is quicker, in an order in which it can be computed."""
    nodes = [result.node for result in results]
    short = None if as_it_comes() else factored(graph, nodes, guards, {})
    if short is None:
        return graph, graph.needed([*guards, *nodes]), results, dict(guards)
    results = [r._replace(node=node) for r, node in zip(results, short.outputs, strict=True)]
    return short.graph, short.graph.needed([*short.guards, *short.outputs]), results, short.guards


def lanes_of(graph: Graph, order: list[int], n: int, most: int) -> int:
    """How many of n elements are computed at a time: several where there are twice as many as the most that are so."""
    return most if 2 * most <= n and all(graph.nodes[k][0] in IN_LANES for k in order) else 1


@final
class Written:
    """Elements of one kind, written on symbols that are blocks of numbers.

    Parameters
    ----------
    places : of each block by its name: the vector, and where the block of each element begins, or the places of each
        of its numbers. Blocks whose distance is the same for all elements have names with the same first word
    """

    def __init__(self, places: Mapping[str, tuple[str, Ints | Sequence[Ints]]]) -> None:
        self.places = places
        self.recorder = Recorder({}, _MOST_NODES)
        self.results: list[Result] = []
        self._inputs: dict[tuple[str, int], Place] = {}
        self._guards: dict[int, bool] = {}

    def reads(self, name: str, n: int) -> Any:
        """The n numbers of a block."""
        self._inputs |= {(name, i): self._place(name, i) for i in range(n)}
        return self.recorder.with_inputs(name, np.linspace(1.0, 2.0, n).tolist())

    def gives(self, name: str, values: Any, *, adds: bool = False) -> None:
        """The numbers of a block, or what is added to them."""
        nodes = [self.recorder.number(value) for value in np.ravel(values)]
        self.results += [
            Result(node, self._place(name, i), adds)
            for i, node in enumerate(nodes)
            if not (adds and self.recorder.graph.value(node) == 0.0)
        ]

    def rely(self, condition: Any) -> None:
        """A condition of the call."""
        if isinstance(condition, Condition):
            self._guards[condition.node] = True

    def _place(self, name: str, i: int) -> Place:
        vector, at = self.places[name]
        return Place(vector, name.partition(".")[0], at + i if isinstance(at, np.ndarray) else at[i])

    def kind(self, *, most: int = LANES, as_written: bool = False) -> Kind:
        """The elements, from fewer operations where that is quicker, or `as_written`, one after the other."""
        graph, results, guards = self.recorder.graph, self.results, self._guards
        if as_written:
            order, most = graph.needed([*guards, *(result.node for result in results)]), 1
        else:
            graph, order, results, guards = shortened(graph, results, guards)
        read = {k: (graph.nodes[k][1], graph.nodes[k][2]) for k in order if graph.nodes[k][0] == "input"}
        inputs = {k: self._inputs[key] for k, key in read.items()}
        n = len(results[0].place.at)
        return Kind(graph, order, n, inputs, results, guards, lanes_of(graph, order, n, most))


@final
class ElementNumbers:
    """The numbers that elements load, one after the other, and the tape that makes them of those of the model."""

    def __init__(self, n_inputs: int) -> None:
        self._n_inputs = n_inputs
        self._constants: list[float] = []
        self._rows: list[Ints] = []  # operands: constants are -1, -2, ..., then inputs, then rows
        self._n_rows = 0
        self._results: list[Ints] = []
        self.count = 0

    def places(self, loaded: LoadedNumbers, wanted: Sequence[Loaded], columns: Sequence[Ints], n: int) -> list[Ints]:
        """Where the numbers of n elements are. Those that all elements have in common are there once."""
        tape = loaded.tape(wanted)
        c, inputs = len(tape.constants), tape.n_inputs
        read = np.unique(np.append(tape.rows[:, 1:].ravel(), tape.results))
        common = all((columns[k] == columns[k][0]).all() for k in (read - c).tolist() if 0 <= k < inputs)
        m = 1 if common else n
        place = np.empty((m, c + inputs + len(tape.rows)), dtype=np.int64)
        place[:, :c] = -1 - len(self._constants) - np.arange(c)
        if inputs:
            place[:, c : c + inputs] = np.array(columns)[:, :m].T
        first = self._n_inputs + self._n_rows
        place[:, c + inputs :] = first + np.arange(m * len(tape.rows)).reshape(m, -1)
        rows = np.empty((m, len(tape.rows), 3), dtype=np.int64)
        rows[:, :, 0] = tape.rows[:, 0]
        rows[:, :, 1:] = place[:, tape.rows[:, 1:]]
        self._constants += tape.constants.tolist()
        self._rows.append(rows.reshape(-1, 3))
        self._n_rows += m * len(tape.rows)
        self._results.append(place[:, tape.results].ravel())
        at = self.count + np.arange(m * len(wanted)).reshape(m, -1)
        self.count += m * len(wanted)
        return [np.broadcast_to(at[:, k], (n,)) for k in range(len(wanted))]

    def tape(self) -> Tape:
        """All of them."""
        c = len(self._constants)

        def at(place: Ints) -> Ints:
            return np.where(place < 0, -1 - place, place + c)

        rows = np.concatenate([np.zeros((0, 3), dtype=np.int64), *self._rows])
        results = np.concatenate([np.zeros(0, dtype=np.int64), *self._results])
        rows[:, 1:] = at(rows[:, 1:])
        return Tape(np.array(self._constants), self._n_inputs, rows, at(results))


def recorded_kind(
    numbers: ElementNumbers,
    motion: Motion,
    graph: Graph,
    results: list[Result],
    of: Recorded,
    places: Mapping[tuple[str, int], Place],
    guards: Mapping[int, bool] = MappingProxyType({}),
    *,
    as_recorded: bool = False,
    most: int = LANES,
) -> Kind:
    """The elements of a kind of bodies or joints. Their graph may be another one than that of the recording, with the
    same inputs and numbers; `places` are those of further inputs, `guards` conditions and how they have to fall.
    Graphs with quotients of long sums are written `as_recorded`: a search for fewer operations takes minutes there."""
    results = [r for r in results if graph.value(r.node) != 0.0 or not r.adds]
    if as_recorded:
        order = graph.needed([*guards, *(result.node for result in results)])
    else:
        graph, order, results, guards = shortened(graph, results, guards)
    n = len(of.group.bodies)
    inputs: dict[int, Place] = {}
    loaded: dict[int, Loaded] = {}
    for k in order:
        kind, *rest = graph.nodes[k]
        if kind == "const" and isinstance(rest[0], Loaded):
            loaded[k] = rest[0]
        elif kind == "input" and rest[0] not in ("t", "c"):
            known = places.get((rest[0], rest[1]))
            if known is None and rest[0] == "selection":
                known = places_of_selection(of.workspace, of.group, rest[1])
            inputs[k] = of.place(motion, *rest) if known is None else known
    found = numbers.places(of.loaded, list(loaded.values()), of.columns, n)
    inputs |= {k: Place("numbers", "numbers", place) for k, place in zip(loaded, found, strict=True)}
    return Kind(graph, order, n, inputs, results, guards, lanes_of(graph, order, n, most))

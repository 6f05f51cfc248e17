"""A long graph as elements: a loop for each repetition, straight code between them.

A turn of a repetition (`rbdae.graph.repeats`) is an element (`rbdae.machine.elements`). Values that are needed outside
of their turn go through the work vector, those of one node of all turns one after the other. So the text, and the time
that LLVM takes, do not grow with the number of bodies in a chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.graph import LEAVES, Graph, operands
from rbdae.graph.loaded import LoadedNumbers
from rbdae.graph.repeats import Listing, Stretch, listing, stretches
from rbdae.machine.data import Table
from rbdae.machine.elements import Elements, Kind, Place, Result, Run
from rbdae.machine.straight import LONGEST


def rolled(
    graph: Graph,
    needed: Sequence[int],
    outputs: Sequence[int],
    guards: Mapping[int, bool],
    loaded: LoadedNumbers | None,
) -> Elements:
    """The elements that compute the nodes `needed`, give the `outputs` in their order, and rely on the conditions
    `guards` to fall as they should. `loaded` are the constants that are loaded, if there are any."""
    nodes = [k for k in needed if graph.nodes[k][0] not in LEAVES]
    found = listing(graph, nodes, {k: 1 + int(wanted) for k, wanted in guards.items()})
    parts = [piece for part in stretches(found) for piece in _cut(part, graph, found.nodes)]
    rolling = _Rolling(graph, found, parts, outputs, guards)
    kinds = [*map(rolling.kind, parts), *rolling.copies()]
    runs = [Run(k, 0, kind.count) for k, kind in enumerate(kinds)]
    tape = (loaded or LoadedNumbers(np.zeros(0))).tape(rolling.numbers.entries)
    return Elements(kinds, runs, (0, 0), rolling.size, tape)


def _cut(part: Stretch, graph: Graph, nodes: Ints) -> list[Stretch]:
    """A stretch that does not repeat in pieces for one function each; the results of a call stay with it."""
    if part.times > 1:
        return [part]
    end = part.first + part.length
    cuts = [part.first]
    while cuts[-1] + LONGEST < end:
        cut = cuts[-1] + LONGEST
        while graph.nodes[nodes[cut]][0] == "result":
            cut -= 1
        cuts.append(cut)
    return [Stretch(a, b - a, 1) for a, b in zip(cuts, [*cuts[1:], end], strict=True)]


@final
class _Rolling:
    """The places of the values of a graph, and its stretches as kinds of elements."""

    def __init__(
        self,
        graph: Graph,
        found: Listing,
        parts: Sequence[Stretch],
        outputs: Sequence[int],
        guards: Mapping[int, bool],
    ) -> None:
        self._graph, self._found, self._guards = graph, found, guards
        self.numbers = Table()
        self._outputs: dict[int, list[int]] = {}
        for i, k in enumerate(outputs):
            self._outputs.setdefault(k, []).append(i)
        n = len(found.nodes)
        self._position = np.full(len(graph.nodes), -1, dtype=np.int64)
        self._position[found.nodes] = np.arange(n)
        turn = np.empty(n, dtype=np.int64)
        first = 0
        for part in parts:
            turn[part.first : part.first + part.length * part.times] = first + np.repeat(
                np.arange(part.times), part.length
            )
            first += part.times
        self._direct: dict[int, Ints] = {}  # by the position of a node in the first turn: places among the results
        wanted = self._read_elsewhere(turn)
        self._place = np.full(n, -1, dtype=np.int64)
        self.size = 0
        for part in parts:
            own = self._turns(part)
            for i, row in enumerate(own.T):
                if all(self._outputs.get(k) for k in row.tolist()):
                    self._direct[part.first + i] = np.array([self._outputs[k].pop() for k in row.tolist()])
            here = wanted[self._position[own]] | [[bool(self._outputs.get(k)) for k in row] for row in own.tolist()]
            for i in np.flatnonzero(here.any(axis=0)).tolist():
                self._place[self._position[own[:, i]]] = self.size + np.arange(part.times)
                self.size += part.times

    def _read_elsewhere(self, turn: Ints) -> Ints:
        """Whether nodes are operands in other turns than their own."""
        found = self._found
        out = np.zeros(len(found.nodes), dtype=bool)
        row, column = np.nonzero(found.operand >= 0)
        source = found.operand[row, column]
        out[source[turn[row] != turn[source]]] = True
        for i in np.flatnonzero(found.single).tolist():
            at = self._position[[*operands(self._graph.nodes[found.nodes[i]])]]
            out[[j for j in at.tolist() if j >= 0 and turn[j] != turn[i]]] = True
        return out

    def _turns(self, part: Stretch) -> Ints:
        """The nodes of a stretch by turns, (times, length)."""
        own: Ints = self._found.nodes[part.first : part.first + part.length * part.times]
        return own.reshape(part.times, part.length)

    def kind(self, part: Stretch) -> Kind:
        """The turns of a stretch."""
        own = self._turns(part)
        turn = _Turn(part.times)
        results, guards, here = list[Result](), dict[int, bool](), list[int]()
        for i in range(part.length):
            kind, *rest = self._graph.nodes[own[0, i]]
            if kind in ("call", "result"):  # in stretches of one turn
                of = [self._operand(turn, np.array([k]), part, here) for k in operands((kind, *rest))]
                rest = [*rest[:3], *of] if kind == "call" else [*of, rest[1]]
            else:
                number = self._found.number[part.first + i : part.first + own.size : part.length]
                rest = [self._operand(turn, number[:, j], part, here) for j in range(len(rest))]
            here.append(turn.node(kind, *rest))
            if part.first + i in self._direct:
                results.append(Result(here[-1], Place("out", "", self._direct[part.first + i])))
            if self._place[part.first + i] >= 0:
                results.append(Result(here[-1], Place("work", "m", self._place[self._position[own[:, i]]])))
            if own[0, i] in self._guards:
                guards[here[-1]] = self._guards[int(own[0, i])]
        return Kind(turn.graph, turn.order, part.times, turn.inputs, results, guards)

    def _operand(self, turn: _Turn, nodes: Ints, part: Stretch, here: Sequence[int]) -> int:
        """The node of a turn for an operand, by its nodes in all turns."""
        position = self._position[nodes]
        if position[0] >= part.first:
            return here[int(position[0]) - part.first]
        if position[0] >= 0:
            return turn.read(Place("work", "m", self._place[position]))
        leaf = self._graph.nodes[nodes[0]]
        if leaf[0] == "const":
            values = [self._graph.nodes[k][1] for k in nodes.tolist()]
            same = all(x == values[0] for x in values)
            if same and isinstance(leaf[1], float):
                return turn.node(*leaf)
            begin, step = self.numbers.place(*(values[:1] if same else values)), int(not same)
            return turn.read(Place("numbers", "numbers", begin + step * np.arange(len(values))))
        if leaf[1] in ("t", "c"):
            return turn.node(*leaf)
        return turn.read(Place(leaf[1], "", np.array([self._graph.nodes[k][2] for k in nodes.tolist()])))

    def copies(self) -> list[Kind]:
        """Results that are in the work vector, or leaves."""
        found: dict[object, tuple[list[int], list[int]]] = {}
        for k, places in self._outputs.items():
            leaf = self._graph.nodes[k]
            key = "work" if self._position[k] >= 0 else leaf if leaf[1] in ("t", "c") else leaf[-2]
            nodes, at = found.setdefault("const" if leaf[0] == "const" else key, ([], []))
            nodes += [k] * len(places)
            at += places
        kinds = []
        for nodes, at in (one for one in found.values() if one[0]):
            turn = _Turn(len(nodes))
            node = self._operand(turn, np.array(nodes), _NOWHERE, [])
            kinds.append(
                Kind(turn.graph, turn.order, len(nodes), turn.inputs, [Result(node, Place("out", "", np.array(at)))])
            )
        return kinds


_NOWHERE = Stretch(1 << 62, 0, 0)


@final
class _Turn:
    """The graph of one turn."""

    def __init__(self, times: int) -> None:
        self.graph = Graph()
        self.order: list[int] = []
        self.inputs: dict[int, Place] = {}
        self._known: dict[tuple[str, bytes], int] = {}

    def node(self, *node: object) -> int:
        """A node, the next one in the order unless it is there."""
        k = self.graph.node(*node)
        if k == len(self.order):
            self.order.append(k)
        return k

    def read(self, place: Place) -> int:
        """A number that is read."""
        key = (place.vector, place.at.tobytes())
        if key not in self._known:
            k = self._known[key] = self.node("input", place.vector, len(self._known))
            self.inputs[k] = place
        return self._known[key]

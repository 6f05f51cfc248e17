"""The places in memory of the values of a graph in which much repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.graph import Graph, Node
from rbdae.graph.repeats import Listing, Stretch

INPUTS = ("y", "yd", "selection")
"""Vectors that come first in memory, after t and c."""


@final
class Memory:
    """Places in memory: inputs first, then regions, which are used again when no later stretch needs them."""

    def __init__(self, first: int) -> None:
        self.size = first
        self._free: list[tuple[int, int]] = []

    def take(self, n: int) -> int:
        """The beginning of n places."""
        for i, (begin, length) in enumerate(self._free):
            if length >= n:
                self._free[i : i + 1] = [(begin + n, length - n)] if length > n else []
                return begin
        out = self.size
        self.size += n
        return out

    def give(self, begin: int, n: int) -> None:
        """They are free again."""
        merged = sorted([*self._free, (begin, n)])
        out: list[tuple[int, int]] = []
        for start, length in merged:
            if out and sum(out[-1]) == start:
                out[-1] = (out[-1][0], out[-1][1] + length)
            else:
                out.append((start, length))
        self._free = out


@final
class Plan:
    """The places of the values of a graph in memory; `inputs` are those that it needs."""

    def __init__(
        self,
        graph: Graph,
        found: Listing,
        cut: Sequence[Stretch],
        outputs: Sequence[int],
        inputs: Sequence[Node],
    ) -> None:
        self.graph, self.found, self.parts = graph, found, cut
        sizes = {name: 1 + max((node[2] for node in inputs if node[1] == name), default=-1) for name in INPUTS}
        self.inputs = {"t": 0, "c": 1, "y": 2, "yd": 2 + sizes["y"], "selection": 2 + sizes["y"] + sizes["yd"]}
        self.sizes = sizes
        n = len(found.nodes)
        self.part_of = np.empty(n, dtype=np.int64)
        turn_of = np.empty(n, dtype=np.int64)
        for k, part in enumerate(cut):
            span = slice(part.first, part.first + part.length * part.times)
            self.part_of[span] = k
            turn_of[span] = np.repeat(np.arange(part.times), part.length)
        self.place = np.full(n, -1, dtype=np.int64)
        self._lay_out(turn_of, outputs, 2 + sum(sizes.values()))
        self.by_node = dict(zip(found.nodes.tolist(), self.place.tolist(), strict=True))

    def _lay_out(self, turn_of: Ints, outputs: Sequence[int], first: int) -> None:
        found, parts = self.found, self.parts
        n = len(found.nodes)
        row, column = np.nonzero(found.operand >= 0)
        source = found.operand[row, column]
        outside = (self.part_of[row] != self.part_of[source]) | (turn_of[row] != turn_of[source])
        wanted = np.zeros(n, dtype=bool)
        wanted[source[outside]] = True
        last = np.arange(len(parts))  # the last stretch that needs values of each
        np.maximum.at(last, self.part_of[source[outside]], self.part_of[row[outside]])
        position = {k: i for i, k in enumerate(found.nodes.tolist())}
        for k in outputs:
            if k in position:
                wanted[position[k]] = True
                last[self.part_of[position[k]]] = len(parts)
        self._calls(position, wanted, last)
        memory = Memory(first)
        ending: list[list[tuple[int, int]]] = [[] for _ in range(len(parts) + 1)]
        self.left: list[Ints] = []
        for k, part in enumerate(parts):
            here = wanted[part.first : part.first + part.length * part.times].reshape(part.times, part.length)
            left = np.flatnonzero(here.any(axis=0))
            begin = memory.take(len(left) * part.times)
            for j, offset in enumerate(left.tolist()):
                places = begin + j * part.times + np.arange(part.times)
                self.place[part.first + offset + part.length * np.arange(part.times)] = places
            self.left.append(left)
            ending[last[k]].append((begin, len(left) * part.times))
            for region in ending[k]:
                memory.give(*region)
        self.size = memory.size

    def _calls(self, position: Mapping[int, int], wanted: Any, last: Any) -> None:
        """Operands of the user's functions, and their results."""
        for i in np.flatnonzero(self.found.single).tolist():
            node = self.graph.nodes[self.found.nodes[i]]
            for other in node[4:] if node[0] == "call" else node[1:2]:
                j = position.get(other)
                if j is not None and self.part_of[j] != self.part_of[i]:
                    wanted[j] = True
                    last[self.part_of[j]] = max(last[self.part_of[j]], self.part_of[i])

    def places(self, operand: Ints, number: Ints) -> Ints:
        """The places of operands: nodes of the list, or inputs."""
        out = np.where(operand >= 0, self.place[np.maximum(operand, 0)], -1)
        for i in np.flatnonzero(operand < 0).tolist():
            _, name, k = self.graph.nodes[number[i]]
            out[i] = self.inputs[name] + k
        return out

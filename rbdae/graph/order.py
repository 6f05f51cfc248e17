"""The order in which nodes are computed, and the latency of results."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import final

from rbdae.graph.graph import LEAVES, Graph, Node, operands

LATENCIES: Mapping[str, int] = {
    "const": 0,
    "input": 0,
    "neg": 0,
    "pair": 1,
    "lane": 1,
    "abs": 1,
    "select": 2,
    "rcp": 13,
    "sqrt": 18,
    "sin": 50,
    "cos": 50,
}
"""Approximate cycles from operands to result, if different from `USUAL`."""

USUAL = 4
"""Cycles of sums and products."""


def depth(node: Node, of: Mapping[int, int] | Sequence[int]) -> int:
    """Earliest cycle at which a node is available, from its operands' cycles."""
    return max((of[j] for j in operands(node)), default=0) + LATENCIES.get(node[0], USUAL)


def depths(graph: Graph, nodes: Sequence[int]) -> dict[int, int]:
    """Earliest cycles at which nodes are available, for nodes in an order of computation."""
    out: dict[int, int] = {}
    for k in nodes:
        out[k] = depth(graph.nodes[k], out)
    return out


def deepest_first(graph: Graph, outputs: Sequence[int]) -> list[int]:
    """The nodes needed for some outputs, beginning with the output that waits longest: quick computations fill its
    waiting time."""
    depth_of = depths(graph, graph.needed(outputs))
    return graph.needed(sorted(outputs, key=lambda k: -depth_of[k]))


def few_alive(graph: Graph, outputs: Sequence[int]) -> list[int]:
    """The nodes needed for some outputs, in an order that keeps few values alive at a time.

    The next node is the one that is the last user of most operands; ties go to a node that is its user's only missing
    operand, then to the node with most dependents. A product used once belongs to the sum with which it is fused.
    """
    nodes = graph.needed(outputs)
    listing = _Listing(graph, nodes, outputs)
    out: list[int] = []
    done: set[int] = set()

    def write(k: int) -> None:
        for j in operands(graph.nodes[k]):
            if j in listing.fused and j not in done:
                write(j)
            elif graph.nodes[j][0] in LEAVES and j not in done:
                done.add(j)
                out.append(j)
        if k not in done:
            done.add(k)
            out.append(k)
            if graph.nodes[k][0] == "call":  # its results follow it at once
                for j in listing.results.get(k, ()):
                    done.add(j)
                    out.append(j)

    for k in listing.ordered():
        write(k)
    return [*out, *(k for k in nodes if k not in done)]


@final
class _Listing:
    """Nodes and their missing operands; `fused` products are part of the sums that use them."""

    def __init__(self, graph: Graph, nodes: Sequence[int], outputs: Sequence[int]) -> None:
        uses = Counter(outputs)
        for k in nodes:
            uses.update(operands(graph.nodes[k]))
        self.fused: set[int] = set()
        self.results: dict[int, list[int]] = {}
        for k in nodes:
            node = graph.nodes[k]
            if node[0] in ("add", "sub"):
                single = (j for j in node[1:] if graph.nodes[j][0] == "mul" and uses[j] == 1)
                self.fused.update(j for j, _ in zip(single, (0,), strict=False))
            elif node[0] == "result":
                self.results.setdefault(node[1], []).append(k)
        self._graph = graph
        mine = [k for k in nodes if k not in self.fused and graph.nodes[k][0] not in LEAVES]
        self._place = {k: i for i, k in enumerate(mine)}
        self._needs = {k: self._operands(k) for k in mine}
        self._users: dict[int, list[int]] = {k: [] for k in mine}
        for k in mine:
            for j in self._needs[k]:
                self._users[j].append(k)
        self._height = dict.fromkeys(mine, 0)
        for k in reversed(mine):
            self._height[k] = 1 + max((self._height[user] for user in self._users[k]), default=0)
        self._waiting = {k: len(self._needs[k]) for k in mine}
        self._left = {k: len(self._users[k]) for k in mine}

    def _operands(self, k: int) -> list[int]:
        places: list[int] = []
        for j in operands(self._graph.nodes[k]):
            places += operands(self._graph.nodes[j]) if j in self.fused else (j,)
        return [j for j in dict.fromkeys(places) if j in self._place]

    def _rank(self, k: int) -> tuple[int, int, int, int]:
        ended = sum(self._left[j] == 1 for j in self._needs[k])
        near = min((self._waiting[user] for user in self._users[k]), default=0)
        return (self._left[k] > 0) - ended, near, -self._height[k], self._place[k]

    def ordered(self) -> list[int]:
        """The unfused nodes in order."""
        queue = [(self._rank(k), k) for k in self._place if not self._waiting[k]]
        heapq.heapify(queue)
        out: list[int] = []
        done: set[int] = set()
        while queue:
            _, k = heapq.heappop(queue)
            if k in done:  # ranks only improve, and improved nodes have been entered again
                continue
            done.add(k)
            out.append(k)
            better: set[int] = set()
            for j in self._needs[k]:
                self._left[j] -= 1
                if self._left[j] == 1:
                    better.update(self._users[j])
            for user in self._users[k]:
                self._waiting[user] -= 1
                better.update((user,) if not self._waiting[user] else self._needs[user])
            for j in sorted(better - done):
                if not self._waiting[j]:
                    heapq.heappush(queue, (self._rank(j), j))
        return out

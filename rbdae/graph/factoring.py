"""A graph with fewer additions and multiplications for the same numbers.

Kernels work with natural coordinates, body by body and row by row; on symbols that repeats products which one would
collect by hand: the rows of rho x (R^T lambda), multiplied out over the entries of R. Here they are collected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from rbdae.graph.graph import Graph, operands
from rbdae.graph.order import depth
from rbdae.graph.sharing import shared
from rbdae.graph.sums import Product, Sum, operations, sums_of

MOST_NODES = 1500
"""Nodes up to which common terms are looked for; it takes longer than in proportion to their number."""

LEAST_NODES = 150
"""A short graph waits for its longest chain of operations, and common terms make it longer."""

PAYS = 0.8
"""Part of the operations below which what is left is quicker: a value that many need is kept in memory in between."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Factored:
    """A new graph, with its outputs and guards."""

    graph: Graph
    outputs: list[int]
    guards: dict[int, bool]


def factored(
    graph: Graph,
    outputs: Sequence[int],
    guards: Mapping[int, bool],
    *,
    least_nodes: int = LEAST_NODES,
    most_nodes: int = MOST_NODES,
    pays: float = PAYS,
) -> Factored | None:
    """The same outputs and guards from a new graph; None where it would not be quicker, see `LEAST_NODES`,
    `MOST_NODES` and `PAYS`."""
    needed = graph.needed([*guards, *outputs])
    if not least_nodes <= len(needed) <= most_nodes:
        return None
    sums = shared(sums_of(graph, [*guards, *outputs]), len(graph.nodes))
    writer = _Writer(graph, sums)
    out = Factored(
        writer.graph, [writer.node(k) for k in outputs], {writer.node(k): wanted for k, wanted in guards.items()}
    )
    left = operations(out.graph, out.graph.needed([*out.guards, *out.outputs]))
    return out if left <= pays * operations(graph, needed) else None


@final
class _Writer:
    """Writes sums, and the nodes of the old graph that are no sums, to a new graph."""

    def __init__(self, old: Graph, sums: dict[int, Sum]) -> None:
        self.graph = Graph()
        self._old = old
        self._sums = sums
        self._there: dict[int, int] = {}
        self._depths: list[int] = []

    def node(self, k: int) -> int:
        """The new node of a sum or of an old node."""
        todo = [k]
        while todo:
            j = todo[-1]
            missing = [i for i in self._needs(j) if i not in self._there] if j not in self._there else []
            if missing:
                todo.extend(reversed(missing))
                continue
            todo.pop()
            if j not in self._there:
                self._there[j] = self._written(j)
        return self._there[k]

    def _needs(self, k: int) -> Sequence[int]:
        if k in self._sums:
            return [a for product in self._sums[k] for a in product]
        return operands(self._old.nodes[k])

    def _written(self, k: int) -> int:
        if k in self._sums:
            return self._sum(self._sums[k])
        node = self._old.nodes[k]
        at = len(node) - len(operands(node))
        if node[0] == "result":
            return self.graph.node("result", self._there[node[1]], node[2])
        return self.graph.node(*node[:at], *(self._there[j] for j in node[at:]))

    def _sum(self, found: Sum) -> int:
        """Terms with one constant are multiplied by it together."""
        g = self.graph
        groups: dict[float, list[tuple[Product, float]]] = {}
        for product, c in found.items():
            groups.setdefault(abs(c) if product else 1.0, []).append((product, c))
        terms: list[tuple[int, bool]] = []
        for c, group in groups.items():
            if c == 1.0 or len(group) == 1:
                terms += [(self._product(p, abs(d)), d < 0.0) for p, d in group]
            else:
                negative = group[0][1] < 0.0
                inner = self._total([(self._product(p, 1.0), (d < 0.0) != negative) for p, d in group])
                terms.append((g.mul(g.const(c), inner), negative))
        return self._total(terms)

    def _total(self, terms: list[tuple[int, bool]]) -> int:
        """The sum of nodes, or of their negatives: first of those that are there first."""
        g = self.graph
        terms = sorted(terms, key=lambda term: self._depth(term[0]))
        first = next((i for i, (_, negative) in enumerate(terms) if not negative), None)
        if first is None:
            return g.neg(self._total([(k, False) for k, _ in terms]))
        out = terms[first][0]
        for i, (k, negative) in enumerate(terms):
            if i != first:
                out = g.sub(out, k) if negative else g.add(out, k)
        return out

    def _product(self, product: Product, c: float) -> int:
        g = self.graph
        out = g.const(c)
        for k in sorted((self._there[a] for a in product), key=self._depth):
            out = g.mul(out, k)
        return out

    def _depth(self, k: int) -> int:
        """Cycles until a new node is there, see `rbdae.graph.order`."""
        known, nodes = self._depths, self.graph.nodes
        for node in nodes[len(known) :]:
            known.append(depth(node, known))
        return known[k]


__all__ = ["LEAST_NODES", "MOST_NODES", "PAYS", "Factored", "factored"]

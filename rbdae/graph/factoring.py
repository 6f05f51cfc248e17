"""A graph with fewer additions and multiplications for the same numbers.

Kernels work with natural coordinates, body by body and row by row; on symbols that repeats products which one would
collect by hand: the rows of rho x (R^T lambda), multiplied out over the entries of R. Here they are collected. What is
the same for two bodies is written once, for two numbers at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from rbdae.graph.corresponding import Correspondence, corresponding
from rbdae.graph.graph import Graph, operands
from rbdae.graph.order import depth
from rbdae.graph.sharing import shared
from rbdae.graph.sums import Product, Sum, operations, sums_of
from rbdae.graph.twos import Constant, both, size

MOST_NODES = 4000
"""Nodes up to which common terms are looked for; it takes longer than in proportion to their number."""

LEAST_NODES = 150
"""A short graph waits for its longest chain of operations, and common terms make it longer."""

PAYS = 0.9
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
    unknowns: Mapping[int, int] = MappingProxyType({}),
    *,
    least_nodes: int = LEAST_NODES,
    most_nodes: int = MOST_NODES,
    pays: float = PAYS,
) -> Factored | None:
    """The same outputs and guards from a new graph; None where it would not be quicker, see `LEAST_NODES`,
    `MOST_NODES` and `PAYS`. `unknowns` are inputs of one body with those of another that correspond."""
    wanted = [*guards, *outputs]
    needed = graph.needed(wanted)
    if not least_nodes <= len(needed) <= most_nodes:
        return None
    there = set(needed)
    known = {one: other for one, other in unknowns.items() if one in there and other in there}
    first = len(graph.nodes)
    found = corresponding(graph, sums_of(graph, wanted), wanted, known, first)
    first = max([first, *found.partner]) + 1
    found.together = shared(found.together, first)
    first = max([first, *found.together]) + 1
    found.single = shared(found.single, first)
    writer = _Writer(graph, found)
    out = Factored(
        writer.graph, [writer.node(k) for k in outputs], {writer.node(k): wanted for k, wanted in guards.items()}
    )
    left = operations(out.graph, out.graph.needed([*out.guards, *out.outputs]))
    return out if left <= pays * operations(graph, needed) else None


@final
class _Writer:
    """Writes sums, and the nodes of the old graph that are no sums, to a new graph.

    What is computed together is written as a pair under the number of either: with ``(k, 2)`` in place of k.
    """

    def __init__(self, old: Graph, found: Correspondence) -> None:
        self.graph = Graph()
        self._old = old
        self._found = found
        self._there: dict[_Key, int] = {}
        self._depths: list[int] = []

    def node(self, k: int) -> int:
        """The new node of a sum or of an old node."""
        todo: list[_Key] = [(k, 1)]
        while todo:
            key = todo[-1]
            missing = [i for i in self._needs(key) if i not in self._there] if key not in self._there else []
            if missing:
                todo.extend(reversed(missing))
                continue
            todo.pop()
            if key not in self._there:
                self._there[key] = self._written(key)
        return self._there[k, 1]

    def _needs(self, key: _Key) -> list[_Key]:
        k, width = key
        found = self._found
        pair = self._pair_of(k)
        if width == 1:
            if pair is not None:
                return [(pair, 2)]
            if k in found.single:
                return [(a, 1) for product in found.single[k] for a in product]
            return [(j, 1) for j in operands(self._old.nodes[k])]
        if pair is None:  # inputs, and what is computed for one body or for none
            return [(k, 1), (found.partner.get(k, k), 1)]
        if pair != k:
            return [(pair, 2)]
        if k in found.together:
            return [(a, 2) for product in found.together[k] for a in product]
        return [(j, 2) for j in operands(self._old.nodes[k])]

    def _pair_of(self, k: int) -> int | None:
        """The first of the two numbers that are computed together, of which k is one."""
        found = self._found
        if k in found.together:
            return k
        if k not in found.partner or (k < len(self._old.nodes) and self._old.nodes[k][0] == "input"):
            return None
        return found.partner[k] if found.lane[k] else k

    def _written(self, key: _Key) -> int:
        k, width = key
        found, g = self._found, self.graph
        pair = self._pair_of(k)
        if width == 1 and pair is not None:
            return g.lane(self._there[pair, 2], int(pair != k))
        if width == 2 and pair is None:
            return g.pair(self._there[k, 1], self._there[found.partner.get(k, k), 1])
        if width == 2 and pair is not None and pair != k:
            return g.pair(*(g.lane(self._there[pair, 2], i) for i in (1, 0)))
        sums = found.single if width == 1 else found.together
        if k in sums:
            return self._sum(sums[k], width)
        node = self._old.nodes[k]
        at = len(node) - len(operands(node))
        if node[0] == "result":
            return g.node("result", self._there[node[1], 1], node[2])
        return g.node(*node[:at], *(self._there[j, width] for j in node[at:]))

    def _sum(self, found: Sum, width: int) -> int:
        """Terms with one constant are multiplied by it together."""
        groups: dict[Constant, list[tuple[Product, Constant]]] = {}
        for product, c in found.items():
            groups.setdefault(size(c) if product else 1.0, []).append((product, c))
        terms: list[tuple[int, bool]] = []
        for c, group in groups.items():
            if c == 1.0 or len(group) == 1:
                terms += [(self._product(p, size(d), width), d < 0.0) for p, d in group]
            else:
                negative = group[0][1] < 0.0
                inner = self._total([(self._product(p, 1.0, width), (d < 0.0) != negative) for p, d in group])
                terms.append((self.graph.mul(self._constant(c, width), inner), negative))
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

    def _product(self, product: Product, c: Constant, width: int) -> int:
        g = self.graph
        factors = sorted((self._there[a, width] for a in product), key=self._depth)
        out = factors.pop(0) if factors and c == 1.0 else self._constant(c, width)
        for k in factors:
            out = g.mul(out, k)
        return out

    def _constant(self, c: Constant, width: int) -> int:
        g = self.graph
        first, second = both(c)
        return g.const(first) if width == 1 else g.pair(g.const(first), g.const(second))

    def _depth(self, k: int) -> int:
        """Cycles until a new node is there, see `rbdae.graph.order`."""
        known, nodes = self._depths, self.graph.nodes
        for node in nodes[len(known) :]:
            known.append(depth(node, known))
        return known[k]


_Key = tuple[int, int]
"""A number and 1, or the first of two and 2."""

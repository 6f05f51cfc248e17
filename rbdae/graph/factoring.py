"""A graph with fewer additions and multiplications for the same numbers.

Kernels work with natural coordinates, body by body and row by row; on symbols this repeats products that one would
collect by hand, such as the rows of rho x (R^T lambda), expanded over the entries of R. They are collected here.
Computations that are equal for two bodies are written once, for two numbers at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from rbdae.graph.corresponding import Correspondence, corresponding
from rbdae.graph.graph import Graph, operands
from rbdae.graph.latency import depth
from rbdae.graph.sharing import shared
from rbdae.graph.sums import Product, Sum, operations, sums_of
from rbdae.graph.twos import Constant, both, size

MOST_NODES = 4000
"""Largest graph in which common terms are searched: the time grows faster than the number of nodes."""

LEAST_NODES = 150
"""Smallest graph: a short one waits for its longest chain of operations, which common terms make longer."""

PAYS = 0.9
"""Part of the operations below which the new graph is quicker: shared values are kept in memory in between."""


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
    pays: float = PAYS,
) -> Factored | None:
    """The same outputs and guards from a new graph; None if it would not be quicker, see `LEAST_NODES`, `MOST_NODES`
    and `PAYS`. `unknowns` maps inputs of one body to corresponding inputs of another."""
    wanted = [*guards, *outputs]
    needed = graph.needed(wanted)
    if not least_nodes <= len(needed) <= MOST_NODES:
        return None
    there = set(needed)
    known = {one: other for one, other in unknowns.items() if one in there and other in there}
    first = len(graph.nodes)
    correspondence = corresponding(graph, sums_of(graph, wanted), wanted, known, first)
    first = max([first, *correspondence.partner]) + 1
    correspondence.together = shared(correspondence.together, first)
    first = max([first, *correspondence.together]) + 1
    correspondence.single = shared(correspondence.single, first)
    writer = _Writer(graph, correspondence)
    out = Factored(
        writer.graph, [writer.node(k) for k in outputs], {writer.node(k): wanted for k, wanted in guards.items()}
    )
    left = operations(out.graph, out.graph.needed([*out.guards, *out.outputs]))
    return out if left <= pays * operations(graph, needed) else None


@final
class _Writer:
    """Writes sums, and other nodes of the old graph, to a new graph.

    Numbers computed together are written as a pair under the first one's number: with ``(k, 2)`` in place of k.
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
        correspondence = self._found
        pair = self._pair_of(k)
        if width == 1:
            if pair is not None:
                return [(pair, 2)]
            if k in correspondence.single:
                return [(a, 1) for product in correspondence.single[k] for a in product]
            return [(j, 1) for j in operands(self._old.nodes[k])]
        if pair is None:  # inputs, and numbers without a partner
            return [(k, 1), (correspondence.partner.get(k, k), 1)]
        if pair != k:
            return [(pair, 2)]
        if k in correspondence.together:
            return [(a, 2) for product in correspondence.together[k] for a in product]
        return [(j, 2) for j in operands(self._old.nodes[k])]

    def _pair_of(self, k: int) -> int | None:
        """The first of the two numbers that are computed together, one of them k."""
        correspondence = self._found
        if k in correspondence.together:
            return k
        if k not in correspondence.partner or (k < len(self._old.nodes) and self._old.nodes[k][0] == "input"):
            return None
        return correspondence.partner[k] if correspondence.lane[k] else k

    def _written(self, key: _Key) -> int:
        k, width = key
        correspondence, g = self._found, self.graph
        pair = self._pair_of(k)
        if width == 1 and pair is not None:
            return g.lane(self._there[pair, 2], int(pair != k))
        if width == 2 and pair is None:
            return g.pair(self._there[k, 1], self._there[correspondence.partner.get(k, k), 1])
        if width == 2 and pair is not None and pair != k:
            return g.pair(*(g.lane(self._there[pair, 2], i) for i in (1, 0)))
        sums = correspondence.single if width == 1 else correspondence.together
        if k in sums:
            return self._sum(sums[k], width)
        node = self._old.nodes[k]
        first_operand = len(node) - len(operands(node))
        if node[0] == "result":
            return g.node("result", self._there[node[1], 1], node[2])
        return g.node(*node[:first_operand], *(self._there[j, width] for j in node[first_operand:]))

    def _sum(self, found: Sum, width: int) -> int:
        """The node of a sum; terms with the same constant are multiplied by it together."""
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
        """The sum of nodes, or of their negatives, beginning with those available first."""
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
        """Cycles until a new node is available, see `rbdae.graph.latency`."""
        depths, nodes = self._depths, self.graph.nodes
        for node in nodes[len(depths) :]:
            depths.append(depth(node, depths))
        return depths[k]


_Key = tuple[int, int]
"""A single number and 1, or the first number of a pair and 2."""

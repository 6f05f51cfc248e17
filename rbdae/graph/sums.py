"""The sums of products in a graph: its additions and multiplications, collected.

A sum is a dictionary: products, as their factors in order, with their constants. Factors are nodes of the graph. Each
node that is used more than once, or by something else than sums and products, has a sum of its own and is a factor of
others; nodes that are used once become part of their user.

Rounding stays of the size that it has: a sum of two single numbers, as in k (x1 - x2) + f, stays one factor, so that
its numbers are not taken apart, and constants are multiplied into sums of products alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rbdae.graph.graph import Graph, operands
from rbdae.graph.twos import Constant, is_one

Product = tuple[int, ...]
"""Factors, in order."""

Sum = dict[Product, Constant]
"""Products with their constants; the empty product has that which stands alone."""

_ARITHMETIC = frozenset({"add", "sub", "neg", "mul"})


def sums_of(graph: Graph, outputs: Sequence[int]) -> dict[int, Sum]:
    """The sums of the nodes that some outputs need, by the number of the node."""
    needed = graph.needed(outputs)
    uses: Counter[int] = Counter(outputs)
    user: dict[int, tuple[Any, ...]] = {}
    for k in needed:
        for j in operands(graph.nodes[k]):
            uses[j] += 1
            user[j] = graph.nodes[k]
    inner: dict[int, Sum] = {}
    out: dict[int, Sum] = {}

    def sum_of(k: int) -> Sum:
        value = graph.value(k)
        return inner.get(k, {(k,): 1.0}) if value is None else {(): value}

    for k in needed:
        node = graph.nodes[k]
        if node[0] not in _ARITHMETIC:
            continue
        found = _combined(node[0], [sum_of(j) for j in node[1:]])
        once = uses[k] == 1 and user.get(k, ("",))[0] in _ARITHMETIC
        if once and _joins(graph, found, user[k]):
            inner[k] = found
            continue
        out[k] = found
        if len(found) == 1 and len(next(iter(found))) <= 3:
            inner[k] = found  # the multiple of a number is that of all who use it
    return out


def _combined(kind: str, terms: Sequence[Sum]) -> Sum:
    """The sum that an operation makes of sums."""
    one = terms[0]
    if kind == "neg":
        return {p: -c for p, c in one.items()}
    other = terms[1]
    out: Sum = {}
    if kind == "mul":
        for p, c in one.items():
            for q, d in other.items():
                key = tuple(sorted(p + q))
                out[key] = out.get(key, 0.0) + c * d
        return out
    sign = 1.0 if kind == "add" else -1.0
    out = dict(one)
    for p, c in other.items():
        out[p] = out.get(p, 0.0) + sign * c
    return {p: c for p, c in out.items() if c != 0.0} or {(): 0.0}


def _joins(graph: Graph, found: Sum, user: tuple[Any, ...]) -> bool:
    """Whether a sum that is used once becomes part of the sum of its user."""
    single = sum(len(p) < 2 for p in found)
    if user[0] == "mul":
        constant = any(graph.value(j) is not None for j in user[1:])
        return len(found) == 1 or (single == 0 and constant)
    return single <= 1


def multiplications(factors: int, constant: Constant) -> int:
    """Operations of a term: a product with one factor is added, and the last multiplication is fused with that."""
    return max(1, factors - is_one(constant))


def operations(graph: Graph, nodes: Iterable[int]) -> int:
    """Additions and multiplications of nodes, those that are fused as one."""
    nodes = list(nodes)
    uses: Counter[int] = Counter(j for k in nodes for j in operands(graph.nodes[k]))
    out = 0
    for k in nodes:
        node = graph.nodes[k]
        if node[0] in _ARITHMETIC:
            fused = node[0] in ("add", "sub") and any(graph.nodes[j][0] == "mul" and uses[j] == 1 for j in node[1:])
            out += 0 if fused else 1
    return out

"""The sums of products in a graph: its additions and multiplications, collected.

A sum is a dictionary from products, as ordered factors, to constants. Factors are nodes of the graph. A node that is
used more than once, or by anything but sums and products, has its own sum and is a factor of others; nodes used once
become part of their user.

Rounding errors do not grow: a sum of two single numbers, as in k (x1 - x2) + f, stays one factor, and constants are
multiplied only into sums of products.
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
"""Products with their constants; the empty product has the constant term."""

_ARITHMETIC = frozenset({"add", "sub", "neg", "mul"})


def sums_of(graph: Graph, outputs: Sequence[int]) -> dict[int, Sum]:
    """The sums of the nodes needed for some outputs, by node number."""
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
        combined = _combined(node[0], [sum_of(j) for j in node[1:]])
        once = uses[k] == 1 and user.get(k, ("",))[0] in _ARITHMETIC
        if once and _joins(graph, combined, user[k]):
            inner[k] = combined
            continue
        out[k] = combined
        if len(combined) == 1 and len(next(iter(combined))) <= 3:
            inner[k] = combined  # all users share the multiple of a number
    return out


def _combined(kind: str, terms: Sequence[Sum]) -> Sum:
    left = terms[0]
    if kind == "neg":
        return {p: -c for p, c in left.items()}
    right = terms[1]
    out: Sum = {}
    if kind == "mul":
        for p, c in left.items():
            for q, d in right.items():
                key = tuple(sorted(p + q))
                out[key] = out.get(key, 0.0) + c * d
        return out
    sign = 1.0 if kind == "add" else -1.0
    out = dict(left)
    for p, c in right.items():
        out[p] = out.get(p, 0.0) + sign * c
    return {p: c for p, c in out.items() if c != 0.0} or {(): 0.0}


def _joins(graph: Graph, found: Sum, user: tuple[Any, ...]) -> bool:
    """Whether a sum used once becomes part of its user's sum."""
    single = sum(len(p) < 2 for p in found)
    if user[0] == "mul":
        constant = any(graph.value(j) is not None for j in user[1:])
        return len(found) == 1 or (single == 0 and constant)
    return single <= 1


def multiplications(factors: int, constant: Constant) -> int:
    """Operations of a term with its addition, which is fused with the last multiplication."""
    return max(1, factors - is_one(constant))


def operations(graph: Graph, nodes: Iterable[int]) -> int:
    """Additions and multiplications of nodes, fused ones counted as one."""
    nodes = list(nodes)
    uses: Counter[int] = Counter(j for k in nodes for j in operands(graph.nodes[k]))
    out = 0
    for k in nodes:
        node = graph.nodes[k]
        if node[0] in _ARITHMETIC:
            fused = node[0] in ("add", "sub") and any(graph.nodes[j][0] == "mul" and uses[j] == 1 for j in node[1:])
            out += 0 if fused else 1
    return out

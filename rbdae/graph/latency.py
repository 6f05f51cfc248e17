"""The time that results of nodes take on a processor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rbdae.graph.graph import Graph, Node, operands

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

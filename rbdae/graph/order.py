"""In which order nodes are computed, and how long a result waits for what it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rbdae.graph.graph import Graph, operands

LATENCIES: Mapping[str, int] = {
    "const": 0,
    "input": 0,
    "neg": 0,
    "abs": 1,
    "select": 2,
    "rcp": 13,
    "sqrt": 18,
    "sin": 50,
    "cos": 50,
}
"""Cycles from operands to result, about, where they are not `USUAL`."""

USUAL = 4
"""Of sums and products."""


def depths(graph: Graph, nodes: Sequence[int]) -> dict[int, int]:
    """Cycles until a node is there at the earliest, for nodes in an order in which they can be computed."""
    out: dict[int, int] = {}
    for k in nodes:
        node = graph.nodes[k]
        out[k] = max((out[j] for j in operands(node)), default=0) + LATENCIES.get(node[0], USUAL)
    return out


def deepest_first(graph: Graph, outputs: Sequence[int]) -> list[int]:
    """The nodes that some outputs need, those of the output that waits longest first: what is quickly computed fills
    the time in which the others wait."""
    depth = depths(graph, graph.needed(outputs))
    return graph.needed(sorted(outputs, key=lambda k: -depth[k]))


__all__ = ["LATENCIES", "USUAL", "deepest_first", "depths"]

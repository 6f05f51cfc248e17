"""Recorded results and their places as elements in runs: with fewer operations, and several elements at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rbdae.graph.factoring import factored
from rbdae.graph.graph import Graph, operands
from rbdae.graph.order import deepest_first, few_alive
from rbdae.graph.replacing import made
from rbdae.machine.element_runs import Kind, Place, Result
from rbdae.machine.element_text import IN_LANES
from rbdae.machine.module import as_it_comes

LANES = 4
"""Elements that are computed at a time, where there are twice as many."""


def shortened(graph: Graph, results: list[Result]) -> tuple[Graph, list[int], list[Result]]:
    """A graph with fewer operations where that is quicker, an order of its nodes, and the results."""
    nodes = [result.node for result in results]
    short = None if as_it_comes() else factored(graph, nodes, {}, {})
    if short is None:
        return graph, deepest_first(graph, nodes), results
    results = [r._replace(node=node) for r, node in zip(results, short.outputs, strict=True)]
    return short.graph, few_alive(short.graph, short.outputs), results


def kind_of(graph: Graph, results: list[Result], places: Mapping[tuple[str, int], Place], n: int) -> Kind:
    """n elements without loaded numbers of their own, from fewer operations where that is quicker."""
    return in_lanes(*shortened(graph, results), places, {}, n)


def in_lanes(
    graph: Graph,
    order: list[int],
    results: list[Result],
    places: Mapping[tuple[str, int], Place],
    numbers: Mapping[int, Place],
    n: int,
) -> Kind:
    """n elements; `places` are those of inputs by name and number, `numbers` those of nodes."""
    inputs = dict(numbers)
    for k in order:
        kind, *rest = graph.nodes[k]
        if kind == "input" and rest[0] != "t":
            inputs[k] = places[rest[0], rest[1]]
    lanes = LANES if n >= 2 * LANES and all(graph.nodes[k][0] in IN_LANES for k in order) else 1
    return Kind(graph, order, n, inputs, results, lanes=lanes)


def copied(graph: Graph, outputs: Sequence[int], new: Graph, stored: Mapping[int, int]) -> list[int]:
    """The same results in a new graph, where stored nodes are inputs."""
    known: dict[int, int] = {}
    for k in graph.needed(outputs, stored):
        node = graph.nodes[k]
        if k in stored:
            known[k] = new.node("input", "stored", stored[k])
        elif operands(node):
            known[k] = made(new, node[0], [known[j] for j in operands(node)])
        else:
            known[k] = new.node(*node)
    return [known[k] for k in outputs]


__all__ = ["LANES", "copied", "in_lanes", "kind_of", "shortened"]

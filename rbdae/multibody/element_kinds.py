"""Recorded results and their places as elements in runs: with fewer operations, and several elements at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rbdae.graph.factoring import factored
from rbdae.graph.graph import Graph, operands
from rbdae.graph.order import deepest_first, few_alive
from rbdae.graph.replacing import made
from rbdae.machine.element_text import IN_LANES
from rbdae.machine.elements import Kind, Place, Result
from rbdae.machine.module import as_it_comes

LANES = 4
"""Elements that are computed at a time, where there are twice as many."""


Shortened = tuple[Graph, list[int], list[Result], dict[int, bool]]
"""A graph, an order of its nodes, the results, and the conditions."""


def shortened(graph: Graph, results: list[Result], guards: Mapping[int, bool] = MappingProxyType({})) -> Shortened:
    """A graph with fewer operations where that is quicker, in an order in which it can be computed."""
    nodes = [result.node for result in results]
    short = None if as_it_comes() else factored(graph, nodes, guards, {})
    if short is None:
        return graph, deepest_first(graph, [*guards, *nodes]), results, dict(guards)
    results = [r._replace(node=node) for r, node in zip(results, short.outputs, strict=True)]
    return short.graph, few_alive(short.graph, [*short.guards, *short.outputs]), results, short.guards


def kind_of(
    graph: Graph, results: list[Result], places: Mapping[tuple[str, int], Place], n: int, *, most: int = LANES
) -> Kind:
    """n elements without loaded numbers of their own, from fewer operations where that is quicker; computed several at
    a time, or one after the other where `most` is 1."""
    graph, order, results, _ = shortened(graph, results)
    return in_lanes(graph, order, results, places, {}, n, {}, most=most)


def in_lanes(
    graph: Graph,
    order: list[int],
    results: list[Result],
    places: Mapping[tuple[str, int], Place],
    numbers: Mapping[int, Place],
    n: int,
    guards: Mapping[int, bool],
    *,
    most: int = LANES,
) -> Kind:
    """n elements; `places` are those of inputs by name and number, `numbers` those of nodes."""
    inputs = dict(numbers)
    for k in order:
        kind, *rest = graph.nodes[k]
        if kind == "input" and rest[0] not in ("t", "c"):
            inputs[k] = places[rest[0], rest[1]]
    several = n >= 2 * most and all(graph.nodes[k][0] in IN_LANES for k in order)
    return Kind(graph, order, n, inputs, results, guards, lanes=most if several else 1)


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

"""Nodes made again from other operands, folded where these are constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rbdae.graph.graph import CONDITIONS, Graph, operands

_MADE: dict[str, Callable[..., int]] = {
    "add": Graph.add,
    "sub": Graph.sub,
    "mul": Graph.mul,
    "neg": Graph.neg,
    "not": Graph.negation,
    "select": Graph.select,
}


def made(graph: Graph, kind: str, of: list[int]) -> int:
    """A node by its kind and operands; no leaf, call or pair."""
    if kind in _MADE:
        return _MADE[kind](graph, *of)
    if kind == "rcp":
        return graph.div(graph.const(1.0), *of)
    if kind in CONDITIONS:
        return graph.condition(kind, *of)
    return graph.function(kind, *of) if len(of) == 1 else graph.of_two(kind, *of)


def replaced(graph: Graph, outputs: Sequence[int], others: Mapping[int, int]) -> list[int]:
    """The same results with other nodes in place of some."""
    known: dict[int, int] = dict(others)
    for k in graph.needed(outputs, others):
        if k in known:
            continue
        kind, *rest = graph.nodes[k]
        of = operands(graph.nodes[k])
        there = [known[j] for j in of]
        if there == list(of):
            known[k] = k
        elif kind == "call":
            known[k] = graph.node(kind, *rest[:3], *there)
        elif kind == "result":
            known[k] = graph.node(kind, *there, rest[1])
        else:
            known[k] = made(graph, kind, there)
    return [known[k] for k in outputs]

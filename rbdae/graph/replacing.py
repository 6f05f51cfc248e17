"""Nodes rebuilt from other operands, folded if these are constants."""

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
    """A node from its kind and operands; not for leaves, calls and pairs."""
    if kind in _MADE:
        return _MADE[kind](graph, *of)
    if kind == "rcp":
        return graph.div(graph.const(1.0), *of)
    if kind in CONDITIONS:
        return graph.condition(kind, *of)
    return graph.function(kind, *of) if len(of) == 1 else graph.of_two(kind, *of)


def replaced(graph: Graph, outputs: Sequence[int], others: Mapping[int, int], into: Graph | None = None) -> list[int]:
    """The outputs with some nodes replaced by others, in the same graph or in another one."""
    new = graph if into is None else into
    nodes: dict[int, int] = dict(others)
    for k in graph.needed(outputs, others):
        if k in nodes:
            continue
        kind, *rest = graph.nodes[k]
        old_operands = operands(graph.nodes[k])
        there = [nodes[j] for j in old_operands]
        if new is graph and there == list(old_operands):
            nodes[k] = k
        elif kind == "const":
            nodes[k] = new.const(rest[0])
        elif kind == "input":
            nodes[k] = new.node(kind, *rest)
        elif kind == "call":
            nodes[k] = new.node(kind, *rest[:3], *there)
        elif kind == "result":
            nodes[k] = new.node(kind, *there, rest[1])
        else:
            nodes[k] = made(new, kind, there)
    return [nodes[k] for k in outputs]

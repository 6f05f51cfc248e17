"""What repeats in a graph is found, and calls of users' functions, which are alike, are left out of it."""

from __future__ import annotations

import numpy as np
import pytest

from rbdae.graph.graph import Graph
from rbdae.graph.repeats import listing, stretches


def squares(n: int, called: bool) -> tuple[Graph, list[int]]:
    """0.5 x^2 + x and more of the same for n numbers: inputs, or the results of a call."""
    graph = Graph()
    numbers = [graph.node("input", "y", i) for i in range(n)]
    if called:
        zero = graph.const(0.0)
        call = graph.node("call", 0, n, n, graph.node("input", "t", 0), *numbers, *[zero] * n)
        numbers = [graph.node("result", call, i) for i in range(n)]
    half = graph.const(0.5)
    return graph, [graph.add(graph.function("sin", x), graph.mul(half, graph.mul(x, x))) for x in numbers]


@pytest.mark.parametrize("called", [False, True], ids=["inputs", "results"])
def test_what_repeats_is_found_without_the_calls(called):
    n = 200
    graph, outputs = squares(n, called)
    nodes = [k for k in graph.needed(outputs) if graph.nodes[k][0] not in ("const", "input")]
    found = listing(graph, nodes, {})
    parts = stretches(found)
    assert sum(part.length * part.times for part in parts) == len(nodes)
    loops = [part for part in parts if part.times > 1]
    assert sum(part.length * part.times for part in loops) > 3 * n
    for part in loops:
        assert not found.single[part.first : part.first + part.length * part.times].any()
    assert np.count_nonzero(found.single) == (n + 1 if called else 0)


@pytest.mark.parametrize("n", range(8))
def test_a_few_nodes_are_one_stretch(n):
    """As of a Jacobian whose many entries are constants but a few."""
    graph = Graph()
    x = graph.node("input", "y", 0)
    for _ in range(n):
        x = graph.function("sin", x)
    nodes = [k for k in graph.needed([x]) if graph.nodes[k][0] not in ("const", "input")]
    assert [(part.first, part.length, part.times) for part in stretches(listing(graph, nodes, {}))] == [(0, n, 1)] * (
        n > 0
    )

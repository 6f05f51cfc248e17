"""Long graphs in pieces are what they were as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from inside import evaluate, evaluated, in_pieces

from rbdae.graph.graph import Graph


@pytest.mark.parametrize(("n", "results"), [(5000, 30), (300, 2000)])
def test_pieces_have_the_values_of_the_whole(n, results):
    """Operands are near and far, results also inputs, constants and the same node many times; a condition holds."""
    rng = np.random.default_rng(n)
    graph = Graph()
    leaves = [graph.node("input", name, i) for name in ("y", "yd") for i in range(5)]
    leaves += [graph.node("input", "t", 0), graph.const(0.3), graph.const(-1.0)]
    nodes = list(leaves)
    for _ in range(n):
        one, other = (nodes[k] for k in (rng.integers(len(nodes)), max(0, len(nodes) - rng.integers(1, 30))))
        nodes.append(graph.function("sin", graph.add(one, graph.mul(graph.const(0.9), other))))
    outputs = [*rng.choice(nodes, results // 2).tolist(), *[leaves[-1]] * (results // 2)]
    holds = graph.condition("<", nodes[-1], graph.const(2.0))
    needed = graph.needed([holds, *outputs])
    elements = in_pieces(graph, needed, outputs, {holds: True}, None)
    assert all(sum(r.place.vector == "out" for r in kind.results) <= 700 for kind in elements.kinds)
    assert len(elements.kinds) > 2 and max(kind.length for kind in elements.kinds) <= 1001
    given = {"t": [0.7], "y": rng.standard_normal(5), "yd": rng.standard_normal(5)}
    found = evaluated(elements, given, np.zeros(0), len(outputs))
    np.testing.assert_array_equal(found, evaluate(graph, outputs, given))
    refused = in_pieces(graph, needed, outputs, {holds: False}, None)
    assert evaluated(refused, given, np.zeros(0), len(outputs)) is None

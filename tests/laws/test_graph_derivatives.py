"""Derivatives of graphs; those of recorded kernels: tests/laws/test_derivatives.py."""

from __future__ import annotations

import inside
import numpy as np
import pytest

from rbdae.graph.derivatives import NoDerivative, inputs_of, jacobian
from rbdae.graph.graph import FUNCTIONS, Graph

OTHERS = {
    "add": lambda g, a, b: g.add(g.mul(a, a), b),
    "sub": lambda g, a, b: g.sub(a, g.neg(b)),
    "mul": lambda g, a, b: g.mul(g.mul(a, b), a),
    "div": lambda g, a, b: g.div(a, b),
    "arctan2": lambda g, a, b: g.arctan2(a, b),
    "power": lambda g, a, b: g.of_two("power", a, b),
    "select": lambda g, a, b: g.select(g.condition("<", a, b), g.mul(a, b), g.mul(a, a)),
    "other side": lambda g, a, b: g.select(g.condition("<", b, a), g.mul(a, b), g.mul(a, a)),
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *OTHERS])
def test_every_operation_has_the_derivative_that_differences_have(name):
    graph = Graph()
    a, b = inputs_of(graph, "x", 2)
    out = OTHERS[name](graph, a, b) if name in OTHERS else graph.function(name, a)
    point, h = np.array(({"arccosh": 1.7, "abs": -0.7}.get(name, 0.7), 1.3)), 1e-3
    forwards = inside.evaluate(
        graph, [jacobian(graph, [out], [a, b])[0].get(k, graph.const(0.0)) for k in range(2)], {"x": point}
    )
    for k, found in enumerate(forwards):
        steps = [inside.evaluate(graph, [out], {"x": point + m * h * np.eye(2)[k]})[0] for m in (-2, -1, 1, 2)]
        wanted = (steps[0] - 8.0 * steps[1] + 8.0 * steps[2] - steps[3]) / (12.0 * h)
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", [*FUNCTIONS, "arctan2"])
def test_functions_of_numpy_are_recorded(name):
    numbers = np.array([1.3 if name == "arccosh" else 0.3, 0.7])[: 2 if name == "arctan2" else 1]
    recorder = inside.Recorder({"x": numbers}, 1000)
    symbol = getattr(np, name)(*recorder.inputs("x"))
    assert recorder.graph.nodes[symbol.node][0] == name
    assert recorder.value(symbol.node) == pytest.approx(getattr(np, name)(*numbers))


def test_functions_of_the_user_are_refused_only_where_they_matter():
    graph = Graph()
    x, y = inputs_of(graph, "x", 2)
    call = graph.node("call", 0, 1, 1, graph.const(0.0), x, graph.const(0.0))
    result = graph.node("result", call, 0)
    assert jacobian(graph, [graph.mul(result, y)], [y]) == [{0: result}]
    with pytest.raises(NoDerivative):
        jacobian(graph, [graph.mul(result, y)], [x])
    with pytest.raises(NoDerivative):
        jacobian(graph, [result], [x])


def test_a_narrow_place_between_many_inputs_and_outputs_is_crossed_once():
    """Forwards each of 40 directions goes through all 40 products: 1,600 of them at each of three places."""
    graph, n = Graph(), 40
    x, waist = inputs_of(graph, "y", n), graph.const(0.0)
    for node in x:
        waist = graph.add(waist, graph.function("sin", node))
    outputs = [graph.mul(graph.function("exp", waist), graph.function("cos", graph.mul(waist, node))) for node in x]
    places = [node for row in jacobian(graph, outputs, x) for _, node in sorted(row.items())]
    assert len(graph.needed(places)) < 3 * n * n
    y = np.linspace(0.1, 0.2, n)
    s = np.sin(y).sum()
    by_waist = np.exp(s) * (np.cos(s * y) - y * np.sin(s * y))
    wanted = np.outer(by_waist, np.cos(y)) - np.diag(np.exp(s) * s * np.sin(s * y))
    found = np.reshape(inside.evaluate(graph, places, {"y": y}, []), (n, n))
    assert np.allclose(found, wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())


def test_a_choice_by_a_number_is_differentiated_by_it():
    """A coefficient of |y|^2 has one more choice, not one for each of y; and none where that number stays."""
    graph, n = Graph(), 6
    y, zero = inputs_of(graph, "y", n), graph.const(0.0)
    t = zero
    for node in y:
        t = graph.add(t, graph.mul(node, node))
    small = graph.condition("<", t, graph.const(1.0))
    chosen = graph.select(small, graph.function("exp", t), graph.function("sqrt", t))
    (row,) = jacobian(graph, [chosen], y)
    nodes = [row[k] for k in range(n)]
    assert sum(graph.nodes[k][0] == "select" for k in graph.needed(nodes)) == 1
    for scale in (0.1, 1.0):
        at = scale * np.linspace(0.5, 1.5, n)
        s = at @ at
        wanted = 2.0 * at * (np.exp(s) if s < 1.0 else 0.5 / np.sqrt(s))
        assert inside.evaluate(graph, nodes, {"y": at}, []) == pytest.approx(wanted, rel=1e-14)
    other = graph.node("input", "other", 0)
    assert jacobian(graph, [graph.mul(chosen, other)], [other]) == [{0: chosen}]

"""Nodes of graphs: every operation has its value, whichever of its operands are constants, negatives or differences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import pytest

from rbdae.graph.evaluate import evaluate
from rbdae.graph.graph import CONDITIONS, FUNCTIONS, Graph

NUMBERS = (-1.5, -1.0, 0.0, 0.7, 1.0)

OPERATIONS: dict[str, tuple[int, Callable[..., int], Callable[..., float]]] = {
    "add": (2, Graph.add, lambda a, b: a + b),
    "sub": (2, Graph.sub, lambda a, b: a - b),
    "mul": (2, Graph.mul, lambda a, b: a * b),
    "div": (2, Graph.div, lambda a, b: a / b if b else math.nan),
    "neg": (1, Graph.neg, lambda a: -a),
    "cube": (1, lambda g, a: g.power(a, 3), lambda a: a * a * a),
    "1 / square": (1, lambda g, a: g.power(a, -2), lambda a: 1.0 / (a * a) if a else math.nan),
    "arctan2": (2, Graph.arctan2, math.atan2),
    "not": (2, lambda g, a, b: g.negation(g.condition("<", a, b)), lambda a, b: not a < b),
    "not not": (2, lambda g, a, b: g.negation(g.negation(g.condition("<", a, b))), lambda a, b: a < b),
    "select": (3, lambda g, a, b, c: g.select(g.condition("<", a, c), a, b), lambda a, b, c: a if a < c else b),
}
for _name in CONDITIONS:
    OPERATIONS[_name] = (2, lambda g, a, b, name=_name: g.condition(name, a, b), CONDITIONS[_name])
for _name in FUNCTIONS:
    OPERATIONS[_name] = (1, lambda g, a, name=_name: g.function(name, a), FUNCTIONS[_name])

OPERANDS: dict[str, Callable[[Graph, int, float], tuple[int, list[float]]]] = {
    "constant": lambda g, k, x: (g.const(x), [0.0, 0.0]),
    "input": lambda g, k, x: (g.node("input", "y", 2 * k), [x, 0.0]),
    "negative": lambda g, k, x: (g.neg(g.node("input", "y", 2 * k)), [-x, 0.0]),
    "difference": lambda g, k, x: (
        g.sub(g.node("input", "y", 2 * k), g.node("input", "y", 2 * k + 1)),
        [x + 1.25, 1.25],
    ),
    "size": lambda g, k, x: (g.function("abs", g.node("input", "y", 2 * k)), [x, 0.0]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_has_its_value_for_all_kinds_of_operands(name):
    n, made, value = OPERATIONS[name]
    for kinds in itertools.product(OPERANDS, repeat=n):
        for given in itertools.product(NUMBERS, repeat=n):
            graph = Graph()
            parts = [OPERANDS[kind](graph, k, x) for k, (kind, x) in enumerate(zip(kinds, given, strict=True))]
            operands = [node for node, _ in parts]
            y = [number for _, numbers in parts for number in numbers]
            numbers = evaluate(graph, operands, {"y": y})
            try:
                right = float(value(*numbers))
            except ValueError:
                right = math.nan
            node = made(graph, *operands)
            if not math.isnan(right):
                (found,) = evaluate(graph, [node], {"y": y})
                assert found == pytest.approx(right, rel=1e-15, abs=0.0), (kinds, given)
            if {*kinds} == {"constant"} and name != "div" and name != "1 / square":
                assert graph.value(node) == right or math.isnan(right), (kinds, given)


def test_equal_nodes_are_one():
    graph = Graph()
    a, b = (graph.node("input", "y", k) for k in range(2))
    assert graph.add(a, b) == graph.add(b, a) and graph.mul(a, b) == graph.mul(b, a)
    assert graph.sub(a, graph.neg(b)) == graph.add(a, b) and graph.add(graph.neg(b), a) == graph.sub(a, b)
    assert graph.neg(graph.neg(a)) == a and graph.neg(graph.sub(a, b)) == graph.sub(b, a)
    assert graph.mul(graph.neg(a), graph.neg(b)) == graph.mul(a, b)
    assert graph.mul(graph.const(-2.0), graph.neg(a)) == graph.neg(graph.mul(a, graph.const(-2.0)))
    assert graph.value(graph.sub(a, a)) == 0.0 and graph.add(graph.const(0.0), a) == graph.sub(a, graph.const(0.0)) == a
    assert graph.mul(graph.const(1.0), a) == a and graph.value(graph.mul(a, graph.const(0.0))) == 0.0

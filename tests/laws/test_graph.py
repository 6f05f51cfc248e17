"""Nodes of graphs: every operation has its value, whichever of its operands are constants, negatives or differences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import inside
import numpy as np
import pytest

from rbdae.graph.graph import CONDITIONS, FUNCTIONS, Graph

NUMBERS = (-1.5, -1.0, 0.0, 1e-4, 0.7, 1.0)

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
        for given in itertools.product(NUMBERS if n < 3 else (-1.0, 0.0, 0.7), repeat=n):
            graph = Graph()
            parts = [OPERANDS[kind](graph, k, x) for k, (kind, x) in enumerate(zip(kinds, given, strict=True))]
            operands = [node for node, _ in parts]
            y = [number for _, numbers in parts for number in numbers]
            numbers = inside.evaluate(graph, operands, {"y": y})
            try:
                right = float(value(*numbers))
            except ValueError:
                right = math.nan
            node = made(graph, *operands)
            if not math.isnan(right):
                (found,) = inside.evaluate(graph, [node], {"y": y})
                assert found == pytest.approx(right, rel=1e-15, abs=0.0), (kinds, given)
            if {*kinds} == {"constant"} and name != "div" and name != "1 / square":
                assert graph.value(node) == right or math.isnan(right), (kinds, given)


def test_equal_nodes_are_one():
    graph = Graph()
    a, b = (graph.node("input", "y", k) for k in range(2))
    zero, one = graph.const(0.0), graph.const(1.0)
    assert graph.add(a, b) == graph.add(b, a) and graph.mul(a, b) == graph.mul(b, a)
    assert graph.mul(one, a) == graph.mul(a, one) == a
    assert graph.sub(a, graph.neg(b)) == graph.add(a, b) and graph.add(graph.neg(b), a) == graph.sub(a, b)
    assert graph.add(a, graph.neg(b)) == graph.sub(a, b)
    assert graph.neg(graph.neg(a)) == a and graph.neg(graph.sub(a, b)) == graph.sub(b, a)
    assert graph.mul(graph.neg(a), graph.neg(b)) == graph.mul(a, b)
    assert graph.mul(graph.const(-1.0), a) == graph.sub(zero, a) == graph.neg(a)
    assert graph.mul(graph.const(-2.0), graph.neg(a)) == graph.neg(graph.mul(a, graph.const(-2.0)))
    assert graph.add(zero, a) == graph.add(a, zero) == graph.sub(a, zero) == a
    assert graph.power(a, 0) == one and graph.power(a, 1) == a
    assert graph.sub(a, a) == graph.mul(a, zero) == graph.mul(zero, a) == zero
    less = graph.condition("<", a, b)
    assert graph.negation(graph.negation(less)) == less and graph.negation(one) == zero
    assert graph.select(one, a, b) == a and graph.select(zero, a, b) == b and graph.select(less, a, a) == a
    assert graph.condition("<", graph.function("abs", a), zero) == zero


def of_conditions(rng: np.random.Generator) -> tuple[Graph, list[int]]:
    """A random graph in which conditions are added, subtracted, multiplied, and passed to functions."""
    graph = Graph()
    numbers = [graph.node("input", "y", k) for k in range(3)] + [graph.const(0.25), graph.const(-1.5)]
    conditions = [graph.condition("<", numbers[0], numbers[1])]
    for _ in range(30):
        kind, (a, b, c) = rng.integers(9), rng.choice([*numbers, *conditions], 3)
        if kind < 3:
            conditions.append(graph.condition([*CONDITIONS][kind], int(a), int(b)))
        elif kind == 3:
            conditions.append(graph.negation(int(rng.choice(conditions))))
        elif kind == 4:
            numbers.append(graph.select(int(rng.choice(conditions)), int(b), int(c)))
        elif kind == 5:
            numbers.append(graph.function(str(rng.choice(["sin", "cos", "tanh", "abs"])), int(rng.choice(conditions))))
        else:
            numbers.append((graph.add, graph.sub, graph.mul)[kind - 6](int(a), int(rng.choice(conditions))))
    return graph, [*numbers, *conditions]


@pytest.mark.parametrize("seed", range(20))
def test_conditions_are_numbers_on_rows_as_one_by_one_and_in_machine_code(seed):
    rng = np.random.default_rng(seed)
    graph, outputs = of_conditions(rng)
    rows = rng.choice([-1.5, 0.0, 0.25, 1.0, *rng.normal(size=3)], (12, 3))
    right = np.array([inside.evaluate(graph, outputs, {"y": y}) for y in rows.tolist()])
    on_rows = inside.values_on_rows(graph, outputs, {"y": 0})
    np.testing.assert_allclose(on_rows(rows), right, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(on_rows(rows[:1]), right[:1], rtol=1e-14, atol=1e-15)
    if True:
        order = graph.needed(outputs)
        found = [inside.values_of_machine_code(graph, order, outputs, {}, y) for y in rows]
        np.testing.assert_allclose(found, right, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("numbers", [(0.3, 0.7), (0.7, 0.3), (0.7, 0.7), (0.7, math.nan)], ids=str)
@pytest.mark.parametrize("kind", CONDITIONS)
def test_conditions_in_straight_code_are_bits_and_numbers(kind, numbers):
    """As a number, for a selection, for another condition, and as a guard; each of them negated, too."""
    graph = Graph()
    a, b = (graph.node("input", "y", k) for k in range(2))
    test = graph.condition(kind, a, b)
    opposite = graph.negation(test)
    chosen = graph.select(opposite, graph.condition("<", a, graph.const(0.5)), test)
    outputs = [test, opposite, graph.select(test, a, b), graph.select(opposite, a, b), graph.add(test, a), chosen]
    x, y = numbers
    holds = CONDITIONS[kind](x, y)
    wanted = [holds, not holds, x if holds else y, y if holds else x, holds + x, holds or x < 0.5]
    order = graph.needed(outputs)
    for guards in ({test: holds, opposite: not holds}, {}):
        found = inside.values_of_machine_code(graph, order, outputs, guards, np.array(numbers))
        np.testing.assert_array_equal(found, np.array(wanted, dtype=float))
    for guards in ({test: not holds}, {opposite: holds}):
        with pytest.raises(AssertionError):
            inside.values_of_machine_code(graph, order, outputs, guards, np.array(numbers))

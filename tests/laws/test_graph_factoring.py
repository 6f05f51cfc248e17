"""Graphs written with fewer operations compute the same numbers, to rounding, and collect what one would by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import inside
import numpy as np
import pytest

from rbdae.graph.evaluate import evaluate
from rbdae.graph.factoring import Factored, factored
from rbdae.graph.graph import LEAVES, Graph, operands
from rbdae.graph.order import deepest_first, depths, few_alive
from rbdae.graph.sharing import shared
from rbdae.graph.sums import operations, sums_of


def shortened(graph: Graph, outputs: list[int], guards: dict[int, bool] | None = None) -> Factored:
    """Also where it does not pay."""
    found = factored(graph, outputs, guards or {}, least_nodes=0, pays=1e9)
    assert found is not None
    return found


def inputs(graph: Graph, n: int) -> list[int]:
    return [graph.node("input", "y", i) for i in range(n)]


def total(graph: Graph, terms: list[int]) -> int:
    out = terms[0]
    for k in terms[1:]:
        out = graph.add(out, k)
    return out


def drawn(seed: int, whole: bool = False) -> tuple[Graph, list[int]]:
    """Sums, products, quotients and functions of five numbers, many of them used more than once; with `whole` no
    functions, and no constants but whole numbers whose quotients are whole numbers."""
    rng = np.random.default_rng(seed)
    graph = Graph()
    nodes = inputs(graph, 5)
    kinds = ["add", "sub", "mul", "mul", "neg", "scaled", "scaled", "rcp", "sin"]
    constants = [2.0, -1.0, -2.0] if whole else [2.0, -3.0, 0.1, -1.0, 5.0 / 7.0]
    for _ in range(rng.integers(5, 60)):
        a, b = (nodes[rng.integers(len(nodes))] for _ in range(2))
        kind = kinds[rng.integers(len(kinds) - whole)]
        if kind == "scaled":
            node = graph.mul(graph.const(constants[rng.integers(len(constants))]), a)
        elif kind == "rcp":
            node = graph.div(b, graph.add(graph.const(2.0), graph.mul(a, a)))
        elif kind in ("neg", "sin"):
            node = graph.neg(a) if kind == "neg" else graph.function("sin", a)
        else:
            node = getattr(graph, kind)(a, b)
        nodes.append(node)
    return graph, [nodes[rng.integers(len(nodes))] for _ in range(rng.integers(1, 8))]


def sizes(graph: Graph, outputs: list[int], y: list[float]) -> list[float]:
    """How large the numbers are from which outputs are summed up: the same with all terms positive, so that what is
    lost where they cancel is in it."""
    positive = Graph()
    there: dict[int, int] = {}
    for k in graph.needed(outputs):
        node = graph.nodes[k]
        if node[0] == "const":
            there[k] = positive.const(abs(node[1]))
        elif node[0] == "input":
            there[k] = positive.node(*node)
        elif node[0] in ("add", "sub"):
            there[k] = positive.add(there[node[1]], there[node[2]])
        elif node[0] == "mul":
            there[k] = positive.mul(there[node[1]], there[node[2]])
        elif node[0] in ("neg", "rcp"):  # 1 / (2 + x^2) is as sensitive as what it is made of, and at most 1/2
            there[k] = there[node[1]]
        else:
            there[k] = positive.add(there[node[1]], positive.const(1.0))
    return evaluate(positive, [there[k] for k in outputs], {"y": [abs(v) for v in y]})


@pytest.mark.parametrize("seed", range(100))
def test_the_numbers_are_the_same(seed, rng):
    graph, outputs = drawn(seed)
    y = rng.uniform(-2.0, 2.0, 5).tolist()
    size = sizes(graph, outputs, y)
    short = shortened(graph, outputs)
    wanted = evaluate(graph, outputs, {"y": y})
    found = evaluate(short.graph, short.outputs, {"y": y})
    for a, b, scale in zip(wanted, found, size, strict=True):
        if math.isfinite(scale):
            assert abs(a - b) <= 1e-12 * max(1.0, scale), (a, b, scale)


@pytest.mark.parametrize("seed", range(100))
def test_sums_are_exact(seed, rng):
    """In rational numbers the sums of a graph have the values of their nodes, and so they have after sharing: no term
    is lost or taken twice."""
    graph, outputs = drawn(seed, whole=True)
    y = [Fraction(int(k), int(m)) for k, m in zip(rng.integers(-9, 9, 5), rng.integers(1, 5, 5), strict=True)]
    values: dict[int, Fraction] = {}
    for k in graph.needed(outputs):
        kind, *of = graph.nodes[k]
        if kind == "const":
            values[k] = Fraction(of[0])
        elif kind == "input":
            values[k] = y[of[1]]
        elif kind == "rcp":
            values[k] = 1 / values[of[0]]
        elif kind == "neg":
            values[k] = -values[of[0]]
        else:
            a, b = (values[j] for j in of)
            values[k] = a + b if kind == "add" else a - b if kind == "sub" else a * b
    sums = sums_of(graph, outputs)
    for now in (sums, shared(sums, len(graph.nodes))):
        known = dict(values)

        def value(k, now=now, known=known):
            if k not in known:
                known[k] = of_sum(now[k])
            return known[k]

        def of_sum(found, value=value):
            return sum((Fraction(c) * math.prod(value(a) for a in p) for p, c in found.items()), Fraction(0))

        for k in sums:
            assert of_sum(now[k]) == values[k]


def torque(graph: Graph, rho: tuple[float, float, float]) -> list[int]:
    """rho x (R^T la), multiplied out as the kernels do it: la is multiplied with rho first."""
    numbers = inputs(graph, 12)
    R, la = [numbers[3 * i : 3 * i + 3] for i in range(3)], numbers[9:]
    out = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        rows = [
            graph.sub(
                graph.mul(R[r][k], graph.mul(la[r], graph.const(rho[j]))),
                graph.mul(R[r][j], graph.mul(la[r], graph.const(rho[k]))),
            )
            for r in range(3)
        ]
        out.append(total(graph, rows))
    return out


def test_the_torque_of_a_multiplier_is_that_of_one_force():
    """R^T la once, nine operations, and two for each component of the cross product."""
    graph = Graph()
    outputs = torque(graph, (5.0, -6.0, 7.0))
    short = shortened(graph, outputs)
    assert operations(graph, graph.needed(outputs)) == 6 + 27
    assert operations(short.graph, short.graph.needed(short.outputs)) <= 9 + 6 + 1  # one sign


def test_the_velocity_of_a_point_is_that_of_one_vector():
    """R (Omega x rho): six operations and nine, from rows in which rho is multiplied with products of both."""
    graph = Graph()
    numbers = inputs(graph, 12)
    R, om = [numbers[3 * i : 3 * i + 3] for i in range(3)], numbers[9:]
    rho = [graph.const(c) for c in (5.0, -6.0, 7.0)]
    outputs = []
    for i in range(3):
        rates = [
            graph.sub(graph.mul(R[i][(j + 1) % 3], om[(j + 2) % 3]), graph.mul(R[i][(j + 2) % 3], om[(j + 1) % 3]))
            for j in range(3)
        ]
        outputs.append(total(graph, [graph.mul(c, rate) for c, rate in zip(rho, rates, strict=True)]))
    short = shortened(graph, outputs)
    assert operations(short.graph, short.graph.needed(short.outputs)) <= 15 + 3


def test_constants_of_one_product_are_one():
    """Omega_2 (J_3 Omega_3) - Omega_3 (J_2 Omega_2) is one product with one number."""
    graph = Graph()
    _, b, c = inputs(graph, 3)
    outputs = [graph.sub(graph.mul(b, graph.mul(c, graph.const(50.0))), graph.mul(c, graph.mul(b, graph.const(11.0))))]
    short = shortened(graph, outputs)
    assert operations(short.graph, short.graph.needed(short.outputs)) == 2
    assert evaluate(short.graph, short.outputs, {"y": [0.0, 3.0, 5.0]}) == [39.0 * 15.0]


def test_nothing_is_divided_by_numbers_that_vanish():
    """c p + d q with c = m - n, numbers that are loaded and equal here: c (p + d / c q) is no number."""
    m, n, d = inside.LoadedNumbers(np.array([0.3, 0.3, 0.7])).inputs
    graph = Graph()
    a, b, p, q = inputs(graph, 4)
    c = graph.const(m - n)
    outputs = [
        total(graph, [graph.mul(graph.mul(k, p), c), graph.mul(graph.mul(k, q), graph.const(d))]) for k in (a, b)
    ]
    short = shortened(graph, outputs)
    assert evaluate(short.graph, short.outputs, {"y": [2.0, 3.0, 5.0, 7.0]}) == pytest.approx([9.8, 14.7], rel=1e-14)


def test_differences_of_large_numbers_keep_their_order():
    """k (x1 - x2) + f far from the origin has the bits that it had: k x1 - k x2 would have lost them."""
    graph = Graph()
    x1, x2, f, v = inputs(graph, 4)
    spring = graph.mul(graph.const(0.1), graph.sub(x1, x2))
    damped = graph.add(spring, graph.mul(graph.const(0.3), v))
    outputs = [graph.add(damped, f), graph.sub(f, damped), graph.mul(spring, v)]
    y = [1e9 + 0.125, 1e9, 1e-3, 1e-4]
    short = shortened(graph, outputs)
    found = evaluate(short.graph, short.outputs, {"y": y})
    assert found == pytest.approx(evaluate(graph, outputs, {"y": y}), rel=1e-15)


def test_guards_and_calls_are_carried_over():
    graph = Graph()
    a, b = inputs(graph, 2)
    zero = graph.const(0.0)
    call = graph.node("call", 0, 2, 1, graph.node("input", "t", 0), graph.mul(a, b), b, zero)
    result = graph.node("result", call, 0)
    guard = graph.condition("<", graph.add(graph.mul(a, a), result), b)
    outputs = [graph.select(guard, result, graph.neg(a)), zero]
    short = shortened(graph, outputs, {guard: False})

    def function(t, x, out):
        out[0] = t + x[0] - x[1]

    for y in ([0.3, 2.0], [2.0, -1.0]):
        numbers = {"y": y, "t": [0.5]}
        (k,) = short.guards
        assert short.guards[k] is False
        assert evaluate(short.graph, [*short.outputs, k], numbers, [function]) == evaluate(
            graph, [*outputs, guard], numbers, [function]
        )
        assert evaluate(graph, [result], numbers, [function]) == [0.5 + y[0] * y[1] - y[1]]


def _exactly(graph: Graph, outputs: list[int], y: list[float]) -> list[tuple[Fraction, Fraction]]:
    """Sums and products as fractions, and the sums of the sizes of what is added."""
    known: dict[int, tuple[Fraction, Fraction]] = {}
    for k in graph.needed(outputs):
        kind, *rest = graph.nodes[k]
        if kind in LEAVES:
            x = Fraction(rest[0] if kind == "const" else y[rest[1]])
            known[k] = x, abs(x)
            continue
        (x, size), *others = (known[j] for j in rest)
        for z, other in others:
            x, size = (x * z, size * other) if kind == "mul" else (x + z if kind == "add" else x - z, size + other)
        known[k] = (-x if kind == "neg" else x), size
    return [known[k] for k in outputs]


@pytest.mark.parametrize("apart", [1e-7, 1e-13])
@pytest.mark.parametrize("seed", range(20))
def test_constants_that_are_nearly_equal_are_not_taken_for_one(seed, apart):
    """As of bodies whose data differ by parts in 1e7 or 1e13; taken for one they would be wrong by that. Moments of the
    same products with such constants, and with such ratios of them."""
    rng = np.random.default_rng(seed)
    graph = Graph()
    x = inputs(graph, 8)
    products = [graph.mul(x[i], x[j]) for i, j in ((0, 1), (2, 3), (4, 5), (6, 7))]

    def constant(of: float) -> int:
        return graph.const(of * (1.0 + int(rng.integers(-4, 5)) * apart))

    outputs = []
    for k in range(12):
        terms = [
            graph.mul(constant(c), graph.mul(x[k % 3], q)) for c, q in zip((3.0, 0.7, 1.1), products, strict=False)
        ]
        scale = graph.const(float(rng.integers(1, 9)))
        outputs.append(
            total(graph, [graph.mul(scale, term) for term in terms] + [graph.mul(constant(0.3), products[3])])
        )
    y = rng.uniform(0.5, 1.5, 8).tolist()
    short = shortened(graph, outputs)
    found = evaluate(short.graph, short.outputs, {"y": y}, [])
    for x, (wanted, size) in zip(found, _exactly(graph, outputs, y), strict=True):
        assert abs(Fraction(x) - wanted) <= Fraction(1e-14) * size  # 2e-16 for each operation


def test_short_and_long_graphs_and_small_gains_stay_as_they_are():
    graph = Graph()
    outputs = torque(graph, (5.0, -6.0, 7.0))  # 33 operations, and 16 afterwards
    n = len(graph.needed(outputs))

    def changed(**limits):
        return factored(graph, outputs, {}, **{"least_nodes": n, "most_nodes": n, "pays": 0.49} | limits) is not None

    assert changed()
    assert not changed(pays=0.48)
    assert not changed(least_nodes=n + 1)
    assert not changed(most_nodes=n - 1)
    assert factored(graph, outputs, {}) is None


def test_the_output_that_waits_longest_comes_first():
    graph = Graph()
    a, b = inputs(graph, 2)
    quick, slow = graph.add(a, b), graph.div(graph.mul(a, b), graph.add(a, graph.mul(b, b)))
    order = deepest_first(graph, [quick, slow])
    assert sorted(order) == sorted(graph.needed([quick, slow]))
    assert order.index(slow) < order.index(quick)
    depth = depths(graph, order)
    assert depth[quick] == 4
    assert depth[slow] == 4 + 4 + 13 + 4


def most_alive(graph: Graph, order: list[int], outputs: list[int]) -> int:
    """The largest number of values that wait for a use at a time, without inputs and constants."""
    last = {j: i for i, k in enumerate(order) for j in operands(graph.nodes[k]) if graph.nodes[j][0] not in LEAVES}
    alive: set[int] = set()
    most = 0
    for i, k in enumerate(order):
        alive = {j for j in alive if last[j] > i} | ({k} if last.get(k, -1) > i else set())
        most = max(most, len(alive))
    return most


@pytest.mark.parametrize("seed", range(50))
def test_orders_compute_operands_first(seed):
    graph, outputs = drawn(seed)
    for order in (few_alive(graph, outputs), deepest_first(graph, outputs)):
        assert sorted(order) == sorted(graph.needed(outputs))
        place = {k: i for i, k in enumerate(order)}
        assert all(place[j] < place[k] for k in order for j in operands(graph.nodes[k]))


def test_results_follow_their_call_at_once():
    graph = Graph()
    a, b = inputs(graph, 2)
    call = graph.node("call", 0, 1, 2, graph.node("input", "t", 0), graph.mul(a, b), graph.const(0.0), graph.const(0.0))
    one, two = (graph.node("result", call, i) for i in range(2))
    order = few_alive(graph, [graph.mul(one, a), graph.add(graph.mul(a, a), two), graph.mul(two, b)])
    assert order[order.index(call) + 1 : order.index(call) + 3] == [one, two]


def test_few_values_wait_at_a_time():
    """Of several bodies one after the other: all first factors of all sums at once would fill the memory."""
    graph = Graph()
    outputs, n = [], 8
    numbers = inputs(graph, 4 * n)
    for j in range(4):  # output by output, each of which needs something of every body
        bodies = [graph.mul(numbers[4 * i], numbers[4 * i + 1]) for i in range(n)]
        outputs.append(total(graph, [graph.mul(bodies[i], numbers[4 * i + j]) for i in range(n)]))
    assert most_alive(graph, graph.needed(outputs), outputs) > n
    assert most_alive(graph, few_alive(graph, outputs), outputs) <= n

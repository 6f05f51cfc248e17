"""Graphs written with fewer operations compute the same numbers, to rounding, and collect what one would by hand; what
two bodies have alike is computed together."""

from __future__ import annotations

import math
from fractions import Fraction

import inside
import numpy as np
import pytest

from rbdae.graph.corresponding import corresponding
from rbdae.graph.factoring import Factored, factored
from rbdae.graph.graph import FUNCTIONS, LEAVES, Graph, operands
from rbdae.graph.sharing import shared
from rbdae.graph.sums import operations, sums_of
from rbdae.graph.twos import Two, both

N = 4
"""Unknowns of a body where there are two; the last two of `y` belong to both."""


def shortened(graph: Graph, outputs: list[int], guards: dict[int, bool] | None = None, two: bool = False) -> Factored:
    """Also where it does not pay; for two bodies what they have alike together."""
    found = factored(graph, outputs, guards or {}, unknowns(graph) if two else {}, least_nodes=0, pays=1e9)
    assert found is not None
    return found


def unknowns(graph: Graph) -> dict[int, int]:
    return {graph.node("input", "y", i): graph.node("input", "y", N + i) for i in range(N)}


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


def two_bodies(seed: int, whole: bool = False) -> tuple[Graph, list[int]]:
    """The same random sums and products of two bodies' numbers with constants of their own, each with what they share,
    and sums over both; some of one body alone. With `whole`, no functions, and constants whose quotients are exact."""
    rng = np.random.default_rng(seed)
    graph = Graph()
    shared_numbers = [graph.node("input", "y", 2 * N + i) for i in range(2)]
    bodies = [[graph.node("input", "y", N * b + i) for i in range(N)] for b in range(2)]
    constants = [2.0, -1.0, -2.0, 1.0] if whole else [2.0, -3.0, 0.1, -1.0, 1.0, 5.0 / 7.0]
    kinds = ["add", "sub", "mul", "mul", "neg", "scaled", "scaled", "common", "both", "alone", "rcp", "sqrt"]
    for _ in range(rng.integers(8, 50)):
        kind = kinds[rng.integers(len(kinds) - 2 * whole)]
        i, j = rng.integers(len(bodies[0])), rng.integers(len(bodies[0]))
        common = shared_numbers[rng.integers(len(shared_numbers))]
        made = []
        for body in bodies:
            a, b = body[i], body[j]
            if kind == "scaled":
                made.append(graph.mul(graph.const(constants[rng.integers(len(constants))]), graph.mul(a, b)))
            elif kind == "common":
                made.append(graph.mul(a, common))
            elif kind == "rcp":
                made.append(graph.div(b, graph.add(graph.const(2.0), graph.mul(a, a))))
            elif kind == "sqrt":
                made.append(graph.function("sqrt", graph.add(graph.const(2.0), graph.mul(a, a))))
            elif kind in ("add", "sub", "mul"):
                made.append(getattr(graph, kind)(a, b))
            else:
                made.append(graph.neg(a))
        if kind == "both":  # as the rows of a joint
            terms = [graph.mul(body[i], body[j]) for body in bodies] + [graph.mul(body[j], common) for body in bodies]
            shared_numbers.append(graph.sub(graph.add(terms[0], terms[3]), graph.add(terms[1], terms[2])))
        elif kind == "alone":
            made[1] = graph.add(made[1], graph.mul(made[0], common))
        for body, k in zip(bodies, made, strict=True):
            body.append(k)
    every = [*bodies[0], *bodies[1], *shared_numbers]
    return graph, [every[rng.integers(len(every))] for _ in range(rng.integers(2, 14))] + [bodies[0][-1], bodies[1][-1]]


def sizes(graph: Graph, outputs: list[int], y: list[float]) -> list[float]:
    """How large the numbers are from which outputs are summed up: the same with all terms positive, so that what is
    lost where they cancel is in it."""
    known: dict[int, float] = {}
    for k in graph.needed(outputs):
        kind, *of = graph.nodes[k]
        if kind in LEAVES:
            known[k] = abs(of[0] if kind == "const" else y[of[1]])
        elif kind in ("add", "sub"):
            known[k] = known[of[0]] + known[of[1]]
        elif kind in FUNCTIONS:
            known[k] = known[of[0]] + 1.0
        else:  # 1 / (2 + x^2) is as sensitive as what it is made of, and at most 1/2
            known[k] = math.prod(known[j] for j in of)
    return [known[k] for k in outputs]


def rational(graph: Graph, outputs: list[int], y: list[Fraction]) -> dict[int, Fraction]:
    """The nodes' values without rounding."""
    values: dict[int, Fraction] = {}
    for k in graph.needed(outputs):
        kind, *of = graph.nodes[k]
        if kind in LEAVES:
            values[k] = Fraction(of[0]) if kind == "const" else y[of[1]]
        elif kind == "rcp":
            values[k] = 1 / values[of[0]]
        else:
            a, b = values[of[0]], values[of[-1]]
            values[k] = {"add": a + b, "sub": a - b, "mul": a * b, "neg": -a}[kind]
    return values


def fractions(rng: np.random.Generator, n: int) -> list[Fraction]:
    return [Fraction(int(k), int(m)) for k, m in zip(rng.integers(-9, 9, n), rng.integers(1, 5, n), strict=True)]


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("make", [drawn, two_bodies])
def test_the_numbers_are_the_same(make, seed, rng):
    graph, outputs = make(seed)
    y = rng.uniform(-2.0, 2.0, 2 * N + 2).tolist()
    short = shortened(graph, outputs, two=make is two_bodies)
    wanted = inside.evaluate(graph, outputs, {"y": y})
    found = inside.evaluate(short.graph, short.outputs, {"y": y})
    for a, b, scale in zip(wanted, found, sizes(graph, outputs, y), strict=True):
        if math.isfinite(scale):
            assert abs(a - b) <= 1e-12 * max(1.0, scale), (a, b, scale)


@pytest.mark.parametrize("seed", range(100))
def test_sums_are_exact(seed, rng):
    """In rational numbers the sums of a graph have the values of their nodes, and so they have after sharing: no term
    is lost or taken twice."""
    graph, outputs = drawn(seed, whole=True)
    values = rational(graph, outputs, fractions(rng, 5))
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


@pytest.mark.parametrize("seed", range(100))
def test_sums_of_pairs_are_exact(seed, rng):
    """In rational numbers: each of two numbers has its own constants and factors, before and after sharing."""
    graph, outputs = two_bodies(seed, whole=True)
    values = rational(graph, outputs, fractions(rng, 10))
    sums, first = sums_of(graph, outputs), len(graph.nodes)
    there = set(graph.needed(outputs))
    known = {a: b for a, b in unknowns(graph).items() if {a, b} <= there}
    found = corresponding(graph, sums, outputs, known, first)
    new = max([first, *found.partner]) + 1
    for together in (found.together, shared(found.together, new)):
        exact = _Exact(found, together, values)
        for k in sums:
            assert exact.alone(k) == values[k]


class _Exact:
    """Rational values of what is computed alone and together, from the values of all other nodes."""

    def __init__(self, found, together, values):
        self._found, self._together, self._values = found, together, values

    def alone(self, k):
        """A number by itself."""
        if k in self._found.single:
            return self._total(self._found.single[k], 0, self.alone)
        first = self._found.partner.get(k, k) if self._found.lane.get(k) else k
        if first in self._together:
            return self._at(first, int(k != first))
        return self._values[k]

    def _at(self, k, lane):
        """One of two numbers that are computed together; a factor may be the partner of what is named."""
        if k in self._together:
            return self._total(self._together[k], lane, lambda a: self._at(a, lane))
        return self.alone(self._found.partner.get(k, k) if lane else k)

    def _total(self, found, lane, value):
        terms = (Fraction(both(c)[lane]) * math.prod(map(value, p)) for p, c in found.items())
        return sum(terms, Fraction(0))


# ---------------------------------------------------------------- one body


def torque(graph: Graph, numbers: list[int], la: list[int], rho: tuple[float, float, float]) -> list[int]:
    """rho x (R^T la), multiplied out as the kernels do it: la is multiplied with rho first."""
    R = [numbers[3 * i : 3 * i + 3] for i in range(3)]
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
    numbers = inputs(graph, 12)
    outputs = torque(graph, numbers, numbers[9:], (5.0, -6.0, 7.0))
    short = shortened(graph, outputs)
    assert operations(graph, graph.needed(outputs)) == 6 + 27
    assert operations(short.graph, short.graph.needed(short.outputs)) <= 9 + 6 + 1  # one sign


def test_constants_of_one_product_are_one():
    """Omega_2 (J_3 Omega_3) - Omega_3 (J_2 Omega_2) is one product with one number."""
    graph = Graph()
    _, b, c = inputs(graph, 3)
    outputs = [graph.sub(graph.mul(b, graph.mul(c, graph.const(50.0))), graph.mul(c, graph.mul(b, graph.const(11.0))))]
    short = shortened(graph, outputs)
    assert operations(short.graph, short.graph.needed(short.outputs)) == 2
    assert inside.evaluate(short.graph, short.outputs, {"y": [0.0, 3.0, 5.0]}) == [39.0 * 15.0]


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
    assert inside.evaluate(short.graph, short.outputs, {"y": [2.0, 3.0, 5.0, 7.0]}) == pytest.approx(
        [9.8, 14.7], rel=1e-14
    )


def test_differences_of_large_numbers_keep_their_order():
    """k (x1 - x2) + f far from the origin has the bits that it had: k x1 - k x2 would have lost them."""
    graph = Graph()
    x1, x2, f, v = inputs(graph, 4)
    spring = graph.mul(graph.const(0.1), graph.sub(x1, x2))
    damped = graph.add(spring, graph.mul(graph.const(0.3), v))
    outputs = [graph.add(damped, f), graph.sub(f, damped), graph.mul(spring, v)]
    y = [1e9 + 0.125, 1e9, 1e-3, 1e-4]
    short = shortened(graph, outputs)
    found = inside.evaluate(short.graph, short.outputs, {"y": y})
    assert found == pytest.approx(inside.evaluate(graph, outputs, {"y": y}), rel=1e-15)


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
        assert inside.evaluate(short.graph, [*short.outputs, k], numbers, [function]) == inside.evaluate(
            graph, [*outputs, guard], numbers, [function]
        )
        assert inside.evaluate(graph, [result], numbers, [function]) == [0.5 + y[0] * y[1] - y[1]]


@pytest.mark.parametrize("apart", [1e-7, 1e-13])
@pytest.mark.parametrize("seed", range(10))
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
    found = inside.evaluate(short.graph, short.outputs, {"y": y}, [])
    exact = rational(graph, outputs, [*map(Fraction, y)])
    for value, k, size in zip(found, outputs, sizes(graph, outputs, y), strict=True):
        assert abs(Fraction(value) - exact[k]) <= Fraction(1e-14 * size)  # 2e-16 for each operation


# ---------------------------------------------------------------- two bodies


def test_some_of_the_random_graphs_have_pairs():
    """The laws above mean nothing otherwise."""
    kinds: set[str] = set()
    for seed in range(100):
        pairs = shortened(*two_bodies(seed), two=True)
        nodes = pairs.graph.nodes
        for k in pairs.graph.needed(pairs.outputs):
            if any(nodes[j][0] == "pair" for j in operands(nodes[k])):
                kinds.add(nodes[k][0])
    assert kinds >= {"add", "sub", "mul", "neg", "rcp", "sqrt"}


def test_two_bodies_take_the_operations_of_one():
    """A joint's torques: the same operations with other constants, one of them 1 and another sign."""
    graph = Graph()
    y = [graph.node("input", "y", i) for i in range(21)]
    outputs = [
        k for b, rho in enumerate([(1.0, 2.0, -3.0), (5.0, -6.0, -7.0)]) for k in torque(graph, y[9 * b :], y[18:], rho)
    ]
    known = {y[i]: y[9 + i] for i in range(9)}
    single = factored(graph, outputs, {}, least_nodes=0)
    pairs = factored(graph, outputs, {}, known, least_nodes=0)
    assert single is not None and pairs is not None
    n = operations(single.graph, single.graph.needed(single.outputs))
    assert operations(pairs.graph, pairs.graph.needed(pairs.outputs)) <= 0.5 * n + 1
    point = np.linspace(-1.0, 2.0, 21).tolist()
    wanted = inside.evaluate(graph, outputs, {"y": point})
    assert inside.evaluate(pairs.graph, pairs.outputs, {"y": point}) == pytest.approx(wanted, rel=1e-14, abs=1e-14)


def test_partners_that_need_each_other_are_not_joined():
    """The product of the second body contains that of the first: computed together, they would wait for each other."""
    graph = Graph()
    a, b = graph.node("input", "y", 0), graph.node("input", "y", N)
    first = graph.mul(a, b)
    second = graph.mul(first, graph.add(first, graph.mul(a, a)))
    third = graph.mul(second, graph.add(second, graph.mul(b, b)))
    outputs = [third, second, first]
    pairs = shortened(graph, outputs, two=True)
    y = [0.3, 0.0, 0.0, 0.0, -0.7, 0.0, 0.0, 0.0]
    assert inside.evaluate(pairs.graph, pairs.outputs, {"y": y}) == pytest.approx(
        inside.evaluate(graph, outputs, {"y": y}), rel=1e-14
    )


@pytest.mark.parametrize("seed", range(0, 100, 5))
def test_machine_code_of_pairs_has_their_numbers(seed, rng):
    """Also constants, numbers that are stored more than once, and what is left over at the end."""
    graph, outputs = two_bodies(seed)
    pairs = shortened(graph, outputs, two=True)
    three = pairs.graph.const(3.0)
    first = pairs.outputs[0]
    listed = [*pairs.outputs, three, three, three, three, first, *pairs.outputs]
    guard = pairs.graph.condition("<", first, pairs.graph.const(1e300))
    y = rng.uniform(-2.0, 2.0, 2 * N + 2)
    found = inside.values_of_machine_code(pairs.graph, pairs.graph.needed([guard, *listed]), listed, {guard: True}, y)
    with np.errstate(all="ignore"):
        wanted = inside.evaluate(pairs.graph, listed, {"y": y.tolist()})
    scale = np.array(sizes(graph, outputs, y.tolist()))
    scale = np.concatenate((scale, np.full(4, 3.0), scale[:1], scale))
    fine = np.isfinite(scale)
    assert np.all(np.abs(found - wanted)[fine] <= 1e-12 * np.maximum(1.0, scale[fine]))


@pytest.mark.parametrize("c", [1.0 + 2e-16, -1.0 - 2e-16, Two(1.0 + 2e-16, 1.0), Two(1.0, -1.0 + 1e-16)])
def test_constants_next_to_one_end_the_search(c):
    """What counts as a multiplication where savings are counted, and what as the same constant, must agree: F + c a a
    would be taken out of itself without end."""
    first = 100
    found = shared({1: {(first,): 1.0, (3, 3): c}}, first)
    assert len(found) <= 3


def test_two_numbers_are_computed_as_each():
    """One number for both equals it, and the sign is that of the first."""
    a, b = Two(2.0, -3.0), Two(0.5, 4.0)
    assert (both(a * b), both(a / b), both(-a)) == ((1.0, -12.0), (4.0, -0.75), (-2.0, 3.0))
    assert both(a + b) == both(b + a) == (2.5, 1.0) and both(0.0 + a) == (2.0, -3.0)
    assert both(2.0 * a) == both(a * 2.0) == (4.0, -6.0) and both(6.0 / a) == (3.0, -2.0)
    assert Two(1.0, 1.0) == 1.0 and hash(Two(2.0, 2.0)) == hash(2.0)
    assert Two(1.0, 2.0) != 1.0 and Two(1.0, 2.0) != Two(1.0, -2.0)
    assert Two(-1.0, 2.0) < 0.0 < Two(1.0, -2.0) and not Two(-1.0, 2.0) > 0.0

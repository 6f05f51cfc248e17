"""What two bodies have alike is computed together: the numbers are the same, and the operations half as many."""

from __future__ import annotations

import math
from fractions import Fraction

import inside
import numpy as np
import pytest

from rbdae.graph.corresponding import corresponding
from rbdae.graph.evaluate import evaluate
from rbdae.graph.factoring import Factored, factored
from rbdae.graph.graph import Graph, operands
from rbdae.graph.order import deepest_first, few_alive
from rbdae.graph.sharing import shared
from rbdae.graph.sums import operations, sums_of
from rbdae.graph.twos import Two, both

N = 4
"""Unknowns of a body; the last two of `y` belong to both."""


def written(graph: Graph, outputs: list[int], guards: dict[int, bool] | None = None) -> Factored:
    """Also where it does not pay."""
    found = factored(graph, outputs, guards or {}, unknowns(graph), least_nodes=0, pays=1e9)
    assert found is not None
    return found


def unknowns(graph: Graph) -> dict[int, int]:
    return {graph.node("input", "y", i): graph.node("input", "y", N + i) for i in range(N)}


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


def size(graph: Graph, outputs: list[int], y: list[float]) -> list[float]:
    """Of the numbers that outputs are summed up from: the same with all terms positive."""
    known: dict[int, float] = {}
    for k in graph.needed(outputs):
        kind, *of = graph.nodes[k]
        if kind == "const":
            known[k] = abs(of[0])
        elif kind == "input":
            known[k] = abs(y[of[1]])
        elif kind in ("add", "sub"):
            known[k] = known[of[0]] + known[of[1]]
        else:
            known[k] = math.prod(known[j] for j in of)
    return [known[k] for k in outputs]


@pytest.mark.parametrize("seed", range(100))
def test_the_numbers_are_the_same(seed, rng):
    graph, outputs = two_bodies(seed)
    y = rng.uniform(-2.0, 2.0, 2 * N + 2).tolist()
    pairs = written(graph, outputs)
    wanted = evaluate(graph, outputs, {"y": y})
    found = evaluate(pairs.graph, pairs.outputs, {"y": y})
    for a, b, scale in zip(wanted, found, size(graph, outputs, y), strict=True):
        if math.isfinite(scale):
            assert abs(a - b) <= 1e-12 * max(1.0, scale), (a, b, scale)


@pytest.mark.parametrize("seed", range(100))
def test_sums_of_pairs_are_exact(seed, rng):
    """In rational numbers: each of two numbers has its own constants and factors, before and after sharing."""
    graph, outputs = two_bodies(seed, whole=True)
    y = [Fraction(int(k), int(m)) for k, m in zip(rng.integers(-9, 9, 10), rng.integers(1, 5, 10), strict=True)]
    values: dict[int, Fraction] = {}
    for k in graph.needed(outputs):
        kind, *of = graph.nodes[k]
        if kind in ("const", "input"):
            values[k] = Fraction(of[0]) if kind == "const" else y[of[1]]
        else:
            a, b = (values[of[0]], values[of[-1]])
            values[k] = {"add": a + b, "sub": a - b, "mul": a * b, "neg": -a}[kind]
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


def test_some_of_the_random_graphs_have_pairs():
    """The laws above mean nothing otherwise."""
    kinds: set[str] = set()
    for seed in range(100):
        pairs = written(*two_bodies(seed))
        nodes = pairs.graph.nodes
        for k in pairs.graph.needed(pairs.outputs):
            if any(nodes[j][0] == "pair" for j in operands(nodes[k])):
                kinds.add(nodes[k][0])
    assert kinds >= {"add", "sub", "mul", "neg", "rcp", "sqrt"}


def torque(graph: Graph, numbers: list[int], la: list[int], rho: tuple[float, float, float]) -> list[int]:
    """rho x (R^T la), multiplied out."""
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
        out.append(graph.add(graph.add(rows[0], rows[1]), rows[2]))
    return out


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
    wanted = evaluate(graph, outputs, {"y": point})
    assert evaluate(pairs.graph, pairs.outputs, {"y": point}) == pytest.approx(wanted, rel=1e-14, abs=1e-14)


def test_the_rows_of_a_joint_are_parted():
    """R1 rho1 - R2 rho2: one sum of two numbers, and a difference."""
    graph = Graph()
    y = [graph.node("input", "y", i) for i in range(8)]
    terms = [
        graph.mul(graph.mul(y[i], y[(i + 1) % 4 if i < 4 else 4 + (i + 1) % 4]), graph.const(2.0 + i)) for i in range(8)
    ]
    one, two = terms[:4], terms[4:]
    row = graph.sub(one[0], two[0])
    for a, b in zip(one[1:], two[1:], strict=True):
        row = graph.sub(graph.add(row, a), b)
    pairs = written(graph, [row])
    kinds = [pairs.graph.nodes[k][0] for k in pairs.graph.needed(pairs.outputs)]
    assert kinds.count("lane") == 2
    assert operations(pairs.graph, pairs.graph.needed(pairs.outputs)) <= 4 + 3 + 1


def test_what_is_not_alike_stays_alone():
    graph = Graph()
    a, b = graph.node("input", "y", 0), graph.node("input", "y", N)
    outputs = [graph.mul(a, graph.mul(a, a)), graph.mul(b, graph.mul(b, graph.const(3.0)))]
    pairs = written(graph, outputs)
    assert all(pairs.graph.nodes[k][0] != "pair" for k in pairs.graph.needed(pairs.outputs))


def test_partners_that_need_each_other_are_not_joined():
    """The product of the second body contains that of the first: computed together, they would wait for each other."""
    graph = Graph()
    a, b = graph.node("input", "y", 0), graph.node("input", "y", N)
    first = graph.mul(a, b)
    second = graph.mul(first, graph.add(first, graph.mul(a, a)))
    third = graph.mul(second, graph.add(second, graph.mul(b, b)))
    outputs = [third, second, first]
    pairs = written(graph, outputs)
    y = [0.3, 0.0, 0.0, 0.0, -0.7, 0.0, 0.0, 0.0]
    assert evaluate(pairs.graph, pairs.outputs, {"y": y}) == pytest.approx(
        evaluate(graph, outputs, {"y": y}), rel=1e-14
    )


@pytest.mark.parametrize("seed", range(0, 100, 5))
@pytest.mark.parametrize("ordered", [few_alive, deepest_first])
def test_machine_code_of_pairs_has_their_numbers(seed, ordered, rng):
    """Also constants, numbers that are stored more than once, and what is left over at the end."""
    graph, outputs = two_bodies(seed)
    pairs = written(graph, outputs)
    three = pairs.graph.const(3.0)
    first = pairs.outputs[0]
    listed = [*pairs.outputs, three, three, three, three, first, *pairs.outputs]
    guard = pairs.graph.condition("<", first, pairs.graph.const(1e300))
    order = ordered(pairs.graph, [guard, *listed])
    y = rng.uniform(-2.0, 2.0, 2 * N + 2)
    found = inside.values_of_machine_code(pairs.graph, order, listed, {guard: True}, y)
    with np.errstate(all="ignore"):
        wanted = evaluate(pairs.graph, listed, {"y": y.tolist()})
    scale = np.array(size(graph, outputs, y.tolist()))
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


class TestTwo:
    def test_arithmetic_is_that_of_each(self):
        a, b = Two(2.0, -3.0), Two(0.5, 4.0)
        assert both(a * b) == (1.0, -12.0)
        assert both(a / b) == (4.0, -0.75)
        assert both(a + b) == both(b + a) == (2.5, 1.0)
        assert both(2.0 * a) == both(a * 2.0) == (4.0, -6.0)
        assert both(6.0 / a) == (3.0, -2.0)
        assert both(0.0 + a) == (2.0, -3.0)
        assert both(-a) == (-2.0, 3.0)

    def test_one_number_for_both_equals_it(self):
        assert Two(1.0, 1.0) == 1.0
        assert hash(Two(2.0, 2.0)) == hash(2.0)
        assert Two(1.0, 2.0) != 1.0
        assert Two(1.0, 2.0) != Two(1.0, -2.0)
        assert len({Two(1.0, 2.0), Two(1.0, 2.0), 1.0, Two(1.0, 1.0)}) == 2

    def test_the_sign_is_that_of_the_first(self):
        assert Two(-1.0, 2.0) < 0.0 < Two(1.0, -2.0)
        assert not Two(-1.0, 2.0) > 0.0

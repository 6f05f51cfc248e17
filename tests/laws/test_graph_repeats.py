"""What repeats in a graph is found, and calls of users' functions, which are alike, are left out of it."""

from __future__ import annotations

import numpy as np
import pytest

from rbdae.graph.graph import Graph
from rbdae.graph.repeats import NOTHING, OUTSIDE, Listing, Stretch, listing, stretches


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


def planted(rng: np.random.Generator, kinds: int, parts: list[tuple[int, int]]) -> Listing:
    """For each part (length, times) a random turn, as often; before each some nodes that fit nowhere. Operands are of
    the same turn, of the one before, at one place before all turns, or inputs."""
    operation: list[int] = []
    operand: list[list[int]] = []
    for length, times in parts:
        for _ in range(int(rng.integers(1, 6))):
            operation.append(1000 + len(operation))
            operand.append([OUTSIDE["y"], NOTHING, NOTHING])
        begin = len(operation)
        turn = [
            (int(rng.integers(kinds)), [(int(rng.integers(4)), int(rng.integers(1, 1 + max(i, 1)))) for _ in range(2)])
            for i in range(length)
        ]
        fixed = rng.integers(begin, size=(length, 2)).tolist()
        for _ in range(times):
            for i, (kind, places) in enumerate(turn):
                here = len(operation)
                row = [NOTHING] * 3
                for j, (where, near) in enumerate(places):
                    before = here - length if here - length >= begin else fixed[i][j]
                    row[j] = (OUTSIDE["y"], here - near if near <= i else fixed[i][j], before, fixed[i][j])[where]
                operation.append(kind)
                operand.append(row)
    n = len(operation)
    number = np.zeros((n, 3), dtype=np.int64)
    return Listing(np.arange(n), np.array(operation), np.array(operand), number, np.zeros(n, dtype=bool))


def turns_are_alike(found: Listing, part: Stretch) -> bool:
    """Whether all turns have the operations of the first, and operands at the same places of their own turn."""
    for m, i in np.ndindex(part.times, part.length):
        first, here = part.first + i, part.first + i + m * part.length
        if found.operation[here] != found.operation[first] or found.single[here]:
            return False
        for one, other in zip(found.operand[first], found.operand[here], strict=True):
            inside = one >= part.first
            if inside != (other >= part.first + m * part.length) or (inside and other - one != m * part.length):
                return False
            if not inside and min(one, other) < 0 and one != other:
                return False
    return True


@pytest.mark.parametrize("seed", range(8))
def test_what_was_planted_is_found(seed):
    """But for a turn at either end, whose operands may lie otherwise."""
    rng = np.random.default_rng(seed)
    parts = [(int(rng.integers(1, 300)), int(rng.integers(6, 20))) for _ in range(4)]
    parts = [(length, max(times, 90 // length)) for length, times in parts]
    found = planted(rng, int(rng.integers(1, 9)), parts)
    cut = stretches(found)
    assert [part.first for part in cut] == np.cumsum([0, *(part.length * part.times for part in cut)])[:-1].tolist()
    assert all(turns_are_alike(found, part) for part in cut if part.times > 1)
    text, least = sum(part.length for part in cut), sum(length for length, _ in parts)
    assert text <= 3 * least + 6 * len(parts)

"""Repetitions in a graph: stretches of nodes that do the same with other numbers, such as the bodies of a chain.

Nodes are compared by operation and by the places of their operands; near ones by distance, so that stretches have the
same inner structure. Stretches need not begin where a body begins.

If a list has period p from some place on, windows of w >= p letters repeat after p letters, and no sooner: two periods
p and q of a list of at least p + q letters have their greatest common divisor as a period (Fine and Wilf, Proc. AMS 16,
1965). So windows of 1, 2, 4, ... letters, each for periods up to its length and above half of it, find all repetitions
of at least three turns. Windows are compared by a hash (Karp and Rabin, IBM J. Res. Dev. 31, 1987), and a window that
occurs once is not extended. So the time grows with n log^2 n for any list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.graph import Graph

OUTSIDE = {"const": -1, "t": -2, "c": -3, "y": -4, "yd": -5, "selection": -6}
"""Operands outside the list: constants, and inputs by their vector."""

NOTHING = -7
"""No operand."""

_LEAST_TIMES, _LEAST_NODES = 3, 48


@final
@dataclass(frozen=True, eq=False)
class Listing:
    """Nodes in order, as arrays.

    Parameters
    ----------
    nodes : (n,) the numbers of the nodes in the graph
    operation : (n,) a number for each operation and use of the result (`marks`)
    operand : (n, 3) places of the operands in the list, or `OUTSIDE`, `NOTHING`
    number : (n, 3) the operands' numbers in the graph
    single : (n,) whether a node must not be in a loop: calls
    """

    nodes: Ints
    operation: Ints
    operand: Ints
    number: Ints
    single: Ints


@final
@dataclass(frozen=True, slots=True)
class Stretch:
    """`times` equal stretches of `length` nodes, from `first` on."""

    first: int
    length: int
    times: int


def listing(graph: Graph, nodes: Sequence[int], marks: dict[int, int]) -> Listing:
    """The listing of nodes that include all operands except leaves; `marks` are numbers that distinguish nodes."""
    kinds: dict[tuple[str, int], int] = {}
    operation, operand, number, single = list[int](), list[int](), list[int](), list[int]()
    every = graph.nodes
    place = {k: i for i, k in enumerate(nodes)}
    for i, k in enumerate(nodes):
        kind, *others = every[k]
        operation.append(kinds.setdefault((kind, marks.get(k, 0)), len(kinds)))
        if kind in ("call", "result"):
            single.append(i)
            others = []
        elif kind == "lane":
            others = others[:1]
        for j in others:
            if j not in place:
                place[j] = OUTSIDE[every[j][0] if every[j][0] == "const" else every[j][1]]
            operand.append(place[j])
        number += others
        for _ in range(3 - len(others)):
            operand.append(NOTHING)
            number.append(-1)
    n = len(nodes)
    alone = np.zeros(n, dtype=bool)
    alone[single] = True
    return Listing(
        np.asarray(nodes),
        np.array(operation, dtype=np.int64),
        np.array(operand, dtype=np.int64).reshape(n, 3),
        np.array(number, dtype=np.int64).reshape(n, 3),
        alone,
    )


def stretches(found: Listing) -> list[Stretch]:
    """The list cut into stretches, with `times` = 1 without repetition. Stretches that save most text are chosen first,
    others from the rest."""
    n = len(found.nodes)
    free, taken = np.ones(n, dtype=bool), list[Stretch]()
    for first, period, total in sorted(_repetitions(found), key=lambda each: each[1] - each[2] // each[1] * each[1]):
        places = first + np.flatnonzero(free[first : first + total])
        for gap in np.split(places, np.flatnonzero(np.diff(places) != 1) + 1):
            if _enough(period, len(gap)):
                exact = _exact(found, Stretch(int(gap[0]), period, len(gap) // period))
                if exact is not None:
                    free[exact.first : exact.first + period * exact.times] = False
                    taken.append(exact)
    out, begin = list[Stretch](), 0
    for part in sorted([*taken, Stretch(n, 0, 0)], key=lambda part: part.first):
        if part.first > begin:
            out.append(Stretch(begin, part.first - begin, 1))
        out.append(part)
        begin = part.first + part.length * part.times
    return out[:-1]


def _enough(period: int, total: int) -> bool:
    times = total // period
    return times >= _LEAST_TIMES and times * period >= _LEAST_NODES


def _repetitions(found: Listing) -> Iterator[tuple[int, int, int]]:
    """(beginning, period, number of nodes) of each repetition, as long as the period holds."""
    n = len(found.nodes)
    places = np.arange(n)
    distance = np.where(found.operand >= 0, places[:, None] - found.operand, found.operand)
    kinds: _Numbers = _mixed(found.operation + 1)
    kinds = np.where(found.single, _mixed(places + (1 << 40)), kinds)
    powers = np.multiply.accumulate(np.concatenate([_ONE, np.full(n, _BASE)]))
    inverse = np.multiply.accumulate(np.concatenate([_ONE, np.full(n, _INVERSE)]))
    left, width = places, 1
    while len(left) and width * _LEAST_TIMES <= 2 * n:
        # an operand further away than the period belongs to another turn
        letters = kinds.copy()
        for j in range(3):
            letters = _mixed(letters ^ _mixed(np.minimum(distance[:, j], width + 1) + 8))
        sums = np.concatenate([_NONE, np.cumsum(letters * powers[:n])])
        left = left[left <= n - width]
        windows = (sums[left + width] - sums[left]) * inverse[left]
        order = np.argsort(windows, kind="stable")
        there, sorted_windows = left[order], windows[order]
        same = sorted_windows[1:] == sorted_windows[:-1]
        yield from _grouped(there[:-1][same], np.diff(there)[same], width)
        again = np.zeros(len(left), dtype=bool)
        again[:-1] |= same
        again[1:] |= same
        left = np.sort(there[again])
        width *= 2


def _grouped(places: Ints, steps: Ints, width: int) -> Iterator[tuple[int, int, int]]:
    """Repetitions from neighbours whose windows recur after the same step."""
    right = (2 * steps > width) & (steps <= width)
    places, steps = places[right], steps[right]
    order = np.argsort(places)
    places, steps = places[order], steps[order]
    cuts = np.flatnonzero((np.diff(places) != 1) | (np.diff(steps) != 0)) + 1
    bounds = [0, *cuts.tolist(), len(places)]
    for b, e in pairwise(bounds):
        if b < e:
            first, period = int(places[b]), int(steps[b])
            total = e - b - 1 + width + period
            if _enough(period, total):
                yield first, period, total


_Numbers: TypeAlias = Any
"""Arrays of numbers modulo 2^64."""

_BASE = np.uint64(0x9E3779B97F4A7C15)
_INVERSE = np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))
_ONE, _NONE = np.ones(1, dtype=np.uint64), np.zeros(1, dtype=np.uint64)


def _mixed(numbers: Any) -> _Numbers:
    """Unrelated numbers in place of neighbouring ones (the end of SplitMix64)."""
    z = np.asarray(numbers).astype(np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _exact(found: Listing, stretch: Stretch) -> Stretch | None:
    """The first turns of a stretch that are exactly equal, in operations and inner operands."""
    s, p, r = stretch.first, stretch.length, stretch.times
    operation = found.operation[s : s + p * r].reshape(r, p)
    operand = found.operand[s : s + p * r].reshape(r, p, 3)
    start = (s + p * np.arange(r))[:, None, None]
    inside = operand >= start
    offset = np.where(inside, operand - start, np.where(operand < 0, operand, NOTHING - 1))
    same = (operation == operation[0]).all(axis=1) & (offset == offset[0]).all(axis=(1, 2))
    times = r if same.all() else int(np.argmin(same))
    if times < _LEAST_TIMES or times * p < _LEAST_NODES:
        return None
    return Stretch(s, p, times)

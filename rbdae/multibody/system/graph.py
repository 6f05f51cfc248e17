"""Orders of elimination of the joints of a system, as those of a graph."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from rbdae._arrays import Ints


def elimination(edges: Iterable[tuple[int, int]], before: Mapping[int, Collection[int]], n: int) -> list[int]:
    """A minimum-degree order of a graph's n nodes, those `before` a node first, then by number. Trees get no fill."""
    around: list[set[int]] = [set() for _ in range(n)]
    for a, b in edges:
        if a != b:
            around[a].add(b)
            around[b].add(a)
    left, after = {a: len(first) for a, first in before.items()}, dict[int, list[int]]()
    for a, first in before.items():
        for b in first:
            after.setdefault(b, []).append(a)
    heap = [(len(around[a]), a) for a in range(n) if not left.get(a)]
    heapq.heapify(heap)
    order, done = list[int](), [False] * n
    while heap:
        degree, a = heapq.heappop(heap)
        if done[a] or degree != len(around[a]):
            continue
        done[a] = True
        order.append(a)
        rest = around[a]
        for b in rest:
            around[b].discard(a)
            around[b] |= rest
            around[b].discard(b)
        for b in after.get(a, ()):
            left[b] -= 1
        for b in {*rest, *after.get(a, ())}:
            if not left.get(b):
                heapq.heappush(heap, (len(around[b]), b))
    return order


def eliminate(sizes: Sequence[int], edges: Iterable[tuple[int, int]]) -> list[Ints]:
    """The places of the rows of all blocks in a minimum-degree order of their graph."""
    place: list[Ints] = [np.empty(0, dtype=np.int64)] * len(sizes)
    total = 0
    for a in elimination(edges, {}, len(sizes)):
        place[a] = np.arange(total, total + sizes[a], dtype=np.int64)
        total += sizes[a]
    return place

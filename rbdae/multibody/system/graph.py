"""Structure of a system's graph: the spanning tree of the null-space form, the elimination order of the joints."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rbdae._arrays import Ints


@dataclass(frozen=True, slots=True)
class Tree:
    """`order` lists the bodies, parents first; `parent` and `joint` belong to bodies (-1: root, n: the ground);
    `closing` lists the joints that are not in the tree."""

    order: list[int]
    parent: list[int]
    joint: list[int]
    closing: list[int]


def spanning_tree(n: int, anchored: Sequence[bool], edges: Sequence[tuple[int, int]]) -> Tree:
    """Spanning tree of bodies 0..n-1 and the ground n by breadth-first search.

    A component's root is the ground where a joint leads there, else a body with a pivot (`anchored`), else the first
    body. The order of the bodies stays as given where it already has parents first.
    """
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n + 1)]
    for k, (a, b) in enumerate(edges):
        neighbours[a].append((b, k))
        neighbours[b].append((a, k))
    parent, joint = [-1] * n, [-1] * n
    seen = [False] * n + [True]
    order: list[int] = []
    used: set[int] = set()

    def grow(root: int) -> None:
        queue = deque([root])
        while queue:
            a = queue.popleft()
            for b, k in neighbours[a]:
                if not seen[b]:
                    seen[b] = True
                    parent[b], joint[b] = a, k
                    used.add(k)
                    order.append(b)
                    queue.append(b)

    grow(n)
    for first in (True, False):
        for a in range(n):
            if not seen[a] and (anchored[a] or not first):
                seen[a] = True
                order.append(a)
                grow(a)
    if all(parent[a] in (-1, n) or parent[a] < a for a in range(n)):
        order = list(range(n))
    return Tree(order, parent, joint, [k for k in range(len(edges)) if k not in used])


def elimination(edges: Iterable[tuple[int, int]], before: Mapping[int, Collection[int]], n: int) -> list[int]:
    """The n nodes of a graph in a minimum-degree order, where those `before` a node come first; of equal degrees the
    first node. Chains and trees get no fill."""
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

"""The order in which joints are eliminated by elements: in rounds, in each of which no two have a body in common.

A joint that is eliminated leaves its neighbours joined to each other. Those whose neighbours are so already, as at the
ends of chains and the leaves of trees, come first: they add nothing. So a chain is eliminated from both ends, and each
step of one has not to wait for that of the other.
"""

from __future__ import annotations

from collections.abc import Sequence

_MOST_NEIGHBOURS = 8
"""Neighbours up to which it is asked whether they are joined to each other."""

Rounds = list[list[tuple[int, list[int]]]]
"""For each round the joints, and for each of them the neighbours that come later."""


def elimination_rounds(n: int, pairs: Sequence[tuple[int, int]]) -> Rounds:
    """The rounds of n joints, of which those in pairs have a body in common."""
    around: list[set[int]] = [set() for _ in range(n)]
    for a, b in pairs:
        if a != b:
            around[a].add(b)
            around[b].add(a)
    left = set(range(n))
    changed = set(left)
    free: set[int] = set()
    out: Rounds = []
    while left:
        free -= changed
        free |= {a for a in changed if _adds_nothing(a, around)}
        chosen: list[int] = []
        near: set[int] = set()
        for a in sorted(free) or [min(left, key=lambda a: (len(around[a]), a))]:
            if a not in near:
                chosen.append(a)
                near |= around[a]
        out.append([(a, sorted(around[a])) for a in chosen])
        changed = set()
        for a in chosen:
            left.discard(a)
            free.discard(a)
            for b in around[a]:
                around[b].discard(a)
                around[b] |= around[a] - {b}
                changed.add(b)
        for b in list(changed):
            changed |= around[b] & left
    return out


def _adds_nothing(a: int, around: Sequence[set[int]]) -> bool:
    """Whether all neighbours of a joint are joined to each other."""
    mine = around[a]
    return len(mine) <= _MOST_NEIGHBOURS and all(mine - {b} <= around[b] for b in mine)

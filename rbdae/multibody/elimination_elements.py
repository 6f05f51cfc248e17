"""Elimination along the joint graph by elements: S la = g with S = G M^-1 G^T, in blocks of one joint each.

The work vector has for each joint its block D of S (the lower triangle, row by row), the diagonal as it was at first, g
and later la; for each pair of joints of which one is eliminated into the other the block E of S (rows of the earlier
one), and Y = D^-1 E. A joint that is eliminated into one other is one element, with D^-1 E, D^-1 g and what it takes
from the other's D and g. For joints with several neighbours that is done in steps, by elements for each neighbour, and
for each pair of them, so that kinds of elements are told apart by sizes of blocks alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.machine.elements import Kind, Run
from rbdae.multibody.elimination_order import Rounds, elimination_rounds
from rbdae.multibody.elimination_steps import Block, back, factor, into_one, last, neighbour, two_neighbours


@final
class Work:
    """The places of the blocks in the work vector.

    Parameters
    ----------
    rows : of each joint its number of equations
    pairs : pairs of joints that have a body in common
    first : the first place

    Attributes
    ----------
    rounds : the order of elimination
    rank : the place of each joint in it
    block, start, side : for each joint, where D, its diagonal at first, and g begin
    edges : for each pair of joints, the earlier one first, where E begins; Y is after it
    cleared : numbers at the beginning that have to be zero: blocks of pairs that elimination alone joins
    size : of the vector
    """

    def __init__(self, rows: Ints, pairs: Sequence[tuple[int, int]], first: int = 0) -> None:
        self.rows = rows
        self.rounds: Rounds = elimination_rounds(len(rows), pairs)
        order = [a for chosen in self.rounds for a, _ in chosen]
        self.rank = np.empty(len(rows), dtype=np.int64)
        self.rank[order] = np.arange(len(rows))
        found = {self.ordered(pair) for pair in pairs}
        every = [self.ordered((a, b)) for chosen in self.rounds for a, later in chosen for b in later]
        self.edges: dict[tuple[int, int], int] = {}
        self.first = at = first
        for given in (False, True):
            for pair in every:
                if (pair in found) == given:
                    self.edges[pair] = at
                    at += 2 * self._length(pair)
            if not given:
                self.cleared = at
        lengths = rows * (rows + 1) // 2 + 2 * rows
        self.block = at + np.cumsum(lengths) - lengths
        self.start = self.block + rows * (rows + 1) // 2
        self.side = self.start + rows
        self.size = int(at + lengths.sum())

    def ordered(self, pair: tuple[int, int]) -> tuple[int, int]:
        """A pair, the joint first that is eliminated earlier."""
        a, b = pair
        return (a, b) if self.rank[a] < self.rank[b] else (b, a)

    def _length(self, pair: tuple[int, int]) -> int:
        return int(self.rows[pair[0]] * self.rows[pair[1]])

    def take(self, n: int) -> int:
        """The beginning of n further places."""
        self.size += n
        return self.size - n

    def solved(self, pair: tuple[int, int]) -> int:
        """Where Y begins."""
        return self.edges[pair] + self._length(pair)


@final
class _Steps:
    """Elements of all kinds of steps in the order in which they are computed."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[Any, ...], list[dict[str, int]]] = {}
        self._runs: list[tuple[tuple[Any, ...], int, int]] = []

    def add(self, make: Callable[..., Block], sizes: Ints, places: dict[str, int]) -> None:
        """One more element."""
        key = (make, *sizes.tolist())
        members = self._kinds.setdefault(key, [])
        k = len(members)
        members.append(places)
        if self._runs and self._runs[-1][0] == key:
            self._runs[-1] = (key, self._runs[-1][1], k + 1)
        else:
            self._runs.append((key, k, k + 1))

    def made(self, first: int) -> tuple[list[Kind], list[Run]]:
        """The kinds, whose numbers begin with `first`, and the runs."""
        numbers = {key: first + k for k, key in enumerate(self._kinds)}
        kinds = []
        for (make, *sizes), members in self._kinds.items():
            places = {name: np.array([one[name] for one in members], dtype=np.int64) for name in members[0]}
            kinds.append(make(*sizes).kind(places))
        return kinds, [Run(numbers[key], begin, end) for key, begin, end in self._runs]


def elimination(work: Work, first: int) -> tuple[list[Kind], list[Run]]:
    """The elements that turn g into la, whose kinds are numbered from `first`, and their runs."""
    steps, rows = _Steps(), work.rows
    for chosen in work.rounds:
        several = [(a, later) for a, later in chosen if len(later) > 1]
        for a, later in chosen:
            if len(later) == 0:
                steps.add(last, rows[[a]], _own(work, a))
        for a, later in chosen:
            if len(later) == 1:
                steps.add(into_one, rows[[a, *later]], _own(work, a) | _pair(work, a, later[0]))
        for a, _ in several:
            steps.add(factor, rows[[a]], _own(work, a))
        for a, later in several:
            for b in later:
                steps.add(neighbour, rows[[a, b]], _own(work, a) | _pair(work, a, b))
        for a, later in several:
            for b, c in (work.ordered(pair) for pair in combinations(later, 2)):
                places = {"first.E": work.edges[a, b], "second.Y": work.solved((a, c)), "both.E": work.edges[b, c]}
                steps.add(two_neighbours, rows[[a, b, c]], places)
    for chosen in reversed(work.rounds):
        for a, later in reversed(chosen):
            for b in later:
                steps.add(back, rows[[a, b]], _own(work, a) | _pair(work, a, b))
    return steps.made(first)


def _own(work: Work, a: int) -> dict[str, int]:
    return {"own.D": int(work.block[a]), "own.start": int(work.start[a]), "own.g": int(work.side[a])}


def _pair(work: Work, a: int, b: int) -> dict[str, int]:
    return {
        "pair.E": work.edges[a, b],
        "pair.Y": work.solved((a, b)),
        "other.D": int(work.block[b]),
        "other.g": int(work.side[b]),
    }

"""Elimination along the joint graph by elements: S la = g with S = G M^-1 G^T, in blocks of one joint each.

The work vector has for each joint its block D of S (the lower triangle, row by row), the diagonal as it was at first, g
and later la; for each pair of joints of which one is eliminated into the other the block E of S (rows of the earlier
one), and Y = D^-1 E. A joint that is eliminated into one other is one element, with D^-1 E, D^-1 g and what it takes
from the other's D and g. For joints with several neighbours that is done in steps, by elements for each neighbour, and
for each pair of them, so that kinds of elements are told apart by sizes of blocks alone.

Joints are eliminated in rounds, in each of which no two have a body in common. One that is eliminated leaves its
neighbours joined to each other; those whose neighbours are so already, as at the ends of chains and the leaves of
trees, come first: they add nothing. So a chain is eliminated from both ends, and no step at one waits for the other.
Where equations may be suspended, which of them have small pivots depends on the order: it is that of
`rbdae.kernels.linear.saddle` there, and floors of the pivots are after the diagonals.

Steps name blocks by two words. ``own`` is the joint that is eliminated, with its block D, the diagonal as it was at
first, and its right side g; ``pair`` the block E between it and another joint, with Y = D^-1 E; ``other`` that joint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.kernels.linear.saddle import SUSPENDED
from rbdae.machine.elements import Kind, Place, Run
from rbdae.multibody.elements.element_kinds import Written

_MOST_NEIGHBOURS = 8
"""Neighbours up to which it is asked whether they are joined to each other."""

Rounds = list[list[tuple[int, list[int]]]]
"""For each round the joints, and for each of them the neighbours that come later."""


def elimination_rounds(n: int, pairs: Sequence[tuple[int, int]], *, wide: bool = False) -> Rounds:
    """The rounds of n joints, pairs of which have a body in common; few rounds, with more products, if `wide`."""
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
        if wide:
            most = max(2, min(len(around[a]) for a in left))
            candidates = sorted((a for a in left if len(around[a]) <= most), key=lambda a: (len(around[a]), a))
        else:
            candidates = sorted(free) or [min(left, key=lambda a: (len(around[a]), a))]
        for a in candidates:
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


def rounds_in_order(order: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Rounds:
    """The rounds of joints that are eliminated in this order; each is in the first one that is after its neighbours."""
    around: list[set[int]] = [set() for _ in order]
    for a, b in pairs:
        around[a].add(b)
        around[b].add(a)
    turn = [0] * len(order)
    out: Rounds = []
    for a in order:
        later = sorted(around[a])
        if turn[a] == len(out):
            out.append([])
        out[turn[a]].append((a, later))
        for b in later:
            turn[b] = max(turn[b], turn[a] + 1)
            around[b] |= around[a] - {b}
            around[b].discard(a)
    return out


_LEAST = 1e-13
"""A pivot that is smaller than this fraction of what it was at first: the equations are dependent, see
`rbdae.kernels.linear.saddle`."""


def _factors(of: Written, n: int) -> tuple[Any, list[Any]]:
    A = np.zeros((n, n), dtype=object)
    A[np.tril_indices(n)] = of.reads("own.D", n * (n + 1) // 2)
    floored = "own.floor" in of.places
    start, floor = of.reads("own.start", n), of.reads("own.floor", n) if floored else ()
    L, d = np.eye(n, dtype=object), list[Any]()
    for j in range(n):
        pivot = A[j, j]
        if floored:
            pivot = (abs(pivot) < floor[j]).select(SUSPENDED, pivot)
        of.rely(_LEAST * start[j] < abs(pivot))
        d.append(1.0 / pivot)
        for i in range(j + 1, n):
            L[i, j] = A[i, j] * d[j]
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                A[i, k] = A[i, k] - L[i, j] * A[k, j]
    return L, d


def _solved(L: Any, d: Sequence[Any], x: Any) -> Any:
    n, x = len(d), list(x)
    for i in range(n):
        for j in range(i):
            x[i] = x[i] - L[i, j] * x[j]
    x = [value * share for value, share in zip(x, d, strict=True)]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] = x[i] - L[j, i] * x[j]
    return np.array(x, dtype=object)


def into_one(of: Written, n: int, m: int) -> None:
    """A joint with one neighbour."""
    L, d = _factors(of, n)
    z = _solved(L, d, of.reads("own.g", n))
    of.gives("own.g", z)
    _into(of, L, d, z, m)


def _into(of: Written, L: Any, d: Sequence[Any], z: Any, m: int) -> None:
    """A joint into one of its neighbours: Y = D^-1 E, and the neighbour's D and g."""
    E = of.reads("pair.E", len(d) * m).reshape(len(d), m)
    Y = np.column_stack([_solved(L, d, E[:, j]) for j in range(m)])
    of.gives("pair.Y", Y)
    of.gives("other.D", [-(E[:, i] @ Y[:, j]) for i, j in zip(*np.tril_indices(m), strict=True)], adds=True)
    of.gives("other.g", -(E.T @ z), adds=True)


def factor(of: Written, n: int) -> None:
    """A joint with several neighbours, or the last one: L and inverse pivots in place of D, and z = D^-1 g."""
    L, d = _factors(of, n)
    of.gives("own.g", _solved(L, d, of.reads("own.g", n)))
    L[np.diag_indices(n)] = d
    of.gives("own.D", L[np.tril_indices(n)])


def neighbour(of: Written, n: int, m: int) -> None:
    """Such a joint, and one of its neighbours."""
    L = np.zeros((n, n), dtype=object)
    L[np.tril_indices(n)] = of.reads("own.D", n * (n + 1) // 2)
    _into(of, L, [*np.diag(L)], of.reads("own.g", n), m)


def two_neighbours(of: Written, n: int, m: int, k: int) -> None:
    """Such a joint, and two of its neighbours: E between these."""
    E, Y = of.reads("pair.E", n * m).reshape(n, m), of.reads("second.Y", n * k).reshape(n, k)
    of.gives("both.E", -(E.T @ Y), adds=True)


def back(of: Written, n: int, m: int) -> None:
    """la of a joint, from that of one that was eliminated later."""
    of.gives("own.g", -(of.reads("pair.Y", n * m).reshape(n, m) @ of.reads("other.g", m)), adds=True)


@final
class Work:
    """The places of the blocks in the work vector.

    Parameters
    ----------
    rows : of each joint its number of equations
    pairs : pairs of joints that have a body in common
    first : the first place
    order : that of elimination where equations may be suspended
    wide : whether rounds are few, for NumPy

    Attributes
    ----------
    rounds : the order of elimination
    rank : the place of each joint in it
    floored : whether there are floors
    block, start, side, floor : for each joint, where D, its diagonal at first, g, and the floors of its pivots begin
    edges : for each pair of joints, the earlier one first, where E begins; Y is after it
    cleared : numbers at the beginning that have to be zero: blocks of pairs that elimination alone joins
    size : of the vector
    """

    def __init__(
        self,
        rows: Ints,
        pairs: Sequence[tuple[int, int]],
        first: int = 0,
        order: Sequence[int] | None = None,
        *,
        wide: bool = False,
    ) -> None:
        self.rows, self.wide = rows, wide
        self.floored = order is not None
        self.rounds = (
            elimination_rounds(len(rows), pairs, wide=wide) if order is None else rounds_in_order(order, pairs)
        )
        order = [a for chosen in self.rounds for a, _ in chosen]
        self.rank = np.empty(len(rows), dtype=np.int64)
        self.rank[order] = np.arange(len(rows))
        found = {self.ordered(pair) for pair in pairs}
        every = [self.ordered((a, b)) for chosen in self.rounds for a, later in chosen for b in later]
        self.edges: dict[tuple[int, int], int] = {}
        at = first
        for given in (False, True):
            for pair in every:
                if (pair in found) == given:
                    self.edges[pair] = at
                    at += 2 * self._length(pair)
            if not given:
                self.cleared = at
        lengths = rows * (rows + 1) // 2 + (3 if self.floored else 2) * rows
        self.block = at + np.cumsum(lengths) - lengths
        self.start = self.block + rows * (rows + 1) // 2
        self.side = self.start + rows
        self.floor = self.side + rows
        self.size = int(at + lengths.sum())

    def ordered(self, pair: tuple[int, int]) -> tuple[int, int]:
        """A pair, the joint first that is eliminated earlier."""
        a, b = pair
        return (a, b) if self.rank[a] < self.rank[b] else (b, a)

    def _length(self, pair: tuple[int, int]) -> int:
        return int(self.rows[pair[0]] * self.rows[pair[1]])

    def blocks(self, joints: Ints) -> dict[str, tuple[str, Ints]]:
        """Where the blocks begin that steps of joints (elements, joints) read and write: of the one that is eliminated,
        of others into which it is, and of the pairs of them."""
        (a, *others), rows = joints.T, self.rows

        def edge(a: Ints, b: Ints) -> Ints:
            return np.array([self.edges[pair] for pair in zip(a.tolist(), b.tolist(), strict=True)])

        found = {"own.D": self.block[a], "own.start": self.start[a], "own.g": self.side[a]}
        if self.floored:
            found["own.floor"] = self.floor[a]
        for b in others[:1]:
            E = edge(a, b)
            found |= {"pair.E": E, "pair.Y": E + rows[a] * rows[b], "other.D": self.block[b], "other.g": self.side[b]}
        for c in others[1:]:
            found |= {"second.Y": edge(a, c) + rows[a] * rows[c], "both.E": edge(others[0], c)}
        return {name: ("work", at) for name, at in found.items()}

    def take(self, n: int) -> int:
        """The beginning of n further places."""
        self.size += n
        return self.size - n

    def places(self, joints: Ints, rows: int) -> list[Place]:
        """The places of D of joints of a kind, its lower triangle by rows, of its diagonal, of g, and of floors."""
        n = rows * (rows + 1) // 2 + (3 if self.floored else 2) * rows
        return [Place("work", "own", self.block[joints] + i) for i in range(n)]


@final
class _Steps:
    """Elements of all kinds of steps in the order in which they are computed. Runs for NumPy end with their round."""

    def __init__(self, work: Work) -> None:
        self._work, self._rows_of, self._open = work, work.rows.tolist().__getitem__, False
        self._kinds: dict[tuple[Any, ...], list[tuple[int, ...]]] = {}
        self._runs: list[tuple[tuple[Any, ...], int, int]] = []

    def add(self, make: Callable[..., None], *joints: int) -> None:
        """One more element: the joint that is eliminated, and others."""
        key = (make, *map(self._rows_of, joints))
        members = self._kinds.setdefault(key, [])
        k = len(members)
        members.append(joints)
        if self._open and self._runs[-1][0] == key:
            self._runs[-1] = (key, self._runs[-1][1], k + 1)
        else:
            self._runs.append((key, k, k + 1))
        self._open = True

    def next_round(self) -> None:
        self._open = self._open and not self._work.wide

    def made(self, first: int) -> tuple[list[Kind], list[Run]]:
        """The kinds, whose numbers begin with `first`, and the runs."""
        numbers = {key: first + k for k, key in enumerate(self._kinds)}
        kinds = []
        for (make, *sizes), members in self._kinds.items():
            of = Written(self._work.blocks(np.array(members)))
            make(of, *sizes)
            kinds.append(of.kind(as_written=True))
        return kinds, [Run(numbers[key], begin, end) for key, begin, end in self._runs]


def elimination(work: Work, first: int) -> tuple[list[Kind], list[Run]]:
    """The elements that turn g into la, whose kinds are numbered from `first`, and their runs."""
    steps = _Steps(work)
    for chosen in work.rounds:
        steps.next_round()
        others = [(a, later) for a, later in chosen if len(later) != 1]
        for a, later in chosen:
            if len(later) == 1:
                steps.add(into_one, a, *later)
        for a, _ in others:
            steps.add(factor, a)
        for a, later in others:
            for b in later:
                steps.add(neighbour, a, b)
        for a, later in others:
            for b, c in (work.ordered(pair) for pair in combinations(later, 2)):
                steps.add(two_neighbours, a, b, c)
    for chosen in reversed(work.rounds):
        steps.next_round()
        for a, later in reversed(chosen):
            for b in later:
                steps.add(back, a, b)
    return steps.made(first)

"""Pivots of sparse matrices of one pattern, chosen once, on numbers: the order of an elimination.

P A Q = L U, with the rows and columns of A in the order of the pivots. `plan` takes those with the smallest (entries of
the row - 1)(entries of the column - 1), Markowitz' count, among those that are not small in their column, in all of
several samples: entries of dF/dy + c dF/dyd change with c.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from rbdae import _signals

LEAST = 0.01
"""Size of a pivot, relative to the largest entry of its column, at least."""

_TRIED = 6
"""Rows with fewest entries that are looked at for one pivot."""

Place = tuple[int, int]


class SingularPattern(ArithmeticError):
    """No pivot is left: the matrix is singular at a sample."""


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """An order of elimination of an (n, n) matrix.

    Parameters
    ----------
    pivots : row and column of each
    lower : for each pivot, the rows from which its own is subtracted
    upper : for each pivot, the other columns of its row
    products : multiplications of the factorisation
    """

    pivots: list[Place]
    lower: list[list[int]]
    upper: list[list[int]]
    products: int

    @property
    def entries(self) -> int:
        """Entries of L and U, with the diagonal."""
        return len(self.pivots) + sum(map(len, self.lower)) + sum(map(len, self.upper))


def plan(n: int, samples: Sequence[Mapping[Place, float]], least: float = LEAST) -> Plan:
    """The order in which a matrix is eliminated.

    Parameters
    ----------
    samples : its entries at some states; all have the same places, those of the structure
    least : see `LEAST`

    Raises
    ------
    SingularPattern
        if no entry is left that is not 0 in every sample
    """
    choice = _Choice(n, samples, least)
    while choice.left:
        choice.step()
    return Plan(choice.pivots, choice.lower, choice.upper, choice.products)


@final
class _Choice:
    """Rows and columns during the elimination, for all samples."""

    def __init__(self, n: int, samples: Sequence[Mapping[Place, float]], least: float) -> None:
        self._least = least
        self._values: list[list[dict[int, float]]] = [[{} for _ in range(n)] for _ in samples]
        self._columns: list[set[int]] = [set() for _ in range(n)]
        for rows, sample in zip(self._values, samples, strict=True):
            for (i, j), x in sample.items():
                rows[i][j] = x
                self._columns[j].add(i)
        self._largest: dict[int, list[float]] = {}  # by column, until it changes
        self._heap = [(len(row), i) for i, row in enumerate(self._values[0])]
        heapq.heapify(self._heap)
        self.left = set(range(n))
        self.pivots: list[Place] = []
        self.lower: list[list[int]] = []
        self.upper: list[list[int]] = []
        self.products = 0

    def _ratio(self, i: int, j: int) -> float:
        """The size of an entry beside the largest of its column, in the sample where that is smallest."""
        out, largest = 1.0, self._largest.get(j)
        if largest is None:
            column = self._columns[j]
            largest = self._largest[j] = [max(abs(rows[r][j]) for r in column) for rows in self._values]
        for rows, most in zip(self._values, largest, strict=True):
            size = abs(rows[i][j])
            if size == 0.0:
                return 0.0
            out = min(out, size / most)
        return out

    def _pivot(self) -> Place:
        first, tried = self._values[0], []
        best: tuple[tuple[int, bool, int, int], Place] | None = None
        good: tuple[float, Place] = (0.0, (-1, -1))
        while self._heap:
            count, i = heapq.heappop(self._heap)
            if i not in self.left:
                continue
            row = first[i]
            if len(row) != count:
                heapq.heappush(self._heap, (len(row), i))
                continue
            tried.append((count, i))
            for j in row:
                products = (count - 1) * (len(self._columns[j]) - 1)
                if best is not None and (products, False, i, j) > best[0]:
                    continue
                ratio = self._ratio(i, j)
                good = max(good, (ratio, (i, j)))
                if ratio < self._least:
                    continue
                cost = products, ratio < 10.0 * self._least, i, j
                if best is None or cost < best[0]:
                    best = cost, (i, j)
            if best is not None and (len(tried) >= _TRIED or best[0][0] <= (count - 1) ** 2):
                break
        found = good[1] if best is None else best[1]
        if good[0] == 0.0:
            raise SingularPattern(f"no pivot is left among {len(self.left)} rows, such as {min(self.left)}")
        for count, i in tried:
            if i != found[0]:
                heapq.heappush(self._heap, (count, i))
        return found

    def step(self) -> None:
        """Eliminate one unknown."""
        _signals.check()
        i, j = self._pivot()
        self.left.discard(i)
        columns = self._columns
        first = self._values[0]
        right = [k for k in first[i] if k != j]
        below = sorted(r for r in columns[j] if r != i)
        for k in first[i]:
            columns[k].discard(i)
            self._largest.pop(k, None)
        for rows in self._values:
            pivot = rows[i]
            for r in below:
                row = rows[r]
                factor = row.pop(j) / pivot[j]
                for k in right:
                    row[k] = row.get(k, 0.0) - factor * pivot[k]
        for r in below:
            for k in right:
                columns[k].add(r)
            heapq.heappush(self._heap, (len(first[r]), r))
        columns[j].clear()
        self.pivots.append((i, j))
        self.lower.append(below)
        self.upper.append(right)
        self.products += len(below) * (1 + len(right))


__all__ = ["LEAST", "Place", "Plan", "SingularPattern", "plan"]

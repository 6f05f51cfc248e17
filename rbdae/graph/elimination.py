"""Elimination of sparse matrices of one pattern: pivots chosen once, on numbers, then the same steps on any numbers.

P A Q = L U, with the rows and columns of A in the order of the pivots: for each pivot (i, j) in turn, the multipliers
l_r = a_rj / a_ij of the rows r that are left, then a_rk -= l_r a_ik for the columns k of the pivot's row ([HNW93] II.1,
[DER17] section 5). `plan` chooses the pivots: those with the smallest (entries of the row - 1)(entries of the column -
1) (Markowitz) among those that are not small in their column, in all of several samples: entries of dF/dy + c dF/dyd
change with c.

The steps are done by `eliminate` on nodes of a graph, with real or complex arithmetic; on numbers, in loops over
tables, by `rbdae.machine.loops.elimination`. How far they can be trusted is in the multipliers: where one is larger
than `LARGEST`, pivots have to be chosen again.

[HNW93]: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I. [DER17]: Duff, Erisman, Reid, Direct
Methods for Sparse Matrices.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

from rbdae import _signals
from rbdae.graph.graph import Graph

LEAST = 0.01
"""Size of a pivot, relative to the largest entry of its column, at least."""

LARGEST = 1e8
"""Size of a multiplier up to which factors are good enough for Newton's method: it loses half of the digits."""

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
        self._heap = [(len(row), i) for i, row in enumerate(self._values[0])]
        heapq.heapify(self._heap)
        self.left = set(range(n))
        self.pivots: list[Place] = []
        self.lower: list[list[int]] = []
        self.upper: list[list[int]] = []
        self.products = 0

    def _ratio(self, i: int, j: int) -> float:
        """The size of an entry beside the largest of its column, in the sample where that is smallest."""
        column, out = self._columns[j], 1.0
        for rows in self._values:
            size = abs(rows[i][j])
            if size == 0.0:
                return 0.0
            out = min(out, size / max(abs(rows[r][j]) for r in column))
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
                ratio = self._ratio(i, j)
                good = max(good, (ratio, (i, j)))
                if ratio < self._least:
                    continue
                cost = ((count - 1) * (len(self._columns[j]) - 1), ratio < 10.0 * self._least, i, j)
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


# ---------------------------------------------------------------- on the nodes of a graph


class Field(Protocol):
    """Arithmetic on what stands for numbers."""

    def sub(self, a: Any, b: Any) -> Any:
        """a - b."""

    def mul(self, a: Any, b: Any) -> Any:
        """a b."""

    def neg(self, a: Any) -> Any:
        """-a."""

    def reciprocal(self, a: Any) -> Any:
        """1 / a."""

    def square(self, a: Any) -> int:
        """The node of |a|^2."""

    def parts(self, a: Any) -> tuple[int, ...]:
        """The nodes of its real numbers."""

    def of(self, parts: Sequence[int]) -> Any:
        """What has these parts."""


@final
class Reals:
    """Nodes."""

    n_parts = 1

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.sub, self.mul, self.neg = graph.sub, graph.mul, graph.neg

    def reciprocal(self, a: int) -> int:
        """1 / a."""
        return self._graph.div(self._graph.const(1.0), a)

    def square(self, a: int) -> int:
        """a^2."""
        return self._graph.mul(a, a)

    def parts(self, a: int) -> tuple[int, ...]:
        """The node itself."""
        return (a,)

    def of(self, parts: Sequence[int]) -> int:
        """The node."""
        return parts[0]


Complex = tuple[int, int]


@final
class Complexes:
    """Pairs of nodes: real and imaginary part."""

    n_parts = 2

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def sub(self, a: Complex, b: Complex) -> Complex:
        """a - b."""
        g = self._graph
        return g.sub(a[0], b[0]), g.sub(a[1], b[1])

    def mul(self, a: Complex, b: Complex) -> Complex:
        """a b."""
        g = self._graph
        return g.sub(g.mul(a[0], b[0]), g.mul(a[1], b[1])), g.add(g.mul(a[0], b[1]), g.mul(a[1], b[0]))

    def neg(self, a: Complex) -> Complex:
        """-a."""
        return self._graph.neg(a[0]), self._graph.neg(a[1])

    def reciprocal(self, a: Complex) -> Complex:
        """1 / a = conj(a) / |a|^2."""
        g = self._graph
        r = g.div(g.const(1.0), self.square(a))
        return g.mul(a[0], r), g.neg(g.mul(a[1], r))

    def square(self, a: Complex) -> int:
        """|a|^2."""
        g = self._graph
        return g.add(g.mul(a[0], a[0]), g.mul(a[1], a[1]))

    def parts(self, a: Complex) -> tuple[int, ...]:
        """Both."""
        return a

    def of(self, parts: Sequence[int]) -> Complex:
        """The pair."""
        return parts[0], parts[1]


@final
@dataclass(frozen=True, slots=True)
class Factors:
    """L, U and the reciprocal pivots of a plan, in the arithmetic of a field; and what bounds the multipliers.

    Parameters
    ----------
    lower, upper : for each pivot, entries by row, and by column
    pivots : for each pivot 1 / a_ij
    growth : the node of the sum of the squares of all multipliers
    """

    lower: list[list[tuple[int, Any]]]
    upper: list[list[tuple[int, Any]]]
    pivots: list[Any]
    growth: int


def eliminate(graph: Graph, field: Field, order: Plan, entries: Mapping[Place, Any]) -> Factors:
    """The factors of a matrix as nodes. What is constant in it folds."""
    rows: dict[int, dict[int, Any]] = {i: {} for i, _ in order.pivots}
    for (i, j), x in entries.items():
        rows[i][j] = x
    sums = [graph.const(0.0)] * 4  # four chains: none is the longest of the code
    lower, upper, pivots, count = [], [], [], 0
    for (i, j), below, right in zip(order.pivots, order.lower, order.upper, strict=True):
        row = rows[i]
        reciprocal = field.reciprocal(row[j])
        right_entries = [(k, row[k]) for k in right]
        below_entries = []
        for r in below:
            other = rows[r]
            factor = field.mul(other.pop(j), reciprocal)
            below_entries.append((r, factor))
            sums[count % 4] = graph.add(sums[count % 4], field.square(factor))
            count += 1
            for k, x in right_entries:
                product = field.mul(factor, x)
                other[k] = field.sub(other[k], product) if k in other else field.neg(product)
        lower.append(below_entries)
        upper.append(right_entries)
        pivots.append(reciprocal)
    growth = graph.add(graph.add(sums[0], sums[1]), graph.add(sums[2], sums[3]))
    return Factors(lower, upper, pivots, growth)


def substitute(field: Field, order: Plan, factors: Factors, b: Sequence[Any]) -> list[Any]:
    """The solution x of A x = b by forward and backward substitution."""
    right = list(b)
    for (i, _), below in zip(order.pivots, factors.lower, strict=True):
        for r, factor in below:
            right[r] = field.sub(right[r], field.mul(factor, right[i]))
    x: list[Any] = [None] * len(right)
    steps = zip(order.pivots, factors.upper, factors.pivots, strict=True)
    for (i, j), row, reciprocal in reversed(list(steps)):
        value = right[i]
        for k, entry in row:
            value = field.sub(value, field.mul(entry, x[k]))
        x[j] = field.mul(value, reciprocal)
    return x


__all__ = [
    "LARGEST",
    "LEAST",
    "Complexes",
    "Factors",
    "Field",
    "Plan",
    "Reals",
    "SingularPattern",
    "eliminate",
    "plan",
    "substitute",
]

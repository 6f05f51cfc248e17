"""Elimination on the nodes of a graph, with real or complex arithmetic, in the order of a `rbdae.graph.pivots.Plan`.

For each pivot (i, j) in turn, the multipliers l_r = a_rj / a_ij of the rows r that are left, then a_rk -= l_r a_ik for
the columns k of the pivot's row ([HNW93] II.1). On numbers, in loops over tables, `rbdae.machine.loops.elimination`
does the same. How far factors can be trusted is in the multipliers: where one is larger than `LARGEST`, pivots have to
be chosen again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

from rbdae.graph.graph import Graph
from rbdae.graph.pivots import Place, Plan

LARGEST = 1e8
"""Size of a multiplier up to which factors are good enough for Newton's method: it loses half of the digits."""


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

    def reals(self, a: Any) -> tuple[int, ...]:
        """The nodes of its real numbers."""

    def of(self, reals: Sequence[int]) -> Any:
        """The number that is made of these."""


@final
class Reals:
    """Nodes."""

    n_reals = 1

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.sub, self.mul, self.neg = graph.sub, graph.mul, graph.neg

    def reciprocal(self, a: int) -> int:
        """1 / a."""
        return self._graph.div(self._graph.const(1.0), a)

    def square(self, a: int) -> int:
        """a^2."""
        return self._graph.mul(a, a)

    def reals(self, a: int) -> tuple[int, ...]:
        """The node itself."""
        return (a,)

    def of(self, reals: Sequence[int]) -> int:
        """The node."""
        return reals[0]


Complex = tuple[int, int]


@final
class Complexes:
    """Pairs of nodes: real and imaginary part."""

    n_reals = 2

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

    def reals(self, a: Complex) -> tuple[int, ...]:
        """Both."""
        return a

    def of(self, reals: Sequence[int]) -> Complex:
        """The pair."""
        return reals[0], reals[1]


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


__all__ = ["LARGEST", "Complexes", "Factors", "Field", "Reals", "eliminate", "substitute"]

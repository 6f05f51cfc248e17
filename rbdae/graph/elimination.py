"""Elimination on the nodes of a graph, in the order of a `rbdae.graph.pivots.Plan`.

For each pivot (i, j) in turn, the multipliers l_r = a_rj / a_ij of the rows r that are left, then a_rk -= l_r a_ik for
the columns k of the pivot's row ([HNW93] II.1). On numbers, in loops over tables, `rbdae.machine.loops.elimination`
does the same. How far factors can be trusted is in the multipliers: where one is larger than `LARGEST`, pivots have to
be chosen again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from rbdae.graph.graph import Graph
from rbdae.graph.pivots import Place, Plan

LARGEST = 1e8
"""Size of a multiplier up to which factors are good enough for Newton's method: it loses half of the digits."""


@final
@dataclass(frozen=True, slots=True)
class Factors:
    """The nodes of L, U and the reciprocal pivots of a plan, and what bounds the multipliers.

    Parameters
    ----------
    lower, upper : for each pivot, entries by row, and by column
    pivots : for each pivot 1 / a_ij
    growth : the node of the sum of the squares of all multipliers
    """

    lower: list[list[tuple[int, int]]]
    upper: list[list[tuple[int, int]]]
    pivots: list[int]
    growth: int


def eliminate(graph: Graph, order: Plan, entries: Mapping[Place, int]) -> Factors:
    """The factors of a matrix as nodes. What is constant in it folds."""
    rows: dict[int, dict[int, int]] = {i: {} for i, _ in order.pivots}
    for (i, j), x in entries.items():
        rows[i][j] = x
    sums = [graph.const(0.0)] * 4  # four chains: none is the longest of the code
    lower, upper, pivots, count = [], [], [], 0
    for (i, j), below, right in zip(order.pivots, order.lower, order.upper, strict=True):
        row = rows[i]
        reciprocal = graph.div(graph.const(1.0), row[j])
        right_entries = [(k, row[k]) for k in right]
        below_entries = []
        for r in below:
            other = rows[r]
            factor = graph.mul(other.pop(j), reciprocal)
            below_entries.append((r, factor))
            sums[count % 4] = graph.add(sums[count % 4], graph.mul(factor, factor))
            count += 1
            for k, x in right_entries:
                product = graph.mul(factor, x)
                other[k] = graph.sub(other[k], product) if k in other else graph.neg(product)
        lower.append(below_entries)
        upper.append(right_entries)
        pivots.append(reciprocal)
    growth = graph.add(graph.add(sums[0], sums[1]), graph.add(sums[2], sums[3]))
    return Factors(lower, upper, pivots, growth)


def substitute(graph: Graph, order: Plan, factors: Factors, b: Sequence[int]) -> list[int]:
    """The solution x of A x = b by forward and backward substitution."""
    right = list(b)
    for (i, _), below in zip(order.pivots, factors.lower, strict=True):
        for r, factor in below:
            right[r] = graph.sub(right[r], graph.mul(factor, right[i]))
    x = [0] * len(right)
    steps = zip(order.pivots, factors.upper, factors.pivots, strict=True)
    for (i, j), row, reciprocal in reversed(list(steps)):
        value = right[i]
        for k, entry in row:
            value = graph.sub(value, graph.mul(entry, x[k]))
        x[j] = graph.mul(value, reciprocal)
    return x

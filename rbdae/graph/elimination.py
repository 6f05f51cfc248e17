"""Elimination on the nodes of a graph, in the order of a `rbdae.graph.pivots.Plan`.

For each pivot (i, j) in turn, the multipliers are l_r = a_rj / a_ij for the remaining rows r, then a_rk -= l_r a_ik for
the columns k of the pivot's row ([HNW93] II.1). `rbdae.machine.loops.elimination` does the same on numbers, in loops
over tables. The multipliers show whether the factors can be trusted: if one exceeds `LARGEST`, pivots have to be chosen
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from rbdae.graph.graph import Graph
from rbdae.graph.pivots import Place, Plan

LARGEST = 1e8
"""Largest multiplier with factors accurate enough for Newton's method: it loses half of the digits."""


@final
@dataclass(frozen=True, slots=True)
class Factors:
    """Nodes of L, U and the reciprocal pivots of a plan, and a bound of the multipliers.

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
    """The factors of a matrix as nodes; constants are folded."""
    rows: dict[int, dict[int, int]] = {i: {} for i, _ in order.pivots}
    for (i, j), x in entries.items():
        rows[i][j] = x
    sums = [graph.const(0.0)] * 4  # four chains, so that they do not become the longest of the code
    lower, upper, pivots, count = [], [], [], 0
    for (i, j), below, right in zip(order.pivots, order.lower, order.upper, strict=True):
        row = rows[i]
        reciprocal = graph.div(graph.const(1.0), row[j])
        right_entries = [(k, row[k]) for k in right]
        below_entries = []
        for r in below:
            remaining = rows[r]
            factor = graph.mul(remaining.pop(j), reciprocal)
            below_entries.append((r, factor))
            sums[count % 4] = graph.add(sums[count % 4], graph.mul(factor, factor))
            count += 1
            for k, x in right_entries:
                product = graph.mul(factor, x)
                remaining[k] = graph.sub(remaining[k], product) if k in remaining else graph.neg(product)
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

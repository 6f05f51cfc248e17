"""Newton's method on recorded equations: their derivative, by the calculus of the graph, is eliminated on the graph.

The order was found once (`rbdae.multibody.memory.newton`). Rows are not exchanged: a body's diagonal block is positive
(`rbdae.kernels.conserving.bodies`), and what becomes of a joint's, after one of its bodies, is minus G A^-1 G^T.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from rbdae.graph.derivatives import tangents
from rbdae.graph.elimination import eliminate, substitute
from rbdae.graph.functions import Array, Memory
from rbdae.graph.pivots import with_pivots
from rbdae.rotations.vectors import reciprocal

Slopes: TypeAlias = "list[tuple[Any, dict[int, Any]]]"
"""Numbers with their derivatives, by the places of unknowns."""


def tangent(m: Memory, rows: Array, slopes: Slopes, through: Array = ()) -> dict[tuple[int, int], int]:
    """The nodes of A = d rows / d unknowns by row and column; omitted ones are zero.

    Parameters
    ----------
    slopes : numbers with their derivatives by some unknowns: the unknowns themselves, and others
    through : numbers on which many rows depend, and that depend on many unknowns: the chain rule goes through them
    """
    recorder, graph = m.recorder, m.recorder.graph
    one, n, number = graph.const(1.0), len(rows), recorder.number
    seeds = {number(x): {j: number(slope) for j, slope in by.items()} for x, by in slopes}
    between = [k for k in map(number, through) if graph.value(k) is None]
    entries: dict[tuple[int, int], int] = {}

    def add(i: int, row: Mapping[int, int], factor: int) -> None:
        for j, node in row.items():
            if j >= n:
                add(i, of_between[j - n], node)
                continue
            x = graph.mul(factor, node)
            entries[i, j] = graph.add(entries[i, j], x) if (i, j) in entries else x

    of_between = tangents(graph, between, seeds)
    seeds |= {k: {n + j: one} for j, k in enumerate(between)}
    for i, row in enumerate(tangents(graph, [number(x) for x in rows], seeds)):
        add(i, row, one)
    return entries


def correction(m: Memory, rows: Array, slopes: Slopes, right: Array, through: Array = ()) -> Array:
    """The solution c of A c = right with the `tangent` A; 0 for unknowns of dropped rows."""
    recorder, graph, n = m.recorder, m.recorder.graph, len(rows)
    entries = tangent(m, rows, slopes, through)
    order = m.newton_order.tolist()
    if len(order) == n == 3:  # of a body alone: one division is on the way to the result, not three
        A = [[recorder.result(entries[i, j]) if (i, j) in entries else 0.0 for j in range(n)] for i in range(n)]
        return reciprocal(np.array(A)).T @ right
    plan = with_pivots(n, [(k, k) for k in order], entries)
    factors = eliminate(graph, plan, entries)
    x = substitute(graph, plan, factors, [recorder.number(x) for x in right])
    out = np.zeros(n, dtype=object)
    out[order] = [recorder.result(x[k]) for k in order]
    return out

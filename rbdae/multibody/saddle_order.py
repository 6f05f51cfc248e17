"""The order in which the saddle-point system of a mechanism with loops is eliminated (`rbdae.kernels.linear.saddle`).

Of G, many entries are constants that are better pivots than the bodies' masses. So pivots of one and of two rows are
taken wherever they make the fewest products, among those whose multipliers are small at several states ([DR83]): a
third of the operations of the joints' Schur complement. Chains and trees have none of it to gain.

An order is a choice by the numbers of a problem, rounded: those of the model to powers of two, the state to a
millionth. So it depends on the problem alone, and problems alike share it; code is that of structure and order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rbdae._arrays import Bools, Ints, Mat, Vec
from rbdae.kernels.joint_rows import set_gradients
from rbdae.kernels.linear.elimination import Pivot
from rbdae.kernels.linear.saddle import LARGEST, Saddle

_LEAST = (0.1, 0.03, 0.01, 0.001)
"""Reciprocals of the largest multiplier; the next one where no pivot is left."""

_SOUND = 1e-4 * LARGEST
"""Of the growth where an order is chosen."""

_BESIDE = (1e-4, 1e-2, 1e-1)
"""Distances from the regular state of further ones where multipliers have to be small."""


def saddle_order(memory: Callable[[], Any], y: Vec) -> tuple[Pivot, ...]:
    """The order for a state y, by memories of floats; empty if none is sound."""
    rng = np.random.default_rng(7)
    found = [_sample(memory(), y + size * rng.standard_normal(len(y))) for size in (0.0, *_BESIDE)]
    if not np.isfinite(found).all():
        return ()
    samples = np.array(found)
    used = (samples != 0.0).any(axis=0)
    for least in _LEAST:
        order = least_fill(samples, used, least)
        if order is not None:
            return tuple(order)
    return ()


def _sample(m: Any, y: Vec) -> Mat:
    """The matrix at a state, of numbers without units."""
    set_gradients(m, 0.1234, y.astype(object))
    saddle = Saddle(m, 1)
    rows = saddle.matrix()
    A = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        A[i, [*row]] = [*row.values()]
    units = np.sqrt(saddle.units().astype(float))
    out: Mat = A * units * units[:, None]
    return out


def least_fill(samples: Mat, used: Bools, least: float) -> list[Pivot] | None:
    """Pivots of least fill, for symmetric matrices (samples, n, n) with entries `used`, whose multipliers are at most
    1 / `least` in all samples; None if there are none."""
    A, used = samples.copy(), used.copy()
    left, out = set(range(len(used))), list[Pivot]()
    while left:
        found = _best(A, used, left, least)
        if found is None:
            return None
        pivot, rest, L = found
        A[:, rest[:, None], rest] -= L @ A[:, pivot][:, :, rest]
        used[rest[:, None], rest] |= _fill(used, pivot, rest)
        used[pivot, :] = used[:, pivot] = False
        left.difference_update(pivot)
        out.append(tuple(pivot))
    return out


def _best(A: Mat, used: Bools, left: set[int], least: float) -> tuple[list[int], Ints, Mat] | None:
    """The pivot with the fewest products, the rows that have multipliers, and these."""
    degrees = used.sum(axis=1).tolist()
    best, out = np.inf, None
    for i in sorted(left, key=lambda k: (degrees[k], k)):
        if 0.5 * (degrees[i] - 2) ** 2 >= best:
            break
        columns = np.flatnonzero(used[i]).tolist()
        if used[i, i]:
            columns.remove(i)
            columns.insert(0, i)
        for j in columns:
            cost = 0.5 * degrees[i] * (degrees[i] - 1) if i == j else _cost(used, degrees, i, j)
            if cost < best:
                pivot = [i] if i == j else sorted((i, j))
                rest = np.flatnonzero(used[pivot].any(axis=0))
                rest = rest[~np.isin(rest, pivot)]
                L = _multipliers(A, pivot, rest)
                if L is not None and (np.abs(L) <= 1.0 / least).all():
                    best, out = cost, (pivot, rest, L)
    return out


def _multipliers(A: Mat, pivot: list[int], rest: Ints) -> Mat | None:
    """Those of the rest (samples, rest, pivot); None where a pivot has none."""
    i, j = pivot[0], pivot[-1]
    a, b, d = A[:, i, i], A[:, i, j], A[:, j, j]
    if i == j:
        return None if (a == 0.0).any() else A[:, rest, i, None] / a[:, None, None]
    det = a * d - b * b
    if (np.abs(det) <= 1e-2 * b * b).any():
        return None
    one, two = A[:, rest, i], A[:, rest, j]
    a, b, d, det = (x[:, None] for x in (a, b, d, det))
    return np.stack([(d * one - b * two) / det, (a * two - b * one) / det], axis=2)


def _cost(used: Bools, degrees: Sequence[int], i: int, j: int) -> float:
    """Products of the update by two rows; where one of them has no diagonal, many multipliers vanish."""
    empty = not used[i, i], not used[j, j]
    n = degrees[i] - 2 + empty[0], degrees[j] - 2 + empty[1]
    if all(empty):
        return float(n[0] * n[1])
    if any(empty):
        return float(n[0] * n[1] + 0.5 * (n[1] if empty[1] else n[0]) ** 2)
    every = int((used[i] | used[j]).sum()) - 2
    return float(every * (every + 1))


def _fill(used: Bools, pivot: Sequence[int], rest: Ints) -> Bools:
    """The entries that an update may make."""
    one, two = (used[rest, k] for k in (pivot[0], pivot[-1]))
    first, last = (used[k, k] for k in (pivot[0], pivot[-1]))
    if len(pivot) == 1 or (first and last):
        out: Bools = (one | two)[:, None] & (one | two)
        return out
    out = (one[:, None] & two) | (two[:, None] & one)
    if first:
        out |= two[:, None] & two
    if last:
        out |= one[:, None] & one
    return out

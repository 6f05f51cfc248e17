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

from rbdae._arrays import Bools, Mat, Vec
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
    return A * units * units[:, None]


def least_fill(samples: Mat, used: Bools, least: float) -> list[Pivot] | None:
    """Pivots of least fill, for symmetric matrices (samples, n, n) with entries `used`, whose multipliers are at most
    1 / `least` in all samples; None if there are none."""
    A, used = samples.copy(), used.copy()
    left, out = np.ones(A.shape[1], dtype=bool), list[Pivot]()
    while left.any():
        found = _best(A, used, np.flatnonzero(left), least)
        if found is None:
            return None
        pivot, rest, L = found
        B = A[:, :, pivot][:, rest]
        A[:, rest[:, None], rest] -= L @ np.swapaxes(B, 1, 2)
        used[np.ix_(rest, rest)] |= _fill(used, pivot, rest)
        used[pivot, :] = used[:, pivot] = False
        left[list(pivot)] = False
        out.append(tuple(int(k) for k in pivot))
    return out


def _best(A: Mat, used: Bools, left: Any, least: float) -> Any:
    """The pivot with the fewest products, the rows that have multipliers, and these."""
    degrees = used.sum(axis=1)
    candidates = []
    for i in left.tolist():
        if used[i, i]:
            candidates.append(((degrees[i] - 1) * degrees[i] / 2, (i,)))
        for j in np.flatnonzero(used[i, i + 1 :]).tolist():
            j += i + 1
            candidates.append((_cost(used, degrees, i, j), (i, j)))
    for _, pivot in sorted(candidates):
        at = list(pivot)
        rest = np.flatnonzero(used[at].any(axis=0))
        rest = rest[~np.isin(rest, at)]
        block = A[:, at][:, :, at]
        size = np.abs(np.linalg.det(block))
        if np.any(size <= 1e-2 * np.abs(block[:, 0, -1]) ** len(at)):
            continue
        L = A[:, :, at][:, rest] @ np.linalg.inv(block)
        if np.all(np.abs(L) <= 1.0 / least):
            return at, rest, L
    return None


def _cost(used: Bools, degrees: Any, i: int, j: int) -> float:
    """Products of the update by two rows; where one of them has no diagonal, many multipliers vanish."""
    n = degrees[i] - 1 - used[i, i], degrees[j] - 1 - used[j, j]
    empty = not used[i, i], not used[j, j]
    if all(empty):
        return float(n[0] * n[1])
    if any(empty):
        return float(n[0] * n[1] + 0.5 * (n[1] if empty[1] else n[0]) ** 2)
    every = int((used[i] | used[j]).sum()) - 2
    return float(every * (every + 1))


def _fill(used: Bools, pivot: Sequence[int], rest: Any) -> Bools:
    """The entries that an update may make."""
    of = used[np.ix_(rest, pivot)]
    if len(pivot) == 1 or (used[pivot[0], pivot[0]] and used[pivot[1], pivot[1]]):
        return of.any(axis=1)[:, None] & of.any(axis=1)
    one, two = of.T
    out = one[:, None] & two | two[:, None] & one
    if used[pivot[0], pivot[0]]:
        out |= two[:, None] & two
    if used[pivot[1], pivot[1]]:
        out |= one[:, None] & one
    return out

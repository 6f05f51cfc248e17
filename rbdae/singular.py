"""Singular positions along a motion: where the constraint matrix loses rank, and how the joints pass through it.

The smallest singular value of G that counts (the rank at the start) is taken at stored times. Where a mechanism passes
a singular position, a dead point with a branching of its motion, it falls to zero and rises again, both linearly: the
zero is extrapolated from both sides, so the steps need not hit it. Where the state has drifted it turns a little above
zero: a minimum below 1e-3 counts, too. Where singular values would cost too much, and the problem watches its
pivots (`redundant="minimum-norm"`), the root of the smallest pivot takes their place; it falls to zero in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.gradient import SINGULAR, gradient

if TYPE_CHECKING:
    from rbdae.problem import Problem

LARGEST = 200
"""Joint equations up to which a solution is searched by singular values."""

_POINTS = 2000
_CLOSE = 1e-3


def closeness(problem: Problem, t: Vec, y: Mat) -> Vec:
    """Smallest over largest singular value of G, rows scaled to one, without those that are redundant at the start."""
    G = gradient(problem.model, t, problem.natural(t, y))
    scale = np.linalg.norm(G, axis=-1, keepdims=True)
    scale[scale == 0.0] = 1.0
    s = np.linalg.svd(G / scale, compute_uv=False)
    rank = G.shape[-2] - len(problem.redundant)
    return np.asarray(s[..., rank - 1] / s[..., 0])


def singular_times(problem: Problem, t: Vec, y: Mat) -> Vec:
    """Times near which the joints are singular; empty for systems without loops, and beyond `LARGEST` equations where
    the problem does not watch its pivots.

    Parameters
    ----------
    t, y : (m,), (m, n)
        Rising times, close enough to follow the motion.
    """
    rows = int(problem.model.primitives["n"].sum()) if len(problem.model.primitives) else 0
    finite = np.isfinite(y).all(axis=1) if len(t) else np.zeros(0, dtype=bool)
    t, y = t[finite], y[finite]
    if not problem.model.tree.closing or not rows or len(t) < 4:
        return np.empty(0)
    if rows > LARGEST and not problem.guarded:
        return np.empty(0)
    every = -(-len(t) // _POINTS)
    t, y = t[::every], y[::every]
    s = closeness(problem, t, y) if rows <= LARGEST else np.sqrt(SINGULAR * problem.pivots(t, y).min(axis=-1))
    found: list[int] = []
    times: list[float] = []
    for k in range(1, len(t) - 2):
        time = _crossing(t, s, k)
        if time is None and s[k] < _CLOSE and s[k - 1] >= s[k] < s[k + 1]:
            time = float(t[k])
        # one passage may be seen by several neighbours
        if time is not None and (not found or s[found[-1] : k + 1].max() > 10.0 * max(s[found[-1]], s[k], _CLOSE)):
            found.append(k)
            times.append(time)
    return np.array(times)


def _crossing(t: Vec, s: Vec, k: int) -> float | None:
    """Where s passes zero between t[k] and t[k + 1]: with its sign changed there, four values lie on a line."""
    if not s[k - 1] > s[k] or not s[k + 2] > s[k + 1]:
        return None
    times = t[k - 1 : k + 3] - t[k]
    signed = s[k - 1 : k + 3] * np.array([1.0, 1.0, -1.0, -1.0])
    slope, offset = np.polyfit(times, signed, 1)
    off = np.max(np.abs(slope * times + offset - signed))
    root = -offset / slope
    near = off < 0.1 * np.max(np.abs(signed)) and 0.0 <= root <= times[2]
    return float(t[k] + root) if near else None


__all__ = ["LARGEST", "closeness", "singular_times"]

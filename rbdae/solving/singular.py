"""Singular positions along a motion: where the constraint matrix loses rank, and how the joints pass through it.

The smallest singular value of G that counts (the rank at the start) is taken at stored times. Where a mechanism passes
a singular position, a dead point with a branching of its motion, it falls to zero and rises again, both linearly: the
zero is extrapolated from both sides, so the steps need not hit it. Where the state has drifted it turns a little above
zero: a minimum below 1e-3 counts, too.

`rbdae.solve` asks after every run, so the question has to be cheap: steps much shorter than the motion needs are left
out, and singular values are computed only around minima of the product of all of them, which one factorisation gives.
Where they would cost too much even so, and the problem watches its pivots (`redundant="minimum-norm"`), the root of the
smallest pivot takes their place; it falls to zero in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.multibody.constraint_matrix import SINGULAR, gradient
from rbdae.solving.switches.velocities import measure

if TYPE_CHECKING:
    from rbdae.problem.problem import Problem

LARGEST = 200
"""Joint equations up to which a solution is searched by singular values."""

_POINTS = 2000
_CLOSE = 1e-3
# a parameter of a rotation, or a position over the mechanism's length, changes by so much from one look to the next
_APART = 0.02
# rows to look at around a minimum, at most
_FINE = 60
# a minimum of the product of all singular values counts where it is below this share of its largest value, or
# half as large as two looks away
_LOW = 0.1
_DEEP = 0.5


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
    looks = _looks(problem, y)
    spans = _suspects(problem.joint_volumes(t[looks], y[looks]))
    if not spans:
        return np.empty(0)
    parts = [np.unique(np.linspace(looks[a], looks[b], _FINE).astype(np.int64)) for a, b in spans]
    every = np.concatenate(parts)
    if rows <= LARGEST:
        s = closeness(problem, t[every], y[every])
    else:
        s = np.sqrt(SINGULAR * problem.pivots(t[every], y[every]).min(axis=-1))
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return np.concatenate([_passages(*part) for part in zip(np.split(t[every], ends), np.split(s, ends), strict=True)])


def _passages(t: Vec, s: Vec) -> Vec:
    """Zeros of s."""
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


def spans(problem: Problem) -> Vec:
    """What positions q are to be compared with: a length of the mechanism, 1 for the parameters of rotations."""
    metric = measure(problem.model)
    length = metric.scale[~metric.turning].max(initial=0.0) or 1.0
    places = [label[-2:] in (".x", ".y", ".z") for label in problem.labels[problem.layout.q]]
    return np.where(places, length, 1.0)


def _looks(problem: Problem, y: Mat) -> Ints:
    """Rows that follow the motion, at most `_POINTS` of them."""
    q = y[:, problem.layout.q] / spans(problem)
    path = np.append(0.0, np.cumsum(np.max(np.abs(np.diff(q, axis=0)), axis=1)))
    apart = max(_APART, path[-1] / _POINTS)
    return np.unique(np.searchsorted(path, np.arange(0.0, path[-1] + apart, apart)).clip(max=len(y) - 1))


def _suspects(volumes: Vec) -> list[tuple[int, int]]:
    """Spans around the minima of the product of all singular values, given by its logarithm, that may be zeros."""
    top = np.max(volumes)
    if not np.isfinite(top):
        return []
    v = np.exp(volumes - top)
    spans: list[tuple[int, int]] = []
    for k in range(1, len(v) - 1):
        shoulder = min(v[max(k - 2, 0)], v[min(k + 2, len(v) - 1)])
        if v[k - 1] >= v[k] < v[k + 1] and (v[k] < _LOW or v[k] < _DEEP * shoulder):
            first, last = max(k - 4, 0), min(k + 4, len(v) - 1)
            if spans and first <= spans[-1][1]:
                first = spans.pop()[0]
            spans.append((first, last))
    return spans


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


__all__ = ["LARGEST", "closeness", "singular_times", "spans"]

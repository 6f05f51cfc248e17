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

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.multibody.row_selection import SUSPENDED_FROM
from rbdae.multibody.row_selection import closeness as closeness_of
from rbdae.problem.problem import Problem
from rbdae.problem.switches.rows import position_scale

LARGEST = 200
"""Joint equations up to which a solution is searched by singular values."""

_POINTS = 2000
_CLOSE = 1e-3
# largest change of a rotation parameter, or of a position over the mechanism's length, between two samples
_APART = 0.02
# samples around a minimum, at most
_FINE = 60
# a minimum of the product of all singular values counts where it is below this share of its largest value, or
# half as large as two samples away
_LOW = 0.1
_DEEP = 0.5


def closeness(problem: Problem, t: Vec, y: Mat) -> Vec:
    """Smallest over largest singular value of G, rows scaled to one, without those that are redundant at the start."""
    return closeness_of(problem.model, problem.interpretation.joint_matrix(t, y), len(problem.selection.rows.dropped))


def singular_times(problem: Problem, t: Vec, y: Mat) -> Vec:
    """Times near which the joints are singular; empty for systems without loops, and beyond `LARGEST` equations if the
    problem suspends no rows.

    Parameters
    ----------
    problem : reads the states of the run
    t, y : (m,), (m, n)
        Rising times, close enough to follow the motion.
    """
    if not problem.model.tree.closing:
        return np.empty(0)
    rows = problem.layout.n_rows
    finite = np.isfinite(y).all(axis=1) if len(t) else np.zeros(0, dtype=bool)
    t, y = t[finite], y[finite]
    suspends = problem.selection.rows.pivot_floor is not None
    if not rows or len(t) < 4 or (rows > LARGEST and not suspends):
        return np.empty(0)
    samples = _samples(problem, y)
    heights = problem.log_determinant(t[samples], y[samples])
    spans = _suspects(heights)
    if not spans:
        return np.empty(0)
    parts = [np.unique(np.linspace(samples[a], samples[b], _FINE).astype(np.int64)) for a, b in spans]
    every = np.concatenate(parts)
    s = (closeness if rows <= LARGEST else _smallest_pivot)(problem, t[every], y[every])
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return np.concatenate([_passages(*part) for part in zip(np.split(t[every], ends), np.split(s, ends), strict=True)])


def _smallest_pivot(problem: Problem, t: Vec, y: Mat) -> Vec:
    """The root of the smallest pivot: it falls to zero as the smallest singular value does."""
    return np.asarray(np.sqrt(SUSPENDED_FROM * problem.interpretation.pivots(t, y).min(axis=-1)))


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


def scale_of_positions(problem: Problem) -> Vec:
    """The scales that positions q are compared with: a length of the mechanism, 1 for the parameters of rotations."""
    return position_scale(problem.workspace)


def _samples(problem: Problem, y: Mat) -> Ints:
    """Rows that follow the motion, at most `_POINTS` of them."""
    q = y[:, problem.layout.q] / scale_of_positions(problem)
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
    """The time at which s passes zero between t[k] and t[k + 1]: with its sign changed there, four values lie on a
    line."""
    if not s[k - 1] > s[k] or not s[k + 2] > s[k + 1]:
        return None
    times = t[k - 1 : k + 3] - t[k]
    signed = s[k - 1 : k + 3] * np.array([1.0, 1.0, -1.0, -1.0])
    slope, offset = np.polyfit(times, signed, 1)
    off = np.max(np.abs(slope * times + offset - signed))
    root = -offset / slope
    near = off < 0.1 * np.max(np.abs(signed)) and 0.0 <= root <= times[2]
    return float(t[k] + root) if near else None


__all__ = ["LARGEST", "closeness", "scale_of_positions", "singular_times"]

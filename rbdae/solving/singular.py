"""Singular positions along a motion: where the constraint matrix loses rank, and how the joints pass through it.

The smallest singular value of G that counts (the rank at the start) falls to zero where a mechanism passes a singular
position, a dead point with a branching of its motion, and rises again, both linearly: the zero is extrapolated from
both sides, so the steps need not hit it. Where the state has drifted it turns a little above zero: a minimum below 1e-3
counts, too.

The message of a run asks when it is read, so the question has to be cheap. One factorisation in machine code gives the
sines between each row of G and those before it, whose product has a deep minimum there, at which one of them falls and
rises in the same way. Steps much shorter than the motion needs are left out at first. The smallest singular value
decides where a sine turns above zero, if there are not too many rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.multibody.row_selection import closeness as closeness_of
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.projection import has_drifted

LARGEST = 200
"""Joint equations up to which singular values are computed."""

_POINTS, _NUMBERS = 2000, 4_000_000
"""Samples, and sines of all of them, at most."""

_CLOSE = 1e-3
# largest change of a rotation parameter, or of a position over the mechanism's length, between two samples
_APART = 0.02
# samples around a minimum, at most
_FINE = 60
# a minimum of the product of all sines counts where it is below this share of its largest value, or half as large as
# two samples away
_LOW = 0.1
_DEEP = 0.5


def closeness(problem: Problem, t: Vec, y: Mat) -> Vec:
    """Smallest over largest singular value of G, rows scaled to one, without those that are redundant at the start."""
    return closeness_of(
        problem.model, problem.each(Interpretation.joint_matrix, t, y), len(problem.selection.rows.dropped)
    )


def singular_times(problem: Problem, t: Vec, y: Mat) -> Vec:
    """Times near which the joints are singular; empty for systems without loops.

    Parameters
    ----------
    problem : reads the states of the run
    t, y : (m,), (m, n)
        Rising times, close enough to follow the motion.
    """
    if not problem.model.tree.closing:
        return np.empty(0)
    if not np.isfinite(y).all():
        finite = np.isfinite(y).all(axis=1)
        t, y = t[finite], y[finite]
    if not problem.layout.n_rows or len(t) < 4:
        return np.empty(0)
    samples = _samples(problem, y)
    with np.errstate(divide="ignore"):
        heights = 0.5 * np.log(_squares(problem, t[samples], y[samples])).sum(axis=1)
    times: list[float] = []
    for a, b in _suspects(heights):
        rows = np.unique(np.linspace(samples[a], samples[b], _FINE).astype(np.int64))
        sines = np.sqrt(_squares(problem, t[rows], y[rows]))
        sines = sines[:, sines.min(axis=0) < _DEEP * sines.max(axis=0)]
        exact = problem.layout.n_rows <= LARGEST
        for k, time in _passages(t[rows], sines, 10.0 * _CLOSE if exact else _CLOSE):
            here = rows[k : k + 1]
            crossed = time > t[here[0]]  # else it has turned
            if crossed or not exact or closeness(problem, t[here], y[here])[0] < _CLOSE:
                times.append(time)
    return np.array(times)


def passages(solution: Any, projected: bool) -> str:
    """A word for the message of a `rbdae.Solution` where the joints of a loop passed a singular position."""
    if solution.problem is not None and not solution.problem.workspace.memory.filled.like.tree.closing:
        return ""  # asking for them would take longer
    times = solution.singular_times
    if not len(times):
        kept = solution.steps is None or len(solution.steps.t) > 0
        return "" if kept else "; singular positions were looked for at the output times alone: no steps were kept"
    listed = ", ".join(f"{t:.6g}" for t in times[:5]) + (" and more" if len(times) > 5 else "")
    warning = f"; the joints were singular near t = {listed}: the motion beyond is one of several branches"
    p = solution.problem
    if not projected and (p is None or has_drifted(p, solution.t[-1], solution.y[-1])):
        warning += ", and errors grow with each passage: use projection=True"
    return warning


def _squares(problem: Problem, t: Vec, y: Mat) -> Mat:
    """The squares of the sines between each joint row and those before it, (m, rows)."""
    return np.maximum(problem.each(Interpretation.independence, t, y)[:, :-1], 0.0)


def _passages(t: Vec, s: Mat, close: float) -> list[tuple[int, float]]:
    """Zeros of the columns of s (m, n), or minima below a number: rows before them or there, and their times."""
    if len(t) < 4:
        return []
    before, here, after = s[:-3], s[1:-2], s[2:-1]
    zeros = _crossings(t, s)
    turned = (before >= here) & (here < after) & (here < close)
    zeros = np.where(turned & np.isnan(zeros), t[1:-2, None], zeros)
    found: list[tuple[int, float]] = []
    for k in np.flatnonzero(~np.isnan(zeros).all(axis=1)).tolist():
        j = int(np.argmin(np.where(np.isnan(zeros[k]), np.inf, here[k])))
        # one passage may be seen by several neighbours
        last = found[-1][0] if found else k + 1
        if not found or s[last : k + 2, j].max() > 10.0 * max(s[last, j], s[k + 1, j], close):
            found.append((k + 1, float(zeros[k, j])))
    return found


def _samples(problem: Problem, y: Mat) -> Ints:
    """Rows that follow the motion, at most `_POINTS` of them."""
    layout, length = problem.layout, problem.model.scales.length
    units = np.array([length if label[-2:] in (".x", ".y", ".z") else 1.0 for label in layout.labels[layout.q]])
    steps = np.abs(np.diff(y[:, layout.q], axis=0)) / units
    path = np.cumsum(steps.max(axis=1))
    apart = max(_APART, path[-1] / min(_POINTS, _NUMBERS // layout.n_rows))
    parts = np.floor(path / apart)
    kept = np.ones(len(y), dtype=bool)
    kept[1], kept[2:-1] = parts[0] > 0.0, parts[1:-1] > parts[:-2]
    return np.flatnonzero(kept)


def _suspects(heights: Vec) -> list[tuple[int, int]]:
    """Spans around the minima of the product of all sines, given by its logarithm, that may be zeros."""
    top = np.max(heights)
    if not np.isfinite(top):
        return []
    low, deep = top + math.log(_LOW), math.log(_DEEP)
    spans: list[tuple[int, int]] = []
    here = heights[1:-1]
    for k in (1 + np.flatnonzero((heights[:-2] >= here) & (here < heights[2:]))).tolist():
        shoulder = min(heights[max(k - 2, 0)], heights[min(k + 2, len(heights) - 1)])
        if heights[k] < low or heights[k] < deep + shoulder:
            first, last = max(k - 4, 0), min(k + 4, len(heights) - 1)
            if spans and first <= spans[-1][1]:
                first = spans.pop()[0]
            spans.append((first, last))
    return spans


def _crossings(t: Vec, s: Mat) -> Mat:
    """The times at which s (m, n) passes zero between t[k] and t[k + 1], for k from 1 to m - 3: with the sign changed
    there, four values lie on a line. NaN where they do not."""
    windows = np.lib.stride_tricks.sliding_window_view
    times = windows(t, 4) - t[1:-2, None]
    signed = windows(s, 4, axis=0) * np.array([1.0, 1.0, -1.0, -1.0])
    centre, mean = times.mean(axis=1), signed.mean(axis=2)
    apart = (times - centre[:, None])[:, None]
    slope = np.sum(apart * signed, axis=2) / np.sum(apart**2, axis=2)
    off = np.max(np.abs(slope[..., None] * apart + mean[..., None] - signed), axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = centre[:, None] - mean / slope
    near = (off < 0.1 * np.max(np.abs(signed), axis=2)) & (root >= 0.0) & (root <= times[:, 2:3])
    return np.where(near & (s[:-3] > s[1:-2]) & (s[3:] > s[2:-1]), t[1:-2, None] + root, np.nan)

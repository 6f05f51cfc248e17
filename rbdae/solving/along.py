"""What is read along a run, not at its rows: the work of its forces, the turns of its angles, and the singular
positions that it passes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Ints, Mat, Vec
from rbdae._frozen import ByName, brief
from rbdae.adapter import Steps
from rbdae.kernels.readings import power_at
from rbdae.multibody.choices.row_selection import closeness as closeness_of
from rbdae.multibody.recorded.recording import MOST_NODES, recording_point, run
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.owners import Owner
from rbdae.problem.problem import Problem
from rbdae.problem.projection import has_drifted
from rbdae.problem.quantities import Measured
from rbdae.problem.timed import Segments
from rbdae.quantities.quantity import Quantity
from rbdae.solving.dense import DenseOutput
from rbdae.solving.registry import find_method

_SHARE = 0.03
"""The error of the work, in tolerances of the energy."""

_HALVINGS = 6

_TOGETHER = 256
"""Intervals whose powers are evaluated at once."""

# Gauss's rule of three points and Kronrod's extension to seven, on (-1, 1)
_POINTS = np.array([0.9604912687080202834, 0.7745966692414833770, 0.4342437493468025580])
_POINTS = np.concatenate([-_POINTS, [0.0], _POINTS[::-1]])
_KRONROD = np.array([0.1046562260264672652, 0.2684880898683334407, 0.4013974147759622229])
_KRONROD = np.concatenate([_KRONROD, [0.4509165386584741423], _KRONROD[::-1]])
_GAUSS = np.array([0.0, 5.0 / 9.0, 0.0, 8.0 / 9.0, 0.0, 5.0 / 9.0, 0.0])


@final
@dataclass(frozen=True, eq=False, repr=False)
class EnergyOfRun:
    """Energies at the times of a run, shape (m,), J.

    Attributes
    ----------
    kinetic, potential, total : as of `Problem.energy`
    work : done since the first time by drives, motors, dampers and loads, which have no potential; in a run of fixed
        steps, the work in these steps
    balance : change of the total energy since the first time, minus `work`: zero in the exact motion
    """

    kinetic: Vec
    potential: Vec
    total: Vec
    _run: Any

    def __repr__(self) -> str:
        names = ("kinetic", "potential", "total")
        return f"EnergyOfRun({', '.join(f'{name}={brief(getattr(self, name))}' for name in names)})"

    @cached_property
    def work(self) -> Vec:
        """Work since the first time of all that has no potential: the integral of its power along the run, between the
        steps with ``solution(t)``, to a small part of the tolerance. In a run of fixed steps the sum of the works in
        them, forces times increments and multipliers times what drives prescribe: `balance` is then what the scheme
        itself gains or loses, round-off for one that keeps energy; between the ends of steps of order two both have
        the errors of states there."""
        run: Any = self._run
        problem, t = run._problem, run.t
        if not isinstance(problem, Problem):
            raise TypeError(f"only a rbdae.Problem knows the work of its forces and drives, not {problem!r}")
        if not len(t) or is_conservative(problem):
            return np.zeros(len(t))
        dense = run.dense  # raises for a run that kept no steps
        counted = _counted(run, t) if "step" in run.options else None
        if counted is not None:
            return np.asarray(counted - counted[0])
        users = _of_time(problem, t, run.y)
        size = float(np.max(self.kinetic) + np.ptp(self.potential))
        tolerance = _SHARE * run.rtol * (size if size > 0.0 else 1.0)
        out = _integral(run.segments, dense, t, tolerance, users is not None)
        return out if users is None else out + users - users[0]

    @cached_property
    def balance(self) -> Vec:
        """``total - total[0] - work``: by how much a run has gained or lost energy."""
        out: Vec = self.total - self.total[:1] - self.work
        return out


def is_conservative(problem: Problem) -> bool:
    """Whether nothing in a problem can do work but the weight and forces that have a potential: the power of all others
    is zero whatever the state. Not of a user's force: its other part is seen only along the run."""
    model, workspace = problem.model, problem.workspace
    if len(model.drives) or len(model.frictions):
        return False
    shapes: dict[str, tuple[int, ...]] = {"y": (24 * model.n,), "yd": (model.forces.n_states,), "out": (1,)}
    found = run(workspace, power_at, shapes, recording_point(workspace, shapes), MOST_NODES)
    return bool(found.recorder.graph.value(*found.nodes(found.out)) == 0.0)


def _counted(run: Any, t: Vec) -> Vec | None:
    """The work at times t, as a method of fixed steps counts it, segment after segment; None if it does not."""
    segments: Segments = run.segments
    steps: Steps = run._accepted
    adapter, method = find_method(run.solver)
    out, total = np.zeros(len(t)), 0.0
    numbers = segments.numbers(steps.t[:-1])
    places = np.searchsorted(segments.direction * steps.t, segments.direction * t, side="right")
    at = np.clip(places - 1, 0, max(len(numbers) - 1, 0))
    for number in np.unique(numbers):
        here = np.flatnonzero(numbers == number)
        first, last = int(here[0]), int(here[-1]) + 1
        rows = (at >= first) & (at < last)
        taken = Steps(steps.t[first : last + 1], steps.y[first : last + 1])
        times = np.append(t[rows], taken.t[-1])
        works = adapter.work(segments.problems[number], method.name, run.options, taken, times)
        if works is None:
            return None
        out[rows] = total + works[:-1]
        total += float(works[-1])
    return out


def _of_time(reader: Problem, t: Vec, y: Mat) -> Vec | None:
    """The sum of the users' potentials that change with time at rest, (m,): no force has their power. None
    if there are none, as far as their values at neighbouring times tell."""
    elements = reader.model.forces.elements
    users = elements["potential"] != 0
    if not users.any():
        return None
    Z, s = reader.natural(t, y), y[:, reader.layout.s]
    columns = np.flatnonzero(users)
    view = reader.interpretation
    here, after = (view.potentials(times, Z, s)[:, columns] for times in (t, np.append(t[1:], t[0])))
    out: Vec = here.sum(axis=-1)
    return None if np.array_equal(here, after) else out


def _integral(segments: Segments, dense: DenseOutput, t: Vec, tolerance: float, users: bool) -> Vec:
    """Integrals from t[0] to all t of the power that comes from no potential; of users' forces with one, too, if asked
    for."""
    steps = dense.steps
    first, last = min(t[0], t[-1]), max(t[0], t[-1])
    ends = np.union1d(t, steps[(steps > first) & (steps < last)])
    work = np.zeros(len(ends))
    length = max(float(ends[-1] - ends[0]), 1e-300)
    powers = [partial(_power, Interpretation(problem.workspace), users) for problem in segments.problems]
    numbers = np.array([segments.number(0.5 * float(a + b)) for a, b in pairwise(ends)], dtype=np.int64)
    for number in np.unique(numbers):
        mine = np.flatnonzero(numbers == number)
        for first in range(0, len(mine), _TOGETHER):
            some = mine[first : first + _TOGETHER]
            work[some + 1] = _over(powers[number], dense, ends[some], ends[some + 1], tolerance / length, _HALVINGS)
    since = np.cumsum(work)[np.searchsorted(ends, t)]
    return np.asarray(since - since[0])


def _power(view: Interpretation, users: bool, t: Vec, y: Mat) -> Vec:
    found = view.power(t, y)
    return np.asarray(found.sum(axis=-1) if users else found[..., 0])


def _over(power: Callable[[Vec, Mat], Vec], dense: DenseOutput, a: Vec, b: Vec, tolerance: float, halvings: int) -> Vec:
    """The integrals from a (m,) to b (m,), with errors of about `tolerance` in each unit of time."""
    half = 0.5 * (b - a)
    times = (0.5 * (a + b)[:, None] + half[:, None] * _POINTS).ravel()
    values = power(times, dense(times)).reshape(len(a), len(_POINTS))
    fine, coarse = half * (values @ _KRONROD), half * (values @ _GAUSS)
    size = half * (np.abs(values) @ _KRONROD)
    error = np.abs(fine - coarse)
    doubtful = (error > 0.0) & (error < size)
    ratio = 200.0 * error[doubtful] / size[doubtful]
    error[doubtful] = np.minimum(error[doubtful], size[doubtful] * ratio**1.5)
    left = np.flatnonzero(~(error <= np.maximum(tolerance * (b - a), 1e-15 * size)))
    if halvings and len(left):
        middle = 0.5 * (a + b)[left]
        ends = np.concatenate([a[left], middle]), np.concatenate([middle, b[left]])
        halves = _over(power, dense, *ends, tolerance, halvings - 1)
        fine[left] = halves[: len(left)] + halves[len(left) :]
    return np.asarray(fine)


# ------------------------------------------------------------ quantities along a run, whose angles count turns


_TURN = 2.0 * np.pi
"""Angles count full turns by their rates at the accepted steps: between two of them an angle changes by about the mean
of its rates times the step, and of the angles that the position allows the nearest one is taken. So steps may be longer
than a turn."""


def along_run(problem: Problem, kind: str, t: Vec, y: Mat, steps: Steps) -> dict[str, Measured]:
    """The "joints" or "forces" at times t (m,) of a run and states y (m, n), in its order; `steps` are its accepted
    ones. Without any, turns are counted from row to row."""
    here = getattr(problem, kind)(t, y)

    @cache
    def at_steps() -> Any:
        return getattr(problem, kind)(steps.t, steps.y)

    def reader(name: str, owner: Owner) -> Callable[[str], Any]:
        def read(quantity: str) -> Any:
            found = owner.quantities[quantity]
            if not (found.aspect == "value" and found.unit == "rad"):
                return getattr(here[name], quantity)
            rate = next(
                q.name for q in owner.quantities.values() if q.aspect == "rate" and q.coordinate == found.coordinate
            )
            s, w = getattr(here[name], quantity), getattr(here[name], rate)
            if not len(steps.t):
                return _unwound(t, s, w)
            known = at_steps()[name]
            at, rates = getattr(known, quantity), getattr(known, rate)
            return _beside(t, s, w, steps.t, _unwound(steps.t, at, rates), rates)

        return read

    owners = getattr(problem.interpretation.owners, kind)
    every = ((name, Measured(owner.units, reader(name, owner))) for name, owner in owners.items())
    return ByName(kind.removesuffix("s"), every)


def quantity_along(run: Any, quantity: Quantity | str, t: ArrayLike | None) -> Any:
    """A quantity at the times of a run, or at times t within it."""
    owner, found = run.problem_at(run.t[0] if len(run.t) else 0.0).interpretation.owners.find(quantity)
    if t is None:
        return getattr(getattr(run, owner.kind)[owner.name], found.name)
    times = np.atleast_1d(_check.times(t))
    order = np.argsort(run._sense * times, kind="stable")
    measured = along_run(run.problem, owner.kind, times[order], run(times[order]), run._accepted)
    values = getattr(measured[owner.name], found.name)[np.argsort(order, kind="stable")]
    return values if np.ndim(t) else values[0]


def _unwound(t: Vec, s: Vec, w: Vec) -> Vec:
    """Angles s (m,) with rates w at times t, without jumps."""
    change = np.diff(s)
    expected = 0.5 * (w[1:] + w[:-1]) * np.diff(t)
    turns = np.cumsum(np.round((expected - change) / _TURN))
    return s + _TURN * np.concatenate([[0.0], turns])


def _beside(t: Vec, s: Vec, w: Vec, t_known: Vec, known: Vec, rates: Vec) -> Vec:
    """Shift angles s (m,) with rates w at times t by full turns next to the known ones before them in the run."""
    sense = -1.0 if t_known[-1] < t_known[0] else 1.0
    k = np.clip(np.searchsorted(sense * t_known, sense * t, side="right") - 1, 0, None)
    expected = known[k] + 0.5 * (rates[k] + w) * (t - t_known[k])
    return np.asarray(s + _TURN * np.round((expected - s) / _TURN))


# ------------------------------------------------------------ singular positions, where G loses rank

# The smallest singular value of G that counts (the rank at the start) falls to zero where a mechanism passes a singular
# position, a dead point with a branching of its motion, and rises again, both linearly: the zero is extrapolated from
# both sides, so the steps need not hit it. Where the state has drifted it turns a little above zero: a minimum below
# 1e-3 counts, too.
#
# The message of a run asks when it is read, so the question has to be cheap. One factorisation in machine code gives
# the sines between each row of G and those before it, whose product has a deep minimum there, at which one of them
# falls and rises in the same way. Steps much shorter than the motion needs are left out at first. The smallest singular
# value decides where a sine turns above zero, if there are not too many rows.

LARGEST = 200
"""Joint equations up to which singular values are computed."""

_SAMPLES, _NUMBERS = 2000, 4_000_000
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
    """Times near which the joints are singular, by states (m, n) at rising times (m,), close enough to follow the
    motion; empty for systems without loops."""
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
    if solution.problem is not None and not solution.problem.workspace.memory.model.tree.closing:
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
    n = problem.workspace.layout.n_rows  # what follows differs where a selection leaves out more rows
    return np.maximum(problem.each(lambda view, t, y: view.independence(t, y)[:, :n], t, y), 0.0)


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
    """Rows that follow the motion, at most `_SAMPLES` of them."""
    layout, length = problem.layout, problem.model.scales.length
    units = np.array([length if label[-2:] in (".x", ".y", ".z") else 1.0 for label in layout.labels[layout.q]])
    steps = np.abs(np.diff(y[:, layout.q], axis=0)) / units
    path = np.cumsum(steps.max(axis=1))
    apart = max(_APART, path[-1] / min(_SAMPLES, _NUMBERS // layout.n_rows))
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

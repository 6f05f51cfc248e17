"""The problems of a run that changed its selection, as one: every state is read by the problem of its time.

The time is among the arguments, so this is as frozen and pure as they are.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Ints, Mat, Vec
from rbdae._frozen import ByName
from rbdae.problem.quantities import BodyState, Measured, lazy_state


@final
@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """The problems of a run in its order, all of one class: the k-th holds from the k-th time on, the first before. The
    times of a run back in time fall; its `direction` is -1."""

    problems: tuple[Any, ...]
    times: tuple[float, ...] = ()
    direction: float = 1.0

    def number(self, t: float) -> int:
        """The number of the segment that a state at time t belongs to; a state at a change belongs to the new one."""
        return bisect_right(self.times, self.direction * t, key=lambda change: self.direction * change)

    def numbers(self, t: Vec) -> Ints:
        """The same for times (m,)."""
        changes = self.direction * np.array(self.times)
        return np.searchsorted(changes, self.direction * t, side="right").astype(np.int64)

    def span(self, number: int) -> tuple[float, float]:
        """The earliest and the latest time of a segment; infinite at the ends of the run."""
        first = self.times[number - 1] if number else -self.direction * math.inf
        last = self.times[number] if number < len(self.times) else self.direction * math.inf
        return min(first, last), max(first, last)

    def at(self, t: float) -> Any:
        """The problem that holds at time t."""
        return self.problems[self.number(_check.time("t", t))]

    def each(self, t: ArrayLike, y: ArrayLike, read: Callable[[Any, Any, Any], Any]) -> Any:
        """read(problem, t, y) of a state, or of the rows of each problem, put together."""
        first: Any = self.problems[0]
        if np.ndim(t) == 0:
            return read(self.at(t), t, y)  # type: ignore[arg-type]
        times, values, _ = as_rows(first.workspace.layout.n, t, y)
        numbers = self.numbers(times)
        ways = np.diff(numbers)
        if np.any(ways < 0) and np.any(ways > 0):
            raise ValueError("the times of a run that changed its selection must rise or fall; sort them")
        bounds = [0, *(np.flatnonzero(ways) + 1).tolist(), len(numbers)]
        found = [read(self.problems[numbers[a]], times[a:b], values[a:b]) for a, b in pairwise(bounds) if a < b]
        return joined(found) if found else read(first, times, values)


def as_rows(n: int, t: ArrayLike, y: ArrayLike) -> tuple[Vec, Mat, bool]:
    """Times (m,), states (m, n), and whether one state was given; refuses other shapes."""
    times = _check.times(t)
    values = _check.real(f"y (t has shape {times.shape})", y, (*times.shape, n))
    return np.atleast_1d(times), np.ascontiguousarray(np.atleast_2d(values)), times.ndim == 0


def joined(parts: Sequence[Any]) -> Any:
    """Values of consecutive times as one: arrays and rotations end to end, dictionaries, tuples and dataclasses entry
    by entry, truth values by `all`, arrays of them component by component. Parts of states are put together when they
    are asked for."""
    from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, np.ndarray):
        return np.logical_and.reduce(parts) if first.dtype == bool else np.concatenate(parts)
    if isinstance(first, Rotation):
        return Rotation.concatenate(parts)
    if isinstance(first, bool):
        return all(parts)
    if isinstance(first, ByName):
        return ByName(first.what, ((key, joined([part[key] for part in parts])) for key in first))
    if isinstance(first, dict):
        return {key: joined([part[key] for part in parts]) for key in first}
    if isinstance(first, tuple):
        return tuple(joined(column) for column in zip(*parts, strict=True))
    if isinstance(first, BodyState):
        return lazy_state(lambda what: joined([getattr(part, what) for part in parts]))
    if isinstance(first, Measured):
        return Measured(first.units, lambda name: joined([getattr(part, name) for part in parts]))
    if is_dataclass(first) and not isinstance(first, type):
        return type(first)(**{f.name: joined([getattr(part, f.name) for part in parts]) for f in fields(first)})
    raise TypeError(f"cannot put together values of type {type(first).__name__}")

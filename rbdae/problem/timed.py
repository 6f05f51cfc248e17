"""Parts of a run that changed its selection, as one: every state is read by the part of its time.

The time is among the arguments, so this is as frozen and pure as its parts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Generic, TypeVar, cast, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Ints, Mat, Vec
from rbdae._frozen import by_fields
from rbdae.problem.joined import joined

Part = TypeVar("Part")
Other = TypeVar("Other")


@final
@dataclass(frozen=True, slots=True)
class Changes:
    """When the selection of a run has changed: `times` in the order of the run, which fall if its `direction` is -1."""

    times: tuple[float, ...]
    direction: float

    def number(self, t: float) -> int:
        """How many of them a time has behind it in the run, or is at."""
        return bisect_right(self.times, self.direction * t, key=lambda change: self.direction * change)

    def numbers(self, t: Vec) -> Ints:
        """The same for times (m,)."""
        changes = self.direction * np.array(self.times)
        return np.searchsorted(changes, self.direction * t, side="right").astype(np.int64)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Timed(Generic[Part]):
    """The k-th part holds from the k-th change on, the first before.

    It has the attributes of its parts. A method whose first argument is a time `t` is that of the part of this time;
    with times (m,) and states (m, n) each segment's rows go to its own part. All other attributes are the first part's.
    """

    parts: tuple[Part, ...]
    changes: Changes

    def __reduce__(self) -> tuple[Any, ...]:
        return by_fields(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked for by copies and pickles
            raise AttributeError(name)
        found = getattr(self.parts[0], name)
        code = getattr(found, "__code__", None)
        return found if code is None or code.co_varnames[1:2] != ("t",) else partial(self._read, name)

    def _read(self, name: str, t: Any, y: Any, *more: Any, **options: Any) -> Any:
        if np.ndim(t) == 0 or more or options:
            return getattr(self.at(t), name)(t, y, *more, **options)
        return self.each(t, y, lambda part, t, y: getattr(part, name)(t, y))

    def at(self, t: float) -> Part:
        """The part that holds at time t."""
        return self.parts[self.changes.number(_check.time("t", t))]

    def of(self, what: Callable[[Part], Other]) -> Other:
        """What each part has, by the same times, as one that is read like one of them."""
        return cast(Other, Timed(tuple(map(what, self.parts)), self.changes))

    def each(self, t: ArrayLike, y: ArrayLike, function: Callable[[Part, Vec, Mat], Any]) -> Any:
        """function(part, t, y) on the rows of each segment, put together."""
        first: Any = self.parts[0]
        times, values, _ = as_rows(first.workspace.layout.n, t, y)
        numbers = self.changes.numbers(times)
        ways = np.diff(numbers)
        if np.any(ways < 0) and np.any(ways > 0):
            raise ValueError("the times of a run that changed its selection must rise or fall; sort them")
        bounds = [0, *(np.flatnonzero(ways) + 1).tolist(), len(numbers)]
        found = [function(self.parts[numbers[a]], times[a:b], values[a:b]) for a, b in pairwise(bounds) if a < b]
        return joined(found) if found else function(first, times, values)


def as_rows(n: int, t: ArrayLike, y: ArrayLike) -> tuple[Vec, Mat, bool]:
    """Times (m,), states (m, n), and whether one state was given; refuses other shapes."""
    times = _check.times(t)
    values = _check.real(f"y (t has shape {times.shape})", y, (*times.shape, n))
    return np.atleast_1d(times), np.ascontiguousarray(np.atleast_2d(values)), times.ndim == 0


__all__ = ["Changes", "Timed", "as_rows"]

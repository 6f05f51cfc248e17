"""Events: zeros of functions of the state within accepted steps, in scipy's convention.

A zero at the start is not an event until the function has left it; a zero reached at the end is one. Both hold within
`AT_ENDS`, because by rounding a function may have left zero at the start, or not have reached it at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._check import count, number
from rbdae.adapter import ProjectionError, Request, StateProjector

Dense = Callable[[float], Vec]
"""The solution inside the last step: t -> y, shape (n,)."""

AT_ENDS = 1e-9
"""The part of the interval that counts as its start, or its end, for events."""

_EPS = float(np.finfo(float).eps)

_PIECES = 8
"""Parts of a step that are searched for a turning point."""


class NotFinite(ArithmeticError):
    """A value that is not a number at a time ends the run; `Recorder` turns it into `Reason.NOT_FINITE`."""

    def __init__(self, said: str, t: float) -> None:
        super().__init__(said)
        self.t = t


def refuse_not_finite(what: str, t: float, values: Vec) -> None:
    """Raise `NotFinite` for values that are not all numbers."""
    # the sum of squares is finite if all values are, in a tenth of the time; it may overflow
    if not isfinite(values.dot(values)) and not np.isfinite(values).all():
        raise NotFinite(f"{what} is not finite", t)


@final
@dataclass(frozen=True, slots=True)
class Event:
    """An event function in scipy's convention, with its attributes read once.

    Parameters
    ----------
    value : ``value(t, y)``, zero at the event
    terminal : number of occurrences that end the run; 0 for never
    direction : sign of the slope that counts; 0 for both
    reach : ``reach()``, the nearest to zero, or beyond, that the value may have been within the step at whose end it
        was last evaluated; None if only the value is known
    """

    value: Callable[[float, Vec], float]
    terminal: int
    direction: float
    reach: Callable[[], float] | None = None

    @classmethod
    def of(cls, value: Callable[[float, Vec], float]) -> Event:
        """Read `terminal` (bool or count) and `direction` as `scipy.integrate.solve_ivp` does."""
        terminal = getattr(value, "terminal", 0)
        if not isinstance(terminal, (bool, np.bool_)) and terminal is not None:
            terminal = count("event", "terminal (or True)", terminal, 0)
        direction = number("event", "direction", getattr(value, "direction", 0.0))

        def checked(t: float, y: Vec) -> float:
            result = value(t, y.copy())  # a user may keep or change the array
            return result if isinstance(result, float) else number("event", f"its value at t = {t:g}", result)

        checked.__name__ = getattr(value, "__name__", type(value).__name__)  # for messages
        known = getattr(value, "group", None) is not None  # an event of a quantity
        return cls(checked, int(terminal or 0), direction, getattr(value, "reach", None) if known else None)

    def number(self, t: float, y: Vec) -> float:
        """The value, possibly infinite; NaN raises `NotFinite`."""
        value = self.value(t, y)
        if value != value:
            raise self.nan(t)
        return value

    def nan(self, t: float) -> NotFinite:
        """The exception for an event that is NaN."""
        return NotFinite(f"the event {getattr(self.value, '__name__', self.value)!r} is nan", t)

    def _crossed(self, before: float, after: float) -> bool:
        """Whether the value changed its sign in a direction that counts."""
        if before == after or before == 0.0:  # constant, or counted at the end of the previous step
            return False
        up, down = before <= 0.0 <= after, before >= 0.0 >= after
        return (up and self.direction >= 0.0) or (down and self.direction <= 0.0)

    def times(
        self,
        step: tuple[float, float],
        values: tuple[float, float],
        reach: float | None,
        at: Dense,
        span: tuple[float, float],
    ) -> list[float]:
        """The times of the event in a step of a run over a span.

        Parameters
        ----------
        step, values : both ends, and the values there
        reach : of the step, see the class
        at : the dense output
        """
        before, after = values
        if reach is not None and before * after >= 0.0 and reach * after < 0.0:
            pieces = self._turns(step, values, at)
        else:
            pieces = [(*step, *values)]
        roots = [self._root(piece[:2], piece[2:], at) for piece in pieces if self._crossed(*piece[2:])]
        margin = AT_ENDS * (span[1] - span[0])
        if step[1] == span[1] and not roots and before * after > 0.0:
            left = after / (before - after) * (step[1] - step[0]) if before != after else -1.0
            if 0.0 <= left <= margin and self._crossed(before, -after):
                roots = [step[1]]
        return [t for t in roots if t - span[0] > margin]

    def _turns(
        self, step: tuple[float, float], values: tuple[float, float], at: Dense
    ) -> list[tuple[float, float, float, float]]:
        """Pieces (start, end, value, value) of a step with sign changes, if the event passes zero and comes back within
        the step."""
        from scipy.optimize import minimize_scalar  # a slow import

        sign = 1.0 if values[1] > 0.0 else -1.0
        ts = np.linspace(*step, _PIECES + 1).tolist()
        gs = [values[0], *(self.number(t, at(t)) for t in ts[1:-1]), values[1]]
        least = min(range(1, _PIECES), key=lambda k: sign * gs[k])
        if sign * gs[least] > 0.0:
            minimum = minimize_scalar(
                lambda t: sign * self.number(t, at(t)),
                bounds=(ts[least - 1], ts[least + 1]),
                method="bounded",
                options={"xatol": 1e-6 * (step[1] - step[0])},
            )
            place = least + int(minimum.x > ts[least])
            ts.insert(place, float(minimum.x))
            gs.insert(place, sign * float(minimum.fun))
        return list(zip(ts, ts[1:], gs, gs[1:], strict=False))

    def _root(self, step: tuple[float, float], values: tuple[float, float], at: Dense) -> float:
        """The time of the event inside a step, or a part of one, over which it `_crossed`.

        The values at both ends are given: the projected states have values of different signs, the dense output need
        not.
        """
        from scipy.optimize import brentq  # a slow import, which runs without events do not need

        start, end = step
        if values[1] == 0.0:
            return end
        ends = dict(zip(step, values, strict=True))
        return float(
            brentq(
                lambda s: ends[s] if s in ends else self.number(s, at(s)),
                start,
                end,
                xtol=4 * _EPS * max(abs(start), abs(end)),
                rtol=4 * _EPS,
            )
        )


def project(projector: StateProjector, t: float, y: Vec) -> bool:
    """Project in place; raises `NotFinite` if the constraints or the result are not finite."""
    before = y.copy()
    try:
        changed = bool(projector(t, y))
    except ProjectionError:
        if not np.isfinite(projector.drift(t, before)):
            raise NotFinite("the constraints are not finite", t) from None
        raise
    refuse_not_finite("the projected state", t, y)
    return changed


@final
class Step:
    """An accepted step: its end `t`, the state `y` there, and its dense output, made on first use."""

    __slots__ = ("_dense", "_interpolant", "t", "y")

    def __init__(self, t: float, y: Vec, interpolant: Callable[[], Dense] | None) -> None:
        self.t, self.y = t, y
        self._interpolant = interpolant
        self._dense: Dense | None = None

    def at(self, s: float) -> Vec:
        """The state at a time inside the step, before any projection."""
        if self._dense is None:
            if self._interpolant is None:
                raise RuntimeError(f"no interpolant, and t = {s!r} is inside a step that ends at {self.t!r}")
            self._dense = self._interpolant()
        y = np.array(self._dense(s), dtype=float).reshape(-1)
        refuse_not_finite("the dense output", s, y)
        return y

    def cut(self, t_end: float) -> None:
        """End the step at `t_end` if it reaches beyond."""
        if self.t > t_end:
            self.t, self.y = t_end, self.at(t_end)


@final
class Events:
    """The events of a run.

    Attributes
    ----------
    each : the functions
    t, y : times and projected states of each so far
    """

    def __init__(self, request: Request, n: int) -> None:
        self.each = [Event.of(f) for f in request.events]
        self._projector, self._span, self._n = request.projector, (request.t0, request.t_end), n
        self.t: list[list[float]] = [[] for _ in self.each]
        self.y: list[list[Vec]] = [[] for _ in self.each]

    def find(
        self, step: Step, began: float, before: list[float], after: list[float], reach: list[float | None]
    ) -> tuple[float, Vec] | None:
        """Note the events in a step; returns time and state of the event that ends the run.

        Parameters
        ----------
        began : the time at which the step began
        before, after : the values at both ends
        reach : of each event in the step, see `Event`
        """
        ends = began, step.t
        occurrences: list[tuple[float, int]] = []
        for k, event in enumerate(self.each):
            occurrences += [(t, k) for t in event.times(ends, (before[k], after[k]), reach[k], step.at, self._span)]
        for s, k in sorted(occurrences):
            y = step.y.copy() if s >= step.t else step.at(s)
            if s < step.t and self._projector is not None:
                project(self._projector, s, y)
            self.y[k].append(y)
            self.t[k].append(s)
            if 0 < self.each[k].terminal <= len(self.t[k]):
                return s, y
        return None

    def collected(self) -> dict[str, Any]:
        """Times and states of the events, as an `Outcome` has them."""
        t = [np.array(ts, dtype=float) for ts in self.t]
        y = [np.array(ys[: len(ts)], dtype=float).reshape(len(ts), self._n) for ts, ys in zip(t, self.y, strict=True)]
        return {"t_events": t, "y_events": y}

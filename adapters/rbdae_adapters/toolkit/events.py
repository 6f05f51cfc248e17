"""Events: zeros of functions of the state, in scipy's convention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import final

import numpy as np

from rbdae._arrays import Vec
from rbdae._check import count, number

Dense = Callable[[float], Vec]
"""The solution inside the last step: t -> y, shape (n,)."""

_EPS = float(np.finfo(float).eps)


class NotFinite(ArithmeticError):
    """Something that is not a number at a time ends the run; `Recorder` turns it into `Reason.NOT_FINITE`."""

    def __init__(self, said: str, t: float) -> None:
        super().__init__(said)
        self.t = t


def refuse_not_finite(what: str, t: float, values: Vec) -> None:
    """Raise `NotFinite` for values that are not all numbers."""
    # the sum of squares is a number if all values are, and takes a tenth of the time; it may overflow
    if not isfinite(values.dot(values)) and not np.isfinite(values).all():
        raise NotFinite(f"{what} is not finite", t)


@final
@dataclass(frozen=True, slots=True)
class Event:
    """An event function in scipy's convention, with its attributes read once.

    Parameters
    ----------
    value : ``value(t, y)``, zero at the event
    terminal : how many occurrences end the run; 0 for never
    direction : sign of the slope that counts; 0 for both
    """

    value: Callable[[float, Vec], float]
    terminal: int
    direction: float

    @classmethod
    def of(cls, value: Callable[[float, Vec], float]) -> Event:
        """Read `terminal` (bool or count) and `direction` as `scipy.integrate.solve_ivp` does."""
        terminal = getattr(value, "terminal", 0)
        if not isinstance(terminal, (bool, np.bool_)) and terminal is not None:
            terminal = count("event", "terminal (or True)", terminal, 0)
        direction = number("event", "direction", getattr(value, "direction", 0.0))

        def checked(t: float, y: Vec) -> float:
            found = value(t, y)
            return found if isinstance(found, float) else number("event", f"its value at t = {t:g}", found)

        checked.__name__ = getattr(value, "__name__", type(value).__name__)  # for messages
        return cls(checked, int(terminal or 0), direction)

    def number(self, t: float, y: Vec) -> float:
        """The value; infinities have a sign, what is not a number raises `NotFinite`."""
        value = self.value(t, y)
        if value != value:
            raise self.nan(t)
        return value

    def nan(self, t: float) -> NotFinite:
        """The exception for an event that has no number."""
        return NotFinite(f"the event {getattr(self.value, '__name__', self.value)!r} is nan", t)

    def crossed(self, before: float, after: float) -> bool:
        """Whether the value changed its sign in a direction that counts."""
        up = before <= 0.0 <= after
        down = before >= 0.0 >= after
        if before == after or before == 0.0:  # constant, or counted at the end of the step before
            return False
        return (up and self.direction >= 0.0) or (down and self.direction <= 0.0)

    def root(self, step: tuple[float, float], values: tuple[float, float], at: Dense) -> float:
        """The time of the event inside a step over which it `crossed`.

        The values at both ends are given and not evaluated: those of the projected states have different signs, those
        of the dense output need not.
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


__all__ = ["Dense", "Event", "NotFinite", "refuse_not_finite"]

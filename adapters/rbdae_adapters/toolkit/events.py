"""Events: zeros of functions of the state, in scipy's convention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.optimize import brentq

from rbdae._arrays import Vec
from rbdae._check import count, number

Dense = Callable[[float], Vec]
"""The solution inside the last step: t -> y, shape (n,)."""

_EPS = float(np.finfo(float).eps)


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

        return cls(checked, int(terminal or 0), direction)

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
        start, end = step
        if values[1] == 0.0:
            return end
        ends = dict(zip(step, values, strict=True))
        return float(
            brentq(
                lambda s: ends[s] if s in ends else self.value(s, at(s)),
                start,
                end,
                xtol=4 * _EPS * max(1.0, abs(end)),
                rtol=4 * _EPS,
            )
        )


__all__ = ["Dense", "Event"]

"""Events: zeros of functions of the state within accepted steps, in scipy's convention.

A zero at the start is not an event until the function has left it; a zero reached at the end is one. Both hold within
`AT_ENDS`, because by rounding a function may have left zero at the start, or not have reached it at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import ProjectionError, Reason, Request, StateProjector
from rbdae.problem.event import EventFunction

Dense = Callable[[float], Vec]
"""The solution inside the last step: t -> y, shape (n,)."""

AT_ENDS = 1e-9
"""The part of the interval that counts as its start, or its end, for events."""

_EPS = float(np.finfo(float).eps)

_PIECES = 8
"""Parts of a step that are searched for a turning point."""


class GaveUp(Exception):
    """Raised where a run cannot continue; the `Outcome` has it, and the user never sees it.

    Parameters
    ----------
    reason : the translated return code of the package
    detail : the package's message
    t : the time to which the message refers, if any
    """

    def __init__(self, reason: Reason, detail: str = "", t: float | None = None) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail, self.t = reason, detail, t


LSODA = {
    -1: Reason.TOO_MANY_STEPS,
    -2: Reason.STEP_TOO_SMALL,
    -4: Reason.ERROR_TEST,
    -5: Reason.NOT_CONVERGED,
}
DASSL = {
    -1: Reason.TOO_MANY_STEPS,
    -2: Reason.STEP_TOO_SMALL,
    -6: Reason.ERROR_TEST,
    -7: Reason.NOT_CONVERGED,
    -8: Reason.SINGULAR,
    -9: Reason.NOT_CONVERGED,
    -10: Reason.NOT_CONVERGED,
}
"""Reasons by return codes of these Fortran codes and their descendants."""


def finite(values: Vec) -> bool:
    """Whether all values are finite: the sum of squares is then, and sooner, unless it overflows."""
    return isfinite(values.dot(values)) or bool(np.isfinite(values).all())


def refuse_not_finite(what: str, t: float, values: Vec) -> None:
    """Raise `GaveUp` for values that are not all finite."""
    if not finite(values):
        raise GaveUp(Reason.NOT_FINITE, f"{what} is not finite", t)


def nan(event: EventFunction, t: float) -> GaveUp:
    """The exception for an event that is NaN."""
    return GaveUp(Reason.NOT_FINITE, f"the event {event.__name__!r} is nan", t)


def value_of(event: EventFunction, t: float, y: Vec) -> float:
    """The value of an event, possibly infinite; NaN raises `GaveUp`."""
    value = event(t, y)
    if value != value:
        raise nan(event, t)
    return value


def _crossed(event: EventFunction, before: float, after: float) -> bool:
    """Whether the value changed its sign in a direction that counts."""
    if before == after or before == 0.0:  # constant, or counted at the end of the previous step
        return False
    up, down = before <= 0.0 <= after, before >= 0.0 >= after
    return (up and event.direction >= 0.0) or (down and event.direction <= 0.0)


def _times(
    event: EventFunction,
    step: tuple[float, float],
    values: tuple[float, float],
    reach: float | None,
    at: Dense,
    span: tuple[float, float],
) -> list[float]:
    """The times of an event in a step of a run over a span.

    Parameters
    ----------
    step, values : both ends, and the values there
    reach : of the step, see `EventFunction.reach`
    at : the dense output
    """
    before, after = values
    if reach is not None and before * after >= 0.0 and reach * after < 0.0:
        pieces = _turns(event, step, values, at)
    else:
        pieces = [(*step, *values)]
    roots = [_root(event, piece[:2], piece[2:], at) for piece in pieces if _crossed(event, *piece[2:])]
    margin = AT_ENDS * (span[1] - span[0])
    if step[1] == span[1] and not roots and before * after > 0.0:
        left = after / (before - after) * (step[1] - step[0]) if before != after else -1.0
        if 0.0 <= left <= margin and _crossed(event, before, -after):
            roots = [step[1]]
    return [t for t in roots if t - span[0] > margin]


def _turns(
    event: EventFunction, step: tuple[float, float], values: tuple[float, float], at: Dense
) -> list[tuple[float, float, float, float]]:
    """Pieces (start, end, value, value) of a step with sign changes, if the event passes zero and comes back within the
    step."""
    from scipy.optimize import minimize_scalar  # a slow import

    sign = 1.0 if values[1] > 0.0 else -1.0
    ts = np.linspace(*step, _PIECES + 1).tolist()
    gs = [values[0], *(value_of(event, t, at(t)) for t in ts[1:-1]), values[1]]
    least = min(range(1, _PIECES), key=lambda k: sign * gs[k])
    if sign * gs[least] > 0.0:
        minimum = minimize_scalar(
            lambda t: sign * value_of(event, t, at(t)),
            bounds=(ts[least - 1], ts[least + 1]),
            method="bounded",
            options={"xatol": 1e-6 * (step[1] - step[0])},
        )
        place = least + int(minimum.x > ts[least])
        ts.insert(place, float(minimum.x))
        gs.insert(place, sign * float(minimum.fun))
    return list(zip(ts, ts[1:], gs, gs[1:], strict=False))


def _root(event: EventFunction, step: tuple[float, float], values: tuple[float, float], at: Dense) -> float:
    """The time of an event inside a step, or a part of one, over which it `_crossed`.

    The values at both ends are given: the projected states have values of different signs, the dense output need not.
    """
    from scipy.optimize import brentq  # a slow import, which runs without events do not need

    start, end = step
    if values[1] == 0.0:
        return end
    ends = dict(zip(step, values, strict=True))
    accuracy = {"xtol": 4 * _EPS * max(abs(start), abs(end)), "rtol": 4 * _EPS}
    return float(brentq(lambda s: ends[s] if s in ends else value_of(event, s, at(s)), start, end, **accuracy))


def project(projector: StateProjector, t: float, y: Vec) -> bool:
    """Project in place; raises `GaveUp` if the constraints or the result are not finite."""
    before = y.copy()
    try:
        changed = bool(projector(t, y))
    except ProjectionError:
        if not np.isfinite(projector.drift(t, before)):
            raise GaveUp(Reason.NOT_FINITE, "the constraints are not finite", t) from None
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
    each : the functions, also such of no run of `rbdae.solve`, in scipy's convention
    t, y : times and projected states of each so far
    """

    def __init__(self, request: Request, n: int) -> None:
        self.each = [EventFunction.of(f) for f in request.events]
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
        reach : of each event in the step, see `EventFunction.reach`
        """
        ends = began, step.t
        occurrences: list[tuple[float, int]] = []
        for k, event in enumerate(self.each):
            its = _times(event, ends, (before[k], after[k]), reach[k], step.at, self._span)
            occurrences += [(t, k) for t in its]
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
        t, none = [np.array(ts) for ts in self.t], np.empty((0, self._n))
        y = [np.array(ys[: len(ts)]) if len(ts) else none for ts, ys in zip(t, self.y, strict=True)]
        return {"t_events": t, "y_events": y}

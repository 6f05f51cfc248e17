"""What `solve` is given, checked before any integration begins."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rbdae._arrays import ArrayLike, Vec
from rbdae.adapter import Method
from rbdae.problem.contract import Solvable

Event = Callable[[float, Vec], float]


def check_span(problem: Solvable, t_span: Sequence[float]) -> tuple[float, float]:
    """Start and end; the start is the problem's."""
    try:
        t0, t_end = (float(t) for t in t_span)
    except (TypeError, ValueError):
        raise TypeError(f"t_span must be two numbers (start, end), got {t_span!r}") from None
    if not (math.isfinite(t0) and math.isfinite(t_end) and t0 < t_end):
        raise ValueError(f"t_span must be finite and increasing, got ({t0}, {t_end})")
    if t0 != problem.t0:
        raise ValueError(
            f"t_span begins at {t0}, but the problem's initial state belongs to t = {problem.t0}; begin there"
        )
    return t0, t_end


def check_tolerances(problem: Solvable, rtol: float, atol: ArrayLike) -> tuple[float, float | Vec]:
    """Relative tolerance, and absolute tolerance as a number or (n,)."""
    relative = np.asarray(rtol, dtype=float)
    if relative.ndim or not 0.0 < relative < 1.0:
        raise ValueError(f"rtol must be a number between 0 and 1, got {rtol!r}")
    absolute = np.array(atol, dtype=float)
    if absolute.shape not in ((), (problem.n,)):
        raise ValueError(f"atol must be a number or have shape ({problem.n},), got shape {absolute.shape}")
    if not (np.isfinite(absolute).all() and (absolute > 0).all()):
        raise ValueError(f"atol must be positive and finite, got {atol!r}")
    return float(relative), float(absolute) if absolute.ndim == 0 else absolute


def check_times(t_eval: ArrayLike | None, t0: float, t_end: float) -> Vec | None:
    """Output times, rising and within the interval."""
    if t_eval is None:
        return None
    times = np.array(t_eval, dtype=float)
    if times.ndim != 1 or not times.size:
        raise ValueError(f"t_eval must be a non-empty list of times, got shape {times.shape}")
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise ValueError("t_eval must be finite and strictly increasing; sort it and drop repeated times")
    if times[0] < t0 or times[-1] > t_end:
        raise ValueError(
            f"t_eval reaches from {times[0]} to {times[-1]}, outside of t_span ({t0}, {t_end}); shorten it"
        )
    return times


def check_step(solver: str, method: Method, step: float | None) -> float | None:
    """The step size of a fixed-step method, and only of one."""
    if step is None:
        if method.fixed_step:
            raise ValueError(f"{solver} takes steps of fixed size: say step=, for example step=1e-3")
        return None
    if not method.fixed_step:
        raise ValueError(f"{solver} chooses its own steps: leave out step=, and use rtol and atol")
    if not (isinstance(step, (int, float)) and math.isfinite(step) and step > 0):
        raise ValueError(f"step must be positive and finite, got {step!r}")
    return float(step)


def check_events(events: Event | Sequence[Event] | None) -> tuple[Event, ...]:
    """Event functions as a tuple."""
    if events is None:
        return ()
    several = (events,) if callable(events) else tuple(events)
    for event in several:
        if not callable(event):
            raise TypeError(f"events must be functions event(t, y), got {event!r}")
    return several


def check_options(solver: str, options: Mapping[str, Any]) -> None:
    """Refuse options that are not a number where they should be one: some packages would run for ever."""
    for name, value in options.items():
        if isinstance(value, (float, np.floating)) and math.isnan(value):
            raise ValueError(f"{solver}: the option {name} must not be nan; give a number, or leave it out")


__all__ = ["Event", "check_events", "check_options", "check_span", "check_step", "check_times", "check_tolerances"]

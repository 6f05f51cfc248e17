"""What the adapters share: the loop over steps, output through dense output, events, tolerances by index.

`Recorder` does what follows an accepted step. An adapter whose package steps on demand wraps it as an
`AbstractStepper` and calls `drive`; one whose package calls back after each step calls `Recorder.accept`
itself.
"""

from __future__ import annotations

import difflib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.optimize import brentq

from rbdae._arrays import Bools, Mat, Vec
from rbdae.adapter import Outcome, ProjectionError, Reason, Request, Solvable, Stats, Unsupported

Dense = Callable[[float], Vec]
"""The solution inside the last step: t -> y, shape (n,)."""

RESTART_FACTOR = 10.0
"""A multistep code starts again where the constraints have drifted by more than this times its tolerance."""

STALLED = 50
"""So many steps in a row without progress end a run."""

_EPS = float(np.finfo(float).eps)


class GaveUp(Exception):
    """A stepper cannot go on; becomes the `Outcome`, never reaches the user."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


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
        return cls(value, int(getattr(value, "terminal", 0) or 0), float(getattr(value, "direction", 0.0)))

    def crossed(self, before: float, after: float) -> bool:
        """Whether the value changed its sign in a direction that counts."""
        up = before <= 0.0 <= after
        down = before >= 0.0 >= after
        if before == after or before == 0.0:  # constant, or counted at the end of the step before
            return False
        return (up and self.direction >= 0.0) or (down and self.direction <= 0.0)


@final
class Recorder:
    """Takes accepted steps: projects, finds events, collects output and statistics.

    Parameters
    ----------
    problem, request : as given to the adapter
    one_step : True where each projected state goes back into the solver. Otherwise it goes back, by a
        restart, only where the drift exceeds `restart_drift`; recorded states are projected all the same
    max_steps : the run ends with `Reason.TOO_MANY_STEPS` after so many; None for no limit

    A run also ends where `STALLED` steps in a row do not move the time: some codes would go on for ever.
    """

    def __init__(self, problem: Solvable, request: Request, *, one_step: bool, max_steps: int | None = None) -> None:
        self.request = request
        self.max_steps = max_steps
        self._stalled = 0
        self._smallest = 4 * _EPS * (request.t_end - request.t0)
        self.stats = Stats()
        self.reason: Reason | None = None
        self.detail = ""
        self.t = request.t0
        self.restart_drift = RESTART_FACTOR * max(request.rtol, float(np.min(request.atol)))
        if request.projector is not None:
            self.restart_drift = max(self.restart_drift, request.projector.restart_tolerance)
        self._began = time.perf_counter()
        self._one_step = one_step
        self._ts: list[float] = []
        self._ys: list[Vec] = []
        self._next = 0
        self._events = [Event.of(f) for f in request.events]
        self._counts = [0] * len(self._events)
        self._t_events: list[list[float]] = [[] for _ in self._events]
        self._y_events: list[list[Vec]] = [[] for _ in self._events]
        self._n = problem.n
        y = self._projected(request.t0, np.array(problem.y0, dtype=float))
        self._values = [e.value(request.t0, y) for e in self._events]
        self.y0: Vec = y.copy()
        te = request.t_eval
        if te is None:
            self._record(request.t0, y)
        else:
            while self._next < len(te) and te[self._next] <= request.t0:
                self._record(request.t0, y)
                self._next += 1

    @property
    def done(self) -> bool:
        """Whether the end, a terminal event or a non-finite state was reached."""
        return self.reason is not None

    def accept(self, t: float, y: Vec, interpolant: Callable[[], Dense] | None) -> bool:
        """Take an accepted step that ended at `t` in `y`.

        Parameters
        ----------
        t : end of the step; beyond the end of the interval is allowed where there is an interpolant
        y : the solver's state there, shape (n,), writable and the recorder's own: projected in place
        interpolant : gives the dense output of this step; called at most once, and before the caller changes
            the solver's state. None where the package has none: then every time in `t_eval` must be the end
            of a step.

        Returns
        -------
        bool
            Whether the solver has to take `y` as its new state: directly in a one-step method, by a restart
            otherwise (counted here).
        """
        if self.done:
            return False
        if t - self.t <= self._smallest:
            self._stalled += 1
            if self._stalled >= STALLED:
                self.fail(Reason.STEP_TOO_SMALL, f"{STALLED} steps in a row did not move the time")
        else:
            self._stalled = 0
        if t <= self.t:
            return False
        try:
            return self._accept(t, y, interpolant)
        except ProjectionError as error:
            self.fail(Reason.PROJECTION, str(error))
            return False

    def _accept(self, t: float, y: Vec, interpolant: Callable[[], Dense] | None) -> bool:
        request = self.request
        self.stats.steps += 1
        if not np.isfinite(y).all():
            self.reason = Reason.NOT_FINITE
            return False
        dense: Dense | None = None

        def at(s: float) -> Vec:
            nonlocal dense
            if dense is None:
                if interpolant is None:
                    raise RuntimeError(f"no interpolant, and t = {s!r} is inside a step that ends at {t!r}")
                dense = interpolant()
            return np.array(dense(s), dtype=float).reshape(-1)

        if t > request.t_end:
            t, y = request.t_end, at(request.t_end)
        raw = y.copy() if self._events else y
        back = self._correct(t, y)
        stop = self._find_events(t, raw, y, at) if self._events else None
        last = t if stop is None else stop
        te = request.t_eval
        if te is None:
            self._record(last, y if stop is None else self._projected(stop, at(stop) if stop < t else raw))
        else:
            while self._next < len(te) and te[self._next] <= last:
                s = float(te[self._next])
                self._record(s, y.copy() if s == t else self._projected(s, at(s)))
                self._next += 1
        self.t = last
        if request.advance is not None:
            request.advance(last)
        if stop is not None:
            self.reason = Reason.EVENT
        elif last >= request.t_end:
            self.reason = Reason.FINISHED
        elif self.max_steps is not None and self.stats.steps >= self.max_steps:
            self.fail(Reason.TOO_MANY_STEPS, f"the limit was {self.max_steps}")
        elif request.watch is not None and request.watch(t, y):
            self.reason = Reason.INTERRUPTED
        if back and not self._one_step and not self.done:
            self.stats.restarts += 1
        return back and not self.done

    def fail(self, reason: Reason, detail: str = "") -> None:
        """Note why the solver gave up; the first reason counts."""
        if self.reason is None:
            self.reason, self.detail = reason, detail

    def outcome(self) -> Outcome:
        """Everything that was collected."""
        projector = self.request.projector
        if projector is not None:
            self.stats.projections = projector.count
        self.stats.seconds = time.perf_counter() - self._began
        return Outcome(
            t=np.array(self._ts, dtype=float),
            y=self._rows(self._ys),
            reason=self.reason if self.reason is not None else Reason.SOLVER,
            stats=self.stats,
            detail=self.detail,
            t_events=[np.array(ts, dtype=float) for ts in self._t_events],
            y_events=[self._rows(ys) for ys in self._y_events],
            stopped=self.t,
        )

    def _rows(self, ys: list[Vec]) -> Mat:
        return np.array(ys, dtype=float).reshape(len(ys), self._n)

    def _record(self, t: float, y: Vec) -> None:
        self._ts.append(t)
        self._ys.append(y.copy())

    def _projected(self, t: float, y: Vec) -> Vec:
        if self.request.projector is not None:
            self.request.projector(t, y)
        return y

    def _correct(self, t: float, y: Vec) -> bool:
        """Project `y` in place; whether the solver should get it back."""
        projector = self.request.projector
        if projector is None:
            return False
        if self._one_step:
            return bool(projector(t, y))
        drifted = projector.drift(t, y) > self.restart_drift
        return bool(projector(t, y)) and drifted

    def _find_events(self, t: float, raw: Vec, y: Vec, at: Dense) -> float | None:
        """Roots in the step up to `t`; returns the time of the one that ends the run."""
        before = self._values
        self._values = [e.value(t, y) for e in self._events]
        found: list[tuple[float, int]] = []
        for k, event in enumerate(self._events):
            if event.crossed(before[k], self._values[k]):
                found.append((self._root(event, before[k], self._values[k], t, at), k))
        for s, k in sorted(found):
            self._counts[k] += 1
            self._t_events[k].append(s)
            self._y_events[k].append(y.copy() if s >= t else self._projected(s, at(s)))
            if self._events[k].terminal and self._counts[k] >= self._events[k].terminal:
                return s
        return None

    def _root(self, event: Event, before: float, after: float, t: float, at: Dense) -> float:
        if after == 0.0:
            return t
        ends = {self.t: before, t: after}  # the projected ends, whose signs are known to differ
        return float(
            brentq(
                lambda s: ends[s] if s in ends else event.value(s, at(s)),
                self.t,
                t,
                xtol=4 * _EPS * max(1.0, abs(t)),
                rtol=4 * _EPS,
            )
        )


class AbstractStepper(ABC):
    """A solver that takes one accepted step at a time.

    1. `step` takes one internal step and returns ``(t, y)``; `y` may be the solver's own memory: it is
       copied. It raises `GaveUp` where the solver stops.
    2. `interpolant` gives the dense output of the last step, valid until the next `step` or `replace`.
    3. `replace` makes `y` the state at `t`: directly in one-step methods, by a restart in others.
    4. `finish` fills the package's own counts into the statistics.
    """

    @abstractmethod
    def step(self) -> tuple[float, Vec]: ...

    @abstractmethod
    def interpolant(self) -> Dense: ...

    @abstractmethod
    def replace(self, t: float, y: Vec) -> None: ...

    @abstractmethod
    def finish(self, stats: Stats) -> None: ...


def drive(stepper: AbstractStepper, recorder: Recorder, *, max_steps: int | None = None) -> Outcome:
    """Step until the end, a terminal event or the solver's surrender."""
    if max_steps is not None:
        recorder.max_steps = max_steps
    try:
        while not recorder.done:
            t, state = stepper.step()
            y = np.array(state, dtype=float)
            if recorder.accept(float(t), y, stepper.interpolant):
                stepper.replace(float(t), y)
    except GaveUp as end:
        recorder.fail(end.reason, end.detail)
    stepper.finish(recorder.stats)
    return recorder.outcome()


@final
class Trap:
    """Keeps the first exception of a callback where the package would swallow or replace it.

    >>> trap = Trap()
    >>> rhs = trap(lambda t: 1 / t)
    >>> try:
    ...     rhs(0)
    ... except ZeroDivisionError:
    ...     pass  # the package makes something else of it
    >>> trap.release()
    Traceback (most recent call last):
        ...
    ZeroDivisionError: division by zero
    """

    __slots__ = ("error",)

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, whose first exception is remembered and passed on."""

        def trapped(*args: Any) -> Any:
            if self.error is not None:  # packages try again with smaller steps: no use
                raise self.error
            try:
                return function(*args)
            except BaseException as error:
                self.error = error
                raise

        return trapped

    def release(self) -> None:
        """Raise what was kept, as itself."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error.with_traceback(error.__traceback__) from None


def take_options(given: Mapping[str, Any], allowed: Iterable[str], who: str) -> dict[str, Any]:
    """The user's options, or `Unsupported` for one that `who` does not have."""
    known = sorted(allowed)
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            have = f"its options are {', '.join(known)}" if known else "it has no options"
            raise Unsupported(f"{who} has no option {name!r}{hint}; {have}")
    return dict(given)


def atol_vector(problem: Solvable, request: Request) -> Vec:
    """Absolute tolerances of all unknowns, shape (n,)."""
    return np.array(np.broadcast_to(request.atol, (problem.n,)), dtype=float)


def leaves_error_test(problem: Solvable) -> Bools:
    """Unknowns that a BDF code cannot test: index-2 multipliers, index-3 velocities and multipliers.

    Their error estimates do not vanish with the step size ([HW96], section VII.3).
    """
    return np.asarray(problem.variable_index >= 2)


def relaxed_atol(problem: Solvable, request: Request, *, loose: float) -> Vec:
    """`atol_vector` with `loose` where `leaves_error_test`: the way out where a package has no switch."""
    atol = atol_vector(problem, request)
    atol[leaves_error_test(problem)] = loose
    return atol


__all__ = [
    "AbstractStepper",
    "Dense",
    "Event",
    "GaveUp",
    "Recorder",
    "Trap",
    "atol_vector",
    "drive",
    "leaves_error_test",
    "relaxed_atol",
    "take_options",
]

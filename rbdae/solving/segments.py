"""Runs in segments: when a switch is due, the solver restarts on an equivalent problem with another selection.

Positions and velocities stay; what changes is how they are written (the independent velocities of the null-space form)
or which equations carry them (the kept rows of redundant ones).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from rbdae._arrays import Ints, Vec
from rbdae._frozen import changed
from rbdae.adapter import Outcome, Reason, Request, Stats, Steps
from rbdae.problem.contract import Solvable, StateProjector, Switch
from rbdae.solving.compiled_watch import CompiledWatch, compiled_watch
from rbdae.solving.event import passed_on


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

    def span(self, number: int) -> tuple[float, float]:
        """The earliest and the latest time of a segment; infinite at the ends of the run."""
        first = self.times[number - 1] if number else -self.direction * math.inf
        last = self.times[number] if number < len(self.times) else self.direction * math.inf
        return min(first, last), max(first, last)

    def numbers(self, t: Vec) -> Ints:
        """The same as `number` for times (m,)."""
        changes = self.direction * np.array(self.times)
        return np.searchsorted(changes, self.direction * t, side="right").astype(np.int64)


class InPlace(Protocol):
    """A twin of a problem, of one run alone, that changes in place: what is bound to it stays bound."""

    @property
    def problem(self) -> Solvable:
        """The twin."""

    def centred(self, t: float, y: Vec) -> Solvable | None:
        """The problem that `Switch.resume` would give at (t, y), where the only switch is due; the twin is equivalent
        to it from there on. None where it cannot be had: then nothing has changed."""


class Changes(Protocol):
    """Changes of a problem at known times, such as steps of inputs."""

    def next(self, t: float) -> float | None:
        """The time of the next one after t in the direction of the run; None if there is none."""

    def resumed(self, problem: Any, t: float, y: Vec) -> Solvable:
        """The problem from (t, y) on, at the time of one."""


def _still(problem: Solvable) -> InPlace | None:
    """Nothing is changed in place."""
    return None


def run_segments(
    problem: Solvable,
    request: Request,
    once: Callable[[Solvable, Request], Outcome],
    bind: Callable[[Solvable], StateProjector | None],
    switches_of: Callable[[Solvable], Sequence[Switch]],
    moving_of: Callable[[Solvable], InPlace | None] = _still,
    changes: Changes | None = None,
) -> tuple[Outcome, Segments]:
    """Run a solver, and restart it from every accepted state at which a switch is due, and at the times of `changes`.

    `bind` gives each segment its projector, `switches_of` its switches, `moving_of` what changes a problem in place for
    solvers that continue then (`_Watch.continued`): from the first change on, one run has many segments. Rows at the
    time of a change are in the new selection; events are given the unknowns of the first problem.
    """
    problems, outcomes = [problem], list[Outcome]()
    direction = 1.0 if request.t0 < request.t_end else -1.0
    times: list[float] = []
    asked = request
    while True:
        projector = bind(problems[-1])
        moving = moving_of(problems[-1]) if len(problems) > 1 and projector is None else None
        here = problems[-1] if moving is None else moving.problem
        switches = switches_of(here)
        watch = _Watch(switches, moving) if switches else None
        bare = watch is None and projector is None
        stop = None if changes is None else changes.next(asked.t0)
        until = asked if stop is None else _until(asked, stop)
        outcome = once(here, until if bare else changed(until, watch=watch, projector=projector))
        outcomes.append(outcome)
        if watch is not None and watch.left:
            times += [t for t, _ in watch.left]
            problems += [each for _, each in watch.left]
            outcome.stats.restarts += len(watch.left)
        if changes is not None and stop is not None and outcome.reason is Reason.FINISHED:
            problems.append(changes.resumed(problems[-1], stop, (outcome.steps or outcome).y[-1]))
            times.append(stop)
            _leave_to_next(outcome, stop, problems[-1].y0, direction)
            asked = _remaining(request, outcomes, stop, problem, problems[-1])
            continue
        if watch is None or outcome.reason is not Reason.INTERRUPTED:
            return _joined(outcomes), Segments(tuple(problems), tuple(times), direction)
        t, y = watch.state
        ending = next(filter(None, (switches[k].ends(t, y) for k in watch.due)), None)
        if ending is not None:
            outcome.reason, outcome.detail = Reason[ending.kind.upper()], ending.why
            if not ending.readable:
                _drop_from(outcome, t, direction)
            return _joined(outcomes), Segments(tuple(problems), tuple(times), direction)
        here = problems[-1]
        problems.append(_resumed(here, switches, switches_of, watch.due, t, y))
        times.append(t)
        _leave_to_next(outcome, t, problems[-1].y0, direction)
        asked = _remaining(request, outcomes, t, problem, problems[-1])


@final
class _Watch:
    """Asks the switches at accepted states, and notes the first state at which some are due.

    Attributes
    ----------
    left : times and problems of the changes after which the run has continued
    """

    def __init__(self, switches: Sequence[Switch], moving: InPlace | None) -> None:
        self._switches = switches
        self._moving = moving
        self.left: list[tuple[float, Solvable]] = []
        self.due: list[int] = []
        self.state: tuple[float, Vec] = (np.nan, np.empty(0))

    def machine(self) -> CompiledWatch | None:
        """The same for loops in machine code; None where a switch has to be asked after every step."""
        return compiled_watch([getattr(switch, "quiet", _always)() for switch in self._switches])

    def continued(self, t: float, y: Vec) -> Vec | None:
        """The state at t with which the run begins again after a change in place, with the same functions; None where
        it has to end. Asked where switches are due."""
        if self._moving is None or any(self._switches[k].ends(t, y) is not None for k in self.due):
            return None
        changed_here = self._moving.centred(t, y)
        if changed_here is None:
            return None
        self.left.append((t, changed_here))
        return changed_here.y0

    def __call__(self, t: float, y: Vec) -> bool:
        self.due = [k for k, switch in enumerate(self._switches) if switch.due(t, y)]
        if self.due:
            self.state = (t, y.copy())
        return bool(self.due)


def _always() -> None:
    """The answer of switches that do not say where they are not due."""


def _resumed(
    problem: Solvable,
    switches: Sequence[Switch],
    switches_of: Callable[[Solvable], Sequence[Switch]],
    due: Sequence[int],
    t: float,
    y: Vec,
) -> Solvable:
    """The problem from (t, y) on; each switch works on what those before it have made."""
    out = problem
    for k in due:
        out = (switches if out is problem else switches_of(out))[k].resume(t, y if out is problem else out.y0)
    return out


def _until(request: Request, t: float) -> Request:
    """A request up to t, whose last row is the state there."""
    first, t_eval = request.first_step, request.t_eval
    if t_eval is not None:
        direction = 1.0 if request.t0 < request.t_end else -1.0
        t_eval = np.append(t_eval[direction * (t_eval - t) < 0.0], t)
    first = None if first is None else min(first, abs(t - request.t0))
    return changed(request, t_end=t, t_eval=t_eval, first_step=first)


def _remaining(request: Request, outcomes: Sequence[Outcome], t: float, first: Solvable, here: Solvable) -> Request:
    """The rest of a request from t on."""
    step = outcomes[-1].next_step
    direction = 1.0 if request.t0 < request.t_end else -1.0
    counts = [sum(len(o.t_events[k]) for o in outcomes) for k in range(len(request.events))]
    return changed(
        request,
        t0=t,
        first_step=None if step is None else min(step, abs(request.t_end - t)),
        t_eval=None if request.t_eval is None else request.t_eval[direction * (request.t_eval - t) >= 0.0],
        events=[_event_later(event, n, first, here) for event, n in zip(request.events, counts, strict=True)],
    )


def _event_later(event: Any, counted: int, first: Solvable, here: Any) -> Any:
    """An event in a later segment; those of quantities are read in its unknowns."""
    terminal = int(getattr(event, "terminal", 0) or 0)
    left = terminal - counted if terminal else 0
    on = getattr(event, "on", None)
    if on is not None:
        return on(here.interpretation, left)
    return passed_on(event, lambda t, y: event(t, here.translated(t, y, first)), left)


def _leave_to_next(outcome: Outcome, t: float, y: Vec, direction: float) -> None:
    """Leave the state at the change to the next segment; events there are in its unknowns."""
    _drop_from(outcome, t, direction)
    for times, states in zip(outcome.t_events, outcome.y_events, strict=True):
        states[times == t] = y


def _drop_from(outcome: Outcome, t: float, direction: float) -> None:
    """Leave rows and steps from t on out."""

    def before(times: Vec) -> int:
        return bisect_left(times, direction * t, key=lambda time: direction * time)

    k = before(outcome.t)
    outcome.t, outcome.y = outcome.t[:k], outcome.y[:k]
    if (steps := outcome.steps) is not None:
        k = before(steps.t)
        outcome.steps = Steps(steps.t[:k], steps.y[:k])


def _joined(outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome of a run in segments."""
    last = outcomes[-1]
    if len(outcomes) == 1:
        return last
    stats = Stats(restarts=len(outcomes) - 1)
    for name in ("projections", "steps", "rejected", "evaluations", "jacobians", "factorisations"):
        counts = [getattr(o.stats, name) for o in outcomes]
        setattr(stats, name, -1 if min(counts) < 0 else sum(counts))
    codes = {o.stats.code for o in outcomes}
    stats.code = codes.pop() if len(codes) == 1 else "mixed"
    stats.restarts += sum(o.stats.restarts for o in outcomes)
    return Outcome(
        t=np.concatenate([o.t for o in outcomes]),
        y=np.concatenate([o.y for o in outcomes]),
        reason=last.reason,
        stats=stats,
        detail=last.detail,
        detail_time=last.detail_time,
        t_events=[np.concatenate(ts) for ts in zip(*(o.t_events for o in outcomes), strict=True)],
        y_events=[np.concatenate(ys) for ys in zip(*(o.y_events for o in outcomes), strict=True)],
        stopped=last.stopped,
        steps=_joined_steps([o.steps for o in outcomes]),
        rtol=last.rtol,
        atol=last.atol,
    )


def _joined_steps(of_segments: Sequence[Steps | None]) -> Steps | None:
    """The steps of all segments; None if one has none of its own."""
    known = [steps for steps in of_segments if steps is not None]
    if len(known) < len(of_segments):
        return None
    return Steps(np.concatenate([steps.t for steps in known]), np.concatenate([steps.y for steps in known]))


__all__ = ["Changes", "Segments", "run_segments"]

"""Runs in segments: where a switch is due, or inputs change, the solver restarts on an equivalent problem.

Positions and velocities stay; what changes is how they are written (the independent velocities of the null-space form),
which equations carry them (the kept rows of redundant ones), or the values of inputs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._frozen import changed, refuse_copies
from rbdae._process import Pending
from rbdae.adapter import AbstractAdapter, Method, Outcome, Reason, Request, Stats, Steps
from rbdae.machine.loops import watching as at
from rbdae.machine.quantity_events import in_turn
from rbdae.problem.contract import CompiledFunction, CompiledWatch, Quiet, Solvable, StateProjector, Switch
from rbdae.problem.event import EventFunction, EventGroup
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection, bind_projection
from rbdae.problem.switches import ChartPolicy
from rbdae.problem.timed import Segments
from rbdae.solving.checks import AnyEvent, name_of, of_quantity
from rbdae.solving.watch import Watch, run_once


@final
class RunEvent:
    """An event in one segment of a run: a function (t, y) in the solver's time, watched.

    Attributes
    ----------
    terminal, direction : in SciPy's convention; a `terminal` number is of the occurrences that are left
    quantity : the event of a quantity with its group, by which loops in machine code read it; None for a function
    """

    def __init__(
        self,
        event: Any,
        value: Callable[[float, Vec], float],
        terminal: Any,
        watch: Watch,
        quantity: EventFunction | None,
    ) -> None:
        self.__name__ = name_of(event)
        self.terminal, self.direction = terminal, getattr(event, "direction", 0.0)
        self.quantity = quantity
        self._value, self._watch = value, watch

    def __call__(self, t: float, y: Vec) -> Any:
        return self._watch.ask(self._value, self._watch.direction * t, y)


@final
class RunEvents:
    """The events of a run; a quantity has one memory of its turns in all segments.

    Parameters
    ----------
    events : checked
    first : the problem in whose unknowns the functions are given
    span : of the run, negative back in time
    """

    def __init__(self, events: Sequence[AnyEvent], first: Any, span: float) -> None:
        self._events, self._first = events, first
        quantities = [event for event in events if of_quantity(event)]
        self._places = {id(event): k for k, event in enumerate(quantities)}
        self._group = EventGroup(first.interpretation, quantities, span) if quantities else None

    def within(self, problem: Any, counts: Sequence[int], watch: Watch) -> list[RunEvent]:
        """The events in a segment; `counts` says how often each has occurred before it."""
        first = problem is self._first
        group = self._group if self._group is None or first else self._group.on(problem.interpretation)
        out = []
        for event, count in zip(self._events, counts, strict=True):
            terminal = getattr(event, "terminal", 0)
            if not first and terminal:
                terminal = int(terminal) - count
            if group is not None and id(event) in self._places:
                quantity = group[self._places[id(event)]]
                out.append(RunEvent(event, quantity, terminal, watch, quantity))
            else:
                out.append(RunEvent(event, event if first else self._translated(event, problem), terminal, watch, None))
        return out

    def _translated(self, event: Any, here: Any) -> Callable[[float, Vec], float]:
        """A function of the user in a later segment, in the unknowns of the first problem."""
        first = self._first
        return lambda t, y: event(t, here.translated(t, y, first))


@final
@dataclass(frozen=True, eq=False)
class Segment:
    """A part of a run, as it is asked for.

    Parameters
    ----------
    solver, adapter, method : what integrates it
    problem : whose selection and inputs hold within it
    request : times in the problem's own time, tolerances, events as users give them
    projection : after accepted steps
    policy : what becomes of charts near their singular sets
    """

    solver: str
    adapter: AbstractAdapter
    method: Method
    problem: Any
    request: Request
    projection: Projection | bool | None
    policy: ChartPolicy

    @property
    def direction(self) -> float:
        """-1.0 back in time, else 1.0."""
        return 1.0 if self.request.t0 < self.request.t_end else -1.0

    def projector(self) -> StateProjector | None:
        """The projection onto the problem's constraints."""
        return bind_projection(self.problem, self.projection)

    def switches(self, problem: Solvable) -> Sequence[Switch]:
        """New switches of the problem, or of one that has been made from it."""
        return problem.switches(self.policy) if isinstance(problem, Problem) else problem.switches()

    def until(self, t: float) -> Request:
        """The request up to t, whose last row is the state there."""
        first, t_eval = self.request.first_step, self.request.t_eval
        if t_eval is not None:
            t_eval = np.append(t_eval[self.direction * (t_eval - t) < 0.0], t)
        first = None if first is None else min(first, abs(t - self.request.t0))
        return changed(self.request, t_end=t, t_eval=t_eval, first_step=first)

    def rest(self, problem: Any, t: float, step: float | None) -> Segment:
        """The segment from t on, of another problem; `step` is the step size that the method would take next."""
        asked = self.request
        request = changed(
            asked,
            t0=t,
            first_step=None if step is None else min(step, abs(asked.t_end - t)),
            t_eval=None if asked.t_eval is None else asked.t_eval[self.direction * (asked.t_eval - t) >= 0.0],
        )
        return changed(self, problem=problem, request=request)


class Changes(Protocol):
    """Changes of a problem at known times, such as steps of inputs."""

    def next(self, t: float) -> float | None:
        """The time of the next one after t in the direction of the run; None if there is none."""

    def resumed(self, problem: Any, t: float, y: Vec) -> Any:
        """The problem from (t, y) on; the same one at times that are not of these changes."""


def run_segments(segment: Segment, pending: Pending, changes: Sequence[Changes] = ()) -> tuple[Outcome, Segments]:
    """Run a solver, and restart it from every accepted state at which a switch is due, and at the times of `changes`.

    Rows at the time of a change are in the new selection; events are given the unknowns of the first problem.
    """
    direction, asked = segment.direction, segment.request
    events = RunEvents(asked.events, segment.problem, asked.t_end - asked.t0)
    problems, times, outcomes = [segment.problem], list[float](), list[Outcome]()
    while True:
        here = segment.problem
        switches = segment.switches(here)
        due = _SwitchWatch(switches, direction) if switches else None
        stops = [stop for each in changes if (stop := each.next(segment.request.t0)) is not None]
        stop = min(stops, key=lambda time: abs(time - segment.request.t0), default=None)
        watch = Watch(here, pending, direction)
        counts = [sum(len(o.t_events[k]) for o in outcomes) for k in range(len(asked.events))]
        request = changed(
            segment.request if stop is None else segment.until(stop),
            events=events.within(here, counts, watch),
            watch=due,
            projector=segment.projector(),
        )
        outcome = run_once(segment.adapter, segment.solver, segment.method, here, request, watch)
        outcomes.append(outcome)
        if stop is not None and outcome.reason is Reason.FINISHED:
            t, y, problem = stop, (outcome.steps or outcome).y[-1], problems[-1]
            for each in changes:
                problem = each.resumed(problem, t, y if problem.t0 != t else problem.y0)
        elif due is not None and outcome.reason is Reason.INTERRUPTED:
            t, y = due.state
            ending = next(filter(None, (switches[k].ends(t, y) for k in due.due)), None)
            if ending is not None:
                outcome.reason, outcome.detail = Reason[ending.kind.upper()], ending.why
                if not ending.readable:
                    _drop_from(outcome, t, direction)
                break
            problem = _resumed(segment, problems[-1], switches, due.due, t, y)
        else:
            break
        problems.append(problem)
        times.append(t)
        _leave_to_next(outcome, t, problem.y0, direction)
        segment = segment.rest(problem, t, outcome.next_step)
    return _joined(outcomes), Segments(tuple(problems), tuple(times), direction)


@final
class _SwitchWatch:
    """Asks the switches at accepted states, and notes the first state at which some are due.

    Attributes
    ----------
    due, state : which switches are due, and where, in the problem's own time
    """

    def __init__(self, switches: Sequence[Switch], direction: float) -> None:
        self._switches, self._direction = switches, direction
        self.due: list[int] = []
        self.state: tuple[float, Vec] = (np.nan, np.empty(0))

    def machine(self) -> CompiledWatch | None:
        """The same for loops in machine code; None where a switch has to be asked after every step."""
        return compiled_watch([getattr(switch, "quiet", _always)() for switch in self._switches])

    def __call__(self, t: float, y: Vec) -> bool:
        t *= self._direction
        self.due = [k for k, switch in enumerate(self._switches) if switch.due(t, y)]
        if self.due:
            self.state = (t, y.copy())
        return bool(self.due)


@final
@dataclass(frozen=True, eq=False)
class _Measures:
    """The measures that switches watch, for loops in machine code, which come back where a switch may be due: the
    function and the memory (4 n_measured,) of `rbdae.machine.loops.watching`, of one run."""

    measure: CompiledFunction
    n_measured: int
    memory: Vec
    __reduce__ = refuse_copies


def compiled_watch(quiets: Sequence[Quiet | None]) -> _Measures | None:
    """The watch of some switches; None where one has to be asked after every step."""
    known = [quiet for quiet in quiets if quiet is not None]
    if not known or len(known) < len(quiets):
        return None
    starts = np.cumsum([0, *(quiet.n for quiet in known)]).tolist()
    calls = [(cast(Any, quiet.measure), None, None, k) for quiet, k in zip(known, starts, strict=False)]
    measure = known[0].measure if len(known) == 1 else in_turn(calls)
    memory = np.zeros(at.size(starts[-1]))
    for k, quiet in zip(starts, known, strict=False):
        places = at.places(memory, starts[-1])
        places.low[k : k + quiet.n], places.high[k : k + quiet.n] = quiet.low, quiet.high
    return _Measures(measure, starts[-1], memory)


def _always() -> None:
    """The answer of switches that do not say where they are not due."""


def _resumed(
    segment: Segment, problem: Solvable, switches: Sequence[Switch], due: Sequence[int], t: float, y: Vec
) -> Solvable:
    """The problem from (t, y) on; each switch works on what those before it have made."""
    out = problem
    for k in due:
        out = (switches if out is problem else segment.switches(out))[k].resume(t, y if out is problem else out.y0)
    return out


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
    steps = [o.steps for o in outcomes if o.steps is not None]
    return Outcome(
        t=np.concatenate([o.t for o in outcomes]),
        y=np.concatenate([o.y for o in outcomes]),
        reason=last.reason,
        stats=joined_stats([o.stats for o in outcomes]),
        detail=last.detail,
        detail_time=last.detail_time,
        t_events=[np.concatenate(ts) for ts in zip(*(o.t_events for o in outcomes), strict=True)],
        y_events=[np.concatenate(ys) for ys in zip(*(o.y_events for o in outcomes), strict=True)],
        stopped=last.stopped,
        steps=Steps(np.concatenate([s.t for s in steps]), np.concatenate([s.y for s in steps]))
        if len(steps) == len(outcomes)
        else None,
        rtol=last.rtol,
        atol=last.atol,
    )


def joined_stats(parts: Sequence[Stats]) -> Stats:
    """The cost of runs that follow each other; a count that one of them does not know is -1."""
    out = Stats()
    for name in ("projections", "steps", "rejected", "evaluations", "jacobians", "factorisations"):
        counts = [getattr(part, name) for part in parts]
        setattr(out, name, -1 if min(counts) < 0 else sum(counts))
    out.restarts = len(parts) - 1 + sum(part.restarts for part in parts)
    out.seconds = sum(part.seconds for part in parts)
    out.wall_seconds = sum(part.wall_seconds for part in parts)
    codes = {part.code for part in parts}
    out.code = codes.pop() if len(codes) == 1 else "mixed"
    return out

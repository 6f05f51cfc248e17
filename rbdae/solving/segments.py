"""Runs in segments: where a switch is due, or inputs change, the solver restarts on an equivalent problem.

Positions and velocities stay; what changes is how they are written (the independent velocities of the null-space form),
which equations carry them (the kept rows of redundant ones), or the values of inputs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._frozen import changed
from rbdae._process import Pending
from rbdae.adapter import AbstractAdapter, Method, Outcome, Reason, Request, Stats, Steps
from rbdae.machine.loops import watching as at
from rbdae.machine.quantity_events import in_turn
from rbdae.problem.contract import CompiledWatch, Solvable
from rbdae.problem.event import RunEvents
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection, bind_projection
from rbdae.problem.switches import AbstractSwitch, ChartPolicy
from rbdae.solving.changes import Changes
from rbdae.solving.watch import Watch, run_once


@final
@dataclass(eq=False)
class Segment:
    """A part of a run, as it is asked for: what integrates it, the problem whose selection and inputs hold within it,
    the request in the problem's own time with events as users give them, the projection after accepted steps, and what
    becomes of charts near their singular sets."""

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

    def switches(self, problem: Solvable) -> Sequence[AbstractSwitch]:
        """New switches of the problem, or of one that has been made from it."""
        return problem.switches(self.policy) if isinstance(problem, Problem) else problem.switches()

    def until(self, t: float) -> Request:
        """The request up to t, whose last row is the state there."""
        first, t_eval = self.request.first_step, self.request.t_eval
        if t_eval is not None:
            t_eval = np.append(t_eval[self.direction * (t_eval - t) < 0.0], t)
        first = None if first is None else min(first, abs(t - self.request.t0))
        return changed(self.request, t_end=t, t_eval=t_eval, first_step=first)

    def rest(self, t: float, step: float | None) -> Request:
        """The request from t on; `step` is the step size that the method would take next."""
        asked = self.request
        return changed(
            asked,
            t0=t,
            first_step=None if step is None else min(step, abs(asked.t_end - t)),
            t_eval=None if asked.t_eval is None else asked.t_eval[self.direction * (asked.t_eval - t) >= 0.0],
        )


def run_segments(
    segment: Segment,
    pending: Pending,
    changes: Sequence[Changes] = (),
    advance: Callable[[float], None] | None = None,
) -> tuple[Outcome, list[Segment]]:
    """Run a solver, and restart it from every accepted state at which a switch is due, and at the times of `changes`:
    the outcome of all, and the segments, with the projectors that they had.

    Rows at the time of a change are in the new selection; events are given the unknowns of the first problem. `advance`
    is called with the time of each accepted step.
    """
    direction, asked = segment.direction, segment.request
    here, request = _changed(segment.problem, changes, asked.t0, segment.problem.y0), asked
    events = RunEvents(asked.events, here, asked.t_end - asked.t0)
    parts: list[Segment] = []
    outcomes: list[Outcome] = []
    while True:
        counts = [sum(len(o.t_events[k]) for o in outcomes) for k in range(len(asked.events))]
        watch = Watch(here, pending, direction, advance)
        projector, bound = bind_projection(here, segment.projection), events.within(here, counts, watch.event)
        if here is not segment.problem or request is not asked or projector is not None:
            segment = changed(segment, problem=here, request=changed(request, projector=projector))
        parts.append(segment)
        switches = segment.switches(here)
        due = _SwitchWatch(switches, direction) if switches else None
        stops = [stop for each in changes if (stop := each.next(request.t0)) is not None]
        stop = min(stops, key=lambda time: abs(time - request.t0)) if stops else None
        request = watch.request(segment.request if stop is None else segment.until(stop), events=bound, watch=due)
        before = getattr(here.callbacks, "_fallbacks", 0)
        outcome = run_once(segment.adapter, segment.solver, segment.method, here, request, watch)
        outcome.stats.fallbacks = getattr(here.callbacks, "_fallbacks", 0) - before
        outcomes.append(outcome)
        if stop is not None and outcome.reason is Reason.FINISHED:
            t = stop
            here = _changed(here, changes, t, (outcome.steps or outcome).y[-1])
        elif due is not None and outcome.reason is Reason.INTERRUPTED:
            t, y = due.state
            ending = next(filter(None, (switches[k].ends(t, y) for k in due.due)), None)
            if ending is not None:
                outcome.reason, outcome.detail = Reason[ending.kind.upper()], ending.why
                if not ending.readable:
                    _drop_from(outcome, t, direction)
                break
            here = _resumed(segment, switches, due.due, t, y)
        else:
            break
        _drop_from(outcome, t, direction)  # the state at the change is the next segment's, and so are events there
        for times, states in zip(outcome.t_events, outcome.y_events, strict=True):
            states[times == t] = here.y0
        request = segment.rest(t, outcome.next_step)
    events.over()
    return _joined(outcomes), parts


def _changed(problem: Any, changes: Sequence[Changes], t: float, y: Vec) -> Any:
    """The problem from (t, y) on; each change works on what the earlier ones have made."""
    for each in changes:
        problem = each.resumed(problem, t, y if problem.t0 != t else problem.y0)
    return problem


_ROUNDING = 1e-9


@final
class _SwitchWatch:
    """Asks the switches at accepted states, and notes the first state (in the problem's own time) at which some are
    due."""

    def __init__(self, switches: Sequence[AbstractSwitch], direction: float) -> None:
        self._switches, self._direction = switches, direction
        self.due: list[int] = []
        self.state: tuple[float, Vec] = (np.nan, np.empty(0))

    def machine(self) -> CompiledWatch | None:
        """The same for loops in machine code, which ask a little before a bound; None where a switch has to be asked
        after every step."""
        measures: list[Any] = [switch.machine() for switch in self._switches]
        if None in measures:
            return None
        starts = np.cumsum([0, *(len(switch.low) for switch in self._switches)]).tolist()
        memory = at.memory(starts[-1])
        memory[at.LOW] = np.concatenate([switch.low for switch in self._switches]) * (1.0 + _ROUNDING)
        memory[at.HIGH] = np.concatenate([switch.high for switch in self._switches]) * (1.0 - _ROUNDING)
        calls = [(measure, None, None, k) for measure, k in zip(measures, starts, strict=False)]
        return CompiledWatch(calls[0][0] if len(calls) == 1 else in_turn(calls), starts[-1], memory)

    def __call__(self, t: float, y: Vec) -> bool:
        t *= self._direction
        self.due = [k for k, switch in enumerate(self._switches) if switch.due(t, y)]
        if self.due:
            self.state = (t, y.copy())
        return bool(self.due)


def _resumed(segment: Segment, switches: Sequence[AbstractSwitch], due: Sequence[int], t: float, y: Vec) -> Any:
    """The problem from (t, y) on; each switch works on what the earlier ones have made."""
    problem = out = segment.problem
    for k in due:
        out = (switches if out is problem else segment.switches(out))[k].resume(t, y if out is problem else out.y0)
    return out


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
    last = outcomes[-1]
    if len(outcomes) == 1:
        return last
    steps = [o.steps for o in outcomes if o.steps is not None]
    kept = len(steps) == len(outcomes)
    return replace(
        last,
        t=np.concatenate([o.t for o in outcomes]),
        y=np.concatenate([o.y for o in outcomes]),
        stats=joined_stats([o.stats for o in outcomes]),
        t_events=[np.concatenate(ts) for ts in zip(*(o.t_events for o in outcomes), strict=True)],
        y_events=[np.concatenate(ys) for ys in zip(*(o.y_events for o in outcomes), strict=True)],
        steps=Steps(np.concatenate([s.t for s in steps]), np.concatenate([s.y for s in steps])) if kept else None,
    )


def joined_stats(parts: Sequence[Stats]) -> Stats:
    """The cost of runs that follow each other; a count that one of them does not know is -1."""
    out = Stats()
    for name in (field.name for field in fields(Stats) if field.name != "code"):
        counts = [getattr(part, name) for part in parts]
        setattr(out, name, -1 if min(counts) < 0 else sum(counts))
    out.restarts += len(parts) - 1
    codes = {part.code for part in parts}
    out.code = codes.pop() if len(codes) == 1 else "mixed"
    return out

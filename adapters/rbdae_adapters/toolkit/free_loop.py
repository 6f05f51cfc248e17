"""Runs that stay in machine code."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Outcome, ProjectionError, Reason, Request, Solvable, StateProjector, Stats, Steps
from rbdae.machine.loops import shared as at
from rbdae.problem.contract import CompiledProjection, CompiledWatch
from rbdae_adapters.toolkit.events import NotFinite
from rbdae_adapters.toolkit.free_events import EventWatch, events_of
from rbdae_adapters.toolkit.loop_run import Run
from rbdae_adapters.toolkit.stepper import GaveUp


class Inside(NamedTuple):
    """A start, and what is done in machine code after accepted steps; a watch of events is that of switches, too."""

    y0: Vec
    correction: CompiledProjection | None
    watch: CompiledWatch | EventWatch | None

    @property
    def events(self) -> EventWatch | None:
        """The watch, if there are events."""
        return self.watch if isinstance(self.watch, EventWatch) else None


def inside(problem: Solvable, request: Request) -> Inside | None:
    """The work of a run in machine code after its steps. None where Python has to be asked, or if the start cannot be
    projected, or events have no number there, which is said then."""
    if request.each_step:
        return None
    watch: Any = None
    if request.watch is not None:
        watch = _machine(request.watch)
        if watch is None:
            return None
    y0, correction = problem.y0, None
    if request.projector is not None:
        correction, y0 = _machine(request.projector), problem.y0.copy()
        if correction is None:
            return None
        try:
            correction.start(request.t0, y0)
        except ProjectionError:
            return None
        if not np.isfinite(y0).all():
            return None
    try:
        return Inside(y0, correction, events_of(request, y0, watch) or watch)
    except NotFinite:
        return None


def _machine(what: Any) -> Any:
    """Its form for machine code; None if there is none."""
    make = getattr(what, "machine", None)
    return None if make is None else make()


def not_projected(correction: CompiledProjection | None, projector: StateProjector | None, t: float, y: Vec) -> GaveUp:
    """Why a projection in a loop has failed at a time; constraints that are not numbers are not a matter of
    tolerances. Raises what a user's function has raised."""
    assert correction is not None and projector is not None
    try:
        correction.anywhere.check()
    except ProjectionError as error:
        if math.isfinite(projector.drift(t, y)):
            return GaveUp(Reason.PROJECTION, str(error))
        return GaveUp(Reason.NOT_FINITE, "the constraints are not finite", t)
    return GaveUp(Reason.SOLVER, "a projection has failed")


@final
class _FreeRun:
    """A run, what was collected of it, and what it asks on the way."""

    def __init__(self, one: Run, request: Request, began: float, events: EventWatch | None) -> None:
        self.one, self.request, self.events = one, request, events
        self.keeps = request.keep_steps or request.t_eval is None
        # events are asked in the unknowns of the first segment
        self.continued = getattr(request.watch, "continued", None) if one.continues and events is None else None
        self._began = began
        self._last: Outcome | None = None
        self._before = 0  # steps until the loop has begun again

    def outcome(self, reason: Reason = Reason.SOLVER, detail: str = "", at: float | None = None) -> Outcome:
        """Everything so far, or at the end."""
        if self._last is not None:
            return self._last  # Ctrl-C has come after the end
        loop, request, events = self.one.loop, self.request, self.events
        stats = Stats(steps=self._before + loop.s.steps, seconds=time.perf_counter() - self._began)
        self.one.finish(stats)
        t, y = loop.steps() if self.keeps else loop.outputs()
        steps = None
        if request.t_eval is not None and self.keeps:
            steps = Steps(t, y)
            t, y = loop.outputs()
        found = {"t_events": [], "y_events": []} if events is None else events.collected(loop.n)
        stopped = None if events is None else events.stopped
        return Outcome(
            t, y, reason, stats, detail,
            **found, stopped=loop.t if stopped is None else stopped, rtol=request.rtol, atol=request.atol, steps=steps,
            next_step=loop.s.h, detail_time=at,
        )  # fmt: skip

    def ended(self, reason: Reason, detail: str = "", at: float | None = None) -> Outcome:
        """The outcome, which stays; the memory is handed back."""
        self._last = self.outcome(reason, detail, at)
        self.one.loop.release()
        return self._last

    def asked(self) -> Reason | None:
        """Look at the last state, as the loop has asked: why the run ends there, or None if it continues."""
        one, request, loop = self.one, self.request, self.one.loop
        if self.events is not None and self.events.end(one):
            self.advance(self.events.stopped)
            return Reason.EVENT
        t, y = loop.t, loop.y.copy()
        if t >= request.t_end or loop.s.steps >= loop.s.max_steps:
            return None  # limits come before switches
        if request.watch is None or not request.watch(t, y):
            return None
        other = None if self.continued is None else self.continued(t, y)
        if other is None:
            return Reason.INTERRUPTED
        self._before += loop.s.steps
        loop.restart(other)
        self.advance(t)
        return None

    def last(self) -> Reason | None:
        """Why the run ends at its end, if not for that: an event there, which the loop may not have asked about."""
        ends = self.events is not None and self.one.loop.s.steps > 0 and self.events.end(self.one)
        return Reason.EVENT if ends else None

    def advance(self, t: float | None) -> None:
        """Say where the run is."""
        if self.request.advance is not None and t is not None:
            self.request.advance(t)


def run(one: Run, request: Request, began: float, events: EventWatch | None = None) -> Outcome:
    """Run to the end, with pauses in which signals are seen; it has begun at a time of `time.perf_counter`. The events
    are those that the run watches."""
    loop, this = one.loop, _FreeRun(one, request, began, events)
    if request.begun is not None:
        request.begun(this.outcome)
    work = (began, 0)
    try:
        while True:
            status = loop.run()
            if status == at.FINISHED:
                return this.ended(this.last() or Reason.FINISHED)
            if status == at.FULL:
                loop.grow(keep=this.keeps)
            elif status == at.PAUSED:
                work = loop.paused(work)
                this.advance(loop.t)
            elif status == at.ASKED:
                reason = this.asked()
                if reason is not None:
                    return this.ended(reason)
            else:
                one.failed(status)
    except GaveUp as end:
        return this.ended(end.reason, end.detail, end.t)


__all__ = ["Inside", "inside", "not_projected", "run"]

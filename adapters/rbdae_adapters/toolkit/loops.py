"""Runs of loops in machine code. Some stay there from start to end; others return to Python after every accepted step,
where a `Recorder` works as for all packages. Both take the same steps.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Outcome, ProjectionError, Reason, Request, Solvable, Stats, Steps
from rbdae.machine.function import MachineFunction, trampoline
from rbdae.machine.loops import memory, watching
from rbdae.machine.loops.host import Loop
from rbdae.machine.quantity_events import in_turn
from rbdae.problem.contract import CompiledWatch
from rbdae_adapters.toolkit.events import AT_ENDS, Dense, Events, GaveUp, Step, nan, value_of
from rbdae_adapters.toolkit.recorder import MAX_STALLED, AbstractStepper, Recorder, drive

_INF = math.inf
_LEAST = 5e-324
"""The smallest positive number, as a bound that excludes zero."""


def machine(problem: Solvable, name: str, direction: float = 1.0) -> MachineFunction:
    """A callback as a machine function, in the problem's own time; for problems without machine code, the Python
    function with the time of a run in this direction."""
    machine_of = getattr(problem.callbacks, "machine", None)
    if machine_of is not None:
        compiled: MachineFunction = machine_of(name)
        return compiled
    n, call, rates = problem.n, getattr(problem.callbacks, name), name.startswith("rhs")

    def called(t: float, y: Vec, *given: Any) -> None:
        *others, out = given
        result = np.array(out)
        with np.errstate(all="ignore"):  # values that are not finite are reported with their time
            call(direction * t, y.copy(), *(direction * x for x in others), result)
        out[...] = direction * result if rates else result  # a user may keep the array

    signs = {"residual": "tyyo", "jacobian_data": "tyyto", "rhs": "tyo", "rhs_jacobian": "tyM"}[name]
    shape = {"residual": (problem.n_equations,), "rhs": (n,), "rhs_jacobian": (n, n)}.get(name)
    return trampoline(called, signs, {"y": (n,), "yd": (n,), "out": shape or (problem.sparsity.nnz,)})


class LoopRun(AbstractStepper):
    """A run of a loop: from start to end by `free`, or step by step if Python is needed after each step. `check` raises
    the exception that a user's function left in machine code; `within` is the work in machine code after accepted
    steps, None if a `Recorder` does it."""

    def __init__(self, loop: Loop, check: Callable[[], None], request: Request, within: Inside | None) -> None:
        self.loop, self.check, self._request = loop, check, request
        self._correction = None if within is None else within.correction
        self._events = within.watch if within is not None and isinstance(within.watch, EventWatch) else None
        self._began = time.perf_counter()
        self._work = (self._began, 0)
        self._keeps = request.keep_steps or request.t_eval is None
        self._ended: Outcome | None = None

    @abstractmethod
    def failed(self, status: int) -> None:
        """Raise the exception behind a status or `GaveUp`, or make the loop try again."""

    # ------------------------------------------------------------ step by step

    def step(self) -> tuple[float, Vec]:
        loop = self.loop
        loop.s.rows = 0
        while True:
            status = loop.run()
            if loop.s.rows:
                return loop.t, loop.y
            if status != memory.PAUSED:
                self.failed(status)
                continue
            self._work = loop.paused(self._work)
            if not loop.s.bad:
                self._advance(loop.t)

    def interpolant(self) -> Dense:
        if status := self.loop.prepare():
            self.check()
            raise RuntimeError(f"the dense output returned status {status}")

        def at_time(t: float) -> Vec:
            y: Vec = self.loop.at(t)
            if self.loop.said != memory.DONE:
                self.failed(self.loop.said)
            return y

        return at_time

    def replace(self, t: float, y: Vec) -> None:
        self.loop.replace(y)

    # ------------------------------------------------------------ from start to end

    def free(self) -> Outcome:
        """Run to the end, with pauses for signals."""
        if self._request.begun is not None:
            self._request.begun(self.outcome)
        try:
            self._ended = self.outcome(self.go_on() or Reason.FINISHED)
        except GaveUp as end:
            self._ended = self.outcome(end.reason, end.detail, end.t)
        return self._ended

    def go_on(self) -> Reason | None:
        """Run to the end of the loop's interval, with pauses for signals; why it ends before, if a switch or an event
        says so. Raises `GaveUp`."""
        loop = self.loop
        while (status := loop.run()) != memory.FINISHED:
            if status == memory.FULL:
                loop.grow(keep=self._keeps)
            elif status == memory.PAUSED:
                self._work = loop.paused(self._work)
                self._advance(loop.t)
            elif status != memory.ASKED:
                self.failed(status)
            elif (reason := self._asked()) is not None:
                return reason
        return None

    def outcome(self, reason: Reason = Reason.SOLVER, detail: str = "", at: float | None = None) -> Outcome:
        """All results so far, or at the end."""
        if self._ended is not None:
            return self._ended  # Ctrl-C came after the end
        loop, request, watch = self.loop, self._request, self._events
        stats = Stats(steps=loop.s.steps, seconds=time.perf_counter() - self._began)
        self.finish(stats)
        asked = request.t_eval is not None
        steps = loop.steps() if self._keeps else loop.outputs()
        t, y = loop.outputs() if asked else steps
        events = {} if watch is None else watch.events.collected()
        stopped = loop.t if watch is None or watch.stopped is None else watch.stopped
        return Outcome(
            t, y, reason, stats, detail,
            **events, stopped=stopped, rtol=request.rtol, atol=request.atol,
            steps=Steps(*steps) if asked and self._keeps else None, next_step=loop.s.h, detail_time=at,
        )  # fmt: skip

    def _asked(self) -> Reason | None:
        """Check the last state, as requested by the loop; returns why the run ends there, or None if it continues."""
        loop, request = self.loop, self._request
        if self._events is not None:
            if self._events.end(self):
                self._advance(self._events.stopped)
                return Reason.EVENT
            self._events.bound(self._events.numbers(loop.t))
        t, y = loop.t, loop.y.copy()
        if t >= request.t_end or loop.s.steps >= loop.s.max_steps:
            return None  # limits take precedence over switches
        if request.watch is None or not request.watch(t, y):
            return None
        return Reason.INTERRUPTED

    def _advance(self, t: float | None) -> None:
        if self._request.advance is not None and t is not None:
            self._request.advance(t)

    # ------------------------------------------------------------ for both

    def count_projections(self, stats: Stats, own: int = 0) -> None:
        """Count projections of the loop, or the solver's own."""
        projector = self._request.projector
        if projector is not None:
            stats.projections = own or projector.count

    def ended(self, status: int) -> GaveUp | None:
        """The end of the loop, if for a reason common to all loops."""
        s = self.loop.s
        if status == memory.NOT_PROJECTED:
            return self._not_projected(s.t_tried)
        ends: dict[int, tuple[Any, ...]] = {
            memory.TOO_MANY: (Reason.TOO_MANY_STEPS, f"the limit was {s.max_steps}"),
            memory.PROJECTED_NOT_FINITE: (Reason.NOT_FINITE, "the projected state is not finite", s.t_tried),
            memory.STANDS_STILL: (Reason.STEP_TOO_SMALL, f"{MAX_STALLED} steps in a row did not move the time"),
        }
        return GaveUp(*ends[status]) if status in ends else None

    def _not_projected(self, t: float) -> GaveUp:
        """The failure of a projection, with constraints that are not finite told apart; raises a user's exception."""
        correction, projector = self._correction, self._request.projector
        assert correction is not None and projector is not None
        try:
            correction.check()
        except ProjectionError as error:
            if math.isfinite(projector.drift(t, self.loop.y)):
                return GaveUp(Reason.PROJECTION, str(error))
            return GaveUp(Reason.NOT_FINITE, "the constraints are not finite", t)
        return GaveUp(Reason.SOLVER, "a projection failed")


def arguments(request: Request, within: Inside | None) -> dict[str, Any]:
    """What a loop is told of a request; it returns after each step unless the work is done within."""
    return {
        "times": None if within is None else request.t_eval,
        "stepwise": within is None,
        "max_stalled": MAX_STALLED,
        "correction": None if within is None else within.correction,
        "watch": None if within is None else within.watch,
        "direction": request.direction,
    }


def run(
    make: Callable[[Vec, Inside | None], LoopRun], problem: Solvable, request: Request, max_steps: int | None
) -> Outcome:
    """Run in machine code if no Python is needed after each step, else with a `Recorder` and its limit `max_steps`
    (loops have their own). `make` makes the run from its projected start and the work within."""
    within = inside(problem, request)
    if within is not None:
        return make(within.y0, within).free()
    recorder = Recorder(problem, request, one_step=True, max_steps=max_steps)
    loop_run = make(recorder.y0, None)
    outcome = drive(loop_run, recorder)
    outcome.next_step = loop_run.loop.s.h
    return outcome


# ---------------------------------------------------------------- work in machine code after steps


class Inside(NamedTuple):
    """A start, and the work in machine code after accepted steps; a watch of events also watches switches."""

    y0: Vec
    correction: MachineFunction | None
    watch: CompiledWatch | EventWatch | None


def inside(problem: Solvable, request: Request) -> Inside | None:
    """The work in machine code after steps. None if a Python function must run after each step, the start cannot be
    projected, or events are NaN there; the stepwise loop then reports start errors."""
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
            request.projector(request.t0, y0)
        except ProjectionError:
            return None
        if not np.isfinite(y0).all():
            return None
    try:
        return Inside(y0, correction, EventWatch(request, y0, watch) if request.events else watch)
    except GaveUp:
        return None


def _machine(what: Any) -> Any:
    """Its form for machine code, if any."""
    make = getattr(what, "machine", None)
    return None if make is None else make()


@final
class EventWatch:
    """A `CompiledWatch` of events, and of switches (`base`): the loop returns where an event changes its sign. y0 (n,)
    is the projected state at the start.

    An event is two measures, the last 2 n_events ones, that stay above or below zero: its value, and its reach within
    the step. If one does not, `end` finds its zeros as a `Recorder` does; `events` has times and states so far,
    `stopped` the time at which one ended the run, or could not be evaluated.
    """

    def __init__(self, request: Request, y0: Vec, base: CompiledWatch | None) -> None:
        self._request, self._base = request, base
        self.events = Events(request, len(y0))
        self.n_events, self.margin = len(self.events.each), AT_ENDS * (request.t_end - request.t0)
        self._first = 0 if base is None else base.n_measured
        self.n_measured = self._first + 2 * self.n_events
        self.stopped: float | None = None
        self.measure = self._measure(request, len(y0))
        self.memory = watching.memory(self.n_measured)
        self._own = self.memory[:, self._first :]
        if base is not None:
            self.memory[: watching.VALUES, : self._first] = base.memory[: watching.VALUES]
        self.measure.at(request.direction * request.t0, y0, self.memory[watching.VALUES])
        self.bound(self.numbers(request.t0))

    def numbers(self, t: float) -> list[float]:
        """Values of the events at the last state; NaN raises `GaveUp`."""
        out: list[float] = self._own[watching.VALUES, : self.n_events].tolist()
        for event, value in zip(self.events.each, out, strict=True):
            if value != value:
                raise nan(event, t)
        return out

    def _measure(self, request: Request, n: int) -> MachineFunction:
        """All measures: events by one machine function if there is one, else by Python."""

        def asked(t: float, y: Vec, out: Vec) -> None:
            values = [value_of(event, request.direction * t, y) for event in self.events.each]
            reaches = [v if e.group is None else e.reach() for e, v in zip(self.events.each, values, strict=True)]
            out[:] = values + reaches

        together = _together(request) or trampoline(asked, "tyo", {"y": (n,), "out": (2 * self.n_events,)})
        if self._base is None:
            return together
        # the switch comes last: if its measures cannot be computed it is asked, and the events are available
        return in_turn([(together, None, None, self._first), (self._base.measure, None, None, 0)])

    def bound(self, values: list[float]) -> None:
        """Events stay on their side of zero; one that is zero is asked about after the next step."""
        own, n = self._own, self.n_events
        for k, value in enumerate(values):
            low, high = (_LEAST if value > 0.0 else -_INF if value < 0.0 else _INF), -_LEAST if value < 0.0 else _INF
            own[watching.LOW, k] = own[watching.LOW, k + n] = low  # of the value, and of its reach
            own[watching.HIGH, k] = own[watching.HIGH, k + n] = high

    def end(self, one: LoopRun) -> bool:
        """Note the events in the last step; returns whether one of them ends the run and its rows.

        Raises exceptions of a user's function, and `GaveUp` for NaN: then the step is not among the rows.
        """
        loop = one.loop
        try:
            self.measure.check()
            found = self._found(one)
        except BaseException as error:
            self.stopped = loop.began
            loop.drop()
            if isinstance(error, ProjectionError):
                raise GaveUp(Reason.PROJECTION, str(error)) from None
            raise
        if found is not None:
            self.stopped = found[0]
            loop.cut(*found)
        return found is not None

    def _found(self, one: LoopRun) -> tuple[float, Vec] | None:
        n, loop, events = self.n_events, one.loop, self.events
        before, after = self._own[watching.BEFORE, :n].tolist(), self.numbers(loop.t)
        reaches = self._own[watching.VALUES, n:].tolist()
        reach = [None if event.group is None else r for event, r in zip(events.each, reaches, strict=True)]
        return events.find(Step(loop.t, loop.y, one.interpolant), loop.began, before, after, reach)


def _together(request: Request) -> MachineFunction | None:
    """The one machine function that has the values of all events, then their reaches; None if there is none."""
    found = [(getattr(event, "group", None), getattr(event, "place", 0)) for event in request.events]
    group = found[0][0]
    if group is None or found != [(group, k) for k in range(group.n)]:
        return None
    machine: MachineFunction | None = group.machine
    return machine

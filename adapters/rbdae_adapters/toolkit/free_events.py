"""Events in runs that stay in machine code: the loop comes back where one of them changes its sign."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import ProjectionError, Reason, Request
from rbdae.machine.function import PROTOTYPE, MachineFunction, trampoline
from rbdae.machine.loops import watching as at
from rbdae.machine.quantity_events import in_turn
from rbdae.problem.contract import CompiledWatch
from rbdae_adapters.toolkit.accepted import Step
from rbdae_adapters.toolkit.events import Event, NotFinite
from rbdae_adapters.toolkit.loop_run import Run
from rbdae_adapters.toolkit.recorder import project
from rbdae_adapters.toolkit.stepper import GaveUp

_LEAST = 5e-324
"""The smallest number above zero: with it as a bound, zero is out of bounds."""


@final
class EventWatch:
    """A `CompiledWatch` of events, and of what is watched besides. An event is two measures that stay above or below
    zero: its value, and its reach within the step. Where one does not, `end` finds its zeros as a `Recorder` does.

    Parameters
    ----------
    request : with events; those of quantities have their values as machine code
    y0 : (n,), the state at the start, projected
    base : the watch of switches, if there are any

    Attributes
    ----------
    measure, n_measured, memory : of a `CompiledWatch`
    n_events : how many events there are: twice as many of the measures, the last ones
    t, y : times and states of each event so far
    stopped : where an event has ended the run, or where it was when one could not be asked
    """

    def __init__(self, request: Request, y0: Vec, base: CompiledWatch | None) -> None:
        self._request, self._base = request, base
        self._events = [Event.of(f) for f in request.events]
        self.n_events = len(self._events)
        self._first = 0 if base is None else base.n_measured
        self.n_measured = self._first + 2 * self.n_events
        self.stopped: float | None = None
        self._counts = [0] * self.n_events
        self._looked = 0
        self.t: list[list[float]] = [[] for _ in self._events]
        self.y: list[list[Vec]] = [[] for _ in self._events]
        self.measure = self._measure(request, len(y0))
        self.memory = np.zeros(at.size(self.n_measured))
        self._own = own = at.places(self.memory, self.n_measured)
        if base is not None:
            theirs = at.places(base.memory, self._first)
            own.low[: self._first], own.high[: self._first] = theirs.low, theirs.high
        own.values[self._first :] = 2 * [event.number(request.t0, y0) for event in self._events]
        self._bound()

    def _measure(self, request: Request, n: int) -> MachineFunction:
        """All measures: events that are one machine function as they are, others by Python."""
        theirs = None if self._base is None else self._base.measure
        together = _together(request)
        if together is not None:
            # the switch comes last: where its measures cannot be had, it is asked, and the events are there
            base: Any = [] if theirs is None else [(theirs, None, None, 0)]
            return in_turn([(together, None, None, self._first), *base])
        first, direction, n_events = self._first, request.direction, self.n_events
        call = None if theirs is None else PROTOTYPE(theirs.address)
        none = np.zeros(1)

        def measured(t: float, y: Vec, out: Vec) -> None:
            if call is not None and theirs is not None:
                own, result = np.array(y), np.zeros(first)
                if call(theirs.context, t, own.ctypes.data, none.ctypes.data, 0.0, result.ctypes.data) != 0:
                    result[:] = np.nan  # the switch is to be asked
                out[:first] = result
            for k, event in enumerate(self._events, first):
                out[k] = event.number(direction * t, y)
                out[k + n_events] = out[k] if event.reach is None else event.reach()

        return trampoline(measured, "tyo", {"y": (n,), "out": (self.n_measured,)})

    def _bound(self) -> None:
        """Events stay on their side of zero; one that is zero is asked about after the next step."""
        own, k = self._own, self._first
        values = np.tile(own.values[k : k + self.n_events], 2)
        own.low[k:] = np.where(values > 0.0, _LEAST, np.where(values < 0.0, -np.inf, np.inf))
        own.high[k:] = np.where(values < 0.0, -_LEAST, np.inf)

    def end(self, one: Run) -> bool:
        """Note the events in the last step, once; whether one of them ends the run, whose rows then end there.

        Raises what a function of the user has raised, and `GaveUp` for what is not a number: then the step is not among
        the rows.
        """
        loop = one.loop
        if self._looked == loop.s.steps:
            return False
        self._looked = loop.s.steps
        try:
            self.measure.check()
            if self._quiet(loop.t):
                return False
            found = self._found(one)
        except BaseException as error:
            self.stopped = loop.began
            loop.drop()
            if isinstance(error, NotFinite):
                raise GaveUp(Reason.NOT_FINITE, str(error), error.t) from None
            if isinstance(error, ProjectionError):
                raise GaveUp(Reason.PROJECTION, str(error)) from None
            raise
        self._bound()
        if found is not None:
            self.stopped = found[0]
            loop.cut(*found)
        return found is not None

    def _quiet(self, t: float) -> bool:
        """Whether the loop has asked for something else."""
        own, k = self._own, self._first
        bounds = zip(own.low[k:].tolist(), own.values[k:].tolist(), own.high[k:].tolist(), strict=True)
        return t < self._request.t_end and all(low <= value <= high for low, value, high in bounds)

    def _found(self, one: Run) -> tuple[float, Vec] | None:
        own, k, loop, request = self._own, self._first, one.loop, self._request
        before, after = own.before[k:].tolist(), own.values[k:].tolist()
        step, ends, span = Step(loop.t, loop.y.copy(), one.dense), (loop.began, loop.t), (request.t0, request.t_end)
        found: list[tuple[float, int]] = []
        for i, event in enumerate(self._events):
            if after[i] != after[i]:
                raise event.nan(step.t)
            reach = None if event.reach is None else after[i + self.n_events]
            found += [(s, i) for s in event.times(ends, (before[i], after[i]), reach, step.at, span)]
        for s, i in sorted(found):
            y = step.y.copy() if s >= step.t else self._projected(s, step.at(s))
            self._counts[i] += 1
            self.t[i].append(s)
            self.y[i].append(y)
            if self._events[i].terminal and self._counts[i] >= self._events[i].terminal:
                return s, y
        return None

    def _projected(self, t: float, y: Vec) -> Vec:
        if self._request.projector is not None:
            project(self._request.projector, t, y)
        return y

    def collected(self, n: int) -> dict[str, Any]:
        """Times and states of the events, as an `Outcome` has them."""
        return {
            "t_events": [np.array(ts, dtype=float) for ts in self.t],
            "y_events": [np.array(ys, dtype=float).reshape(len(ys), n) for ys in self.y],
        }


def _together(request: Request) -> MachineFunction | None:
    """The one machine function that has the values of all events, then their reaches; None if there is none."""
    found = [getattr(event, "quantity", None) for event in request.events]
    group = getattr(found[0], "group", None)
    if group is None or [each and (each.group, each.place) for each in found] != [(group, k) for k in range(group.n)]:
        return None
    machine: MachineFunction | None = group.machine
    return machine


def events_of(request: Request, y0: Vec, base: CompiledWatch | None) -> EventWatch | None:
    """The events of a request; None if it has none."""
    return EventWatch(request, y0, base) if request.events else None


__all__ = ["EventWatch", "events_of"]

"""Events of a run: checked, bound to the problems of its segments, and as adapters see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.problem.event import Event, EventFunction, EventGroup, number_of
from rbdae.problem.problem import Problem
from rbdae.solving.watch import Watch

AnyEvent: TypeAlias = Event | Callable[[float, Vec], float]
"""An event as users give it."""


def of_quantity(event: object) -> bool:
    """Whether an event is one of a quantity, which each problem reads for itself."""
    return isinstance(event, Event) and event.of_quantity


def name_of(event: object) -> str:
    """The name of an event in messages."""
    return getattr(event, "__name__", None) or _check.show(event)


def check_events(problem: Any, events: AnyEvent | Sequence[AnyEvent] | None) -> tuple[AnyEvent, ...]:
    """Events as a tuple; refuses other objects, and quantities that the problem has not."""
    if events is None:
        return ()
    if callable(events):
        events = (events,)
    if not isinstance(events, (list, tuple)):
        raise TypeError(f"events must be functions event(t, y), got {_check.show(events)}; pass one, or a list of them")
    for k, event in enumerate(events):
        if not (isinstance(event, Event) and event.of_quantity):
            _check.takes("solve", f"events[{k}]", event, "t", "y")
        elif not isinstance(problem, Problem):
            raise TypeError(f"event {event.__name__!r}: {problem!r} has no quantities; give a function event(t, y)")
        else:
            number_of(problem.interpretation, event)
    return tuple(events)


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
        quantities = [event for event in events if isinstance(event, Event) and event.of_quantity]
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

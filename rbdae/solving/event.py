"""Events of quantities in a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rbdae._frozen import changed
from rbdae.adapter import Request
from rbdae.problem.event import Event, EventGroup, number_of
from rbdae.problem.problem import Problem


def check_quantities(problem: Any, events: Sequence[Any]) -> None:
    """Refuse events of quantities that a problem has not."""
    for event in events:
        if isinstance(event, Event) and event.of_quantity:
            if not isinstance(problem, Problem):
                raise TypeError(f"event {event.__name__!r}: {problem!r} has no quantities; give a function event(t, y)")
            number_of(problem.interpretation, event)


def with_bound_events(problem: Any, request: Request) -> Request:
    """A request whose events are functions of one run, with its problem's quantities."""
    of_quantities = [event for event in request.events if isinstance(event, Event) and event.of_quantity]
    if not of_quantities:
        return request
    group = EventGroup(problem.interpretation, of_quantities, request.t_end - request.t0)
    bound = [group[of_quantities.index(event)] if event in of_quantities else event for event in request.events]
    return changed(request, events=bound)


def passed_on(event: Any, value: Any, terminal: int | None = None) -> Any:
    """A function in place of an event, which gets what else solvers know of it."""
    value.__name__ = getattr(event, "__name__", repr(event))
    value.terminal = getattr(event, "terminal", 0) if terminal is None else terminal
    value.direction = getattr(event, "direction", 0.0)
    value.quantity = getattr(event, "quantity", None)
    return value


__all__ = ["check_quantities", "passed_on", "with_bound_events"]

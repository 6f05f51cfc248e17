"""`Event`: a quantity, or a function of time and state, that reaches a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae._frozen import changed, fill
from rbdae.adapter import Request
from rbdae.machine.function import MachineFunction
from rbdae.machine.quantity_events import ANGLE, OTHER, RATE, VALUE, Followed
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.measures import Measures
from rbdae.problem.owners import Owner
from rbdae.problem.problem import Problem
from rbdae.quantities.quantity import Quantity

Function: TypeAlias = Callable[[float, Vec], float]


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Event:
    """Something that happens in a run, for ``rbdae.solve(..., events=...)``.

    Parameters
    ----------
    what : a quantity, as ``pin.angle``, ``spring.quantity("length")`` or its label ``"pin.angle"``, or a function
        ``event(t, y)``. An angle counts full turns from the start on, where it is in (-pi, pi]
    above, below, crossing : float
        The value that it rises through, falls through, or crosses either way; one of the three. A function crosses 0 if
        none is given. Both are meant along the run: in a run back in time ``above`` is where it rises towards the past
    terminal : True ends the run at the first occurrence, a number at that one

    Notes
    -----
    Coordinates and rates are read in machine code by solvers that have loops there, at a tenth of a microsecond a step;
    torques, forces, accelerations and powers through Python. The same quantity has the same value in all formulations.
    """

    what: Quantity | str | Function
    value: float
    direction: float
    terminal: bool | int

    def __init__(
        self,
        what: Quantity | str | Function,
        *,
        above: float | None = None,
        below: float | None = None,
        crossing: float | None = None,
        terminal: bool | int = False,
    ) -> None:
        given = {"above": above, "below": below, "crossing": crossing}
        said = {name: value for name, value in given.items() if value is not None}
        if isinstance(what, Quantity) and what.components:
            raise ValueError(f"Event: {what.label} is a vector; give a function event(t, y) of one of its components")
        if not isinstance(what, (Quantity, str)):
            _check.takes("Event", "what", what, "t", "y")
            said = said or {"crossing": 0.0}
        if len(said) != 1:
            raise ValueError(f"Event: give one of above=, below= and crossing=, got {list(said) or 'none'}")
        (name, value), *_ = said.items()
        ends = _check.count("Event", "terminal (or True)", terminal, 0) if not isinstance(terminal, bool) else terminal
        direction = {"above": 1.0, "below": -1.0, "crossing": 0.0}[name]
        fill(self, what=what, value=_check.number("Event", name, value), direction=direction, terminal=ends)

    @property
    def of_quantity(self) -> bool:
        """Whether it is one of a quantity."""
        return isinstance(self.what, (Quantity, str))

    @property
    def __name__(self) -> str:
        """The event in messages, such as "pin.angle above 0.5"."""
        sign = {1.0: "above", -1.0: "below", 0.0: "crossing"}[self.direction]
        what = self.what
        label = what.label if isinstance(what, Quantity) else getattr(what, "__name__", what)
        return f"{label} {sign} {self.value:g}"

    def __call__(self, t: float, y: Vec) -> float:
        """The function less the value. An event of a quantity has none: it belongs to the problem that is solved."""
        if isinstance(self.what, (Quantity, str)):
            raise TypeError(
                f"event {self.__name__!r}: a quantity has a value in a problem alone; pass it to rbdae.solve"
            )
        return self.what(t, y) - self.value


def check_quantities(problem: Any, events: Sequence[Any]) -> None:
    """Refuse events of quantities that a problem has not."""
    for event in events:
        if isinstance(event, Event) and event.of_quantity:
            if not isinstance(problem, Problem):
                raise TypeError(f"event {event.__name__!r}: {problem!r} has no quantities; give a function event(t, y)")
            _, found = problem.interpretation.owners.find(event.what)
            if found.components:
                raise ValueError(f"event {event.__name__!r}: {found.label} is a vector; give a function event(t, y)")


def with_bound_events(problem: Any, request: Request) -> Request:
    """A request whose events are functions of one run, with its problem's quantities."""
    of_quantities = [event for event in request.events if isinstance(event, Event) and event.of_quantity]
    if not of_quantities:
        return request
    group = _Group(problem.interpretation, of_quantities, 1.0 if request.t_end > request.t0 else -1.0)
    bound = [
        OfQuantity(event, group, of_quantities.index(event)) if event in of_quantities else event
        for event in request.events
    ]
    return changed(request, events=bound)


@final
class _Group:
    """The events of quantities in one run, with the memory of their turns and of their last step.

    Attributes
    ----------
    n : how many events
    """

    def __init__(self, view: Interpretation, events: Sequence[Event], sense: float) -> None:
        self._view, self.n, reader = view, len(events), view.coordinate_reader
        self._others: list[tuple[Owner, Quantity]] = []
        numbers: list[tuple[int, int, float]] = []
        for event in events:
            owner, found = view.owners.find(event.what)
            kind = _kind(found)
            number = len(self._others) if kind == OTHER else owner.coordinates[found.coordinate]
            self._others += [(owner, found)] if kind == OTHER else []
            numbers.append((kind, number, event.value))
        width = 24 * view.model.n
        self._followed = Followed(numbers, reader.heads, reader.at, reader.c, width, len(self._others), sense)
        self._known: tuple[float, Vec, Vec] | None = None

    def on(self, view: Interpretation) -> _Group:
        """The same in the unknowns of another selection, with the same memory."""
        out = copy(self)
        out._view, out._known = view, None
        return out

    def at(self, t: float, y: Vec) -> Vec:
        """The values of all events, then their reaches."""
        if self._known is None or self._known[0] != t or not np.array_equal(self._known[1], y):
            times, rows = np.array([t]), np.array(y, dtype=float)[None]
            others = np.zeros((len(self._others), 2))
            if len(others):
                measures = Measures(self._view, times, rows, True)
                others[:, 0] = [measures.value(*each) for each in self._others]
            Z = self._view.reader.natural(times, rows)[0]
            self._known = t, rows[0], self._followed.at(t, Z, others).copy()
        return self._known[2]

    def reach(self, place: int) -> float:
        """The reach of an event in the step that ends where it was last asked."""
        return 0.0 if self._known is None else float(self._known[2][self.n + place])

    def machine(self) -> MachineFunction | None:
        """The same as a machine function of (t, y); None where Python is called."""
        return None if self._others else self._followed.machine(self._view.reader.machine)


def _kind(found: Quantity) -> int:
    if found.aspect == "rate":
        return RATE
    if found.aspect != "value":
        return OTHER
    return ANGLE if found.unit == "rad" else VALUE


@final
class OfQuantity:
    """An event of a quantity in one run.

    Attributes
    ----------
    quantity : itself, by which wrappers hand it on
    group, place : all events of quantities, and which one it is
    """

    def __init__(self, event: Event, group: _Group, place: int, terminal: bool | int | None = None) -> None:
        self.__name__ = event.__name__
        self.terminal = event.terminal if terminal is None else terminal
        self.direction = event.direction
        self.quantity, self.group, self.place = self, group, place
        self._event = event

    def __call__(self, t: float, y: Vec) -> float:
        """The quantity less the value."""
        return float(self.group.at(t, y)[self.place])

    def reach(self) -> float:
        """How near to the value it may have come within the step that ends where it was last asked."""
        return self.group.reach(self.place)

    def on(self, problem: Problem, terminal: int) -> OfQuantity:
        """The same in a later segment, whose unknowns are those of another problem."""
        return OfQuantity(self._event, self.group.on(problem.interpretation), self.place, terminal)


__all__ = ["Event", "check_quantities", "with_bound_events"]

"""`Event`: a quantity, or a function of time and state, that reaches a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae._frozen import changed, fill
from rbdae.adapter import Request
from rbdae.machine.function import MachineFunction
from rbdae.machine.quantity_events import ANGLE, RATE, VALUE, Followed
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
    events = request.events
    if not any(isinstance(event, Event) and event.of_quantity for event in events):
        return request
    group = _Group(problem.interpretation, events, 1.0 if request.t_end > request.t0 else -1.0)
    bound = [_bound(event, group) if isinstance(event, Event) and event.of_quantity else event for event in events]
    return changed(request, events=bound)


def _bound(event: Event, group: _Group) -> Any:
    return _OfCoordinate(event, group) if event in group.places else _OfMeasure(event, group.view)


@final
class _Group:
    """The events of one run that are read from coordinates and rates, with the memory of their turns.

    Attributes
    ----------
    view : `Interpretation`
    places : the number of each event
    """

    def __init__(self, view: Interpretation, events: Sequence[Any], sense: float) -> None:
        self.view, reader = view, view.coordinate_reader
        numbers: list[tuple[int, int, float]] = []
        self.places: dict[Event, int] = {}
        for event in events:
            if isinstance(event, Event) and event.of_quantity and event not in self.places:
                owner, found = view.owners.find(event.what)
                kind = _kind(found)
                if kind is not None:
                    self.places[event] = len(numbers)
                    numbers.append((kind, owner.coordinates[found.coordinate], event.value))
        width = 24 * view.model.n
        self._followed = Followed(numbers, reader.heads, reader.at, reader.c, width, sense) if numbers else None

    def on(self, view: Interpretation) -> _Group:
        """The same in the unknowns of another selection, with the same memory."""
        out = object.__new__(_Group)
        out.view, out.places, out._followed = view, self.places, self._followed
        return out

    def at(self, place: int, t: float, y: Vec) -> float:
        """The value of one event."""
        assert self._followed is not None
        Z = self.view.reader.natural(np.array([t]), np.asarray(y, dtype=float)[None])
        return float(self._followed.at(t, Z[0])[place])

    def machine(self) -> MachineFunction:
        """All values as a machine function of (t, y)."""
        assert self._followed is not None
        return self._followed.machine(self.view.reader.machine)


def _kind(found: Quantity) -> int | None:
    if found.aspect == "rate":
        return RATE
    if found.aspect != "value":
        return None
    return ANGLE if found.unit == "rad" else VALUE


@final
class _Together:
    """The place of an event among those that one machine function gives."""

    def __init__(self, group: _Group, place: int) -> None:
        self.group, self.place, self.n = group, place, len(group.places)

    def __call__(self) -> MachineFunction:
        """All of them."""
        return self.group.machine()


@final
class _OfCoordinate:
    """An event of a coordinate or a rate in one run."""

    def __init__(self, event: Event, group: _Group, terminal: bool | int | None = None) -> None:
        self.__name__ = event.__name__
        self.terminal = event.terminal if terminal is None else terminal
        self.direction = event.direction
        self.machine = _Together(group, group.places[event])
        self._event, self._group = event, group

    def __call__(self, t: float, y: Vec) -> float:
        """The quantity less the value."""
        return self._group.at(self.machine.place, t, y)

    def on(self, problem: Problem, terminal: int) -> _OfCoordinate:
        """The same in a later segment, whose unknowns are those of another problem."""
        return _OfCoordinate(self._event, self._group.on(problem.interpretation), terminal)


@final
class _OfMeasure:
    """An event of a torque, a force, an acceleration or a power."""

    def __init__(self, event: Event, view: Interpretation, terminal: bool | int | None = None) -> None:
        self.__name__ = event.__name__
        self.terminal = event.terminal if terminal is None else terminal
        self.direction = event.direction
        self._event, self._view = event, view
        self._found: tuple[Owner, Quantity] = view.owners.find(event.what)

    def __call__(self, t: float, y: Vec) -> float:
        """The quantity less the value."""
        measures = Measures(self._view, np.array([t]), np.array(y, dtype=float)[None], True)
        return float(measures.value(*self._found)) - self._event.value

    def on(self, problem: Problem, terminal: int) -> _OfMeasure:
        """The same in a later segment."""
        return _OfMeasure(self._event, problem.interpretation, terminal)


__all__ = ["Event", "check_quantities", "with_bound_events"]

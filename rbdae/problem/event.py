"""`Event`: a quantity, or a function of time and state, that reaches a value; and what it is a zero of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any, TypeAlias, TypeGuard, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae._frozen import fill, refuse_copies
from rbdae.machine.function import MachineFunction
from rbdae.machine.loops.events import followed
from rbdae.machine.quantity_events import ANGLE, OTHER, VALUE, begin, in_turn, measured, memory
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.measures import Found, Measures
from rbdae.quantities.quantity import Quantity

Function: TypeAlias = Callable[[float, Vec], float]

_WORDS = {1.0: "above", -1.0: "below", 0.0: "crossing"}


@final
@dataclass(frozen=True, eq=False, init=False)
class Event:
    """Something that happens in a run, for ``rbdae.solve(..., events=...)``.

    Parameters
    ----------
    what : a quantity, as ``pin.angle``, ``spring.quantity("length")`` or its label ``"pin.angle"``, or a function
        ``event(t, y)``, which gets a y of its own. An angle is 0 where normal_a and normal_b of its joint agree, at the
        start unless they are given; it counts full turns from the start on, where it is in (-pi, pi]
    above, below, crossing : float
        The value that it rises through, falls through, or crosses either way; one of the three. A function crosses 0 if
        none is given. Both are meant along the run: in a run back in time ``above`` is where it rises towards the past
    terminal : True ends the run at the first occurrence, a number at that one

    Notes
    -----
    What holds at the start is no event until it has been left; what is reached at the end of the run is one; both to
    1e-9 of the interval.

    A quantity is also found where it passes a value twice within a step: its rates at both ends show where to look. Of
    a function only the values at the ends of steps are known, and both passages are lost; ``rbdae.solve(...,
    max_step=)`` makes steps as short as needed.

    Quantities are read in machine code by solvers that have loops there. Outputs of blocks, efforts of actuators, and
    efforts of drives where joint equations are redundant are read in Python, and looked at where steps end, as
    functions are. The same quantity has the same value in all formulations.
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
        direction = next(sign for sign, word in _WORDS.items() if word == name)
        fill(self, what=what, value=_check.number("Event", name, value), direction=direction, terminal=ends)

    @cached_property
    def __name__(self) -> str:
        """The event in messages, such as "pin.angle above 0.5"."""
        what = self.what
        label = what.label if isinstance(what, Quantity) else getattr(what, "__name__", what)
        return f"{label} {_WORDS[self.direction]} {self.value:g}"

    def __call__(self, t: float, y: Vec) -> float:
        """The function less the value. An event of a quantity has none: it belongs to the problem that is solved."""
        if isinstance(self.what, (Quantity, str)):
            raise TypeError(
                f"event {self.__name__!r}: a quantity has a value only in a problem; pass it to rbdae.solve"
            )
        return self.what(t, y) - self.value


AnyEvent: TypeAlias = Event | Function
"""An event as users give it."""


def of_quantity(event: object) -> TypeGuard[Event]:
    """Whether an event is one of a quantity, which each problem reads for itself."""
    return isinstance(event, Event) and isinstance(event.what, (Quantity, str))


def name_of(event: object) -> str:
    """The name of an event in messages."""
    return getattr(event, "__name__", None) or _check.show(event)


def _attributes(event: object) -> tuple[int, float]:
    """scipy's `terminal` and `direction`, checked."""
    terminal, direction = getattr(event, "terminal", 0), getattr(event, "direction", 0.0)
    if isinstance(event, Event):
        return int(terminal), direction
    if not isinstance(terminal, (bool, np.bool_)) and terminal is not None:
        terminal = _check.count("event", "terminal (or True)", terminal, 0)
    return int(terminal or 0), _check.number("event", "direction", direction)


@final
class RunEvents:
    """The events of a run over a span, negative back in time, checked; a quantity has one memory of its turns in all
    segments, functions are given in the unknowns of the `first` problem. Raises ValueError for a quantity that the
    system has not, and for a vector."""

    def __init__(self, events: Sequence[AnyEvent], first: Any, span: float) -> None:
        self._events, self._first = events, first
        quantities = [event for event in events if of_quantity(event)]
        self._group = EventGroup.begun(first.interpretation, quantities, span) if quantities else None

    def over(self) -> None:
        """Leave what was prepared for the next run of the first problem."""
        if self._group is not None:
            self._first.interpretation.events[self._group.of] = self._group

    def within(
        self, problem: Any, counts: Sequence[int], watched: Callable[[Function], Function]
    ) -> list[EventFunction]:
        """The events in a segment, `watched`; `counts` says how often each has occurred before it: a `terminal` number
        is of the occurrences that are left."""
        first, places = problem is self._first, count()
        group = self._group if self._group is None or first else self._group.on(problem.interpretation)
        out = []
        for event, before in zip(self._events, counts, strict=True):
            terminal, direction = _attributes(event)
            if not first and terminal:
                terminal -= before
            if group is not None and of_quantity(event):
                its: tuple[EventGroup | None, int] = group, next(places)
                value = group.value(its[1])
            else:
                its, value = (None, 0), event if first else self._translated(event, problem)
            out.append(EventFunction(event, watched(value), terminal, direction, *its))
        return out

    def _translated(self, event: Function, here: Any) -> Function:
        """A function of the user in a later segment, in the unknowns of the first problem."""
        first = self._first
        return lambda t, y: event(t, here.translated(t, y, first))


@final
class EventGroup:
    """The n events of quantities in one run, `of` these as users say them, with the memory of their turns and of their
    last step; one run after the other may have it."""

    def __init__(self, view: Interpretation, found: list[Found], memory: Vec, of: tuple[Any, ...]) -> None:
        self._view, self._found, self._memory, self.n, self.of = view, found, memory, len(found), of
        self._kinds = [OTHER if q.aspect != "value" else ANGLE if q.unit == "rad" else VALUE for _, q in found]
        self._known: tuple[float, Vec, Vec] | None = None

    @classmethod
    def begun(cls, view: Interpretation, events: Sequence[Event], span: float) -> EventGroup:
        """That of a run, which has left nothing in its memory yet."""
        of = tuple([event.what for event in events])
        group: EventGroup | None = view.events.pop(of, None)
        if group is None:
            found = [view.owners.find(what) for what in of]
            for event, (_, quantity) in zip(events, found, strict=True):
                if quantity.components:
                    raise ValueError(
                        f"event {event.__name__!r}: {quantity.label} is a vector; give a function event(t, y)"
                    )
            group = cls(view, found, memory(len(found)), of)
        begin(group._memory, [event.value for event in events], 1.0 if span > 0.0 else -1.0, 1e-9 * span)
        group._known = None
        return group

    def value(self, place: int) -> Function:
        """The quantity of an event less its value, as a function (t, y)."""
        return lambda t, y: float(self.at(t, y)[place])

    def on(self, view: Interpretation) -> EventGroup:
        """The same in the unknowns of another selection, with the same memory."""
        return EventGroup(view, self._found, self._memory, self.of)

    def at(self, t: float, y: Vec) -> Vec:
        """The values of all events, then their reaches."""
        if self._known is None or self._known[0] != t or not np.array_equal(self._known[1], y):
            row = np.array(y, dtype=float)
            self._known = t, row, self._read(t, row)
        return self._known[2]

    def _read(self, t: float, y: Vec) -> Vec:
        out = np.full(2 * self.n, np.nan)
        if self.machine is not None:
            self.machine.at(t, y, out)
            return out
        measures = Measures(self._view, np.array([t]), y[None], True)
        numbers = [0.0 if each is None else measures.value(*each) for each in (*self._found, *self._rates)]
        followed(np.array([self.n, 0, 0, 0, *self._kinds]), self._memory, np.array(numbers, dtype=float), t, out)
        return out

    @property
    def _rates(self) -> list[Found | None]:
        """The rates of coordinates; those of others follow from values a little later."""
        return [(o, replace(q, aspect="rate")) if q.aspect == "value" else None for o, q in self._found]

    @cached_property
    def machine(self) -> MachineFunction | None:
        """The same as a machine function of (t, y); None where Python is called, or least norms are to be found."""
        view, recorded, n, rates = self._view, self._view.recorded, self._view.workspace.layout.n, self._rates
        nodes = [recorded.node(each) for each in (*self._found, *rates)]
        direct = [recorded.node(each) for each in self._found if each[1].aspect != "acceleration"]
        if recorded.machine(nodes) is None or (view.ambiguous and recorded.by_loads(direct)):
            return None
        w, others = np.empty(4 * self.n + n), None in rates
        x, moved = np.empty((2, view.n_rates + recorded.ends[-1]))
        now, after = w[: 2 * self.n], w[2 * self.n : 4 * self.n]
        calls = in_turn(recorded.calls(view, nodes, x, now, rates=others))
        beside = in_turn(recorded.calls(view, nodes, moved, after, rates=False) if others else [])
        return measured(self._kinds, self._memory, calls, beside, w, x, n, view.workspace.layout.n_differential)

    def reach(self, place: int) -> float:
        """The reach of an event in the step that ends where it was last asked."""
        return 0.0 if self._known is None else float(self._known[2][self.n + place])


@final
class EventFunction:
    """An event in one run, or in a segment of it: a function (t, y) that is zero there.

    The function of a quantity has no zeros but the event's: an angle counts full turns, by a memory of the last two
    times, in whose order the function has to be called; a time between these two may be asked for again, as codes do
    that look for a zero. A function without a memory would have others: a continuous one of a direction has an even
    number of zeros, and any other jumps.

    `terminal` occurrences end the run (0: never); `direction` is the sign of the slope that counts (0: both). The
    `group` has all events of quantities of one run, by which loops in machine code read them, None for a function of
    the user; `place` is the event's own there.
    """

    def __init__(
        self,
        event: object,
        value: Function,
        terminal: int,
        direction: float,
        group: EventGroup | None = None,
        place: int = 0,
    ) -> None:
        self._event, self.terminal, self.direction = event, terminal, direction
        self.group, self.place, self._value = group, place, value

    __reduce__ = refuse_copies

    @property
    def __name__(self) -> str:
        """That of the event in messages."""
        return name_of(self._event)

    @classmethod
    def of(cls, function: Function) -> EventFunction:
        """A function with scipy's attributes `terminal` and `direction`, which are read once."""
        if isinstance(function, EventFunction):
            return function
        return cls(function, function, *_attributes(function))

    def __call__(self, t: float, y: Vec, yd: Vec | None = None) -> float:
        """The value, zero at the event; it does not depend on yd."""
        value = self._value(t, y.copy())  # a user may keep or change the array
        return value if isinstance(value, float) else _check.number("event", f"its value at t = {t:g}", value)

    def reach(self) -> float | None:
        """The nearest to zero, or beyond, that a quantity may have been within the step that ends where it was last
        asked; None for a function of the user."""
        return None if self.group is None else self.group.reach(self.place)

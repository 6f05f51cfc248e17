"""`Input`: a number that a mechanism receives from outside; `Table`: its values over time."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cache, partial
from keyword import iskeyword
from typing import Any, Literal, TypeAlias, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae.laws.law import Filling, Maker
from rbdae.laws.numbers import choice, piecewise

Interpolation: TypeAlias = Literal["linear", "cubic", "previous"]
_KINDS = ("linear", "cubic", "previous")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """An input of a system, made by `rbdae.System.add_input`.

    Attributes
    ----------
    name : unique among the inputs of the system
    value : used unless a run gives another
    unit : for labels
    """

    name: str
    value: float = 0.0
    unit: str = ""


@final
@attrs.frozen(eq=False, init=False)
class Table:
    """A function of time through given values, constant before the first time and after the last.

    Raises TypeError and ValueError for times that do not rise, for unequal lengths, and for a cubic spline through
    fewer than four values.

    Parameters
    ----------
    t : (k,) array_like
        Rising times, s.
    values : (k,) array_like
    kind : ``"linear"``, ``"cubic"`` or ``"previous"``
        Interpolation by lines, by a cubic spline (not-a-knot, two continuous derivatives), or by steps, where each
        value holds from its time on.
    """

    t: Vec
    values: Vec
    kind: Interpolation
    _between: Callable[[Any], Any] = attrs.field(repr=False)

    def __init__(self, t: ArrayLike, values: ArrayLike, kind: Interpolation = "linear") -> None:
        times = _times(t)
        _check.one_of("kind of table", kind, _KINDS)
        least = 4 if kind == "cubic" else 1
        if len(times) < least:
            raise ValueError(f"table: kind={kind!r} needs at least {least} times, got {len(times)}; give more")
        numbers = _check.array("table", "values", values, (len(times),), remedy="give a value for each time")
        self.__attrs_init__(times, numbers, kind, _between(times, numbers, kind))

    def moves_at(self, t: float) -> bool:
        """Whether the table is a cubic spline that rises or falls at a time, ends included."""
        from scipy.interpolate import CubicSpline

        slope = CubicSpline(self.t, self.values)(t, 1)
        return bool(abs(slope) * (self.t[-1] - self.t[0]) > 1e-9 * np.abs(self.values).max())

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are constructed again."""
        return Table, (self.t, self.values, self.kind)

    def __call__(self, t: Any) -> Any:
        return self._between(t)


def _times(t: ArrayLike) -> Vec:
    size = 0 if isinstance(t, np.ndarray) and t.ndim == 0 else len(t) if isinstance(t, Sized) else 0
    times = _check.array("table", "t", t, (max(size, 1),))
    if not (np.diff(times) > 0.0).all():
        raise ValueError(f"table: the times must rise, got {_check.show(t)}; sort them and leave out duplicates")
    return times


def _between(t: Vec, values: Vec, kind: Interpolation) -> Callable[[Any], Any]:
    if kind == "linear":
        return lambda x: np.interp(x, t, values)
    if kind == "previous":
        return lambda x: values[np.maximum(np.searchsorted(t, x, side="right") - 1, 0)]
    from scipy.interpolate import CubicSpline

    spline = piecewise(CubicSpline(t, values))
    first, last = float(t[0]), float(t[-1])

    def between(x: Any) -> Any:
        if isinstance(x, np.ndarray) and x.ndim:
            return spline(np.clip(x, first, last))
        # at its ends use the spline, with the slopes of a run that begins or ends there
        return choice(x < first, float(values[0]), choice(x > last, float(values[-1]), spline(x)))

    return between


Given: TypeAlias = float | Callable[[float], Any] | Table | tuple[Any, ...]
"""A value of an input over a run: a number, a function of time, a table, or its (t, values) or (t, values, kind)."""


def given(owner: str, name: str, value: object) -> float | Callable[[float], Any]:
    """A number or a function of time (a table is one); raises TypeError and ValueError for anything else."""
    if isinstance(value, Table):
        return value
    if isinstance(value, tuple) and len(value) in (2, 3):
        return Table(*value)
    if callable(value):
        _check.takes(owner, f"input {name!r}", value, "t")
        return value
    return _check.number(owner, f"input {name!r}", value)


def values_of(owner: str, places: Mapping[str, int], u: object, present: Vec) -> Vec:
    """Values of all inputs, from a mapping by name (missing ones keep their present value) or from an array in the
    order of the inputs. Raises TypeError and ValueError for an unknown name, and for values that are not finite real
    numbers of this length."""
    if not isinstance(u, Mapping):
        if type(u) is np.ndarray and u.dtype == np.float64 and u.shape == present.shape and math.isfinite(u @ u):
            return u.copy()
        return _check.array(owner, "u, the inputs in the order of add_input,", u, (len(places),))
    out = present.copy()
    for name, value in u.items():
        if name not in places:
            raise _check.unknown("input", name, places)
        plain = type(value) is float and math.isfinite(value)
        out[places[name]] = value if plain else _check.number(owner, f"input {name!r}", value)
    return out


def check_number_names(owner: str, names: Iterable[Any]) -> None:
    """Refuse names of numbers that are not valid attributes."""
    for key in names:
        if not isinstance(key, str) or not key.isidentifier() or iskeyword(key) or key.startswith("_"):
            raise ValueError(
                f"{owner}: {_check.show(key)} is no name of a number, which laws read as s.name or u.name; take letters"
            )


def read_inputs(owner: str, inputs: Any, most: int | None = None) -> dict[str, Input]:
    """The inputs of the system that a law reads, by their names in it, `most` at the most. Raises TypeError and
    ValueError for anything but a mapping from names to inputs."""
    if not isinstance(inputs, Mapping):
        raise TypeError(
            f'{owner}: inputs must be a mapping by name, got {_check.show(inputs)}; give e.g. {{"gain": gain}} with '
            'gain = system.add_input("gain")'
        )
    check_number_names(owner, inputs)
    for name, each in inputs.items():
        if not isinstance(each, Input):
            raise TypeError(
                f"{owner}: inputs[{name!r}] must be an input of the system, from add_input, got {_check.show(each)}; "
                "numbers and functions of time belong in the law"
            )
    if not 0 < len(inputs) <= (most or len(inputs)):
        known = f"1 to {most} inputs" if most else "at least one input"
        raise ValueError(f"{owner}: a law reads {known}, got {len(inputs)}; leave inputs= or some out")
    return dict(inputs)


Sources: TypeAlias = Mapping[Input, Callable[[float], Any]]
"""Inputs that are functions of time."""


def under_sources(
    users: Sequence[Any], fill: Maker, inputs: Sequence[Input], sources: Sources, first: int = 0
) -> tuple[tuple[Any, ...], Maker, tuple[Input, ...]]:
    """The users' functions, maker and inputs of a law f(t, x, out) with functions of time in the places of some inputs;
    inputs begin at `first` in x."""
    functions = tuple(sources[each] for each in inputs if each in sources)
    timed = [each in sources for each in inputs]
    left = tuple(each for each in inputs if each not in sources)
    return (*users, *functions), partial(_completed, fill, len(users), timed, first), left


def _completed(fill: Maker, n_users: int, timed: Sequence[bool], first: int, users: Sequence[Any]) -> Filling:
    law, functions = fill(users[:n_users]), users[n_users:]

    def completed(t: float, x: Vec, out: Vec) -> Any:
        numbers, replacements = iter(x[first:]), iter(functions)
        inputs = [next(replacements)(t) if by_time else next(numbers) for by_time in timed]
        return law(t, np.array([*x[:first], *inputs, *numbers]).view(type(x)), out)

    return completed


@cache
def named_numbers(names: tuple[str, ...]) -> Any:
    """The class of numbers by name and in order, as laws read them: ``u.voltage``."""
    return type("Values", (namedtuple("Values", names),), {"__slots__": (), "__getattr__": _unknown_number})


def _unknown_number(self: Any, name: str) -> Any:
    """Refuse an attribute that the record does not have."""
    raise AttributeError(str(_check.unknown("name in a law", name, self._fields)), name=name, obj=self)

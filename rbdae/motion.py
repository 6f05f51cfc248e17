"""Prescribed motions: functions of time and inputs, with their first two time derivatives.

    a law s(t)          one function, recorded or called; `rbdae.laws` differentiates it
    (s, s', s'')        three functions, or a spline with its own derivatives
    one input           s = u, constant while u is a number
    (u, u', u'')        three inputs, taken as they are: the user keeps them consistent
    a law (t, u)        recorded or called, too; its time derivatives are those at constant inputs

An input that is a function of time becomes part of the law, and its derivatives enter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias, final, runtime_checkable

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae._frozen import brief
from rbdae.graph.law import Law as RecordedLaw
from rbdae.inputs import Input, Sources, Table, named_numbers, read_inputs, under_sources
from rbdae.kernels.records import MOST_INPUTS
from rbdae.kernels.user_functions import UserFunction, of_time
from rbdae.laws.law import Derived, Filling, Maker, Recorded


@runtime_checkable
class Spline(Protocol):
    """A function of time with its own derivatives, such as scipy's splines."""

    def __call__(self, t: float, /) -> Any:
        """Its value."""

    def derivative(self) -> Spline:
        """Its derivative."""


Law: TypeAlias = Sequence[Any] | Spline | Callable[..., Any] | Input
"""A law of a drive, see above."""

_LAWS = ("s", "s'", "s''")
_WAYS = (
    "give one function of time that does not convert it to float; or (s, s', s''), three functions of time; or a "
    "spline with a derivative method, such as scipy.interpolate.CubicSpline"
)


@final
class Motion:
    """A checked law with `n` components.

    Parameters
    ----------
    owner : the name of its drive in messages
    n : number of components
    users : the user's functions
    fill : makes f(t, x, out) of them; x are the inputs, out has n numbers, or s, s', s'' if `whole`
    inputs : the inputs that it reads
    whole : whether the derivatives are given too
    """

    def __init__(
        self,
        owner: str,
        n: int,
        users: tuple[Callable[..., Any], ...],
        fill: Maker,
        inputs: tuple[Input, ...] = (),
        whole: bool = True,
    ) -> None:
        self.owner, self.n, self.inputs, self.whole = owner, n, inputs, whole
        self._users, self._fill = users, fill
        law = Recorded(f"{owner}: the law", users, fill, len(inputs), 3 * n if whole else n, _WAYS)
        self._function = law if whole else Derived(law, law.owner, _with_rates, partial(_rates_at, law))
        self.user_function = UserFunction(self._function, len(inputs), 3 * n)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles bind the user's function anew: its address is valid in one process only."""
        return Motion, (self.owner, self.n, self._users, self._fill, self.inputs, self.whole)

    def __call__(self, t: float, u: Vec | None = None) -> tuple[Vec, Vec, Vec]:
        """(s, s', s'') at a time, each (n,), for these inputs or their default values."""
        out = np.full(3 * self.n, np.nan)
        values = np.array([each.value for each in self.inputs]) if u is None else u
        self._function(t, np.asarray(values[: len(self.inputs)]), out)
        return out[: self.n], out[self.n : 2 * self.n], out[2 * self.n :]

    def check(self, t0: float, time: float = 1.0, size: float = 1.0) -> None:
        """Refuse a law that is not finite, or whose derivatives contradict it, near t0; see `check_rates`."""
        if self.whole and self.inputs:
            for values in self(t0)[1:]:
                self.refuse_held(values)
        check_rates(self.owner, self, t0, time, size)

    def refuse_held(self, rates: Vec) -> None:
        """Refuse nonzero derivatives of a constant input. Raises ValueError."""
        if np.any(rates != 0.0):
            raise ValueError(
                f"{self.owner}: input {self.inputs[0].name!r} is a constant number, but its derivatives are "
                f"{_check.show(rates.tolist())}; for a run give all three as functions of time, or the drive a law "
                "(t, u) with inputs="
            )

    def under(self, sources: Sources) -> Motion:
        """The law with functions of time in the places of some inputs. Raises ValueError for tables that are not smooth
        enough, or if only some of three inputs are given."""
        replaced = tuple(each in sources for each in self.inputs)
        if not any(replaced):
            return self
        if self.whole and not all(replaced):
            missing = [each.name for each, timed in zip(self.inputs, replaced, strict=True) if not timed]
            raise ValueError(
                f"{self.owner}: a function of time has derivatives; give input {missing[0]!r} as a function, too"
            )
        for each in self.inputs:
            table = sources.get(each)
            if isinstance(table, Table) and table.kind != "cubic" and not self.whole:
                raise ValueError(
                    f"{self.owner}: input {each.name!r} is a table of {table.kind!r} values, whose rate jumps; a drive "
                    "needs two derivatives: give kind='cubic', or a function of time"
                )
        users, fill, left = under_sources(self._users, self._fill, self.inputs, sources)
        return Motion(self.owner, self.n, users, fill, left, self.whole)


Rates: TypeAlias = Callable[[float], tuple[Vec, Vec, Vec]]
"""(s, s', s'') at a time."""


def check_rates(owner: str, motion: Rates, t0: float, time: float = 1.0, size: float = 1.0) -> None:
    """Refuse a motion that is not finite, or whose derivatives contradict it, near t0 (central differences). `time` and
    `size` are the model's scales of time and of s. Raises ValueError."""
    for order, values in enumerate(motion(t0)):
        if not np.isfinite(values).all():
            raise ValueError(f"{owner}: {_LAWS[order]} is {brief(values)} at t = {t0:g}; it must be finite")
    time = _time(motion, t0, time, size)
    for t in (t0 + 1e-3 * time, t0 + 1e-2 * time, t0 + 1e-1 * time):
        h = max(1e-5 * time, 1e-9 * abs(t))
        before, here, after = motion(t - h), motion(t), motion(t + h)
        for order, name in enumerate(_LAWS):
            if not np.isfinite(here[order]).all():
                raise ValueError(f"{owner}: {name} is {brief(here[order])} at t = {t:g}; it must be finite")
        for order, name in ((0, _LAWS[1]), (1, _LAWS[2])):
            slope = (after[order] - before[order]) / (2.0 * h)
            derivative = here[order + 1]
            rounding = (1e-5 * np.abs(here[order]) + 1e-9 * size / time**order) / time
            if np.any(np.abs(slope - derivative) > 1e-3 * (np.abs(slope) + np.abs(derivative) + rounding)):
                raise ValueError(
                    f"{owner}: the derivatives contradict the law: at t = {t:g}, {name} is given as "
                    f"{brief(derivative)}, but differences of {_LAWS[order]} give "
                    f"{brief(slope)}; correct it, or give a spline, which has its own derivatives"
                )


def _time(motion: Rates, t0: float, time: float, size: float) -> float:
    """The shorter of the model's time and the time in which the law moves by `size`."""
    _, speed, acceleration = (float(np.max(np.abs(s))) for s in motion(t0))
    fast = max(1.0 / time, speed / size, np.sqrt(acceleration / size))
    return float(1.0 / fast) if np.isfinite(fast) else time


def _with_rates(law: RecordedLaw) -> RecordedLaw:
    """s, s', s'' of one law."""
    rate = law.by([("t", 0)])
    outputs = [*law.outputs, *rate.outputs, *rate.by([("t", 0)]).outputs]
    return RecordedLaw(law.graph, outputs, law.regular, law.n_in)


def _rates_at(law: Recorded, t: float, x: Vec) -> Vec:
    """s, s', s'' of a law that is called, at a point."""
    return _with_rates(law.at(t, x, by_time=True)).at(t, x)[0]


def motion_of(owner: str, law: Any, n: int, inputs: Mapping[str, Input] | None) -> Motion:
    """The motion from a user's law: a function of time, n inputs, 3 n inputs for s, s', s'', or a law (t, u) of
    `inputs`. Raises TypeError and ValueError for anything else."""
    if inputs is not None:
        named = read_inputs(owner, inputs, MOST_INPUTS)
        _check.takes(owner, "the law", law, "t", "u")
        fill = partial(_by_name, n, tuple(named))
        return Motion(owner, n, (law,), fill, tuple(named.values()), whole=False)
    if read := _listed(law):
        if len(read) not in (n, 3 * n):
            raise ValueError(
                f"{owner}: it takes {n} input{'s' * (n > 1)}, or {3 * n} for s, s', s'', got {len(read)}; give as many"
            )
        return Motion(owner, n, (), _as_they_are, read, whole=len(read) != n)
    users = _of_time(owner, law)
    return Motion(owner, n, users, partial(of_time, n, partial(_values, owner, n)), whole=len(users) == 3)


def _of_time(owner: str, law: Any) -> tuple[Callable[[float], Any], ...]:
    """The functions (s, s', s''), or (s,)."""
    if isinstance(law, (tuple, list)):
        if len(law) != 3 or not all(callable(f) for f in law):
            raise TypeError(f"{owner}: got {_check.show(law)}; {_WAYS}")
        for what, function in zip(_LAWS, law, strict=True):
            _check.takes(owner, what, function, "t")
        return tuple(law)
    if isinstance(law, Spline):
        first = law.derivative()
        return law, first, first.derivative()
    if not callable(law):
        raise TypeError(f"{owner}: got {_check.show(law)}; {_WAYS}")
    try:
        _check.takes(owner, "the law", law, "t")
    except TypeError as error:
        raise TypeError(f"{error}; {_WAYS}") from None
    return (law,)


def _values(owner: str, n: int, k: int, t: float, value: object) -> Vec:
    shapes, what = ((n,), ()) if n == 1 else ((n,),), f"{_LAWS[k]} at t = {t:g}"
    return _check.array(owner, what, value, *shapes, remedy=f"return {n} number{'s' * (n > 1)}")


def _listed(law: Any) -> tuple[Input, ...]:
    """The inputs in a law that consists of them, flattened; empty for any other law."""
    flat = [law] if not isinstance(law, (tuple, list)) else law
    flat = [each for part in flat for each in (part if isinstance(part, (tuple, list)) else [part])]
    return tuple(flat) if all(isinstance(each, Input) for each in flat) else ()


def _as_they_are(users: Sequence[Callable[..., Any]]) -> Filling:
    """Filling of a motion that inputs give directly, with or without derivatives."""

    def fill(t: float, x: Vec, out: Vec) -> None:
        for k in range(len(out)):
            out[k] = x[k]

    return fill


def _by_name(n: int, names: tuple[str, ...], users: Sequence[Callable[..., Any]]) -> Filling:
    (law,) = users
    numbers = named_numbers(names)

    def fill(t: float, x: Vec, out: Vec) -> None:
        value = law(t, numbers(*x))
        values = [value] if n == 1 and not hasattr(value, "__len__") else list(value)
        if len(values) != n:
            raise ValueError(f"a law of {n} number{'s' * (n > 1)} gives {len(values)}; correct what it returns")
        for k in range(n):
            out[k] = values[k]

    return fill

"""Prescribed motions: smooth functions of time with their first two derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, Protocol, TypeAlias, final, runtime_checkable

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.compiler.declared import is_dispatcher
from rbdae.compiler.user_functions import UserFunction
from rbdae.inputs import Input
from rbdae.laws.arrays import numbers
from rbdae.laws.law import Law as RecordedLaw
from rbdae.laws.law import Maker
from rbdae.laws.numbers import Number
from rbdae.laws.recorded import Recorded, as_it_is, of_time


@runtime_checkable
class Spline(Protocol):
    """A function of time that has its own derivatives, such as scipy's splines."""

    def __call__(self, t: float, /) -> Any:
        """Its value."""

    def derivative(self) -> Spline:
        """Its derivative."""


Law: TypeAlias = Sequence[Any] | Spline | Callable[..., Any] | Input
"""What a drive takes: one function s(t), whose derivatives `rbdae.laws` has; or
(s, s', s''), three functions of t; or a spline; or a numba function f(t, x, out) that fills out with s, s', s'' one
after another (x is empty); or inputs (`rbdae.input_motion`)."""

_LAWS = ("s", "s'", "s''")
_ROOM = 64
_WAYS = (
    "give one function of time that makes no floats of it; or (s, s', s''), three functions of time; or a spline with "
    "a derivative method, such as scipy.interpolate.CubicSpline; or a numba function f(t, x, out) that fills out with "
    "s, s', s''"
)


@final
class Motion:
    """A checked law with `n` components."""

    def __init__(self, owner: str, law: Law, n: int) -> None:
        self.owner = owner
        self.n = n
        self.inputs: tuple[Input, ...] = ()
        self.whole = True
        self._law = law
        users: Sequence[Any] = (law,)
        fill: Maker = as_it_is
        if is_dispatcher(law):
            _check.takes(owner, "a law compiled by numba", law, "t", "x", "out")
        else:
            users, fill = _three(owner, law, n), partial(of_time, n, partial(_values, owner, n))
        function = Recorded(f"{owner}: the law", users, fill, 0, 3 * n)
        self.user_function = UserFunction(function, 0, 3 * n)
        self._function = function

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles have a user function of their own: its address is good in one process."""
        return Motion, (self.owner, self._law, self.n)

    @property
    def functions(self) -> tuple[object, ...]:
        """The user's functions."""
        return tuple(self._law) if isinstance(self._law, (tuple, list)) else (self._law,)

    def __call__(self, t: float, u: Vec | None = None) -> tuple[Vec, Vec, Vec]:
        """(s, s', s'') at a time, each (n,); there are no inputs u."""
        out = np.full(3 * self.n, np.nan)
        self._function(t, np.empty(0), out)
        return out[: self.n], out[self.n : 2 * self.n], out[2 * self.n :]

    def _refuse_writes_beyond(self, t: float) -> None:
        """A compiled law that writes more than it has would write into other memory."""
        room = np.full(3 * self.n + _ROOM, np.nan)
        self._function(t, np.empty(0), room[: 3 * self.n])
        if not np.isnan(room[3 * self.n :]).all():
            raise ValueError(
                f"{self.owner}: the law fills more than {3 * self.n} numbers at t = {t:g}; out has s, s', s'' with "
                f"{self.n} each"
            )

    def check(self, t0: float, time: float = 1.0, size: float = 1.0) -> None:
        """Refuse a law that is not finite, or whose derivatives contradict it, near t0; see `check_rates`."""
        self._refuse_writes_beyond(t0)
        check_rates(self.owner, self, t0, time, size)

    def under(self, _: object) -> Motion:
        """The motion itself: it reads no inputs."""
        return self


Rates: TypeAlias = Callable[[float], tuple[Vec, Vec, Vec]]
"""(s, s', s'') at a time."""


def check_rates(owner: str, motion: Rates, t0: float, time: float = 1.0, size: float = 1.0) -> None:
    """Refuse a motion that is not finite, or whose derivatives contradict it, near t0 (central differences); `time` and
    `size` are those of the model: in which time it moves, and how large s is in it. Raises ValueError."""
    for order, values in enumerate(motion(t0)):
        if not np.isfinite(values).all():
            raise ValueError(f"{owner}: {_LAWS[order]} is {_show(values)} at t = {t0:g}; it must be finite")
    time = _time(motion, t0, time, size)
    for t in (t0 + 1e-3 * time, t0 + 1e-2 * time, t0 + 1e-1 * time):
        h = max(1e-5 * time, 1e-9 * abs(t))
        before, here, after = motion(t - h), motion(t), motion(t + h)
        for order, name in enumerate(_LAWS):
            if not np.isfinite(here[order]).all():
                raise ValueError(f"{owner}: {name} is {_show(here[order])} at t = {t:g}; it must be finite")
        for order, name in ((0, _LAWS[1]), (1, _LAWS[2])):
            slope = (after[order] - before[order]) / (2.0 * h)
            given = here[order + 1]
            rounding = (1e-5 * np.abs(here[order]) + 1e-9 * size / time**order) / time
            if np.any(np.abs(slope - given) > 1e-3 * (np.abs(slope) + np.abs(given) + rounding)):
                raise ValueError(
                    f"{owner}: the derivatives contradict the law: at t = {t:g}, {name} is given as "
                    f"{_show(given)}, but differences of {_LAWS[order]} give "
                    f"{_show(slope)}; correct it, or give a spline, which has its own derivatives"
                )


def _time(motion: Rates, t0: float, time: float, size: float) -> float:
    """The shorter of the model's time and the one in which the law moves by that size."""
    _, speed, acceleration = (float(np.max(np.abs(s))) for s in motion(t0))
    fast = max(1.0 / time, speed / size, np.sqrt(acceleration / size))
    return float(1.0 / fast) if np.isfinite(fast) else time


def _show(values: Vec) -> str:
    return ", ".join(f"{v:.6g}" for v in np.atleast_1d(values))


@final
class _Rate:
    """The derivative of a law by the time, as a function of the time."""

    def __init__(self, of: Recorded, order: int, n: int) -> None:
        self._of, self._order, self._n = of, order, n

    def _by_time(self, law: RecordedLaw) -> RecordedLaw:
        for _ in range(self._order):
            law = law.by([("t", 0)])
        return law

    @cached_property
    def _law(self) -> RecordedLaw | None:
        return None if self._of.law is None else self._by_time(self._of.law)

    def __call__(self, t: Any) -> Any:
        if isinstance(t, Number):
            if self._law is None:
                t.tape.refuse(self._of.why)
            tape = t.tape
            found = [tape.result(node) for node in self._law.inlined(tape.graph, t.node, ())[0]]
            return found[0] if self._n == 1 else numbers(found)
        nothing = np.empty(0)
        out, regular = (None, False) if self._law is None else self._law.at(t, nothing)
        if out is None or not regular:
            out = self._by_time(self._of.at(t, nothing, by_time=True)).at(t, nothing)[0]
        return float(out[0]) if self._n == 1 else out


def _derived(owner: str, law: Any, n: int) -> tuple[Callable[[float], Any], ...]:
    """A law and its derivatives."""
    try:
        _check.takes(owner, "the law", law, "t")
    except TypeError as error:
        raise TypeError(f"{error}; {_WAYS}") from None
    recorded = Recorded(owner, [law], partial(of_time, n, partial(_values, owner, n)), 0, n, _WAYS)
    return law, _Rate(recorded, 1, n), _Rate(recorded, 2, n)


def _three(owner: str, law: Law, n: int) -> tuple[Callable[[float], Any], ...]:
    if isinstance(law, (tuple, list)):
        if len(law) != 3 or not all(callable(f) for f in law):
            raise TypeError(f"{owner}: got {_check.show(law)}; {_WAYS}")
        for what, function in zip(_LAWS, law, strict=True):
            _check.takes(owner, what, function, "t")
        return tuple(law)
    if isinstance(law, Spline):
        first = law.derivative()
        return law, first, first.derivative()
    if callable(law):
        return _derived(owner, law, n)
    raise TypeError(f"{owner}: got {_check.show(law)}; {_WAYS}")


def _values(owner: str, n: int, k: int, t: float, value: object) -> Vec:
    """The values that a law gives: n real numbers."""
    what, raw = _LAWS[k], np.asarray(value)
    if isinstance(value, np.ma.MaskedArray) or raw.dtype.kind not in "iuf":
        raise TypeError(
            f"{owner}: {what} must be {n} real numbers, got {_check.show(value)} of type {type(value).__name__} "
            f"at t = {t:g}; correct what the function returns"
        )
    if raw.shape != (n,) and not (n == 1 and raw.shape == ()):
        raise ValueError(
            f"{owner}: the law gives {raw.size} numbers at t = {t:g}; it has {n}, but {what} is {_check.show(value)}: "
            "return as many"
        )
    return np.asarray(raw, dtype=np.float64)

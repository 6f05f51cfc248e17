"""Prescribed motions that depend on inputs: s(t, u) with its first two derivatives by the time at constant inputs.

    one input           s = u, which holds still while u is a number
    (u, u', u'')        three inputs, which the user keeps consistent: they are taken as they are
    a law (t, u)        plain Python, run on symbols, whose derivatives by t are exact

An input that is a function of the time is a part of the law: then its derivatives count, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.compiler.user_functions import UserFunction
from rbdae.inputs import Input, Sources, Table, named_numbers, read_inputs, under_sources
from rbdae.kernels.records import MOST_INPUTS
from rbdae.laws.law import Filling, Maker
from rbdae.laws.law import Law as RecordedLaw
from rbdae.laws.recorded import Recorded
from rbdae.motion import Law, Motion, check_rates


@final
class InputMotion:
    """A checked law with `n` components.

    Parameters
    ----------
    owner : the name of its drive in messages
    n : number of components
    users : the user's functions
    fill : makes f(t, x, out) of them, where x are the inputs; out has n numbers, or s, s', s'' if `whole`
    inputs : those that it reads
    whole : whether the derivatives are given, too
    """

    def __init__(
        self,
        owner: str,
        n: int,
        users: tuple[Callable[..., Any], ...],
        fill: Maker,
        inputs: tuple[Input, ...],
        whole: bool,
    ) -> None:
        self.owner, self.n, self.inputs, self.whole = owner, n, inputs, whole
        self._users, self._fill = users, fill
        recorded = Recorded(f"{owner}: the law", users, fill, len(inputs), 3 * n if whole else n)
        if recorded.law is None:
            raise TypeError(
                f"{owner}: a law of inputs that cannot be differentiated: {recorded.why}; write it so that it can be "
                "run on symbols, or give the motion and its derivatives as three inputs (s, s', s'')"
            )
        self._law = _WithRates(recorded, recorded.law if whole else _with_rates(recorded.law))
        self.user_function = UserFunction(self._law, len(inputs), 3 * n)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles have a user function of their own: its address is good in one process."""
        return InputMotion, (self.owner, self.n, self._users, self._fill, self.inputs, self.whole)

    @property
    def functions(self) -> tuple[object, ...]:
        """The user's functions."""
        return self._users

    def __call__(self, t: float, u: Vec | None = None) -> tuple[Vec, Vec, Vec]:
        """(s, s', s'') at a time, each (n,), under these inputs, or those that they are without others."""
        out = np.full(3 * self.n, np.nan)
        values = np.array([each.value for each in self.inputs]) if u is None else u
        self._law(t, np.asarray(values[: len(self.inputs)]), out)
        return out[: self.n], out[self.n : 2 * self.n], out[2 * self.n :]

    def check(self, t0: float, time: float = 1.0, size: float = 1.0) -> None:
        """Refuse a law that is not finite near t0, or three inputs that contradict each other there."""
        if self.whole and self.inputs:
            for values in self(t0)[1:]:
                self.refuse_held(values)
        check_rates(self.owner, self, t0, time, size)

    def refuse_held(self, rates: Vec) -> None:
        """Refuse derivatives beside a number that holds still. Raises ValueError."""
        if np.any(rates != 0.0):
            raise ValueError(
                f"{self.owner}: input {self.inputs[0].name!r} is a number, which holds still, and its derivatives are "
                f"{_check.show(rates.tolist())}; for a run give all three as functions of the time, or the drive a law "
                "(t, u) with inputs="
            )

    def under(self, sources: Sources) -> InputMotion:
        """The law with functions of the time in the places of some inputs.

        Raises
        ------
        ValueError
            for tables that are not smooth enough, and for some of three inputs without the others
        """
        given = tuple(each in sources for each in self.inputs)
        if not any(given):
            return self
        if self.whole and not all(given):
            missing = [each.name for each, timed in zip(self.inputs, given, strict=True) if not timed]
            raise ValueError(
                f"{self.owner}: a function of the time has derivatives; give input {missing[0]!r} as a function, too"
            )
        for each in self.inputs:
            table = sources.get(each)
            if isinstance(table, Table) and table.kind != "cubic" and not self.whole:
                raise ValueError(
                    f"{self.owner}: input {each.name!r} is a table of {table.kind!r} values, whose rate jumps; a drive "
                    "needs two derivatives: give kind='cubic', or a function of the time"
                )
        return InputMotion(
            self.owner, self.n, *under_sources(self._users, self._fill, self.inputs, sources), self.whole
        )


@final
class _WithRates:
    """A recorded law with its derivatives."""

    def __init__(self, base: Recorded, law: RecordedLaw) -> None:
        self._base, self.law = base, law
        self.owner, self.why = base.owner, ""

    def __call__(self, t: float, x: Vec, out: Vec) -> None:
        out[:], regular = self.law.at(t, x)
        if not regular:
            self._base(t, x, np.empty(self._base.n_out))  # raises what the law raises


def _with_rates(law: RecordedLaw) -> RecordedLaw:
    """s, s', s'' by the time."""
    rate = law.by([("t", 0)])
    return law.joined(rate, rate.by([("t", 0)]))


def input_motion(owner: str, law: Any, n: int, inputs: Mapping[str, Input] | None) -> InputMotion:
    """The motion of what a user gives: an input, n of them, three or 3 n for s, s', s'', or a law (t, u) of `inputs`.

    Raises
    ------
    TypeError, ValueError
        for anything else
    """
    if inputs is None:
        read = _listed(law)
        if len(read) not in (n, 3 * n):
            raise ValueError(
                f"{owner}: it takes {n} input{'s' * (n > 1)}, or {3 * n} for s, s', s'', got {len(read)}; give as many"
            )
        return InputMotion(owner, n, (), _as_they_are, read, len(read) != n)
    named = read_inputs(owner, inputs, MOST_INPUTS, "")
    _check.takes(owner, "the law", law, "t", "u")
    return InputMotion(owner, n, (law,), partial(_by_name, n, tuple(named)), tuple(named.values()), False)


def motion_of(owner: str, law: Law, n: int, inputs: Mapping[str, Input] | None) -> Motion | InputMotion:
    """The motion of a law of the time, or of what reads inputs."""
    return input_motion(owner, law, n, inputs) if inputs is not None or _listed(law) else Motion(owner, law, n)


def _listed(law: Any) -> tuple[Input, ...]:
    """The inputs in what is given, in a sequence or a sequence of sequences; none if there is anything else."""
    flat = [law] if not isinstance(law, (tuple, list)) else law
    flat = [each for part in flat for each in (part if isinstance(part, (tuple, list)) else [part])]
    return tuple(flat) if all(isinstance(each, Input) for each in flat) else ()


def _as_they_are(users: Sequence[Callable[..., Any]]) -> Filling:
    """Inputs as the motion, or with its derivatives."""

    def fill(t: float, x: Vec, out: Vec) -> None:
        for k in range(len(out)):
            out[k] = x[k]

    return fill


def _by_name(n: int, names: tuple[str, ...], users: Sequence[Callable[..., Any]]) -> Filling:
    """A law (t, u)."""
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

"""Quantities less what events wait for, as one machine function for the loops that watch them.

Angles count full turns: a value is the one next to what the rates at both ends of a step say. The memory `v` has the
last two accepted times with value and rate, which change when a later time is asked for; a time between them is read
from the earlier one. So it belongs to one run.

Beside each value there is its reach: how far towards zero it may have been between the last two times, by the slopes at
both. A cubic with these slopes stays between lines of the slopes over a third of the step; two thirds are left to what
is no cubic.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import nan, pi
from pathlib import Path
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints, Vec
from rbdae.machine import language
from rbdae.machine.function import MachineFunction
from rbdae.machine.language.callable import callables
from rbdae.machine.language.program import Program
from rbdae.machine.language.words import Address, Function, evaluate
from rbdae.machine.module import Module, NoMachineCode, compiled
from rbdae.machine.sources import sources

EVENTS, OTHERS, UNKNOWNS, MOVING, KINDS = range(5)
"""Whole numbers: events, those of them that have no rates, unknowns, those that have rates; then the events' kinds."""
VALUE, ANGLE, OTHER = range(3)
"""Kinds of events: a number, one that counts turns, one without a rate."""

SENSE = 0
"""1, or -1 in a run back in time. Then each event has the numbers below."""
TARGET, T_BEFORE, S_BEFORE, W_BEFORE, T_LAST, S_LAST, W_LAST, BEGUN, NUMBERS = range(9)

REACH = 2.0 / 3.0
"""Of a step, over which a slope is prolonged."""


def followed(s: Ints, v: Vec, w: Vec, t: float, out: Vec) -> int:
    """Values of the events at time t, then their reaches; w has the numbers, then their rates."""
    n = s[EVENTS]
    for k in range(n):
        u = v[1 + NUMBERS * k :]
        q = w[k]
        rate = w[n + k]
        if u[BEGUN] == 0.0:
            u[BEGUN] = 1.0
            u[T_LAST] = t
            u[S_LAST] = q
            u[W_LAST] = rate
            u[T_BEFORE] = t
            u[S_BEFORE] = q
            u[W_BEFORE] = rate
        later = v[SENSE] * (t - u[T_LAST])
        if s[KINDS + k] == ANGLE:
            expected = u[S_BEFORE] + 0.5 * (u[W_BEFORE] + rate) * (t - u[T_BEFORE])
            if later >= 0.0:
                expected = u[S_LAST] + 0.5 * (u[W_LAST] + rate) * (t - u[T_LAST])
            q += 2.0 * pi * np.floor((expected - q) / (2.0 * pi) + 0.5)
        if later > 0.0:
            u[T_BEFORE] = u[T_LAST]
            u[S_BEFORE] = u[S_LAST]
            u[W_BEFORE] = u[W_LAST]
            u[T_LAST] = t
            u[S_LAST] = q
            u[W_LAST] = rate
        out[k] = q - u[TARGET]
        last = u[S_LAST] - u[TARGET]
        first = u[S_BEFORE] - u[TARGET] + REACH * u[W_BEFORE] * (u[T_LAST] - u[T_BEFORE])
        second = last - REACH * u[W_LAST] * (u[T_LAST] - u[T_BEFORE])
        reach = last
        if last > 0.0 and min(first, second) < reach:
            reach = min(first, second)
        if last < 0.0 and max(first, second) > reach:
            reach = max(first, second)
        out[n + k] = reach
    return 0


def measured(
    here: Function, context: Address, beside: Function, beside_context: Address, s: Ints, v: Vec, w: Vec, rates: Vec,
    t: float, y: Vec, out: Vec,
) -> int:  # fmt: skip
    """The same at a state y; 1 if a function fails.

    A function fills the beginning of `w` with the numbers and their rates, and the rates of y; another one the numbers
    a little later along the motion, behind them: so those without a rate have one. Then there is place for y, at the
    end the time that is little at the start.
    """
    n = s[EVENTS]
    for k in range(n):
        out[k] = nan
    if evaluate(here, context, t, y, v, 0.0, w) != 0:
        return 1
    n_y = s[UNKNOWNS]
    later = w[2 * n :]
    begun = v[1 + BEGUN]
    step = t - v[1 + T_LAST]
    moves = s[OTHERS] > 0 and (begun == 0.0 or v[SENSE] * step > 0.0)
    little = 1e-6 * step if begun != 0.0 else w[4 * n + n_y]
    if moves:
        moved = w[4 * n :]
        for i in range(n_y):
            moved[i] = y[i]
        for i in range(s[MOVING]):
            moved[i] += little * rates[i]
        if evaluate(beside, beside_context, t + little, moved, v, 0.0, later) != 0:
            return 1
    for k in range(n):
        if s[KINDS + k] == OTHER:
            w[n + k] = (later[k] - w[k]) / little if moves else v[1 + NUMBERS * k + W_LAST]
    return followed(s, v, w, t, out)


_PROGRAM = Program((followed, measured))
_LOADS = "".join(
    f"""  %{name}.p = getelementptr ptr, ptr %u, i64 {k}
  %{name} = load ptr, ptr %{name}.p
"""
    for k, name in enumerate(("here", "context", "beside", "other", "s", "v", "w", "rates"))
)
_TEXT = f"""
define i32 @events(ptr %u, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
{_LOADS}  %r = call i64 @"rbdae.machine.quantity_events.measured"(
    ptr %here, ptr %context, ptr %beside, ptr %other, ptr %s, ptr %v, ptr %w, ptr %rates, double %t, ptr %y, ptr %out)
  %status = trunc i64 %r to i32
  ret i32 %status
}}
"""
_EACH = """
define i32 @each(ptr %u, double %t, ptr %y, ptr %yd, double %c, ptr %out) {
  %n = load i64, ptr %u
  %rows = getelementptr i64, ptr %u, i64 1
  br label %next
next:
  %k = phi i64 [0, %0], [%following, %one]
  %failed = phi i1 [false, %0], [%bad, %one]
  %last = icmp sge i64 %k, %n
  %ends = or i1 %last, %failed
  br i1 %ends, label %done, label %one
one:
  %f.p = getelementptr [6 x ptr], ptr %rows, i64 %k
  %fc.p = getelementptr ptr, ptr %f.p, i64 1
  %first.p = getelementptr ptr, ptr %f.p, i64 2
  %second.p = getelementptr ptr, ptr %f.p, i64 3
  %into.p = getelementptr ptr, ptr %f.p, i64 4
  %from.p = getelementptr ptr, ptr %f.p, i64 5
  %f = load ptr, ptr %f.p
  %fc = load ptr, ptr %fc.p
  %given = load ptr, ptr %first.p
  %second = load ptr, ptr %second.p
  %own = load ptr, ptr %into.p
  %from = load i64, ptr %from.p
  %none = icmp eq ptr %given, null
  %first = select i1 %none, ptr %y, ptr %given
  %outer = icmp eq ptr %own, null
  %base = select i1 %outer, ptr %out, ptr %own
  %into = getelementptr double, ptr %base, i64 %from
  %status = call i32 %f(ptr %fc, double %t, ptr %first, ptr %second, double %c, ptr %into)
  %bad = icmp ne i32 %status, 0
  %following = add i64 %k, 1
  br label %next
done:
  %result = zext i1 %failed to i32
  ret i32 %result
}
"""


def in_turn(calls: Sequence[tuple[MachineFunction, Vec | None, Vec | None, Vec | int]]) -> MachineFunction:
    """A machine function that calls others, (function, y, yd, out), until one fails: without y with its own, and `out`
    is an array, or where the numbers begin in its own."""
    module = _code()
    rows = [len(calls)]
    for function, y, yd, out in calls:
        given = [0 if x is None else x.ctypes.data for x in (y, yd)]
        into = [0, out] if isinstance(out, int) else [out.ctypes.data, 0]
        rows += [function.address, function.context, *given, *into]
    context = np.array(rows, dtype=np.int64)
    return MachineFunction(
        module.address("each"), context.ctypes.data, (module, context, calls), [], [c[0] for c in calls]
    )


@cache
def _made_of(what: str) -> tuple[str, str, bytes]:
    """All that the machine code depends on."""
    return what, sources(language), Path(__file__).read_bytes()


@cache
def _code() -> Module:
    return compiled(lambda: _PROGRAM.text() + _TEXT + _EACH, made_of=_made_of("events"))


@final
class Followed:
    """The values of some events in one run; times and states in their order, but for times within the last step.

    Parameters
    ----------
    kinds, targets : of the events
    sense : 1, or -1 in a run back in time
    """

    def __init__(self, kinds: Sequence[int], targets: Sequence[float], sense: float) -> None:
        self._s = np.array([len(kinds), sum(kind == OTHER for kind in kinds), 0, 0, *kinds], dtype=np.int64)
        self._v = np.concatenate([[sense], np.zeros(NUMBERS * len(kinds))])
        self._v[1 + TARGET :: NUMBERS] = targets
        self._out = np.empty(2 * len(kinds))

    def at(self, t: float, numbers: Vec) -> Vec:
        """The values at time t from the numbers and their rates, (2 events,), 0 for unknown ones; then reaches."""
        _follow()(self._s, self._v, numbers, t, self._out)
        return self._out

    def machine(
        self, here: MachineFunction, beside: MachineFunction, w: Vec, rates: Vec, n: int, moving: int
    ) -> MachineFunction:
        """The same as a machine function of (t, y), see `measured`. It shares the memory."""
        self._s[UNKNOWNS], self._s[MOVING] = n, moving
        code = _code()
        arrays = [x.ctypes.data for x in (self._s, self._v, w, rates)]
        context = np.array([here.address, here.context, beside.address, beside.context, *arrays], dtype=np.int64)
        owner = (code, here, beside, self, w, rates, context)
        return MachineFunction(code.address("events"), context.ctypes.data, owner, [], [here, beside])


@cache
def _follow() -> Any:
    """`followed` for arrays."""
    try:
        function = callables(Program((followed,)), made_of=_made_of("followed"))[0]
    except NoMachineCode:
        return _PROGRAM.plain()[0]
    return lambda s, v, w, t, out: function(s.ctypes.data, v.ctypes.data, w.ctypes.data, t, out.ctypes.data)


_BOTH = """
define i32 @both(ptr %u, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {
  %f = load ptr, ptr %u
  %fc.p = getelementptr ptr, ptr %u, i64 1
  %fc = load ptr, ptr %fc.p
  %g.p = getelementptr ptr, ptr %u, i64 2
  %g = load ptr, ptr %g.p
  %gc.p = getelementptr ptr, ptr %u, i64 3
  %gc = load ptr, ptr %gc.p
  %n.p = getelementptr i64, ptr %u, i64 4
  %n = load i64, ptr %n.p
  %r = call i32 %f(ptr %fc, double %t, ptr %y, ptr %yd, double %c, ptr %out)
  %bad = icmp ne i32 %r, 0
  br i1 %bad, label %unknown, label %rest
unknown:
  store double 0x7FF8000000000000, ptr %out
  br label %rest
rest:
  %more = getelementptr double, ptr %out, i64 %n
  %status = call i32 %g(ptr %gc, double %t, ptr %y, ptr %yd, double %c, ptr %more)
  ret i32 %status
}
"""


@cache
def _joined() -> Module:
    return compiled(_BOTH)


def both(first: Any, n: int, second: MachineFunction) -> MachineFunction:
    """A machine function that gives the n numbers of the first, of which one is NaN if it has failed, then those of the
    second."""
    module = _joined()
    context = np.array([first.address, first.context, second.address, second.context, n], dtype=np.int64)
    owner = (module, first, second, context)
    return MachineFunction(module.address("both"), context.ctypes.data, owner, second.errors)

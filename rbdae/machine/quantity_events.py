"""Values of coordinates less what events wait for, as one machine function for the loops that watch them.

Angles count full turns: a value is the one next to what the rates at both ends of a step say. The memory `v` has the
last two accepted times with angle and rate, which change when a later time is asked for; a time between them is read
from the earlier one. So it belongs to one run.
"""

from __future__ import annotations

from functools import cache
from math import pi
from pathlib import Path
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.machine import language, reading
from rbdae.machine.function import MachineFunction
from rbdae.machine.language.callable import callables
from rbdae.machine.language.program import Program
from rbdae.machine.language.words import Address, Function, evaluate
from rbdae.machine.module import Module, NoMachineCode, compiled
from rbdae.machine.reading.coordinates import HEAD, coordinates
from rbdae.machine.sources import sources

EVENTS, COORDINATES, WIDTH, PLACES = range(4)
"""Whole numbers: events, coordinates, numbers of a row of Z; then an event's kind and its coordinate, heads of the
coordinates, places of their entries."""
VALUE, ANGLE, RATE = range(3)
"""Kinds of events: a coordinate, one that counts turns, a rate."""

SENSE = 0
"""1, or -1 in a run back in time. Then each event has the numbers below, coordinates two, Z and the entries follow."""
TARGET, T_BEFORE, S_BEFORE, W_BEFORE, T_LAST, S_LAST, W_LAST, BEGUN, NUMBERS = range(9)


def followed(s: Ints, v: Vec, t: float, out: Vec) -> int:
    """Values of the events at time t and Z, which is in v."""
    n = s[EVENTS]
    count = s[COORDINATES]
    events = s[PLACES:]
    heads = s[PLACES + 2 * n :]
    at = s[PLACES + 2 * n + HEAD * count :]
    values = v[1 + NUMBERS * n :]
    Z = v[1 + NUMBERS * n + 2 * count :]
    c = v[1 + NUMBERS * n + 2 * count + s[WIDTH] :]
    coordinates(1, 0, 1, count, s[WIDTH], 0, heads, at, c, Z, Z, values, values)
    for k in range(n):
        u = v[1 + NUMBERS * k :]
        kind = events[2 * k]
        q = values[2 * events[2 * k + 1]]
        w = values[2 * events[2 * k + 1] + 1]
        if kind == RATE:
            out[k] = w - u[TARGET]
        elif kind == VALUE:
            out[k] = q - u[TARGET]
        else:
            if u[BEGUN] == 0.0:
                u[BEGUN] = 1.0
                u[T_LAST] = t
                u[S_LAST] = q
                u[W_LAST] = w
                u[T_BEFORE] = t
                u[S_BEFORE] = q
                u[W_BEFORE] = w
            later = v[SENSE] * (t - u[T_LAST])
            expected = u[S_BEFORE] + 0.5 * (u[W_BEFORE] + w) * (t - u[T_BEFORE])
            if later >= 0.0:
                expected = u[S_LAST] + 0.5 * (u[W_LAST] + w) * (t - u[T_LAST])
            q += 2.0 * pi * np.floor((expected - q) / (2.0 * pi) + 0.5)
            if later > 0.0:
                u[T_BEFORE] = u[T_LAST]
                u[S_BEFORE] = u[S_LAST]
                u[W_BEFORE] = u[W_LAST]
                u[T_LAST] = t
                u[S_LAST] = q
                u[W_LAST] = w
            out[k] = q - u[TARGET]
    return 0


def measured(natural: Function, context: Address, s: Ints, v: Vec, t: float, y: Vec, out: Vec) -> int:
    """The same at a state y, whose natural coordinates a machine function gives; 1 if it fails."""
    Z = v[1 + NUMBERS * s[EVENTS] + 2 * s[COORDINATES] :]
    if evaluate(natural, context, t, y, v, 0.0, Z) != 0:
        return 1
    return followed(s, v, t, out)


_PROGRAM = Program((followed, measured))
_LOADS = "".join(
    f"""  %{name}.p = getelementptr ptr, ptr %u, i64 {k}
  %{name} = load ptr, ptr %{name}.p
"""
    for k, name in enumerate(("natural", "context", "s", "v"))
)
_TEXT = f"""
define i32 @events(ptr %u, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
{_LOADS}  %r = call i64 @"rbdae.machine.quantity_events.measured"(
    ptr %natural, ptr %context, ptr %s, ptr %v, double %t, ptr %y, ptr %out)
  %status = trunc i64 %r to i32
  ret i32 %status
}}
"""


@cache
def _made_of(what: str) -> tuple[str, str, bytes]:
    """All that the machine code depends on."""
    return what, sources(reading, language), Path(__file__).read_bytes()


@cache
def _code() -> Module:
    return compiled(lambda: _PROGRAM.text() + _TEXT, made_of=_made_of("events"))


@final
class Followed:
    """The values of some events in one run; times and states in their order, but for times within the last step.

    Parameters
    ----------
    events : (kind, coordinate, target) of each
    heads, at, c : `rbdae.machine.reading.coordinates`
    width : numbers of a row of Z
    sense : 1, or -1 in a run back in time
    """

    def __init__(
        self, events: list[tuple[int, int, float]], heads: Ints, at: Ints, c: Vec, width: int, sense: float
    ) -> None:
        n, count = len(events), len(heads)
        kinds = np.array([each[:2] for each in events], dtype=np.int64)
        self._s = np.concatenate([[n, count, width], kinds.ravel(), heads.ravel(), at.ravel()]).astype(np.int64)
        self._v = np.concatenate([[sense], np.zeros(NUMBERS * n + 2 * count + width), c])
        for k, (_, _, target) in enumerate(events):
            self._v[1 + NUMBERS * k + TARGET] = target
        first = 1 + NUMBERS * n + 2 * count
        self._Z, self._out = self._v[first : first + width], np.empty(n)

    def at(self, t: float, Z: Mat) -> Vec:
        """The values at time t and Z (24 bodies,)."""
        self._Z[:] = Z
        _follow()(self._s, self._v, t, self._out)
        return self._out

    def machine(self, natural: MachineFunction) -> MachineFunction:
        """The same as a machine function of (t, y), where one gives Z. It shares the memory."""
        places = [natural.address, natural.context, self._s.ctypes.data, self._v.ctypes.data]
        context = np.array(places, dtype=np.int64)
        owner = (_code(), natural, self, context)
        return MachineFunction(_code().address("events"), context.ctypes.data, owner, natural.errors)


@cache
def _follow() -> Any:
    """`followed` for arrays."""
    try:
        function = callables(Program((followed,)), made_of=_made_of("followed"))[0]
    except NoMachineCode:
        return _PROGRAM.plain()[0]
    return lambda s, v, t, out: function(s.ctypes.data, v.ctypes.data, t, out.ctypes.data)


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


__all__ = ["ANGLE", "RATE", "VALUE", "Followed", "both"]

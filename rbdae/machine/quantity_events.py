"""Events on quantities as machine functions (`rbdae.machine.loops.events`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec, address_of
from rbdae.machine.function import MachineFunction, machine_text
from rbdae.machine.language.program import Program, module_of
from rbdae.machine.loops import events as at
from rbdae.machine.module import Module

VALUE, ANGLE, OTHER = at.VALUE, at.ANGLE, at.OTHER


@cache
def _code(name: str) -> Module:
    """That of "events" or "in_turn"; runs without events of quantities use the second alone."""
    function: Callable[..., Any] = at.measured if name == "events" else at.in_turn
    return module_of(Program((function,)), more=machine_text(name, function))


def in_turn(calls: Sequence[tuple[MachineFunction, Vec | None, Vec | None, Vec | int]]) -> MachineFunction:
    """A machine function that calls others, (function, y, yd, out), until one fails: without y with its own, and `out`
    is an array, or where the numbers begin in its own."""
    rows = []
    for function, y, yd, out in calls:
        given = [0 if x is None else address_of(x) for x in (y, yd)]
        into = [0, out] if isinstance(out, int) else [address_of(out), 0]
        rows += [function.address, function.context, *given, *into]
    table = np.array(rows or [0], dtype=np.int64)
    context = np.array([len(calls), address_of(table)], dtype=np.int64)
    code = _code("in_turn")
    owner = (code, table, context, calls)
    return MachineFunction(code["in_turn"], address_of(context), owner, [], [c[0] for c in calls])


@final
class Read:
    """What events of some kinds read, in machine code; one run after the other has it.

    Parameters
    ----------
    kinds : of the events
    here, beside, w, rates, n, moving : as `rbdae.machine.loops.events.measured` has them, for n unknowns of which the
        first ones have rates
    """

    def __init__(
        self, kinds: Sequence[int], here: MachineFunction, beside: MachineFunction, w: Vec, rates: Vec, n: int,
        moving: int,
    ) -> None:  # fmt: skip
        self.s = np.array([len(kinds), sum(kind == OTHER for kind in kinds), n, moving, *kinds], dtype=np.int64)
        self._functions, self._arrays, self._code = [here, beside], (w, rates), _code("events")
        self._words = [here.address, here.context, beside.address, beside.context, address_of(self.s)]
        self._more = [address_of(w), address_of(rates)]

    def machine(self, v: Vec) -> MachineFunction:
        """A machine function of (t, y) with the memory of a run (`memory`)."""
        context = np.array([*self._words, address_of(v), *self._more], dtype=np.int64)
        return MachineFunction(self._code["events"], address_of(context), (self, v, context), [], self._functions)


def memory(targets: Sequence[float], sense: float, little: float) -> Vec:
    """That of the events of one run: what they wait for, 1 or -1 in a run back in time, and the time that is little at
    the start; then times and states in their order, but for times within the last step."""
    v = np.zeros(at.FIRST + at.NUMBERS * len(targets))
    v[at.SENSE], v[at.LITTLE] = sense, little
    v[at.FIRST + at.TARGET :: at.NUMBERS] = targets
    return v


def followed(kinds: Sequence[int], v: Vec, numbers: Vec, t: float, out: Vec) -> None:
    """The values at time t from the numbers and their rates, (2 events,), 0 for unknown ones; then reaches."""
    at.followed(np.array([len(kinds), 0, 0, 0, *kinds]), v, numbers, t, out)

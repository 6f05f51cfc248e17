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
class Followed:
    """The values of some events in one run; times and states in their order, but for times within the last step.

    Parameters
    ----------
    kinds, targets : of the events
    sense : 1, or -1 in a run back in time
    """

    def __init__(self, kinds: Sequence[int], targets: Sequence[float], sense: float) -> None:
        self._s = np.array([len(kinds), sum(kind == OTHER for kind in kinds), 0, 0, *kinds], dtype=np.int64)
        self._v = np.concatenate([[sense], np.zeros(at.NUMBERS * len(kinds))])
        self._v[1 + at.TARGET :: at.NUMBERS] = targets
        self._out = np.empty(2 * len(kinds))

    def at(self, t: float, numbers: Vec) -> Vec:
        """The values at time t from the numbers and their rates, (2 events,), 0 for unknown ones; then reaches."""
        at.followed(self._s, self._v, numbers, t, self._out)
        return self._out

    def machine(
        self, here: MachineFunction, beside: MachineFunction, w: Vec, rates: Vec, n: int, moving: int
    ) -> MachineFunction:
        """The same as a machine function of (t, y), see `measured`. It shares the memory."""
        self._s[at.UNKNOWNS], self._s[at.MOVING] = n, moving
        code = _code("events")
        arrays = list(map(address_of, (self._s, self._v, w, rates)))
        context = np.array([here.address, here.context, beside.address, beside.context, *arrays], dtype=np.int64)
        owner = (code, here, beside, self, w, rates, context)
        return MachineFunction(code["events"], address_of(context), owner, [], [here, beside])

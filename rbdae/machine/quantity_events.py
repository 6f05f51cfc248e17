"""Events on quantities as machine functions (`rbdae.machine.loops.events`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

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


def measured(
    kinds: Sequence[int],
    v: Vec,
    here: MachineFunction,
    beside: MachineFunction,
    w: Vec,
    rates: Vec,
    n: int,
    moving: int,
) -> MachineFunction:
    """The values and reaches of events of some kinds by their memory v: `rbdae.machine.loops.events.measured` with the
    numbers of `here` and `beside`, for n unknowns of which the first ones, `moving`, have rates."""
    s = np.array([len(kinds), sum(kind == OTHER for kind in kinds), n, moving, *kinds], dtype=np.int64)
    code, functions = _code("events"), [here, beside]
    words = [word for each in functions for word in (each.address, each.context)]
    context = np.array([*words, *map(address_of, (s, v, w, rates))], dtype=np.int64)
    return MachineFunction(code["events"], address_of(context), (code, s, v, w, rates, context), [], functions)


def memory(n: int) -> Vec:
    """That of n events."""
    return np.empty(at.FIRST + at.NUMBERS * n)


def begin(v: Vec, targets: Sequence[float], sense: float, little: float) -> None:
    """Begin a run: what its events wait for, 1 or -1 in a run back in time, and the time that is little at the start.
    Then times and states follow in their order, but for times within the last step."""
    v.fill(0.0)
    v[at.SENSE], v[at.LITTLE] = sense, little
    for k, target in enumerate(targets):
        v[at.FIRST + at.NUMBERS * k + at.TARGET] = target

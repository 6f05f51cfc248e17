"""Events on quantities as machine functions (`rbdae.machine.loops.events`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from rbdae._arrays import Vec, address_of
from rbdae.machine.function import MachineFunction, machine_text
from rbdae.machine.language.program import Program, module_of
from rbdae.machine.loops import events as at
from rbdae.machine.module import Module

VALUE, ANGLE, OTHER = at.VALUE, at.ANGLE, at.OTHER

Reader: TypeAlias = Callable[[Vec], MachineFunction]
"""The values and reaches of events as a machine function of (t, y), by the `memory` of their run."""


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


def reader(
    kinds: Sequence[int], here: MachineFunction, beside: MachineFunction, w: Vec, rates: Vec, n: int, moving: int
) -> Reader:
    """What events of some kinds read, for the memories of runs: `rbdae.machine.loops.events.measured` with the numbers
    of `here` and `beside`, for n unknowns of which the first ones, `moving`, have rates."""
    s = np.array([len(kinds), sum(kind == OTHER for kind in kinds), n, moving, *kinds], dtype=np.int64)
    code, functions = _code("events"), [here, beside]
    words = [word for each in functions for word in (each.address, each.context)]
    begun = np.array([*words, *map(address_of, (s, s, w, rates))], dtype=np.int64)

    def of_run(v: Vec) -> MachineFunction:
        context = begun.copy()
        context[5] = address_of(v)  # the memory
        return MachineFunction(code["events"], address_of(context), (code, s, v, w, rates, context), [], functions)

    return of_run


def memory(targets: Sequence[float], sense: float, little: float) -> Vec:
    """That of the events of one run: what they wait for, 1 or -1 in a run back in time, and the time that is little at
    the start; then times and states in their order, but for times within the last step."""
    v = np.zeros(at.FIRST + at.NUMBERS * len(targets))
    v[at.SENSE], v[at.LITTLE] = sense, little
    v[at.FIRST + at.TARGET :: at.NUMBERS] = targets
    return v

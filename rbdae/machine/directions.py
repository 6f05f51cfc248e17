"""Jacobians from a function on dual numbers: it runs once for every seven directions.

Columns whose entries are in different rows share a direction, so that a sparse Jacobian takes as many directions as its
fullest rows have entries, about, whatever its size (Curtis, Powell, Reid 1974). A dense one takes n.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from rbdae._arrays import Ints
from rbdae.machine import language
from rbdae.machine.function import MachineFunction
from rbdae.machine.language.kinds import DUAL_WIDTH
from rbdae.machine.language.program import Program
from rbdae.machine.language.words import Address, Function, Vec, evaluate
from rbdae.machine.module import Module, compiled
from rbdae.machine.sources import sources

N, RATES, ROWS, DIRECTIONS, ENTRIES, ZEROS, HEAD = range(7)
"""Whole numbers of a Jacobian: unknowns; 1 if their rates are arguments, too; rows; directions; entries, -1 if all are
there; numbers that are zero beside them; then come the direction of each unknown, and of each entry its direction, its
row and its place, by directions."""

_WIDTH = DUAL_WIDTH
_PASS = _WIDTH - 1


def jacobian(kernel: Function, context: Address, s: Ints, w: Vec, t: float, y: Vec, yd: Vec, c: float, out: Vec) -> int:
    """out = df/dy + c df/dyd, a matrix row by row or the data of a sparse one; 0 if it is complete. `w` is memory for
    2 n and for the rows dual numbers."""
    n = s[N]
    rows = s[ROWS]
    direction = s[HEAD:]
    Y = w
    YD = w[_WIDTH * n :]
    F = w[2 * _WIDTH * n :]
    entry = 0
    for k in range(s[ZEROS]):
        out[k] = 0.0
    for first in range(0, s[DIRECTIONS], _PASS):
        for j in range(n):
            for k in range(_WIDTH):
                Y[_WIDTH * j + k] = 0.0
                YD[_WIDTH * j + k] = 0.0
            k = direction[j] - first
            Y[_WIDTH * j] = y[j]
            if k >= 0 and k < _PASS:
                Y[_WIDTH * j + 1 + k] = 1.0
                YD[_WIDTH * j + 1 + k] = c
            if s[RATES] == 1:
                YD[_WIDTH * j] = yd[j]
        if evaluate(kernel, context, t, Y, YD, 0.0, F) != 0:
            return 1
        if s[ENTRIES] < 0:
            for j in range(n):
                k = direction[j] - first
                if k >= 0 and k < _PASS:
                    for i in range(rows):
                        out[i * n + j] = F[_WIDTH * i + 1 + k]
        else:
            own = direction[n:]
            row = direction[n + s[ENTRIES] :]
            place = direction[n + 2 * s[ENTRIES] :]
            while entry < s[ENTRIES] and own[entry] < first + _PASS:
                out[place[entry]] = F[_WIDTH * row[entry] + 1 + own[entry] - first]
                entry += 1
    return 0


_LOADS = "".join(
    f"""  %{name}.p = getelementptr ptr, ptr %u, i64 {k}
  %{name} = load ptr, ptr %{name}.p
"""
    for k, name in enumerate(("kernel", "context", "s", "w"))
)
_TEXT = f"""
define i32 @directions(ptr %u, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
{_LOADS}  %r = call i64 @"rbdae.machine.directions.jacobian"(
    ptr %kernel, ptr %context, ptr %s, ptr %w, double %t, ptr %y, ptr %yd, double %c, ptr %out)
  %status = trunc i64 %r to i32
  ret i32 %status
}}
"""


@cache
def _code() -> Module:
    program = Program((jacobian,))
    made_of = ("directions", _TEXT, sources(language), jacobian.__code__.co_code, jacobian.__code__.co_consts)
    return compiled(lambda: program.text() + _TEXT, made_of=made_of)


def by_directions(
    kernel: MachineFunction, n: int, n_rows: int, rates: bool, pattern: tuple[Ints, Ints] | None, dense: bool
) -> MachineFunction:
    """The Jacobian of a function on dual numbers as a machine function.

    Parameters
    ----------
    kernel : f(t, y, yd, out) of n numbers each, and `n_rows` results; eight doubles for each of them
    rates : whether f depends on yd
    pattern : row and column of the entries that are not always zero; None if all are there
    dense : whether it fills a matrix, and not the data of a sparse one
    """
    direction = np.arange(n) if pattern is None else directions(*pattern, n, n_rows)
    s = np.concatenate([np.zeros(HEAD, dtype=np.int64), direction])
    s[N], s[RATES], s[ROWS], s[DIRECTIONS], s[ENTRIES] = n, rates, n_rows, direction.max(initial=-1) + 1, -1
    if pattern is not None:
        rows, columns = pattern
        order = np.argsort(direction[columns], kind="stable")
        s[ENTRIES], s[ZEROS] = len(rows), n_rows * n if dense else 0
        places = rows * n + columns if dense else np.arange(len(rows))
        s = np.concatenate([s, direction[columns][order], rows[order], places[order]])
    w = np.zeros((2 * n + n_rows) * _WIDTH)
    context = np.array([kernel.address, kernel.context, s.ctypes.data, w.ctypes.data], dtype=np.int64)
    owner = (_code(), kernel, s, w, context)
    return MachineFunction(_code().address("directions"), context.ctypes.data, owner, kernel.errors)


def directions(rows: Ints, columns: Ints, n: int, n_rows: int) -> Ints:
    """A direction for each of n columns, such that no two columns of one direction have entries in one row: the first
    that is free, columns in their order."""
    order = np.argsort(columns, kind="stable")
    starts = np.searchsorted(columns[order], np.arange(n + 1))
    own: list[Any] = np.split(rows[order], starts[1:-1])
    taken: list[set[int]] = [set() for _ in range(n_rows)]
    out = np.zeros(n, dtype=np.int64)
    for j, mine in enumerate(own):
        mine = mine.tolist()
        used = set().union(*(taken[i] for i in mine))
        k = 0
        while k in used:
            k += 1
        out[j] = k
        for i in mine:
            taken[i].add(k)
    return out

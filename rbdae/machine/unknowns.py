"""Algebraic unknowns of a state, solved for by Newton's method in machine code, and rates with them."""

from __future__ import annotations

from functools import cache, cached_property
from math import nan
from pathlib import Path
from typing import Any, NoReturn, final

import numpy as np

from rbdae._arrays import Ints, Vec
from rbdae._frozen import refuse_copies
from rbdae.machine import language
from rbdae.machine.function import MachineFunction
from rbdae.machine.language.program import Program
from rbdae.machine.language.words import Address, Function, evaluate
from rbdae.machine.module import Module, compiled
from rbdae.machine.sources import sources

NUMBERS, UNKNOWNS, EQUATIONS, ENTRIES, DATA, PLACES = range(6)
"""Whole numbers: of y, of the unknowns among them, of the residual, of entries of their block of the Jacobian, of all
its entries; then the places of the unknowns, which are those of their equations, and of each entry of the block row,
column and place among all entries."""

MOST = 30
SMALL = 1e-8
"""A correction by this fraction is the last one: the error that is left is about its square."""


def eliminate(m: int, J: Vec, g: Vec) -> None:
    """J^-1 g of a matrix (m, m) into g, by elimination with the largest pivot of each column; not finite where J is
    singular."""
    for k in range(m):
        pivot = k
        for i in range(k + 1, m):
            if abs(J[i * m + k]) > abs(J[pivot * m + k]):
                pivot = i
        for j in range(k, m):
            other = J[pivot * m + j]
            J[pivot * m + j] = J[k * m + j]
            J[k * m + j] = other
        other = g[pivot]
        g[pivot] = g[k]
        g[k] = other
        for i in range(k + 1, m):
            factor = J[i * m + k] / J[k * m + k]
            for j in range(k + 1, m):
                J[i * m + j] -= factor * J[k * m + j]
            g[i] -= factor * g[k]
    for back in range(m):
        k = m - 1 - back
        for j in range(k + 1, m):
            g[k] -= J[k * m + j] * g[j]
        g[k] /= J[k * m + k]


def solve(
    residual: Function, of_residual: Address, jacobian: Function, of_jacobian: Address, s: Ints, v: Vec, t: float,
    y: Vec, out: Vec,
) -> int:  # fmt: skip
    """y at time t with the unknowns that solve their equations, beginning with those of y; nan for them where Newton's
    method does not converge. Returns 1 if a function fails."""
    n = s[NUMBERS]
    m = s[UNKNOWNS]
    places = s[PLACES:]
    block = s[PLACES + m :]
    F = v[n:]  # after zeros
    data = v[n + s[EQUATIONS] :]
    J = v[n + s[EQUATIONS] + s[DATA] :]
    step = v[n + s[EQUATIONS] + s[DATA] + m * m :]
    for i in range(n):
        out[i] = y[i]
    for _ in range(MOST):
        if evaluate(residual, of_residual, t, out, v, 0.0, F) != 0:
            return 1
        if evaluate(jacobian, of_jacobian, t, out, v, 0.0, data) != 0:
            return 1
        for k in range(m * m):
            J[k] = 0.0
        for k in range(s[ENTRIES]):
            J[block[3 * k] * m + block[3 * k + 1]] = data[block[3 * k + 2]]
        for k in range(m):
            step[k] = F[places[k]]
        eliminate(m, J, step)
        done = 1
        for k in range(m):
            z = out[places[k]] - step[k]
            out[places[k]] = z
            if not abs(step[k]) <= SMALL * max(abs(z), abs(z - y[places[k]])):
                done = 0
        if done == 1:
            return 0
    for k in range(m):
        out[places[k]] = nan
    return 0


def rates(
    residual: Function, of_residual: Address, jacobian: Function, of_jacobian: Address, s: Ints, v: Vec,
    given: Function, of_given: Address, full: Vec, t: float, y: Vec, out: Vec,
) -> int:  # fmt: skip
    """The numbers that a machine function gives at y with the unknowns; the rates of those, the first numbers, are
    zero."""
    if solve(residual, of_residual, jacobian, of_jacobian, s, v, t, y, full) != 0:
        return 1
    if evaluate(given, of_given, t, full, v, 0.0, out) != 0:
        return 1
    for k in range(s[UNKNOWNS]):
        out[s[PLACES + k]] = 0.0 * full[s[PLACES + k]]
    return 0


_PROGRAM = Program((solve, rates))
_NAMES = ("residual", "of_residual", "jacobian", "of_jacobian", "s", "v", "given", "of_given", "full")


def _entry(name: str, target: str, count: int) -> str:
    loads = "".join(
        f"  %{each}.p = getelementptr ptr, ptr %u, i64 {k}\n  %{each} = load ptr, ptr %{each}.p\n"
        for k, each in enumerate(_NAMES[:count])
    )
    arguments = ", ".join(f"ptr %{each}" for each in _NAMES[:count])
    return f"""
define i32 @{name}(ptr %u, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
{loads}  %r = call i64 @"rbdae.machine.unknowns.{target}"({arguments}, double %t, ptr %y, ptr %out)
  %status = trunc i64 %r to i32
  ret i32 %status
}}
"""


_TEXT = _entry("solved", "solve", 6) + _entry("rates_of_solved", "rates", 9)


@cache
def _code() -> Module:
    made_of = "unknowns", _TEXT, sources(language), Path(__file__).read_bytes()
    return compiled(lambda: _PROGRAM.text() + _TEXT, made_of=made_of)


@final
class Solving:
    """Newton's method for the unknowns of a state, bound to the functions of a problem; it has memory of its own.

    Parameters
    ----------
    residual, jacobian : at (t, y, yd), and the data of the sparse Jacobian with c = 0
    sizes : how many numbers y, the residual and that data have
    places : of the unknowns in y, (m,)
    block : row and column among the unknowns and place in the data of each entry of their block, (entries, 3)
    """

    def __init__(
        self,
        residual: MachineFunction,
        jacobian: MachineFunction,
        sizes: tuple[int, int, int],
        places: Ints,
        block: Any,
    ) -> None:
        n, equations, data = sizes
        m = len(places)
        sizes_first = np.array([n, m, equations, len(block), data])
        self._s = np.concatenate([sizes_first, places, block.ravel()]).astype(np.int64)
        self._v = np.zeros(n + equations + data + m * m + m)
        self._full = np.zeros(n)
        self._functions = residual, jacobian
        self._code = _code()

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    @cached_property
    def function(self) -> MachineFunction:
        """y with its unknowns at (t, y), see `solve`."""
        return self._bound("solved", [])

    def rates(self, given: MachineFunction) -> MachineFunction:
        """Another machine function of (t, y) at y with its unknowns, see `rates`."""
        return self._bound("rates_of_solved", [given])

    def _bound(self, name: str, more: list[MachineFunction]) -> MachineFunction:
        residual, jacobian = self._functions
        places = [residual.address, residual.context, jacobian.address, jacobian.context]
        places += [self._s.ctypes.data, self._v.ctypes.data]
        for given in more:
            places += [given.address, given.context, self._full.ctypes.data]
        context = np.array(places, dtype=np.int64)
        owner = self, context
        return MachineFunction(self._code.address(name), context.ctypes.data, owner, [], [residual, jacobian, *more])

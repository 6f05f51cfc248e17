"""The right-hand side as a machine function."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Solvable
from rbdae.machine.function import PROTOTYPE
from rbdae.problem.contract import CompiledFunction


@final
class Called:
    """A right-hand side ``rhs(t, y, out)`` in Python as a machine function.

    It has arrays of its own, so that a user may keep what `rhs` is given. One run at a time may call it.
    """

    def __init__(self, rhs: Callable[[float, Vec, Vec], None], n: int) -> None:
        self._error: BaseException | None = None
        y, out, size = np.zeros(n), np.zeros(n), 8 * n
        y_at, out_at, move = y.ctypes.data, out.ctypes.data, ctypes.memmove

        def called(context: int, t: float, given: int, yd: int, c: float, wanted: int) -> int:
            try:
                move(y_at, given, size)
                rhs(t, y, out)
                move(wanted, out_at, size)
            except BaseException as error:
                self._error = error
                return 1
            return 0

        self._called = PROTOTYPE(called)
        address = ctypes.cast(self._called, ctypes.c_void_p).value
        assert address is not None
        self.address = address
        self.context = 0

    def check(self) -> None:
        """Raise what `rhs` has raised, once."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error


def right_hand_side(problem: Solvable, direction: float = 1.0) -> CompiledFunction:
    """The machine function of a problem, in its own time, or its Python function as one, of which `direction` says what
    time it has."""
    machine: Any = getattr(problem.callbacks, "machine", None)
    if machine is None:
        rhs = problem.callbacks.rhs
        return Called(rhs if direction > 0.0 else _in_own_time(rhs), problem.n)
    made: CompiledFunction = machine("rhs")
    return made


def _in_own_time(rhs: Callable[[float, Vec, Vec], None]) -> Callable[[float, Vec, Vec], None]:
    """A mirrored right-hand side, mirrored again."""

    def own(t: float, y: Vec, out: Vec) -> None:
        rhs(-t, y, out)
        np.negative(out, out=out)

    return own


__all__ = ["Called", "right_hand_side"]

"""Functions of the user that kernels call by address: f(t, x, out) with vectors of fixed lengths.

A numba function is compiled into a C function; a plain Python function goes through ctypes, one or two microseconds a
call. An exception in it cannot pass through compiled code: it is kept, `out` becomes NaN, and `raise_pending` raises
it when the kernel has returned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from rbdae.compiler import jit as _jit

_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)

_pending: list[BaseException] = []


class Foreign:
    """A user's function f(t, x, out), x of length `n_in`, out of length `n_out`; `address` is for kernels."""

    def __init__(self, function: Callable[..., None], n_in: int, n_out: int) -> None:
        self.function = function
        self.python = not (_jit.ENABLED and _jit.is_compiled(function))
        if self.python:
            self._keep: Any = _PROTOTYPE(self._through(function, n_in, n_out))
            self.address: int = ctypes.cast(self._keep, ctypes.c_void_p).value or 0
        else:
            self._keep = _jit.foreign(function, n_in, n_out)
            self.address = self._keep.address
        _jit.FOREIGN[self.address] = function

    @staticmethod
    def _through(function: Callable[..., None], n_in: int, n_out: int) -> Callable[..., None]:
        inputs, outputs = ctypes.c_double * n_in, ctypes.c_double * n_out

        def call(t: float, x_at: int, out_at: int) -> None:
            out = np.frombuffer(cast(Any, outputs.from_address(out_at)))
            try:
                x = np.frombuffer(cast(Any, inputs.from_address(x_at))) if n_in else np.empty(0)
                function(t, x, out)
            except BaseException as error:
                out[:] = np.nan
                _pending.append(error)

        return call


def raise_pending() -> None:
    """Raise the first exception that a user's function has left since the last call."""
    if _pending:
        first = _pending[0]
        _pending.clear()
        raise first

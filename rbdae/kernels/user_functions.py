"""Functions of the user that machine code calls by address: f(t, x, out) with vectors of fixed lengths.

They go through ctypes, one or two microseconds a call. An exception in one cannot pass through compiled code: it is
kept for the evaluation that called it, `out` becomes NaN, no further function of the user is called, and `raising`
raises it when the kernel has returned. Evaluations belong to threads, and may be nested: a function of the user may
evaluate, or solve, another problem.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np

from rbdae._arrays import Vec
from rbdae.kernels.symbolic import objects
from rbdae.laws.law import Filling, Users
from rbdae.laws.numbers import number_among

_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)


class _Evaluation(threading.local):
    """The innermost evaluation at work in this thread."""

    error: BaseException | None = None


_evaluation = _Evaluation()

_ALL: WeakValueDictionary[int, UserFunction] = WeakValueDictionary()
"""By address."""


class UserFunction:
    """A user's function f(t, x, out), x of length `n_in`, out of length `n_out`.

    `address` is for machine code. If it has a `law`, as `rbdae.laws.law.Recorded` has where it is not called, code
    of a model has that in its place. `slope` is the function with its Jacobian by rows
    (`rbdae.graph.graph.Graph.slopes`).
    """

    slope: UserFunction | None = None

    def __init__(self, function: Callable[..., None], n_in: int, n_out: int) -> None:
        self._function = function
        self.n_in, self.n_out = n_in, n_out
        self._keep: Any = _PROTOTYPE(_through_ctypes(function, n_in, n_out))
        self.address: int = ctypes.cast(self._keep, ctypes.c_void_p).value or 0
        _ALL[self.address] = self

    @property
    def law(self) -> Any:
        """A `rbdae.graph.law.Law` of the function, for code of a model; None if it is called there."""
        return getattr(self._function, "law", None)

    @property
    def owner(self) -> str:
        """Whose function it is."""
        return str(getattr(self._function, "owner", f"a function at {self.address}"))

    @property
    def why(self) -> str:
        """Why there is no law."""
        return str(getattr(self._function, "why", "it is called back"))

    @property
    def plain(self) -> Callable[..., None]:
        """The function in plain Python."""
        return self._function


def _through_ctypes(function: Callable[..., None], n_in: int, n_out: int) -> Callable[..., None]:
    """A Python function f(t, x, out) as what ctypes calls."""
    inputs, outputs = (ctypes.POINTER(ctypes.c_double * n) for n in (n_in, n_out))

    def call(t: float, x_at: int, out_at: int) -> None:
        out = np.frombuffer(cast(Any, ctypes.cast(out_at, outputs).contents))
        if _evaluation.error is not None:
            out[:] = np.nan
            return
        try:
            x = np.frombuffer(cast(Any, ctypes.cast(x_at, inputs).contents)) if n_in else np.empty(0)
            function(t, x, out)
        except BaseException as error:
            out[:] = np.nan
            _evaluation.error = error

    return call


def of_time(n: int, checked: Callable[[int, float, Any], Vec], users: Users) -> Filling:
    """Functions of time as one f(t, x, out), n numbers from each; `checked` validates the result of function k at t."""

    def fill(t: float, x: Vec, out: Vec) -> None:
        for k, function in enumerate(users):
            value = function(t)
            plain = (type(value) is float and n == 1) or number_among([value]) is not None
            when = t if isinstance(t, float) else np.nan  # a symbol has no text
            out[n * k : n * (k + 1)] = value if plain else checked(k, when, value)

    return fill


def user_function(at: Any) -> UserFunction:
    """A user's function by its address."""
    return _ALL[int(at)]


def call_user_function(at: Any, t: Any, x: Any, out: Any) -> None:
    """Call a user's function by its address: f(t, x, out)."""
    function = user_function(at)
    x, out = x[: function.n_in], out[: function.n_out]
    if hasattr(t, "recorder"):
        out[:] = t.recorder.call(function, t, x, out)
        return
    numbers = np.array([t, *x, *out])  # of floats, for a function that is compiled
    given, found = numbers[1 : 1 + len(x)], numbers[1 + len(x) :]
    function.plain(numbers[0], given, found)
    out[:] = objects(found)


def raising(kernel: Callable[..., None]) -> Callable[..., None]:
    """The kernel, and then what the user's Python functions have raised in it."""

    def call(*arguments: Any) -> None:
        around = _evaluation.error  # that of an evaluation in whose user function this one is made
        _evaluation.error = None
        try:
            kernel(*arguments)
        finally:
            mine, _evaluation.error = _evaluation.error, around
            if mine is not None:
                raise mine

    return call

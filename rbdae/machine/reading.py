"""Reading many states in machine code: the native functions of `rbdae.machine.loops.reading`, called with arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.graph import Graph
from rbdae.graph.symbols import Recorder
from rbdae.machine.data import Table
from rbdae.machine.function import MachineFunction
from rbdae.machine.language.program import Program, callables
from rbdae.machine.loops import reading
from rbdae.machine.module import compiled
from rbdae.machine.straight import DECLARATIONS, straight

_NUMBERS = 1 << 16
"""Of the arrays that a slice of the rows needs: they stay in the cache, and signals are seen between two."""


def slices(m: int, width: int) -> Iterator[slice]:
    """The rows 0 to m - 1 in slices; `width` numbers are needed for a row."""
    size = max(_NUMBERS // max(width, 1), 1)
    return (slice(first, min(first + size, m)) for first in range(0, m, size))


@cache
def _native(function: Callable[..., Any]) -> Callable[..., Any]:
    """A native function by its source. It keeps the interpreter's lock: a reader may run in any thread."""
    (found,) = callables(Program((function,)), made_of=(), prototype=ctypes.PYFUNCTYPE)
    native: Callable[..., Any] = found
    return native


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call one of the native functions with numbers and contiguous arrays."""
    return _native(function)(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments))


def evaluate_rows(function: MachineFunction, t: Vec, inputs: Sequence[Mat], out: Mat) -> None:
    """out (m, n) = function(t, *inputs) row by row.

    Raises what a Python function behind it has raised.
    """
    first, *more = inputs
    second = more[0] if more else first
    for part in slices(len(t), first.shape[1] + second.shape[1] + out.shape[1]):
        y, yd, here, times = first[part], second[part], out[part], t[part]
        sizes = y, y.shape[1], yd, yd.shape[1], here, here.shape[1]
        done = call(reading.each_row, function.address, function.context, len(times), times, *sizes)
        if done < len(times):
            function.check()
            raise RuntimeError(f"machine code has failed at t = {times[done]!r}, and nobody knows why")


def function_of_numbers(graph: Graph, outputs: Sequence[int]) -> MachineFunction:
    """Nodes of a graph, of which y is the only input, as a machine function. Raises NoMachineCode."""
    text = straight("numbers", graph, graph.needed(outputs), outputs, {}, Table())
    module = compiled(f"{DECLARATIONS}\n{text.replace('define internal', 'define')}")
    return MachineFunction(module["numbers"], 0, module, [])


@final
class OfNumbers:
    """A function of n numbers, recorded when it is first called: rows (m, n) to rows of its values."""

    def __init__(self, n: int, function: Callable[[Any], Any]) -> None:
        self._n, self._function = n, function

    @cached_property
    def _recorded(self) -> tuple[int, MachineFunction]:
        recorder = Recorder({"y": np.ones(self._n)}, 10_000)
        outputs = [recorder.number(each) for each in self._function(recorder.inputs("y"))]
        return len(outputs), function_of_numbers(recorder.graph, outputs)

    def __call__(self, x: Mat) -> Mat:
        """The values at rows of x, which is contiguous."""
        n, function = self._recorded
        out = np.empty((len(x), n))
        evaluate_rows(function, np.zeros(len(x)), (x,), out)
        return out

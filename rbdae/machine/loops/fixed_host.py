"""A run of fixed steps in machine code: its memory, its rows, and the calls of its loop."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from math import ceil
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.machine import language, loops
from rbdae.machine.language.program import Program, callables
from rbdae.machine.loops import fixed, memory
from rbdae.machine.loops.fixed import FixedMemory
from rbdae.machine.loops.host import FIRST_ROWS, NEVER, Run
from rbdae.machine.loops.methods import LEVEL
from rbdae.machine.sources import sources

_MOST = 1 << 22
"""Numbers of rows up to which there is space for all from the start."""
_FIRST = 20_000
"""Iterations times unknowns until the first pause."""


def _room(n: int, steps: float) -> int:
    """The rows of a run of this number of steps, with that of the start: all of them, if there is space."""
    all_of_them = (steps + 2.0) * (n + 1) <= _MOST
    return ceil(steps - fixed.ALMOST) + 1 if all_of_them else max(FIRST_ROWS // (n + 1), 16)


@cache
def _entries() -> tuple[Any, ...]:
    """`run` and `within`, compiled or loaded."""
    return callables(Program((fixed.run, fixed.within)), LEVEL, made_of=("fixed", sources(loops, language)))


@cache
def _works() -> Any:
    """`works`, compiled or loaded."""
    (found,) = callables(Program((fixed.works,)), LEVEL, made_of=("fixed work", sources(loops, language)))
    return found


@final
class FixedLoop(Run):
    """A run of fixed steps.

    Parameters
    ----------
    functions : `newton`, `advance` and `predict` as machine functions, `step` if there is one, and `n_unknowns` of a
        step
    span : start and end
    y0 : (n,)
    step : the step size
    weights : the parts of a step that its stages take
    tolerance, most : relative size of the last correction, and iterations in one step
    max_steps : after which the run ends; None for any number
    times, stepwise : as of a `Run`
    direction : -1.0 where the times of the run are those of the functions with the opposite sign

    Attributes
    ----------
    s : the numbers of the loop, by the names in `rbdae.machine.loops.fixed`
    within : what the loop said of the last state within a step
    """

    _counts = "iterations"

    def __init__(
        self,
        functions: Any,
        span: tuple[float, float],
        y0: Vec,
        step: float,
        *,
        weights: Sequence[float] = (1.0,),
        tolerance: float,
        most: int,
        max_steps: int | None = None,
        times: Vec | None = None,
        stepwise: bool = False,
        direction: float = 1.0,
    ) -> None:
        n, stages = len(y0), len(weights)
        self._m = m = max(n, 2 * functions.n_unknowns + 2, stages)
        size = len(FixedMemory.names)
        start = np.zeros(size + fixed.size(stages) * m)
        whole = (span[1] - span[0]) / step if times is None else np.inf  # else steps may not be kept
        room = 1 if stepwise else _room(n, whole if max_steps is None else min(whole, max_steps))
        super().__init__(FixedMemory, start, room, span[0], y0, times, stepwise=stepwise)
        self.functions = functions
        self._run, self._within = _entries()
        self._vectors, s = self._memory[size:].reshape(-1, m), self.s
        s.unknowns, s.m, s.budget = functions.n_unknowns, m, _FIRST // m + 1
        s.stages, s.most, s.max_steps = stages, most, NEVER if max_steps is None else max_steps
        s.t, s.t_new, s.t0, s.t_end, s.h = span[0], span[0], span[0], span[1], step
        s.tolerance, s.direction = tolerance, direction
        for name in ("newton", "advance", "predict"):
            self._set(name, getattr(functions, name))
        if functions.step is not None:
            s.whole = 1
            self._set("step", functions.step)
        self._vectors[fixed.WEIGHTS, :stages] = weights
        self.y[:] = y0
        self.within = memory.DONE
        self._bind()

    def _set(self, name: str, function: Any) -> None:
        setattr(self.s, name, function.address)
        setattr(self.s, f"{name}_context", function.context)

    def _bind(self) -> None:
        self._arguments = self._addresses()

    def run(self) -> int:
        """Continue until there is something to do; see `rbdae.machine.loops.fixed.run`."""
        status: int = self._run(*self._arguments)
        return status

    @property
    def y(self) -> Vec:
        """The state there, (n,); a view."""
        return self._vectors[self.s.end, : self.n]

    def works(self, work: Any, t: Vec, y: Mat, sizes: Vec, times: Vec) -> tuple[int, Vec]:
        """The word of the loop, and the work from t[0] to all `times` (k,), of a run with the steps t (m,), y (m, n),
        of the sizes (m - 1,), by the machine function `work`; see `rbdae.machine.loops.fixed`."""
        s, out = self.s, np.zeros(len(times))
        s.steps, s.rows, s.outputs, s.times, s.known = 0, len(t), 0, len(times), 0
        s.work = 0.0
        self._set("work_of", work)
        arrays = (self._memory, *map(np.ascontiguousarray, (times, out, t, y, sizes)))
        began = (time.perf_counter(), s.iterations)
        while True:
            status: int = _works()(*(array.ctypes.data for array in arrays))
            if status != memory.PAUSED:
                return status, out
            began = self.paused(began)

    def replace(self, y: Vec) -> None:
        """Continue from another state at the same time."""
        self.y[:] = y

    def at(self, t: float) -> Vec:
        """y (n,) at a time of the last step; nothing to use unless `within` is DONE."""
        out = np.empty(self.n)
        r = (t - self.s.t) / self.s.h_done
        self.within = self._within(self._memory.ctypes.data, r, out.ctypes.data)
        return out

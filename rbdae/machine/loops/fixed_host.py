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
from rbdae.machine.loops import fixed
from rbdae.machine.loops import fixed_memory as at
from rbdae.machine.loops.fixed_memory import FixedMemory
from rbdae.machine.loops.methods import LEVEL
from rbdae.machine.loops.rows import CHUNK, Rows
from rbdae.machine.sources import sources

SLICE = 0.02
"""Seconds of work between two pauses, about: Ctrl-C is seen within this time."""

_FIRST = 20_000
"""Iterations times unknowns until the first pause."""
_ROOM = 1 << 16
"""Numbers in the first rows of steps."""
_NEVER = 1 << 62


def _room(n: int, steps: float) -> int:
    """The rows of a run of this number of steps, with that of the start: all of them, if there is space. They are the
    memory of arrays, which comes from an earlier run where its results are gone: the system is asked for none."""
    all_of_them = (steps + 2.0) * (n + 1) <= CHUNK
    return ceil(steps - at.ALMOST) + 1 if all_of_them else max(_ROOM // (n + 1), 16)


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
class FixedLoop:
    """One run.

    Parameters
    ----------
    functions : `newton`, `advance` and `predict` as machine functions, `step` if there is one, and `n_unknowns` of a
        step
    span : start and end
    y0 : (n,)
    step : the step size
    weights : the parts of a step that its stages take, see `rbdae.machine.loops.composition`
    tolerance, most : relative size of the last correction, and iterations in one step
    max_steps : after which the run ends; None for any number
    times : output times, rising, none before the start
    stepwise : whether the loop comes back after every step, whose row is overwritten by the next one
    direction : -1.0 where the times of the run are those of the functions with the opposite sign

    Attributes
    ----------
    s : the numbers of the loop, by the names in `rbdae.machine.loops.fixed_memory`
    within : what the loop said of the last state within a step
    """

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
        self.n = n = len(y0)
        self.functions = functions
        self._run, self._within = _entries()
        stages = len(weights)
        self._m = m = max(n, 2 * functions.n_unknowns + 2, stages)
        size = len(FixedMemory.names)
        self._memory = np.zeros(size + at.vectors(stages) * m)
        self._vectors = self._memory[size:].reshape(-1, m)
        self.s = s = FixedMemory.of(self._memory)
        whole = (span[1] - span[0]) / step if times is None else np.inf  # else steps may not be kept
        room = 1 if stepwise else _room(n, whole if max_steps is None else min(whole, max_steps))
        s.n, s.unknowns, s.m, s.budget, s.room = n, functions.n_unknowns, m, _FIRST // m + 1, room
        s.stages, s.most, s.max_steps = stages, most, _NEVER if max_steps is None else max_steps
        s.t, s.t_new, s.t0, s.t_end, s.h = span[0], span[0], span[0], span[1], step
        s.tolerance, s.direction = tolerance, direction
        for name in ("newton", "advance", "predict"):
            self._set(name, getattr(functions, name))
        if functions.step is not None:
            s.whole = 1
            self._set("step", functions.step)
        self._vectors[at.WEIGHTS, :stages] = weights
        self.y[:] = y0
        self.times = np.empty(0) if times is None else np.ascontiguousarray(times)
        self.rows = np.empty((len(self.times), n))
        s.times = len(self.times)
        self.within = at.DONE
        steps_t, steps_y = np.empty(room), np.empty((room, n))
        self._steps = Rows(n, steps_t, steps_y, own=True)
        self._written = steps_t.ctypes.data, steps_y.ctypes.data
        if not stepwise:
            steps_t[0], steps_y[0] = span[0], y0
            s.rows = 1
            if len(self.times) and self.times[0] <= span[0]:
                self.rows[0] = y0
                s.outputs = 1

    def _set(self, name: str, function: Any) -> None:
        setattr(self.s, name, function.address)
        setattr(self.s, f"{name}_context", function.context)

    def run(self) -> int:
        """Continue until there is something to do; see `rbdae.machine.loops.fixed.run`."""
        arrays = (self._memory, self.times, self.rows)
        status: int = self._run(*(array.ctypes.data for array in arrays), *self._written)
        return status

    def grow(self, *, keep: bool = True) -> None:
        """Make space for further steps: beyond those that are there, or in their place."""
        s = self.s
        if not keep:
            s.rows = 0
            return
        self._written = self._steps.grow(s.rows)
        s.room = self._steps.room

    def paused(self, work: tuple[float, int]) -> tuple[float, int]:
        """Time and iterations now; gives the next budget from those when the last one was given."""
        now, iterations = time.perf_counter(), self.s.iterations
        done = max(iterations - work[1], 1)
        self.s.budget = int(min(max(SLICE * done / max(now - work[0], 1e-9), 1.0), 10.0 * done))
        return now, iterations

    def steps(self) -> tuple[Vec, Mat]:
        """Times and states of the start and of all steps."""
        return self._steps.taken(self.s.rows)

    def outputs(self) -> tuple[Vec, Mat]:
        """Output times that were reached, and the states there."""
        k = self.s.outputs
        return self.times[:k], self.rows[:k]

    @property
    def t(self) -> float:
        """The time that the run has reached."""
        return self.s.t_new

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
            if status != at.PAUSED:
                return status, out
            began = self.paused(began)

    def replace(self, y: Vec) -> None:
        """Continue from another state at the same time."""
        self.y[:] = y

    def release(self) -> None:
        """The memory of this loop is its own: nothing to hand back."""

    def at(self, t: float) -> Vec:
        """y (n,) at a time of the last step; nothing to use unless `within` is DONE."""
        out = np.empty(self.n)
        r = (t - self.s.t) / self.s.h_done
        self.within = self._within(self._memory.ctypes.data, r, out.ctypes.data)
        return out

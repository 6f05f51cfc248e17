"""A run of implicit steps of fixed size in machine code, and the work in its steps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from math import ceil
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.machine.language.program import Program, callables
from rbdae.machine.loops import fixed, memory
from rbdae.machine.loops.host import Controls, Loop
from rbdae.machine.loops.methods import FIXED, LEVEL

_MOST = 1 << 22
"""Numbers of rows up to which there is space for all from the start."""


@cache
def _works() -> Any:
    """`works`, compiled or loaded."""
    (found,) = callables(Program((fixed.works,)), LEVEL, made_of=())
    return found


@final
class FixedLoop(Loop):
    """A run of fixed steps.

    Parameters
    ----------
    functions : `newton`, `advance` and `predict` as machine functions, `step` if there is one, and `n_unknowns` of a
        step
    span, y0 : start and end, and the state at the start
    step : the step size
    weights : the parts of a step that its stages take
    tolerance, most : relative size of the last correction, and iterations in one step
    max_steps : after which the run ends; None for any number
    more : as of a `Loop`
    """

    def __init__(
        self,
        functions: Any,
        span: tuple[float, float],
        y0: Vec,
        step: float,
        *,
        weights: Sequence[float],
        tolerance: float,
        most: int,
        max_steps: int | None = None,
        **more: Any,
    ) -> None:
        n, stages = functions.n_unknowns, len(weights)
        controls, width = Controls(first_step=step, max_steps=max_steps), max(2 * n + 2, stages)
        whole = (span[1] - span[0]) / step if more.get("times") is None else np.inf  # else steps may not be kept
        steps = whole if max_steps is None else min(whole, max_steps)
        room = ceil(steps - fixed.ALMOST) + 1 if (steps + 2.0) * (len(y0) + 1) <= _MOST else 0
        super().__init__(FIXED, functions.newton, span, y0, 0.0, 0.0, controls, room=room, width=width, **more)
        self.functions, s = functions, self.s
        s.unknowns, s.stages, s.most, s.t0, s.tolerance = n, stages, most, span[0], tolerance
        for name in ("newton", "advance", "predict", "step"):
            self._set(name, getattr(functions, name))
        self._vector(fixed.WEIGHTS)[:stages] = weights
        self.y[:] = y0

    def _set(self, name: str, function: Any) -> None:
        if function is not None:
            setattr(self.s, name, function.address)
            setattr(self.s, f"{name}_context", function.context)

    def works(self, work: Any, t: Vec, y: Mat, sizes: Vec, times: Vec) -> tuple[int, Vec]:
        """The word of the loop, and the work from t[0] to all `times` (k,), of a run with the steps t (m,), y (m, n),
        of the sizes (m - 1,), by the machine function `work`; see `rbdae.machine.loops.fixed`."""
        s, out = self.s, np.zeros(len(times))
        s.steps, s.rows, s.outputs, s.times, s.known = 0, len(t), 0, len(times), 0
        s.total = 0.0
        self._set("work_of", work)
        arrays = tuple(map(np.ascontiguousarray, (times, out, t, y, sizes)))
        s.output_times, s.output_rows, s.steps_t, s.steps_y, of_sizes = (array.ctypes.data for array in arrays)
        began = (time.perf_counter(), s.evaluations)
        while True:
            status: int = _works()(self._base, of_sizes)
            if status != memory.PAUSED:
                return status, out
            began = self.paused(began)

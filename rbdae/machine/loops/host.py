"""Runs of the loop in machine code: their memory, their rows, and the calls of the loop."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Mat, Vec, address_of
from rbdae.machine.language.program import Program, callables
from rbdae.machine.loops import fixed
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.control import LEAST_ERROR
from rbdae.machine.loops.memory import StepMemory
from rbdae.machine.loops.methods import FIXED, LEVEL, Stepper, entries

SLICE = 0.02
"""Seconds of work between two pauses, about: Ctrl-C is seen within this time."""

FIRST_ROWS = 1 << 12
"""Numbers in the first rows of steps: memory that the process has, of a short run."""

NEVER = 1 << 62
_FIRST = 200_000
"""Evaluations times unknowns until the first pause."""
_MOST = 1 << 22
"""Numbers of rows up to which there is space for all from the start."""
_EPS = float(np.finfo(float).eps)
_SIZE = len(StepMemory.names)
"""Where vectors begin."""
_COUNTED = (
    "budget", "room", "rows", "times", "outputs", "evaluations", "rejected", "measured", "events", "projects",
    "output_times", "output_rows", "steps_t", "steps_y", "correct", "measure", "measure_context", "watched",
)  # fmt: skip
"""What a loop that begins again keeps of its numbers."""

_NONE = np.empty(0)


class Controls(NamedTuple):
    """How steps are chosen; Hairer's names are SAFE, FAC1, FAC2, BETA, H and HMAX.

    Parameters
    ----------
    first_step : None for the codes' own choice
    max_step : infinity for the whole interval
    max_steps : accepted steps after which the run ends; None for any number
    safety : factor on every new step
    shrink, grow : a step has at least, and at most, these times the length of the one before; None for the method's own
    beta : of the stabilised controller, 0 for none; None for the method's own
    """

    first_step: float | None = None
    max_step: float = math.inf
    max_steps: int | None = None
    safety: float = 0.9
    shrink: float | None = None
    grow: float | None = None
    beta: float | None = None


USUAL = Controls()


@lru_cache(maxsize=4)
def _template(method: Stepper, n: int, m: int, controls: Controls) -> Vec:
    """The memory of a run before it has an interval, a start and tolerances."""
    memory = np.zeros(_SIZE + method.vectors * m)
    s = StepMemory.of(memory)
    s.n, s.m, s.budget, s.h = n, m, _FIRST // n + 1, controls.first_step or 0.0
    s.max_steps = NEVER if controls.max_steps is None else controls.max_steps
    s.safe = controls.safety
    s.shrinks = 1.0 / (controls.shrink or method.shrinks)
    s.grows = 1.0 / (controls.grow or method.grows)
    s.beta = beta = method.beta if controls.beta is None else controls.beta
    s.exponent, s.old_error = method.exponent(beta), LEAST_ERROR
    memory[_SIZE + at.ATOL * m : _SIZE + (at.ATOL + 1) * m] = 1.0  # also beyond n: it is a divisor
    return memory


class Loop:
    """A run with its rows.

    Parameters
    ----------
    method : one of `rbdae.machine.loops.methods.METHODS`
    function : a machine function for the right-hand side: its `address`, and its `context`
    span : start and end
    y0 : (n,), the first row unless the run is stepwise
    rtol, atol : tolerances; `atol` a number or (n,)
    controls : how steps are chosen
    times : output times, rising, none before the start
    stepwise : whether the loop comes back after every accepted step, whose row is overwritten by the next one
    max_stalled : steps in a row that do not move the time
    correction : the machine function ``machine()`` of a `rbdae.problem.projection.Projector`, for the ends of steps and
        the outputs, or None
    watch : a `rbdae.problem.contract.CompiledWatch` for the ends of steps, or None
    direction : -1.0 where the times of the run are those of all machine functions with the opposite sign
    room : steps that there are rows for at first
    width : numbers that a vector of memory has at least

    Attributes
    ----------
    s : the numbers of the loop, by the names in `rbdae.machine.loops.memory`
    times, rows : output times and the states there; `s.outputs` of them are filled
    said : the word of the method on the last state inside a step
    """

    def __init__(
        self,
        method: Stepper,
        function: Any,
        span: tuple[float, float],
        y0: Vec,
        rtol: float,
        atol: float | Vec,
        controls: Controls = USUAL,
        *,
        times: Vec | None = None,
        stepwise: bool = False,
        max_stalled: int = NEVER,
        correction: Any = None,
        watch: Any = None,
        direction: float = 1.0,
        room: int = 0,
        width: int = 0,
    ) -> None:
        self.n = n = len(y0)
        self._m = m = -(-max(n, width) // at.LANES) * at.LANES
        start = _template(method, n, m, controls)
        size, room = len(start), 1 if stepwise else room or max(FIRST_ROWS // (n + 1), 16)
        block = np.empty(size + room * (n + 1))  # in one: short runs take as long as making arrays
        block[:size] = start
        s: Any = StepMemory.of(block)
        self.s, self._memory = s, block[:size]
        self._t, self._y = block[size : size + room], block[size + room :].reshape(room, n)
        self._base = base = ctypes.addressof(s)
        s.steps_t, s.steps_y = base + 8 * size, base + 8 * (size + room)
        self.times = self.rows = _NONE
        s.room, self.said = room, at.DONE
        if not stepwise:
            self._t[0], self._y[0], s.rows = span[0], y0, 1
        if times is not None and len(times):
            self.times, self.rows = np.ascontiguousarray(times), np.empty((len(times), n))
            s.output_times, s.output_rows, s.times = address_of(self.times), address_of(self.rows), len(times)
            if not stepwise and self.times[0] <= span[0]:
                self.rows[0], s.outputs = y0, 1
        self._run, self._dense, self._interpolate = entries(method)
        self._asked = (method, controls, rtol, atol, direction, max_stalled)
        self._begin(*span, y0)
        self._function = function.address, function.context
        if correction is not None:
            s.projects, s.correct = 1, correction.address
        if watch is not None:
            s.measured, s.events = watch.n_measured, getattr(watch, "n_events", 0)
            s.margin = getattr(watch, "margin", 0.0)
            s.measure, s.measure_context = watch.measure.address, watch.measure.context
            s.watched = address_of(watch.memory)
        self.kept: tuple[Any, ...] = (function, correction, watch)  # they are used as long as the loop is
        self._arguments = (*self._function, base, None if correction is None else correction.context)

    def _begin(self, t0: float, t_end: float, y0: Vec) -> None:
        s, n = self.s, self.n
        _, controls, s.rtol, atol, s.direction, s.max_stalled = self._asked
        length = t_end - t0
        s.t, s.t_new, s.t_end = t0, t0, t_end
        s.h_max, s.least_step = min(controls.max_step, length), 4.0 * _EPS * length
        self._vector(at.ATOL)[:n] = atol
        self._vector(at.Y)[:n] = y0

    def restart(self, t: float, y: Vec) -> None:
        """Begin again from another state: in every bit what a new loop would do, but that evaluations, rejections, rows
        and the budget are counted on."""
        kept = {name: getattr(self.s, name) for name in _COUNTED}
        t_end = self.s.t_end
        self._memory[:] = _template(self._asked[0], self.n, self._m, self._asked[1])
        self._begin(t, t_end, y)
        for name, number in kept.items():
            setattr(self.s, name, number)

    def _vector(self, k: int) -> Vec:
        first = _SIZE + k * self._m
        return self._memory[first : first + self._m]

    def run(self) -> int:
        """Continue until there is something to do; see `rbdae.machine.loops.loop.run`."""
        status: int = self._run(*self._arguments)
        return status

    def grow(self, *, keep: bool = True) -> None:
        """Make space for further steps: beyond those that are there, or in their place."""
        s = self.s
        if not keep:
            s.rows = 0
            return
        t, y, room = self._t, self._y, 2 * s.room
        block = np.empty(room * (self.n + 1))
        self._t, self._y = block[:room], block[room:].reshape(room, self.n)
        self._t[: len(t)], self._y[: len(t)] = t, y
        s.room, s.steps_t = room, address_of(block)
        s.steps_y = s.steps_t + 8 * room

    def paused(self, work: tuple[float, int]) -> tuple[float, int]:
        """Time and evaluations now; gives the next budget from those when the last one was given."""
        now, count = time.perf_counter(), self.s.evaluations
        done = max(count - work[1], 1)
        self.s.budget = int(min(max(SLICE * done / max(now - work[0], 1e-9), 1.0), 10.0 * done))
        return now, count

    def steps(self) -> tuple[Vec, Mat]:
        """Times and states of the start and of all accepted steps, without a copy where they fill their memory."""
        k = self.s.rows
        t, y = self._t[:k], self._y[:k]
        return (t, y) if 2 * k > len(self._t) else (t.copy(), y.copy())

    def outputs(self) -> tuple[Vec, Mat]:
        """Output times that were reached, and the states there."""
        k = self.s.outputs
        return self.times[:k], self.rows[:k].reshape(k, self.n)

    @property
    def t(self) -> float:
        """The time that the run has reached."""
        reached: float = self.s.t_new
        return reached

    # ------------------------------------------------------------ the last step

    @property
    def began(self) -> float:
        """The time at which its last step began."""
        began: float = self.s.t
        return began

    @property
    def y(self) -> Vec:
        """The state there, (n,); a view."""
        return self._vector(at.Y_NEW)[: self.n]

    def replace(self, y: Vec) -> None:
        """Continue from another state at the same time."""
        self.y[:] = y
        self.s.stale = 1

    def prepare(self) -> int:
        """Make `at` possible for the last step; 0 unless a function has left an exception."""
        projected = None
        if self.s.events and self.s.projects:
            projected, self.y[:] = self.y.copy(), self._vector(at.UNPROJECTED)[: self.n]
        status: int = self._dense(*self._function, self._base)
        if projected is not None:
            self.y[:] = projected
        return status

    def cut(self, t: float, y: Vec) -> None:
        """End the rows with a state inside the last step, in place of its end; outputs after it are dropped."""
        self._t[self.s.rows - 1], self._y[self.s.rows - 1] = t, y
        self._drop_outputs(t)

    def drop(self) -> None:
        """Take the rows of the last step out: nothing is known of it."""
        self.s.rows -= 1
        self._drop_outputs(self.began)

    def _drop_outputs(self, t: float) -> None:
        k = self.s.outputs
        while k > 0 and self.times[k - 1] > t:
            k -= 1
        self.s.outputs = k

    def at(self, t: float) -> Vec:
        """y (n,) at a time of the last step, after `prepare`; nothing to use unless `said` is DONE."""
        out = np.empty(self.n)
        theta = (t - self.s.t) / self.s.h_done
        self.said = self._interpolate(self._base, theta, address_of(out))
        return out


# ---------------------------------------------------------------- steps of fixed size


@cache
def _works() -> Any:
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
        room = math.ceil(steps - fixed.ALMOST) + 1 if (steps + 2.0) * (len(y0) + 1) <= _MOST else 0
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
            if status != at.PAUSED:
                return status, out
            began = self.paused(began)

"""A run of a one-step method in machine code: its memory, its rows, and the calls of its loop."""

from __future__ import annotations

import math
import struct
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec, address_of
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.control import LEAST_ERROR
from rbdae.machine.loops.memory import StepMemory
from rbdae.machine.loops.methods import Stepper, entries
from rbdae.machine.loops.rows import Rows


@final
@dataclass(frozen=True, slots=True)
class Controls:
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


SLICE = 0.02
"""Seconds of work between two pauses, about: Ctrl-C is seen within this time."""

_EPS = float(np.finfo(float).eps)
_FIRST = 200_000
"""Evaluations times unknowns until the first pause."""
FIRST_ROWS = 1 << 16
"""Numbers in the first rows of steps."""
_NEVER = 1 << 62
_KEPT_FREE = 4
_KINDS = 16
_SMALL = 1000
"""Unknowns up to which the beginning of the memory is kept from run to run."""
_NOTHING = 5 * (0,)
"""In place of a projection and a watch."""
_COUNTED = ("budget", "room", "rows", "times", "outputs", "evaluations", "rejected", "measured")
"""What a loop that begins again keeps of its whole numbers."""
_SIZE = len(StepMemory.names)
"""Where vectors begin."""
_HEAD = struct.Struct("=9d")
"""The numbers from `t` to the one before `safe`."""
_T = StepMemory.names.index("t")
_NO_TIMES = np.empty(0)
_NO_ROWS = np.empty((0, 0))


@lru_cache(maxsize=16)
def _template(method: Stepper, n: int) -> Vec:
    """The memory of a run, with what is always the same."""
    m = -(-n // at.LANES) * at.LANES
    memory = np.zeros(_SIZE + method.vectors * m)
    s = StepMemory.of(memory)
    s.n, s.m, s.budget, s.max_steps = n, m, _FIRST // n + 1, _NEVER
    s.safe, s.shrinks, s.grows = USUAL.safety, 1.0 / method.shrinks, 1.0 / method.grows
    s.beta, s.exponent, s.old_error = method.beta, method.exponent(method.beta), LEAST_ERROR
    memory[_SIZE + at.ATOL * m : _SIZE + (at.ATOL + 1) * m] = 1.0  # also beyond n: it is a divisor
    return memory


def _start(method: Stepper, n: int) -> Vec:
    """The same; kept from run to run for few unknowns alone."""
    return _template(method, n) if n <= _SMALL else _template.__wrapped__(method, n)


@final
class _Memory:
    """The memory of a run of n unknowns with its first rows, and their addresses."""

    __slots__ = ("addresses", "all", "s", "steps_t", "steps_y")

    def __init__(self, n: int, start: Vec, room: int) -> None:
        self.all = memory = start.copy()
        self.s = StepMemory.of(memory)
        steps = np.empty(room * (n + 1))
        self.steps_t, self.steps_y = steps[:room], steps[room:].reshape(room, n)
        base = address_of(memory)
        written = address_of(steps)
        self.addresses = (base, base, base, written, written + 8 * room)


_FREE: dict[tuple[Stepper, int], list[_Memory]] = {}
"""Memory of runs that have ended, for the next ones: making it takes longer than short runs."""


def _memory(method: Stepper, n: int, room: int) -> _Memory:
    start = _start(method, n)
    if n > _SMALL:
        return _Memory(n, start, room)
    try:
        found = _FREE[method, n].pop()
    except (KeyError, IndexError):  # none is free; another thread may just have taken it
        return _Memory(n, start, room)
    if len(found.steps_t) != room:
        return _Memory(n, start, room)
    found.all[:] = start
    return found


@final
class Loop:
    """One run.

    Parameters
    ----------
    method : one of `rbdae.machine.loops.methods.METHODS`
    function : a machine function for the right-hand side: its `address`, and its `context`
    span : start and end
    y0 : (n,)
    rtol, atol : tolerances; `atol` a number or (n,)
    controls : how steps are chosen
    times : output times, rising, none before the start
    stepwise : whether the loop comes back after every accepted step, whose row is overwritten by the next one
    max_stalled : steps in a row that do not move the time
    correction : the machine function ``machine()`` of a `rbdae.problem.projection.Projector`, for the ends of steps and
        the outputs, or None
    watch : a `rbdae.problem.contract.CompiledWatch` for the ends of steps, or None
    direction : -1.0 where the times of the run are those of all machine functions with the opposite sign

    Attributes
    ----------
    s : the numbers of the loop, by the names in `rbdae.machine.loops.memory`
    times, rows : output times, or None, and the states there; `s.outputs` of them are filled
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
        max_stalled: int = _NEVER,
        correction: Any = None,
        watch: Any = None,
        direction: float = 1.0,
    ) -> None:
        n = len(y0)
        self.n = n
        self._function = function
        self._run, self._dense, self._interpolate = entries(method)
        self._m = -(-n // at.LANES) * at.LANES
        room = 1 if stepwise else max(FIRST_ROWS // (n + 1), 16)
        self._lent: tuple[tuple[Stepper, int], _Memory] | None
        self._lent = (method, n), (own := _memory(method, n, room))
        self.s = s = own.s
        self._memory = own.all
        self._asked = (method, controls, rtol, atol, direction, max_stalled)
        t0, t_end = span
        self._begin(t0, t_end, y0)
        s.room = room
        self.times, self.rows = times, _NO_ROWS
        self._steps = Rows(n, own.steps_t, own.steps_y)
        self._beside: tuple[int, ...] = _NOTHING
        if correction is not None or watch is not None:
            self._beside = self._told(correction, watch)
            self._kept = (correction, watch)  # they are used as long as the loop is
        self._arguments = (function.address, function.context, *own.addresses, *self._beside)
        if times is not None:
            self.rows = np.empty((len(times), n))
            s.times = len(times)
            self._write_to(*own.addresses[3:])
        if not stepwise:
            own.steps_t[0], own.steps_y[0] = t0, y0
            s.rows = 1
            if times is not None and len(times) and times[0] <= t0:
                self.rows[0] = y0
                s.outputs = 1

    def _begin(self, t0: float, t_end: float, y0: Vec) -> None:
        """Write what a run of this interval has in its memory first."""
        memory, n = self._memory, self.n
        buffer: Any = memory
        method, controls, rtol, atol, direction, max_stalled = self._asked
        length = t_end - t0
        _HEAD.pack_into(
            buffer, 8 * _T, t0, t0, t_end, 0.0, 0.0, direction, length, rtol, 4.0 * _EPS * length
        )  # four times as quick as by a slice
        memory[_SIZE : _SIZE + n] = atol
        memory[_SIZE + self._m : _SIZE + self._m + n] = y0
        if controls is not USUAL:
            self._control(method, controls)
        self.s.max_stalled = max_stalled

    def restart(self, y: Vec) -> None:
        """Begin again from another state at the same time, with the next step's size: in every bit what a new loop
        would do, but that evaluations, rejections, rows and the budget are counted on. The last row becomes `y`."""
        s = self.s
        t, t_end, step = s.t_new, s.t_end, s.h
        kept = {name: getattr(s, name) for name in _COUNTED}
        self._memory[:] = _start(self._asked[0], self.n)
        self._begin(t, t_end, y)
        for name, number in kept.items():
            setattr(s, name, number)
        s.h = min(step, abs(t_end - t))
        self._steps.replace(s.rows - 1, y)
        k = s.outputs
        while k > 0 and self.times is not None and self.times[k - 1] == t:
            k -= 1
            self.rows[k] = y

    def _told(self, correction: Any, watch: Any) -> tuple[int, ...]:
        """The arguments for what the loop does after accepted steps, which is written to its memory."""
        s = self.s
        first, second = _NOTHING[:2], _NOTHING[2:]
        if correction is not None:
            s.projects, first = 1, (correction.address, correction.context)
        if watch is not None:
            s.measured, s.events = watch.n_measured, getattr(watch, "n_events", 0)
            second = (watch.measure.address, watch.measure.context, watch.memory.ctypes.data)
        return (*first, *second)

    def _control(self, method: Stepper, controls: Controls) -> None:
        """Other choices than the usual ones."""
        s = self.s
        s.h = controls.first_step or 0.0
        s.h_max = min(controls.max_step, s.h_max)
        s.safe = controls.safety
        s.shrinks = 1.0 / (controls.shrink or method.shrinks)
        s.grows = 1.0 / (controls.grow or method.grows)
        s.beta = beta = method.beta if controls.beta is None else controls.beta
        s.exponent = method.exponent(beta)
        if controls.max_steps is not None:
            s.max_steps = controls.max_steps

    def _write_to(self, steps_t: int, steps_y: int) -> None:
        """Times and states of steps go to these addresses."""
        outputs = self._arguments[3:5] if self.times is None else (self.times.ctypes.data, self.rows.ctypes.data)
        self._arguments = (*self._arguments[:3], *outputs, steps_t, steps_y, *self._beside)

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
        self._write_to(*self._steps.grow(s.rows))
        s.room = self._steps.room

    def release(self) -> None:
        """Hand back the memory, which nobody reads from here on."""
        if self._lent is not None and self.n <= _SMALL:
            if len(_FREE) > _KINDS:
                _FREE.clear()
            free = _FREE.setdefault(self._lent[0], [])
            if len(free) < _KEPT_FREE:
                free.append(self._lent[1])
        self._lent = None

    def grant(self, evaluations: int, seconds: float) -> None:
        """A budget for the next `SLICE`, from what the last one has cost."""
        wanted = SLICE * evaluations / max(seconds, 1e-9)
        self.s.budget = int(min(max(wanted, 1.0), 10.0 * evaluations))

    def paused(self, work: tuple[float, int]) -> tuple[float, int]:
        """Time and evaluations now; gives the next budget from those when the last one was given."""
        now, evaluations = time.perf_counter(), self.s.evaluations
        self.grant(max(evaluations - work[1], 1), now - work[0])
        return now, evaluations

    def steps(self) -> tuple[Vec, Mat]:
        """Times and states of the start and of all accepted steps."""
        return self._steps.taken(self.s.rows)

    def outputs(self) -> tuple[Vec, Mat]:
        """Output times that were reached, and the states there."""
        k = self.s.outputs
        return _NO_TIMES if self.times is None else self.times[:k], self.rows[:k]

    # ------------------------------------------------------------ the last step

    @property
    def t(self) -> float:
        """The time that the run has reached."""
        return self.s.t_new

    @property
    def began(self) -> float:
        """The time at which its last step began."""
        return self.s.t

    @property
    def y(self) -> Vec:
        """The state there, (n,); a view."""
        first = _SIZE + at.Y_NEW * self._m
        return self._memory[first : first + self.n]

    def replace(self, y: Vec) -> None:
        """Continue from another state at the same time."""
        self.y[:] = y
        self.s.stale = 1

    def prepare(self) -> int:
        """Make `at` possible for the last step; 0 unless a function has left an exception."""
        projected = None
        if self.s.events and self.s.projects:
            first = _SIZE + at.UNPROJECTED * self._m
            projected, self.y[:] = self.y.copy(), self._memory[first : first + self.n]
        status: int = self._dense(*self._arguments[:3])
        if projected is not None:
            self.y[:] = projected
        return status

    def cut(self, t: float, y: Vec) -> None:
        """End the rows with a state inside the last step, in place of its end; outputs after it are dropped."""
        self._steps.replace(self.s.rows - 1, y, t)
        self._drop_outputs(t)

    def drop(self) -> None:
        """Take the rows of the last step out: nothing is known of it."""
        self.s.rows -= 1
        self._drop_outputs(self.began)

    def _drop_outputs(self, t: float) -> None:
        k = self.s.outputs
        while k > 0 and self.times is not None and self.times[k - 1] > t:
            k -= 1
        self.s.outputs = k

    def at(self, t: float) -> Vec:
        """y (n,) at a time of the last step, after `prepare`."""
        out = np.empty(self.n)
        theta = (t - self.s.t) / self.s.h_done
        self._interpolate(self._arguments[2], theta, out.ctypes.data)
        return out


__all__ = ["FIRST_ROWS", "SLICE", "USUAL", "Controls", "Loop"]

"""A run of a one-step method in machine code: its memory, its rows, and the calls of its loop."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.compiled import entries
from rbdae.machine.loops.control import LEAST_ERROR
from rbdae.machine.loops.methods import OneStep

SLICE = 0.02
"""Seconds of work between two pauses, about: Ctrl-C is seen within this time."""

_EPS = float(np.finfo(float).eps)
_FIRST = 200_000
"""Evaluations times unknowns until the first pause."""
_ROOM = 1 << 15
"""Numbers in the first rows of steps; later ones have twice those before, up to `_MOST`."""
_MOST = 1 << 22
_NEVER = 1 << 62


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
    shrink, grow : a step has at least, and at most, these times the length of the one before
    beta : of the stabilised controller, 0 for none
    """

    first_step: float | None
    max_step: float
    max_steps: int | None
    safety: float
    shrink: float
    grow: float
    beta: float


def _numbers(method: OneStep, span: tuple[float, float], rtol: float, controls: Controls) -> tuple[float, ...]:
    """The head of `w`, in its order."""
    t0, t_end = span
    return (
        t0,
        t0,
        t_end,
        0.0 if controls.first_step is None else controls.first_step,
        0.0,
        min(controls.max_step, t_end - t0),
        rtol,
        controls.safety,
        1.0 / controls.shrink,
        1.0 / controls.grow,
        controls.beta,
        LEAST_ERROR,
        0.0,
        4.0 * _EPS * (t_end - t0),
        method.exponent(controls.beta),
        0.0,
    )


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

    Attributes
    ----------
    s, w : the loop's memory, see `rbdae.machine.loops.memory`
    times, rows : output times and the states there; `s[OUTPUTS]` of them are filled
    """

    def __init__(
        self,
        method: OneStep,
        function: Any,
        span: tuple[float, float],
        y0: Vec,
        rtol: float,
        atol: float | Vec,
        controls: Controls,
        *,
        times: Vec | None = None,
        stepwise: bool = False,
        max_stalled: int = _NEVER,
    ) -> None:
        n = len(y0)
        m = -(-n // at.LANES) * at.LANES
        self.n = n
        self._function = function
        self._run, self._dense, self._interpolate = entries(method)
        self._memory = memory = np.zeros(at.INTS + at.HEAD + at.VECTORS * m)
        self.s = s = memory[: at.INTS].view(np.int64)
        self.w = w = memory[at.INTS :]
        s[: at.BEGUN] = n, m
        s[at.BUDGET] = _FIRST // n + 1
        most = _NEVER if controls.max_steps is None else controls.max_steps
        s[at.MAX_STEPS : at.ROWS] = most, max_stalled, 1 if stepwise else max(_ROOM // n, 16)
        w[: at.HEAD] = _numbers(method, span, rtol, controls)
        self._vectors = vectors = w[at.HEAD :].reshape(at.VECTORS, m)
        vectors[at.ATOL] = 1.0  # also beyond n: it is a divisor
        vectors[at.ATOL, :n] = atol
        vectors[at.Y, :n] = vectors[at.Y_NEW, :n] = y0
        self.times = np.empty(0) if times is None else times
        self.rows = np.empty((len(self.times), n))
        s[at.TIMES] = len(self.times)
        self._before: list[tuple[Vec, Mat]] = []
        self._make_room()
        if not stepwise:
            self._steps_t[0], self._steps_y[0] = span[0], y0
            s[at.ROWS] = 1
            if len(self.times) and self.times[0] <= span[0]:
                self.rows[0] = y0
                s[at.OUTPUTS] = 1

    def _make_room(self) -> None:
        """Rows for the next steps."""
        room = int(self.s[at.ROOM])
        self._steps_t, self._steps_y = np.empty(room), np.empty((room, self.n))
        base = self._memory.ctypes.data
        self._arguments = (
            self._function.address,
            self._function.context,
            base,
            base + 8 * at.INTS,
            self.times.ctypes.data,
            self.rows.ctypes.data,
            self._steps_t.ctypes.data,
            self._steps_y.ctypes.data,
        )

    def run(self) -> int:
        """Continue until there is something to do; see `rbdae.machine.loops.loop.run`."""
        status: int = self._run(*self._arguments)
        return status

    def grow(self) -> None:
        """Make space for further steps."""
        s = self.s
        k = int(s[at.ROWS])
        self._before.append((self._steps_t[:k], self._steps_y[:k]))
        s[at.ROOM] = min(2 * int(s[at.ROOM]), max(_MOST // self.n, 16))
        s[at.ROWS] = 0
        self._make_room()

    def grant(self, evaluations: int, seconds: float) -> None:
        """A budget for the next `SLICE`, from what the last one has cost."""
        wanted = SLICE * evaluations / max(seconds, 1e-9)
        self.s[at.BUDGET] = int(min(max(wanted, 1.0), 10.0 * evaluations))

    def paused(self, work: tuple[float, int]) -> tuple[float, int]:
        """Time and evaluations now; gives the next budget from those when the last one was given."""
        now, evaluations = time.perf_counter(), int(self.s[at.EVALUATIONS])
        self.grant(max(evaluations - work[1], 1), now - work[0])
        return now, evaluations

    def steps(self) -> tuple[Vec, Mat]:
        """Times and states of the start and of all accepted steps."""
        k = int(self.s[at.ROWS])
        t, y = self._steps_t[:k], self._steps_y[:k]
        if not self._before:
            return t.copy(), y.copy()
        ts, ys = zip(*self._before, strict=True)
        return np.concatenate([*ts, t]), np.concatenate([*ys, y])

    def outputs(self) -> tuple[Vec, Mat]:
        """Output times that were reached, and the states there."""
        k = int(self.s[at.OUTPUTS])
        return self.times[:k], self.rows[:k]

    # ------------------------------------------------------------ the last step

    @property
    def t(self) -> float:
        """Where the run is."""
        return float(self.w[at.T_NEW])

    @property
    def y(self) -> Vec:
        """The state there, (n,); a view."""
        view: Vec = self._vectors[at.Y_NEW, : self.n]
        return view

    def replace(self, y: Vec) -> None:
        """Continue from another state at the same time."""
        self._vectors[at.Y_NEW, : self.n] = y
        self.s[at.STALE] = 1

    def prepare(self) -> int:
        """Make `at` possible for the last step; 0 unless a function has left an exception."""
        status: int = self._dense(*self._arguments[:4])
        return status

    def at(self, t: float) -> Vec:
        """y (n,) at a time of the last step, after `prepare`."""
        out = np.empty(self.n)
        theta = (t - float(self.w[at.T])) / float(self.w[at.H_DONE])
        self._interpolate(*self._arguments[2:4], theta, out.ctypes.data)
        return out


__all__ = ["SLICE", "Controls", "Loop"]

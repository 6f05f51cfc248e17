"""A run that its owner continues: the loop, its rows and its memory stay between two steps."""

from __future__ import annotations

import time
from typing import NoReturn, final

from rbdae._arrays import Vec
from rbdae._check import NoSolution
from rbdae._frozen import refuse_copies
from rbdae.adapter import Reason, Stats, Steps
from rbdae.machine.loops import memory as at
from rbdae_adapters.rbdae_loops._loop import OneStepRun
from rbdae_adapters.toolkit import GaveUp

_BUDGET = 1 << 16
"""Evaluations between two pauses, in which Python sees signals."""


@final
class LoopStepper:
    """A `rbdae.adapter.Stepper`.

    Parameters
    ----------
    run : begins where this does, at y0
    max_step : the longest step, infinity for the whole of each call
    keeps : whether accepted steps are kept
    """

    def __init__(self, run: OneStepRun, y0: Vec, max_step: float, *, keeps: bool) -> None:
        self._run, self._max_step, self._keeps = run, max_step, keeps
        self._loop = loop = run.loop
        loop.s.budget = _BUDGET
        loop.y[:] = y0  # the end of a step that is none yet
        self._began = time.perf_counter()

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    @property
    def t(self) -> float:
        """The time that it has reached."""
        return self._loop.t

    @property
    def y(self) -> Vec:
        """The state there; a copy."""
        return self._loop.y.copy()

    def advance(self, t_end: float) -> tuple[Reason, str]:
        """Continue to a later time."""
        loop, s = self._loop, self._loop.s
        s.t_end = t_end
        s.h_max = min(self._max_step, t_end - s.t_new)
        try:
            while (status := loop.run()) != at.FINISHED:
                if status == at.FULL:
                    loop.grow(keep=self._keeps)
                elif status == at.PAUSED:
                    s.budget = _BUDGET
                else:
                    self._run.failed(status)
        except GaveUp as end:
            return end.reason, end.detail if end.t is None else f"{end.detail} at t = {end.t:.9g}"
        except NoSolution as error:
            return Reason.NOT_CONVERGED, str(error)
        return Reason.FINISHED, ""

    def mark(self) -> tuple[float, Vec, int]:
        """Where it stands: the time, the state, and the steps so far."""
        return self.t, self.y, self._loop.s.rows

    def back(self, mark: tuple[float, Vec, int]) -> None:
        """Stand again where `mark` was made; the size of the next step is chosen as at a start."""
        loop, s = self._loop, self._loop.s
        s.t_new, y, rows = mark
        s.rows = rows if self._keeps else 1
        loop.restart(y)
        loop.y[:] = y
        s.h = 0.0

    def disturbed(self) -> None:
        """Evaluate the right-hand side again at the present state."""
        self._loop.s.stale = 1

    def steps(self) -> Steps:
        """The start and all accepted steps; copies, since the rows grow in place. None if they are not kept."""
        t, y = self._loop.steps()
        if not self._keeps:
            return Steps(t[:0].copy(), y[:0].copy())
        return Steps(t.copy(), y.copy())

    def stats(self) -> Stats:
        """The cost so far."""
        out = Stats(steps=self._loop.s.steps, seconds=time.perf_counter() - self._began)
        self._run.finish(out)
        return out


__all__ = ["LoopStepper"]

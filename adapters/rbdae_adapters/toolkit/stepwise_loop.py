"""Runs that come back to Python after every accepted step."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import final

from rbdae._arrays import Vec
from rbdae.adapter import Outcome, Request, Solvable, Stats
from rbdae.machine.loops import shared as at
from rbdae_adapters.toolkit.events import Dense
from rbdae_adapters.toolkit.loop_run import Run
from rbdae_adapters.toolkit.recorder import Recorder
from rbdae_adapters.toolkit.stepper import AbstractStepper, drive


@final
class _Stepper(AbstractStepper):
    def __init__(self, run: Run, request: Request) -> None:
        self._run, self._loop = run, run.loop
        self._advance = request.advance
        self._work = (time.perf_counter(), 0)

    def step(self) -> tuple[float, Vec]:
        loop = self._loop
        loop.s.rows = 0
        while True:
            status = loop.run()
            if loop.s.rows:
                return loop.t, loop.y
            if status == at.PAUSED:
                self._work = loop.paused(self._work)
                if self._advance is not None and not loop.s.bad:
                    self._advance(loop.t)
            else:
                self._run.failed(status)

    def interpolant(self) -> Dense:
        return self._run.dense()

    def replace(self, t: float, y: Vec) -> None:
        self._run.replace(t, y)

    def finish(self, stats: Stats) -> None:
        self._run.finish(stats)


def run(
    make: Callable[[Recorder], Run],
    problem: Solvable,
    request: Request,
    max_steps: int | None,
) -> Outcome:
    """Run with everything that a `Recorder` does; `make` makes the run from the start that the recorder gives."""
    recorder = Recorder(problem, request, one_step=True, max_steps=max_steps)
    one = make(recorder)
    outcome = drive(_Stepper(one, request), recorder)
    outcome.next_step = one.loop.s.h
    return outcome


__all__ = ["run"]

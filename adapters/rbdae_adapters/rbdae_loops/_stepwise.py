"""Runs that come back to Python after every accepted step."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, final

from rbdae._arrays import Vec
from rbdae.adapter import Outcome, Request, Solvable, Stats
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.methods import OneStep
from rbdae_adapters.rbdae_loops._function import right_hand_side
from rbdae_adapters.rbdae_loops._loop import Run
from rbdae_adapters.toolkit import AbstractStepper, Dense, Recorder, drive


@final
class _Stepper(AbstractStepper):
    def __init__(self, run: Run, request: Request) -> None:
        self._run, self._loop = run, run.loop
        self._advance = request.advance
        self._work = (time.perf_counter(), 0)

    def step(self) -> tuple[float, Vec]:
        loop = self._loop
        loop.s[at.ROWS] = 0
        while True:
            status = loop.run()
            if loop.s[at.ROWS]:
                return loop.t, loop.y
            if status == at.PAUSED:
                self._work = loop.paused(self._work)
                if self._advance is not None and not loop.s[at.BAD]:
                    self._advance(loop.t)
            else:
                self._run.failed(status)

    def interpolant(self) -> Dense:
        while status := self._loop.prepare():
            self._run.function.check()
            raise RuntimeError(f"the dense output came back with {status}")
        return self._loop.at

    def replace(self, t: float, y: Vec) -> None:
        self._loop.replace(y)

    def finish(self, stats: Stats) -> None:
        self._run.finish(stats)


def run(problem: Solvable, method: OneStep, request: Request, options: Mapping[str, Any]) -> Outcome:
    """Run with everything that a `Recorder` does."""
    recorder = Recorder(problem, request, one_step=True, max_steps=options.get("max_steps"))
    beside = {name: value for name, value in options.items() if name != "max_steps"}
    one = Run(method, right_hand_side(problem), request, recorder.y0, beside, stepwise=True)
    outcome = drive(_Stepper(one, request), recorder)
    outcome.next_step = float(one.loop.w[at.H])
    return outcome


__all__ = ["run"]

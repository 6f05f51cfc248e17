"""Runs that stay in machine code."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Outcome, ProjectionError, Reason, Request, Solvable, StateProjector, Stats, Steps
from rbdae.machine.loops import shared as at
from rbdae.problem.contract import CompiledProjection, CompiledWatch
from rbdae_adapters.toolkit.loop_run import Run
from rbdae_adapters.toolkit.stepper import GaveUp


def can(request: Request) -> bool:
    """Whether nothing in this run is asked of Python after each step, but for projection and switches if there are
    any."""
    return not request.events and not request.each_step


class Inside(NamedTuple):
    """A start, and what is done in machine code after accepted steps."""

    y0: Vec
    correction: CompiledProjection | None
    watch: CompiledWatch | None


def inside(problem: Solvable, request: Request) -> Inside | None:
    """What a run in machine code does after its steps. None where Python has to be asked, or if the start cannot be
    projected, which is said there."""
    if not can(request):
        return None
    watch: Any = None
    if request.watch is not None:
        watch = _machine(request.watch)
        if watch is None:
            return None
    if request.projector is None:
        return Inside(problem.y0, None, watch)
    correction = _machine(request.projector)
    if correction is None:
        return None
    y0 = problem.y0.copy()
    try:
        correction.start(request.t0, y0)
    except ProjectionError:
        return None
    return Inside(y0, correction, watch) if np.isfinite(y0).all() else None


def _machine(what: Any) -> Any:
    """Its form for machine code; None if there is none."""
    make = getattr(what, "machine", None)
    return None if make is None else make()


def not_projected(correction: CompiledProjection | None, projector: StateProjector | None, t: float, y: Vec) -> GaveUp:
    """Why a projection in a loop has failed at a time; constraints that are not numbers are not a matter of
    tolerances. Raises what a user's function has raised."""
    assert correction is not None and projector is not None
    try:
        correction.anywhere.check()
    except ProjectionError as error:
        if math.isfinite(projector.drift(t, y)):
            return GaveUp(Reason.PROJECTION, str(error))
        return GaveUp(Reason.NOT_FINITE, f"the constraints are not finite at t = {t:.9g}")
    return GaveUp(Reason.SOLVER, "a projection has failed")


def run(one: Run, request: Request, began: float) -> Outcome:
    """Run to the end, with pauses in which signals are seen; it has begun at a time of `time.perf_counter`."""
    loop = one.loop
    keeps = request.keep_steps or request.t_eval is None
    continued = getattr(request.watch, "continued", None) if one.continues else None
    last: list[Outcome] = []
    before = 0  # steps until the loop has begun again

    def outcome(reason: Reason = Reason.SOLVER, detail: str = "") -> Outcome:
        if last:
            return last[0]  # Ctrl-C has come after the end
        stats = Stats(steps=before + int(loop.s[at.STEPS]), seconds=time.perf_counter() - began)
        one.finish(stats)
        t, y = loop.steps() if keeps else loop.outputs()
        steps = None
        if request.t_eval is not None and keeps:
            steps = Steps(t, y)
            t, y = loop.outputs()
        return Outcome(
            t, y, reason, stats, detail,
            t_events=[], y_events=[], stopped=loop.t, rtol=request.rtol, atol=request.atol, steps=steps,
            next_step=float(loop.w[at.H]),
        )  # fmt: skip

    def ended(reason: Reason, detail: str = "") -> Outcome:
        last.append(outcome(reason, detail))
        loop.release()
        return last[0]

    if request.begun is not None:
        request.begun(outcome)
    work = (began, 0)
    try:
        while True:
            status = loop.run()
            if status == at.FINISHED:
                return ended(Reason.FINISHED)
            if status == at.FULL:
                loop.grow(keep=keeps)
            elif status == at.PAUSED:
                work = loop.paused(work)
                if request.advance is not None:
                    request.advance(loop.t)
            elif status == at.ASKED:
                t, y = loop.t, loop.y.copy()
                if request.watch is None or not request.watch(t, y):
                    one.seen()
                    continue
                other = None if continued is None else continued(t, y)
                if other is None:
                    return ended(Reason.INTERRUPTED)
                before += int(loop.s[at.STEPS])
                loop.restart(other)
                if request.advance is not None:
                    request.advance(t)
            else:
                one.failed(status)
    except GaveUp as end:
        return ended(end.reason, end.detail)


__all__ = ["Inside", "can", "inside", "not_projected", "run"]

"""A run's loop: what its codes mean, and what becomes of failures, for both kinds of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from rbdae._arrays import Vec
from rbdae.adapter import Reason, Request, Stats
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.host import USUAL, Controls, Loop
from rbdae.machine.loops.methods import Extrapolation, OneStep
from rbdae.problem.contract import CompiledFunction
from rbdae_adapters.toolkit import MAX_STALLED, Dense, GaveUp
from rbdae_adapters.toolkit.free_loop import Inside, not_projected

NEAR = 1e-8
"""Relative distance of times: what was not finite there is the reason of an end here."""


def controls_of(request: Request, options: Mapping[str, Any]) -> Controls:
    """How steps are chosen, from the options of the user."""
    if request.first_step is not None:
        return Controls(**dict(options) | {"first_step": request.first_step})
    return Controls(**options) if options else USUAL


@final
class OneStepRun:
    """A loop, its function, and the end of it, see `Run`."""

    continues = True

    def __init__(
        self,
        method: OneStep | Extrapolation,
        function: CompiledFunction,
        request: Request,
        y0: Vec,
        options: Mapping[str, Any],
        *,
        stepwise: bool,
        inside: Inside | None = None,
    ) -> None:
        self.function = function
        self._projector = request.projector
        self._correction = correction = None if inside is None else inside.correction
        watch = None if inside is None else inside.watch
        self.loop = Loop(
            method,
            function,
            (request.t0, request.t_end),
            y0,
            request.rtol,
            request.atol,
            controls_of(request, options),
            times=None if stepwise else request.t_eval,
            stepwise=stepwise,
            max_stalled=MAX_STALLED,
            correction=correction,
            watch=watch,
            direction=request.direction,
        )

    def failed(self, status: int) -> None:
        """Raise the exception behind a status, or make the loop reject its last attempt, or raise `GaveUp`."""
        loop = self.loop
        if status == at.CALLBACK_NOT_FINITE:
            try:
                self.function.check()
            except Exception:
                loop.s.shrink = 1  # the function cannot take what is no number, and need not
                return
        if status in (at.CALLBACK, at.CALLBACK_NOT_FINITE):
            self.function.check()
            raise GaveUp(Reason.SOLVER, "a callback has failed")
        if status == at.NOT_PROJECTED:
            tried = self.loop.s.t_tried
            raise not_projected(self._correction, self._projector, tried, self.loop.y)
        raise self._surrender(status)

    def _surrender(self, status: int) -> GaveUp:
        loop = self.loop
        s, t = loop.s, loop.t
        if status == at.TOO_MANY:
            return GaveUp(Reason.TOO_MANY_STEPS, f"the limit was {s.max_steps}")
        if status == at.DENSE_NOT_FINITE:
            k = s.outputs
            late = float("nan") if loop.times is None else loop.times[k]
            return GaveUp(Reason.NOT_FINITE, "the dense output is not finite", late)
        if status == at.PROJECTED_NOT_FINITE:
            return GaveUp(Reason.NOT_FINITE, "the projected state is not finite", s.t_tried)
        bad = s.bad_t
        near = s.bad or abs(bad - t) <= NEAR * max(1.0, abs(t))
        if status == at.RATES_NOT_FINITE or (s.ever_bad and near):
            return GaveUp(Reason.NOT_FINITE, "the right-hand side is not finite", bad)
        if status == at.STANDS_STILL:
            return GaveUp(Reason.STEP_TOO_SMALL, f"{MAX_STALLED} steps in a row did not move the time")
        if status == at.TOO_SMALL:
            return GaveUp(Reason.STEP_TOO_SMALL, f"a step of {s.h:.3g} is lost in rounding")
        raise RuntimeError(f"the loop came back with {status}, which nobody knows")

    def replace(self, t: float, y: Vec) -> None:
        """Continue from another state."""
        self.loop.replace(y)

    def dense(self) -> Dense:
        """The dense output of the last step."""
        if status := self.loop.prepare():
            self.function.check()
            raise RuntimeError(f"the dense output came back with {status}")
        at_time: Dense = self.loop.at
        return at_time

    def finish(self, stats: Stats) -> None:
        """The loop's counts."""
        s = self.loop.s
        stats.rejected, stats.evaluations = s.rejected, s.evaluations
        stats.jacobians = stats.factorisations = 0
        if self._correction is not None and self._projector is not None:
            self._correction.collect()
            stats.projections = self._projector.count


__all__ = ["OneStepRun", "controls_of"]

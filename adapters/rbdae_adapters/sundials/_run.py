"""A run of IDA or CVODE: the loop of `rbdae.machine.loops.multistep`, and what becomes of failures."""

from __future__ import annotations

from typing import Any, final

from rbdae._arrays import Vec
from rbdae.adapter import Reason, Request, Stats
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.host import USUAL, Controls, Loop
from rbdae.machine.loops.methods import MULTISTEP
from rbdae.problem.contract import CompiledProjection, CompiledWatch
from rbdae_adapters._sundials import REASONS, gave_up
from rbdae_adapters.sundials._integrator import Integrator
from rbdae_adapters.toolkit import MAX_STALLED, Dense, GaveUp
from rbdae_adapters.toolkit.loops import not_projected

_MARGIN = 1e-12
"""Relative distance of times."""


@final
class MultistepRun:
    """A loop, its integrator, and the end of it, see `rbdae_adapters.toolkit.loops.Run`."""

    continues = False

    def __init__(
        self,
        integrator: Integrator,
        implicit: bool,
        request: Request,
        y0: Vec,
        max_steps: int | None,
        *,
        stepwise: bool = False,
        within: bool = False,
        correction: CompiledProjection | None = None,
        watch: CompiledWatch | None = None,
    ) -> None:
        self._integrator = integrator
        self._correction = correction
        self._projector = request.projector
        self.loop = Loop(
            MULTISTEP,
            integrator,
            (request.t0, request.t_end),
            y0,
            request.rtol,
            0.0,
            USUAL if max_steps is None or stepwise else Controls(max_steps=max_steps),
            times=None if stepwise else request.t_eval,
            stepwise=stepwise,
            max_stalled=MAX_STALLED,
            correction=correction,
            watch=watch,
            direction=request.direction,
        )
        self.loop.s.takes_back = int(not within)

    def failed(self, status: int) -> None:
        """Raise what a function has left, or `GaveUp`."""
        loop, integrator = self.loop, self._integrator
        t, tried = loop.t, loop.s.t_tried
        if status == at.GAVE_UP:
            integrator.check()
            if self._is_bad(t):
                raise GaveUp(Reason.NOT_FINITE, f"{self._words()}; {integrator.what} is not finite", integrator.bad)
            raise gave_up(REASONS, loop.s.code, integrator.said())
        if status == at.STANDS_STILL and self._is_bad(t):
            raise GaveUp(Reason.NOT_FINITE, f"{integrator.what} is not finite", integrator.bad)
        if status == at.NOT_PROJECTED:
            raise not_projected(self._correction, self._projector, tried, loop.y)
        known: dict[int, tuple[Any, ...]] = {
            at.TOO_MANY: (Reason.TOO_MANY_STEPS, f"the limit was {loop.s.max_steps}"),
            at.STATE_NOT_FINITE: (Reason.NOT_FINITE, "the state is not finite", t),
            at.DENSE_NOT_FINITE: (Reason.NOT_FINITE, "the dense output is not finite before the step", t),
            at.PROJECTED_NOT_FINITE: (Reason.NOT_FINITE, "the projected state is not finite", tried),
            at.STANDS_STILL: (Reason.STEP_TOO_SMALL, f"{MAX_STALLED} steps in a row did not move the time"),
        }
        raise GaveUp(*known[status])

    def _is_bad(self, t: float) -> bool:
        """Whether something was not finite in the steps that were tried from here on."""
        bad = self._integrator.bad
        return bad is not None and bad >= t - _MARGIN * max(1.0, abs(t))

    def _words(self) -> str:
        return f"return code {self.loop.s.code}: {self._integrator.said()}"

    def dense(self) -> Dense:
        """The dense output of the last step."""
        if status := self.loop.prepare():
            self._integrator.check()
            raise RuntimeError(f"the dense output came back with {status}")
        at_time: Dense = self.loop.at
        return at_time

    def finish(self, stats: Stats) -> None:
        """The counts of the integrator."""
        counts: dict[str, Any] = self._integrator.finished()
        for name in ("evaluations", "jacobians", "factorisations", "rejected"):
            setattr(stats, name, counts[name])
        if self._correction is not None:
            self._correction.collect()
        if self._projector is not None:
            stats.projections = max(self._projector.count, counts["projections"])

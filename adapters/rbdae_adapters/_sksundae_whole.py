"""Runs of scikit-sundae from which nothing is wanted but rows: one pass a step, or one call for all.

Where SUNDIALS is called once, the rows are written by an event function that has no zero: it is called at the end of
each step, and at each output time, in the order of time, so that rows are there when the run is interrupted. IDA
without output times is called for each step: the states that it hands out are its last correctors, of which an event
function sees nothing (they differ by rounding from its polynomials).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Outcome, Reason, Request, Stats, Steps
from rbdae_adapters._sundials import gave_up
from rbdae_adapters.toolkit import MAX_STALLED, GaveUp
from rbdae_adapters.toolkit.events import NotFinite, refuse_not_finite

_EPS = float(np.finfo(float).eps)


def can(request: Request) -> bool:
    """Whether a run is nothing but its rows."""
    return not request.events and request.projector is None and request.watch is None


@final
class WholeRun:
    """The rows of a run, and its end.

    Parameters
    ----------
    request : without events, projection and switches
    y0 : (n,)
    max_steps : the run ends after this number of steps
    implicit : whether there is yd, so that event functions have four arguments

    Attributes
    ----------
    options : what the package's constructor is told besides
    """

    def __init__(self, request: Request, y0: Vec, max_steps: int, implicit: bool) -> None:
        self._request, self._max_steps = request, max_steps
        self._began = time.perf_counter()
        self._t, self._ts, self._ys = request.t0, [request.t0], [y0.copy()]
        self._keeps = request.keep_steps or request.t_eval is None
        self._passing = False  # whether the last row is a step that is not kept
        self._stalled = 0
        self._last_step: float | None = None
        self._least_step = 4 * _EPS * (request.t_end - request.t0)
        self._nearly_done = request.t_end - 1e3 * _EPS * max(abs(request.t0), abs(request.t_end))
        asked: Any = () if request.t_eval is None else request.t_eval
        self._outputs = frozenset(float(t) for t in asked if request.t0 < t < request.t_end)
        self._reason: Reason | None = None
        self._detail = ""
        self._detail_time: float | None = None
        self.stats = Stats()
        self._steps_singly = implicit and not self._outputs
        self.options: dict[str, Any] = {"max_num_steps": max_steps}
        if not self._steps_singly:
            self.options |= {"eventsfn": self._noting(implicit), "num_events": 1}
        if request.begun is not None:
            request.begun(self.outcome)

    def _noting(self, implicit: bool) -> Callable[..., None]:
        """The event function; the package hangs its own attributes to it."""
        note = self._note

        def of_ida(t: float, y: Vec, yp: Vec, values: Vec) -> None:
            values[0] = 1.0
            note(t, y)

        def of_cvode(t: float, y: Vec, values: Vec) -> None:
            values[0] = 1.0
            note(t, y)

        return of_ida if implicit else of_cvode

    def _note(self, t: float, y: Vec) -> None:
        """Take what was reached; raises `GaveUp` where the run cannot continue."""
        if t in self._outputs:
            self._keep(t, y)
            self._passing = False
            return
        before, self._t = self._t, t
        if t - before > self._least_step:
            self._stalled = 0
        else:
            self._stalled += 1
            if self._stalled >= MAX_STALLED:
                raise GaveUp(Reason.STEP_TOO_SMALL, f"{MAX_STALLED} steps in a row did not move the time")
        if t <= before:
            return
        self._last_step = t - before
        self._keep(t, y)
        self._passing = not self._keeps
        self.stats.steps += 1
        if self._request.advance is not None:
            self._request.advance(t)
        if self.stats.steps >= self._max_steps and t < self._nearly_done:
            raise GaveUp(Reason.TOO_MANY_STEPS, f"the limit was {self._max_steps}")

    def _keep(self, t: float, y: Vec) -> None:
        refuse_not_finite("the state", t, y)
        if self._passing:
            del self._ts[-1], self._ys[-1]
        self._ts.append(t)
        self._ys.append(y.copy())

    def run(self, solver: Any, reasons: dict[int, Reason], *y0: Vec) -> Outcome:
        """Run from consistent values, y0 and for IDA yd0."""
        try:
            result = self._solved(solver, y0)
            self.stats.evaluations, self.stats.jacobians = int(result.nfev), int(result.njev)
            if result.status < 0:
                raise gave_up(reasons, result.status, result.message)
            t, y = np.atleast_1d(result.t), np.atleast_2d(result.y)
            self._t = self._ts[-1] = float(t[-1])  # what was seen ends beside it, by rounding
            self._ys[-1] = y[-1].copy()
            self._reason = Reason.FINISHED
        except NotFinite as error:
            self._reason, self._detail, self._detail_time = Reason.NOT_FINITE, str(error), error.t
        except GaveUp as end:
            self._reason, self._detail = end.reason, end.detail
        return self.outcome()

    def _solved(self, solver: Any, y0: tuple[Vec, ...]) -> Any:
        t0, t_end, outputs = self._request.t0, self._request.t_end, sorted(self._outputs)
        if outputs and len(y0) == 2:
            return solver.solve(np.array([t0, *outputs, t_end]), *y0)
        solver.init_step(t0, *y0)
        if self._steps_singly:
            return self._stepped(solver.step)
        # `solve` would come back after each step; CVODE's first step would depend on the first output time
        result = solver.step(t_end, "onestep", t_end) if outputs else None
        for t in (*outputs, t_end):
            if result is None or result.status >= 0:
                result = solver.step(t, "normal", t_end)
        return result

    def _stepped(self, step: Callable[..., Any]) -> Any:
        t_end = self._request.t_end
        while True:
            result = step(t_end, "onestep", t_end)
            if result.status >= 0:
                self._note(result.t, result.y)
            if result.status < 0 or result.t >= t_end:
                return result

    def outcome(self) -> Outcome:
        """Everything so far."""
        request, stats = self._request, self.stats
        stats.seconds = time.perf_counter() - self._began
        t, y = np.array(self._ts), np.array(self._ys)
        reached, steps = (t, y), None
        if request.t_eval is not None:
            inside = np.array([each in self._outputs for each in self._ts], dtype=bool)
            wanted = np.isin(t, request.t_eval)
            reached = t[wanted], y[wanted]
            steps = Steps(t[~inside], y[~inside]) if request.keep_steps else None
        return Outcome(
            *reached, self._reason or Reason.SOLVER, stats, self._detail,
            t_events=[], y_events=[], stopped=self._t, rtol=request.rtol, atol=request.atol, steps=steps,
            next_step=self._last_step, detail_time=self._detail_time,
        )  # fmt: skip


__all__ = ["WholeRun", "can"]

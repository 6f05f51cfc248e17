"""`Recorder`: everything that follows an accepted step, whatever package made it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Outcome, ProjectionError, Reason, Request, Solvable, Stats, Steps
from rbdae_adapters.toolkit.events import Dense, Events, NotFinite, Step, project, refuse_not_finite

RESTART_FACTOR = 10.0
"""A multistep code restarts when the constraints have drifted by more than this times its tolerance."""

MAX_STALLED = 50
"""A run ends after this number of consecutive steps that do not move the time."""

_EPS = float(np.finfo(float).eps)


def restart_drift(request: Request) -> float:
    """The drift beyond which a multistep code restarts: its error test allows positions as much."""
    projector = request.projector
    reach = 1.0 if projector is None else projector.reach
    least = RESTART_FACTOR * max(request.rtol * reach, float(np.min(request.atol)))
    return least if projector is None else max(least, projector.restart_tolerance)


@final
class Recorder:
    """Takes accepted steps: projects, finds events, collects output and statistics.

    The duties of an adapter that uses it:

    1. Start the solver from `y0`, which is projected.
    2. Call `accept` after each accepted step, with a state that the recorder may change.
    3. If `accept` returns True, take the projected state as the solver's new one before the next step.
    4. Leave the solver once `done` is True; a solver that gives up is reported by `fail`.
    5. Fill into `stats` what the package counts: `rejected`, `evaluations`, `jacobians`, `factorisations`.
    6. Return `outcome`.

    Its laws:

    - A recorded state is projected if there is a projector, whatever `accept` returned.
    - With `Request.t_eval` the outputs are at these times exactly, otherwise at the ends of the steps and at the event
      that ends the run; `Outcome.steps` has these in either case, unless `Request.keep_steps` is False.
    - Neither events nor outputs change the solver's steps.

    Parameters
    ----------
    problem, request : as given to the adapter
    one_step : True if each projected state goes back into the solver. Otherwise it goes back, by a restart, only if
        the drift exceeds `restart_drift`
    max_steps : the run ends with `Reason.TOO_MANY_STEPS` after this number of steps; None for no limit

    Attributes
    ----------
    y0 : the initial state, projected
    t : the time that was reached
    stats : what the run cost so far
    reason, detail : how the run ended, and the package's own words; `reason` is None during the run
    restart_drift : drift beyond which a multistep code restarts; adapters may change it
    max_steps : as given; adapters may change it
    """

    def __init__(self, problem: Solvable, request: Request, *, one_step: bool, max_steps: int | None = None) -> None:
        self.request = request
        self.max_steps = max_steps
        self.stats = Stats()
        self.reason: Reason | None = None
        self.detail = ""
        self._detail_time: float | None = None
        self.t = request.t0
        self.restart_drift = restart_drift(request)
        self._began = time.perf_counter()
        self._one_step = one_step
        self._keeps = request.keep_steps or request.t_eval is None
        self._n = problem.n
        self._stalled = 0
        self._last_step: float | None = None
        self._least_step = 4 * _EPS * (request.t_end - request.t0)
        self._ts: list[float] = []
        self._ys: list[Vec] = []
        self._step_ts: list[float] = []
        self._step_ys: list[Vec] = []
        self._next_output = 0
        self._events = Events(request)
        if request.begun is not None:
            request.begun(self.outcome)
        self.y0: Vec = np.array(problem.y0, dtype=float)
        self._values: list[float] = []
        try:
            self._start(request)
        except NotFinite as error:
            self.fail(Reason.NOT_FINITE, str(error), error.t)

    def _start(self, request: Request) -> None:
        y = self._projected(request.t0, self.y0)  # in place
        self._record_step(request.t0, y)
        if request.t_eval is not None:
            for t in self._outputs_until(request.t0):
                self._record(t, y)
        self._values = [e.number(request.t0, y) for e in self._events.each]

    @property
    def done(self) -> bool:
        """Whether the run has ended, for whatever reason."""
        return self.reason is not None

    def accept(self, t: float, y: Vec, interpolant: Callable[[], Dense] | None) -> bool:
        """Take an accepted step that ended at `t` in `y`.

        Parameters
        ----------
        t : end of the step; it may lie beyond the end of the interval if there is an interpolant
        y : the solver's state there, shape (n,), writable and the recorder's own: projected in place
        interpolant : gives the dense output of this step; called at most once, and before the caller changes
            the solver's state. None if the package has none: then every time in `t_eval` must be the end of a step,
            and events must not lie inside one.

        Returns
        -------
        bool
            Whether the solver has to take `y` as its new state: directly in a one-step method, by a restart
            otherwise (counted here).
        """
        if self.done:
            return False
        self._watch_progress(t)
        if t <= self.t:
            return False
        try:
            return self._accept(Step(t, y, interpolant))
        except NotFinite as error:
            self.fail(Reason.NOT_FINITE, str(error), error.t)
        except ProjectionError as error:
            self.fail(Reason.PROJECTION, str(error))
        return False

    def fail(self, reason: Reason, detail: str = "", t: float | None = None) -> None:
        """Note why the solver gave up, in words about a time `t`; the first reason counts."""
        if self.reason is None:
            self.reason, self.detail, self._detail_time = reason, detail, t

    def outcome(self) -> Outcome:
        """Everything that was collected."""
        projector = self.request.projector
        if projector is not None:
            self.stats.projections = projector.count
        self.stats.seconds = time.perf_counter() - self._began
        steps = Steps(np.array(self._step_ts, dtype=float), self._rows(self._step_ys[: len(self._step_ts)]))
        asked = self.request.t_eval is not None
        return Outcome(
            t=np.array(self._ts, dtype=float) if asked else steps.t,
            y=self._rows(self._ys[: len(self._ts)]) if asked else steps.y,
            reason=self.reason if self.reason is not None else Reason.SOLVER,
            stats=self.stats,
            detail=self.detail,
            detail_time=self._detail_time,
            **self._events.collected(self._n),
            stopped=self.t,
            rtol=self.request.rtol,
            atol=self.request.atol,
            steps=steps if asked and self._keeps else None,
            next_step=self._last_step,
        )

    # ------------------------------------------------------------ one step

    def _watch_progress(self, t: float) -> None:
        """End a run that stands still: some codes would step without end."""
        if t - self.t > self._least_step:
            self._stalled = 0
            return
        self._stalled += 1
        if self._stalled >= MAX_STALLED:
            self.fail(Reason.STEP_TOO_SMALL, f"{MAX_STALLED} steps in a row did not move the time")

    def _accept(self, step: Step) -> bool:
        self.stats.steps += 1
        refuse_not_finite("the state", step.t, step.y)
        step.cut(self.request.t_end)
        goes_back = self._correct(step)
        event = self._find_events(step) if self._events.each else None
        end = (step.t, step.y) if event is None else event
        self._output(step, *end)
        self._last_step = step.t - self.t
        self.t = end[0]
        if self.request.advance is not None:
            self.request.advance(self.t)
        self._end(step, event is not None)
        goes_back = goes_back and not self.done
        if goes_back and not self._one_step:
            self.stats.restarts += 1
        return goes_back

    def _correct(self, step: Step) -> bool:
        """Project the state in place; whether the solver should get it back."""
        projector = self.request.projector
        if projector is None:
            return False
        drifted = self._one_step or projector.drift(step.t, step.y) > self.restart_drift
        return project(projector, step.t, step.y) and drifted

    def _find_events(self, step: Step) -> tuple[float, Vec] | None:
        """Record the events in the step; returns time and state of the one that ends the run."""
        events, before = self._events, self._values
        self._values = [e.number(step.t, step.y) for e in events.each]
        reach = [None if e.reach is None else e.reach() for e in events.each]
        return events.find(step, self.t, before, self._values, reach)

    def _output(self, step: Step, t: float, y: Vec) -> None:
        """Record the end of the step, or the event that ends the run in it, and the outputs until then."""
        if self.request.t_eval is not None:
            for s in self._outputs_until(t):
                self._record(s, step.y.copy() if s == step.t else self._projected(s, step.at(s)))
        self._record_step(t, y)

    def _end(self, step: Step, at_event: bool) -> None:
        """Whether, and why, the run ends with this step."""
        request = self.request
        if at_event:
            self.reason = Reason.EVENT
        elif self.t >= request.t_end:
            self.reason = Reason.FINISHED
        elif self.max_steps is not None and self.stats.steps >= self.max_steps:
            self.fail(Reason.TOO_MANY_STEPS, f"the limit was {self.max_steps}")
        elif request.watch is not None and request.watch(step.t, step.y):
            self.reason = Reason.INTERRUPTED

    # ------------------------------------------------------------ rows

    def _outputs_until(self, t: float) -> list[float]:
        """The output times up to `t` that were not taken yet."""
        times = self.request.t_eval
        if times is None:
            return []
        first = self._next_output
        while self._next_output < len(times) and times[self._next_output] <= t:
            self._next_output += 1
        return [float(s) for s in times[first : self._next_output]]

    def _projected(self, t: float, y: Vec) -> Vec:
        if self.request.projector is not None:
            project(self.request.projector, t, y)
        return y

    def _record(self, t: float, y: Vec) -> None:
        self._ys.append(y.copy())
        self._ts.append(t)

    def _record_step(self, t: float, y: Vec) -> None:
        if not self._keeps:
            return
        self._step_ys.append(y.copy())
        self._step_ts.append(t)

    def _rows(self, ys: list[Vec]) -> Mat:
        return np.array(ys, dtype=float).reshape(len(ys), self._n)

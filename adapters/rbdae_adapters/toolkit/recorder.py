"""Accepted steps of a run: `Recorder` does the work after each, for all packages; `drive` is the loop for an
`AbstractStepper`, a solver that takes one step at a time."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import final

import numpy as np

from rbdae._arrays import Vec
from rbdae._check import count
from rbdae.adapter import Outcome, ProjectionError, Reason, Request, Solvable, Stats, Steps
from rbdae_adapters.toolkit.events import Dense, Events, GaveUp, Step, project, refuse_not_finite, value_of

RESTART_FACTOR = 10.0
"""A multistep code restarts when the constraints have drifted by more than this times its tolerance."""

RESTARTS_APART = 100
"""A restart within this number of steps after another quadruples the drift for the next: the first steps after a
restart are of order 1 and drift most, so restarts would cause restarts."""

MAX_STALLED = 50
"""A run ends after this number of consecutive steps that do not move the time."""

_EPS = float(np.finfo(float).eps)


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
        the drift exceeds the tolerances of the code's own error test by `RESTART_FACTOR`; at index 3 never: the
        equations hold the positions, and at order 1 the velocities miss their constraint by O(h)
    max_steps : the run ends with `Reason.TOO_MANY_STEPS` after this number of steps; None for no limit

    Attributes
    ----------
    y0 : the initial state, projected
    t : the time reached
    stats : the cost of the run so far
    reason, detail : how the run ended, and the package's message; `reason` is None during the run
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
        self._began = time.perf_counter()
        self._one_step = one_step
        projector, self._restart_drift = request.projector, float("inf")
        if projector is not None and problem.index != 3:  # as large as the error test allows for positions
            least = RESTART_FACTOR * max(request.rtol * projector.reach, float(np.min(request.atol)))
            self._restart_drift = max(least, projector.restart_tolerance)
        self._restarted = -RESTARTS_APART
        self._stalled = 0
        self._last_step: float | None = None
        self._least_step = 4 * _EPS * (request.t_end - request.t0)
        self._keeps = request.keep_steps or request.t_eval is None
        self._n = problem.n
        self._outputs: list[tuple[float, Vec]] = []
        self._steps: list[tuple[float, Vec]] = []
        self._events = Events(request, problem.n)
        if request.begun is not None:
            request.begun(self.outcome)
        self.y0: Vec = np.array(problem.y0, dtype=float)
        self._values: list[float] = []
        try:
            y = self._projected(request.t0, self.y0)  # in place
            self._record(request.t0, y, lambda s: y)
            self._values = [value_of(e, request.t0, y) for e in self._events.each]
        except GaveUp as end:
            self.fail(end.reason, end.detail, end.t)

    @property
    def done(self) -> bool:
        """Whether the run has ended, for whatever reason."""
        return self.reason is not None

    def accept(self, t: float, y: Vec, interpolant: Callable[[], Dense] | None) -> bool:
        """Take an accepted step that ended at `t` in `y`.

        Parameters
        ----------
        t : end of the step; it may lie beyond the end of the interval if there is an interpolant
        y : the solver's state there, shape (n,), writable and owned by the recorder: projected in place
        interpolant : returns the dense output of this step; called at most once, before the caller changes the solver's
            state. None if the package has no dense output: then every time in `t_eval` must be the end of a step, and
            events must not lie inside one.

        Returns
        -------
        bool
            Whether the solver has to take `y` as its new state: directly in a one-step method, by a restart
            otherwise (counted here).
        """
        if self.done:
            return False
        self._stalled = 0 if t - self.t > self._least_step else self._stalled + 1
        if self._stalled >= MAX_STALLED:  # some codes would step for ever
            self.fail(Reason.STEP_TOO_SMALL, f"{MAX_STALLED} steps in a row did not move the time")
        if t <= self.t:
            return False
        try:
            return self._accept(Step(t, y, interpolant))
        except GaveUp as end:
            self.fail(end.reason, end.detail, end.t)
        except ProjectionError as error:
            self.fail(Reason.PROJECTION, str(error))
        return False

    def fail(self, reason: Reason, detail: str = "", t: float | None = None) -> None:
        """Note why the solver gave up, with the time `t` to which `detail` refers; the first reason counts."""
        if self.reason is None:
            self.reason, self.detail, self._detail_time = reason, detail, t

    def outcome(self) -> Outcome:
        """All collected results."""
        request = self.request
        if request.projector is not None:
            self.stats.projections = request.projector.count
        self.stats.seconds = time.perf_counter() - self._began
        steps = self._rows(self._steps)
        rows = steps if request.t_eval is None else self._rows(self._outputs)
        return Outcome(
            rows.t,
            rows.y,
            Reason.SOLVER if self.reason is None else self.reason,
            self.stats,
            self.detail,
            **self._events.collected(),
            stopped=self.t,
            steps=steps if request.t_eval is not None and self._keeps else None,
            rtol=request.rtol,
            atol=request.atol,
            next_step=self._last_step,
            detail_time=self._detail_time,
        )

    def _rows(self, pairs: list[tuple[float, Vec]]) -> Steps:
        pairs = pairs.copy()  # a signal may come between two rows
        y = np.array([y for _, y in pairs], dtype=float).reshape(len(pairs), self._n)
        return Steps(np.array([t for t, _ in pairs], dtype=float), y)

    # ------------------------------------------------------------ one step

    def _accept(self, step: Step) -> bool:
        request, events = self.request, self._events
        self.stats.steps += 1
        refuse_not_finite("the state", step.t, step.y)
        step.cut(request.t_end)
        goes_back = self._correct(step)
        end: tuple[float, Vec] | None = None
        if events.each:
            before, self._values = self._values, [value_of(e, step.t, step.y) for e in events.each]
            end = events.find(step, self.t, before, self._values, [e.reach() for e in events.each])
        t, y = (step.t, step.y) if end is None else end
        self._record(t, y, lambda s: step.y if s == step.t else self._projected(s, step.at(s)))
        self._last_step = step.t - self.t
        self.t = t
        if request.advance is not None:
            request.advance(t)
        if end is not None:
            self.reason = Reason.EVENT
        elif t >= request.t_end:
            self.reason = Reason.FINISHED
        elif self.max_steps is not None and self.stats.steps >= self.max_steps:
            self.fail(Reason.TOO_MANY_STEPS, f"the limit was {self.max_steps}")
        elif request.watch is not None and request.watch(step.t, step.y):
            self.reason = Reason.INTERRUPTED
        goes_back = goes_back and not self.done
        if goes_back and not self._one_step:
            self.stats.restarts += 1
            if self.stats.steps - self._restarted < RESTARTS_APART:
                self._restart_drift *= 4.0
            self._restarted = self.stats.steps
        return goes_back

    def _correct(self, step: Step) -> bool:
        """Project the state in place; returns whether the solver should get it back."""
        projector = self.request.projector
        if projector is None:
            return False
        drifted = self._one_step or projector.drift(step.t, step.y) > self._restart_drift
        return project(projector, step.t, step.y) and drifted

    def _projected(self, t: float, y: Vec) -> Vec:
        if self.request.projector is not None:
            project(self.request.projector, t, y)
        return y

    def _record(self, t: float, y: Vec, at: Callable[[float], Vec]) -> None:
        """Record the outputs of a step and its end, or the event that ends the run in it."""
        times = () if self.request.t_eval is None else self.request.t_eval
        for s in times[len(self._outputs) :]:
            if s > t:
                break
            self._outputs.append((float(s), at(float(s)).copy()))
        if self._keeps:
            self._steps.append((t, y.copy()))


# ---------------------------------------------------------------- packages that take one step at a time


class AbstractStepper(ABC):
    """A solver that takes one accepted step at a time.

    The duties, with their laws:

    1. `step` takes one internal step and returns ``(t, y)``. Times increase. The last step may end beyond the end of
       the interval; the dense output cuts it.
    2. `interpolant` gives the dense output of the last step. It agrees with the states at both ends of the step, to
       the solver's accuracy, and is valid until the next `step` or `replace`.
    3. `replace` makes `y` the state at `t`, the end of the last step: directly in one-step methods, in the history or
       by a restart in others. The next step starts from `y`, also in values that were computed from the old state.
    4. `finish` fills the package's own counts into the statistics, as Python integers.
    5. Everything that ends the run is a `GaveUp`, except exceptions of callbacks.
    """

    @abstractmethod
    def step(self) -> tuple[float, Vec]:
        """Take a step; `y` may be the solver's own memory, since it is copied. Raises `GaveUp` if the solver stops."""

    @abstractmethod
    def interpolant(self) -> Dense:
        """The dense output of the last step, t -> y."""

    @abstractmethod
    def replace(self, t: float, y: Vec) -> None:
        """Continue from `y`, which the stepper may keep."""

    @abstractmethod
    def finish(self, stats: Stats) -> None:
        """Fill `rejected`, `evaluations`, `jacobians` and `factorisations`; -1 for unknown counts."""

    @property
    def next_step(self) -> float | None:
        """The step size that the controller would try next; None for the size of the last step."""
        return None


def drive(stepper: AbstractStepper, recorder: Recorder, *, max_steps: int | None = None) -> Outcome:
    """Step until the end of the interval, a terminal event, the limit on steps, or failure of the solver."""
    if max_steps is not None:
        recorder.max_steps = count("solve", "the limit on steps", max_steps)
    try:
        while not recorder.done:
            t, state = stepper.step()
            y = np.array(state, dtype=float)
            if recorder.accept(float(t), y, stepper.interpolant):
                stepper.replace(float(t), y)
    except GaveUp as end:
        recorder.fail(end.reason, end.detail, end.t)
    stepper.finish(recorder.stats)
    outcome = recorder.outcome()
    return outcome if stepper.next_step is None else replace(outcome, next_step=stepper.next_step)

"""`AbstractStepper` and `drive`: the loop for packages that take one step at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rbdae._arrays import Vec
from rbdae._check import count
from rbdae.adapter import Outcome, Reason, Stats
from rbdae_adapters.toolkit.events import Dense
from rbdae_adapters.toolkit.recorder import Recorder


class GaveUp(Exception):
    """Raised by a stepper that cannot continue. `drive` turns it into the `Outcome`; the user never sees it.

    Parameters
    ----------
    reason : the package's return code, translated
    detail : the package's own words
    t : the time that they speak of, if they speak of one
    """

    def __init__(self, reason: Reason, detail: str = "", t: float | None = None) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
        self.t = t


class AbstractStepper(ABC):
    """A solver that takes one accepted step at a time.

    The duties, with their laws:

    1. `step` takes one internal step and returns ``(t, y)``. Times increase. The last step may end beyond the end of
       the interval; the dense output cuts it.
    2. `interpolant` gives the dense output of the last step. It agrees with the states at both ends of the step, to
       the solver's accuracy, and is valid until the next `step` or `replace`.
    3. `replace` makes `y` the state at `t`, the end of the last step: directly in one-step methods, in the history or
       by a restart in others. What the next step starts from is `y`, including values that were computed from the old
       state.
    4. `finish` fills the package's own counts into the statistics, as Python integers.
    5. Everything that ends the run, but for exceptions of callbacks, is a `GaveUp`.
    """

    @abstractmethod
    def step(self) -> tuple[float, Vec]:
        """Take a step; `y` may be the solver's own memory, it is copied. Raises `GaveUp` if the solver stops."""

    @abstractmethod
    def interpolant(self) -> Dense:
        """The dense output of the last step, t -> y."""

    @abstractmethod
    def replace(self, t: float, y: Vec) -> None:
        """Continue from `y`, which the stepper may keep."""

    @abstractmethod
    def finish(self, stats: Stats) -> None:
        """Fill `rejected`, `evaluations`, `jacobians` and `factorisations`; -1 for what is not known."""


def drive(stepper: AbstractStepper, recorder: Recorder, *, max_steps: int | None = None) -> Outcome:
    """Step until the end of the interval, a terminal event, the limit on steps, or until the solver gives up."""
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
    return recorder.outcome()

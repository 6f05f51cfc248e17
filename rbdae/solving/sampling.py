"""Sampled controllers in a run: what changes at the times of their samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.actuators.sampled import Sampled
from rbdae.problem.network_values import values_of_blocks
from rbdae.problem.problem import Problem
from rbdae.solving.segments import Changes

_CLOSE = 1e-9
"""Of a period: a time this near to that of a sample is that time."""


_held: ContextVar[Any] = ContextVar("_held", default=None)
"""The memory of a problem whose samples are taken outside of its runs."""


@contextmanager
def samples_outside(problem: Problem) -> Iterator[None]:
    """Within it, runs of a problem hold what its sampled controllers have set: a simulator samples between them."""
    token = _held.set(problem.workspace.memory)
    try:
        yield
    finally:
        _held.reset(token)


def sampled_of(problem: Problem) -> list[Sampled]:
    """The sampled controllers of a problem."""
    memory = problem.workspace.memory
    if not memory.filled.like.forces.inputs or _held.get() is memory:
        return []
    return [force for force in problem.system.forces if isinstance(force, Sampled)]


@final
class Samples:
    """The samples of a run.

    Raises ValueError for a run back in time: what controllers hold follows from earlier samples.
    """

    def __init__(self, controllers: Sequence[Sampled], t0: float, t_end: float) -> None:
        if t_end < t0:
            names = ", ".join(str(each.name) for each in controllers)
            raise ValueError(
                f"a run with sampled controllers ({names}) cannot go back in time: what they hold follows from earlier "
                "samples; end it after its start"
            )
        self._controllers = controllers
        self.memories = {each: each.first_memory() for each in controllers}
        self._t_end = t_end

    def next(self, t: float) -> float | None:
        """The time of the first sample after t; None if it is not before the end of the run."""
        time = min(_after(each, t) for each in self._controllers)
        return time if time < self._t_end else None

    def resumed(self, problem: Problem, t: float, y: Vec) -> Problem:
        """The problem from (t, y) on, with what is held after the samples at t; before the first one what there is."""
        due = [each for each in self._controllers if abs(t - _nearest(each, t)) <= _CLOSE * each.period]
        if not due:
            return problem
        view, times, rows = problem.interpretation, np.array([t]), y[None]
        known = values_of_blocks(view, times, view.in_memory(times, rows), rows)
        held: dict[str, float] = {}
        for each in due:
            inputs = [float(known[each, name][0]) for name in each.inputs]
            outputs, self.memories[each] = each.sampled(t, inputs, self.memories[each])
            held |= {of.name: value for of, value in zip(each.held.values(), outputs, strict=True)}
        return problem.resumed_with_inputs(t, y, held)


@final
class AllChanges:
    """Several sorts of changes at known times, in this order where they are at one time."""

    def __init__(self, sorts: Sequence[Changes]) -> None:
        self._sorts = sorts

    def next(self, t: float) -> float | None:
        """The time of the first of them after t."""
        times = [time for time in (each.next(t) for each in self._sorts) if time is not None]
        return min(times, key=lambda time: abs(time - t), default=None)

    def resumed(self, problem: Any, t: float, y: Vec) -> Any:
        """The problem from (t, y) on after those at t."""
        for each in self._sorts:
            problem = each.resumed(problem, t, y if problem.t0 != t else problem.y0)
        return problem


def _nearest(controller: Sampled, t: float) -> float:
    """The time of the sample that is nearest to t."""
    return round(t / controller.period) * controller.period


def _after(controller: Sampled, t: float) -> float:
    """The time of the first sample after t."""
    return (math.floor(t / controller.period + _CLOSE) + 1.0) * controller.period


__all__ = ["AllChanges", "Samples", "sampled_of", "samples_outside"]

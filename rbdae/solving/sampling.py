"""Runs with sampled controllers: pieces between the times of samples, each with the outputs that are held there."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rbdae._arrays import Vec
from rbdae._frozen import changed
from rbdae.actuators.sampled import Sampled
from rbdae.adapter import Outcome, Reason, Request
from rbdae.problem.block_values import block_values
from rbdae.problem.problem import Problem
from rbdae.solving.segments import Segments, joined_outcomes, left_to_next, remaining

_CLOSE = 1e-9
"""Of a period: a time this near to that of a sample is that time."""

Run = Callable[[Any, Request], tuple[Outcome, Segments]]


def sampled_of(problem: Any) -> list[Sampled]:
    """The sampled controllers of a problem."""
    if not isinstance(problem, Problem) or not problem.model.forces.inputs:
        return []
    return [force for force in problem.system.forces if isinstance(force, Sampled)]


def run_sampled(problem: Problem, request: Request, controllers: list[Sampled], run: Run) -> tuple[Outcome, Segments]:
    """Run the pieces one after the other. Each `run` is one in segments; so are they joined.

    Raises
    ------
    ValueError
        for a run back in time, which has no samples to hold
    """
    if request.t_end < request.t0:
        raise ValueError(
            f"a run with sampled controllers ({', '.join(str(each.name) for each in controllers)}) cannot go back in "
            "time: what they hold follows from earlier samples"
        )
    memories = {each: each.first_memory() for each in controllers}
    here = _sample(problem, request.t0, problem.y0, controllers, memories)
    problems, times, outcomes = [here], list[float](), list[Outcome]()
    asked = request
    while True:
        begin, end = asked.t0, min(request.t_end, *(_next(each, asked.t0) for each in controllers))
        last = end >= request.t_end
        outcome, segments = run(here, asked if last else _until(asked, end))
        outcomes.append(outcome)
        problems += segments.problems[1:]
        times += segments.times
        y, t = outcome.y, outcome.t
        if last or outcome.reason is not Reason.FINISHED or not len(t) or t[-1] < end - _CLOSE * (end - begin):
            return joined_outcomes(outcomes), Segments((problems[0], *problems[1:]), tuple(times), 1.0)
        due = [each for each in controllers if abs(_next(each, begin) - end) <= _CLOSE * each.period]
        here = _sample(problems[-1], end, y[-1], due, memories)
        problems.append(here)
        times.append(end)
        left_to_next(outcome, end, here.y0, 1.0)
        asked = remaining(request, outcomes, end, problem, here)


def _next(controller: Sampled, t: float) -> float:
    """The time of the first sample after t."""
    return (math.floor(t / controller.period + _CLOSE) + 1.0) * controller.period


def _until(request: Request, end: float) -> Request:
    """The request up to a sample, where its last row is."""
    t_eval = request.t_eval
    first = request.first_step
    return changed(
        request,
        t_end=end,
        t_eval=None if t_eval is None else np.append(t_eval[t_eval < end], end),
        first_step=None if first is None else min(first, end - request.t0),
    )


def _sample(problem: Problem, t: float, y: Vec, controllers: list[Sampled], memories: dict[Sampled, Any]) -> Problem:
    """The problem from (t, y) on, with what these controllers hold from there on."""
    forces = problem.model.forces
    values = [each.value for each in forces.inputs]
    if problem.selection.inputs is not None:
        values = list(problem.selection.inputs)
    known = block_values(problem.interpretation, t, y)
    for each in controllers:
        if math.fabs(t - round(t / each.period) * each.period) > _CLOSE * each.period:
            continue  # the run begins between two samples
        inputs = [known[each, name] for name in each.inputs]
        outputs, memories[each] = each.sampled(t, inputs, memories[each])
        for held, value in zip(each.held.values(), outputs, strict=True):
            values[forces.inputs.index(held)] = value
    return problem.resumed(t, y, problem.selection.with_inputs(np.array(values, dtype=float)))


__all__ = ["run_sampled", "sampled_of"]

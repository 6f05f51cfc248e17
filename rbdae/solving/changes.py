"""Changes of a run at known times: steps of inputs, and the samples of controllers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.actuators.block import Sampled
from rbdae.inputs import Given, Table, given
from rbdae.problem.contract import Solvable
from rbdae.problem.measures import values_of_blocks
from rbdae.problem.problem import Problem

_CLOSE = 1e-9
"""A time this near to a sample, in periods, is the sample's."""


@final
class InputSteps:
    """Inputs that are constant between times: what a run from t0 to t_end, falling back in time, does at the times of
    tables of ``"previous"`` values."""

    def __init__(self, tables: Mapping[str, Table], t0: float, t_end: float) -> None:
        self._tables = tables
        self._direction = 1.0 if t0 < t_end else -1.0
        times = np.unique(np.concatenate([np.zeros(0), *(table.t for table in tables.values())]))
        first, last = min(t0, t_end), max(t0, t_end)
        self._times: Vec = times[(times > first) & (times < last)]

    def next(self, t: float) -> float | None:
        """The next time at which an input steps, after t in the direction of the run; None if there is none."""
        left = self._times[self._direction * (self._times - t) > 0.0]
        return float(left[0 if self._direction > 0.0 else -1]) if len(left) else None

    def values(self, t: float) -> dict[str, float]:
        """The values from t on, in the direction of the run: backward those that held before t."""
        here = t if self._direction > 0.0 else np.nextafter(t, -np.inf)
        return {name: float(table(here)) for name, table in self._tables.items()}

    def resumed(self, problem: Any, t: float, y: Vec) -> Any:
        """The problem from (t, y) on, with the values there; the same one where nothing steps."""
        return problem.resumed_with_inputs(t, y, self.values(t)) if t in self._times else problem


def driven(
    problem: Solvable, inputs: Mapping[str, Given] | None, t0: float, t_end: float
) -> tuple[Solvable, list[Changes]]:
    """The problem of a run with these inputs, and what changes on its way: inputs that step, and samples. Raises
    TypeError and ValueError as `rbdae.Problem.with_inputs` and `Samples`, and for inputs of problems that have none."""
    changes: list[Changes] = []
    if inputs is not None:
        if not isinstance(problem, Problem):
            raise TypeError("solve: inputs= needs a problem of rbdae.formulate; formulate the system first")
        if not isinstance(inputs, Mapping):
            raise TypeError(
                f'solve: inputs must be a mapping by name, got {_check.show(inputs)}; give {{"torque": 2.0}}'
            )
        asked = {name: given("solve", name, value) for name, value in inputs.items()}
        tables = {name: each for name, each in asked.items() if isinstance(each, Table) and each.kind == "previous"}
        steps = InputSteps(tables, t0, t_end)
        problem = problem.with_inputs({**asked, **steps.values(t0)})
        changes.append(steps)
    if isinstance(problem, Problem) and (controllers := sampled_of(problem)):
        changes.append(Samples(controllers, t0, t_end))
    return problem, changes


def sampled_of(problem: Problem) -> list[Sampled]:
    """The sampled controllers of a problem."""
    if not problem.workspace.memory.model.forces.inputs:
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
        time = min((math.floor(t / each.period + _CLOSE) + 1.0) * each.period for each in self._controllers)
        return time if time < self._t_end else None

    def resumed(self, problem: Problem, t: float, y: Vec) -> Problem:
        """The problem from (t, y) on, with the outputs held after the samples at t, unchanged before the first one."""
        nearest = {each: round(t / each.period) * each.period for each in self._controllers}
        due = [each for each, time in nearest.items() if abs(t - time) <= _CLOSE * each.period]
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


Changes: TypeAlias = InputSteps | Samples
"""What changes a problem at known times of a run: `next` says when, `resumed` gives the problem from there on."""

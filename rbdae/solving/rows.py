"""Rows of a run that are less accurate than its steps as its solver leaves them, and are made again.

- Multipliers that no error test sees (`Method.untested`): BDF codes extrapolate their noise from step to step. In place
  of these stand those that belong to positions and velocities, by elimination.
- States at output times of methods whose dense output is of a lower order than their steps (`Method.coarse_output`):
  RADAU's collocation polynomial is of order 3, its steps of order 5 ([HW96], section IV.8). In place of these stands
  ``solution(t)``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Method, Outcome
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection, bind_projection
from rbdae.solving.dense import eliminated
from rbdae.solving.segments import Segments

if TYPE_CHECKING:
    from rbdae.solving.solution import Solution


def give_multipliers(problem: Problem, method: Method, outcome: Outcome, segments: Segments) -> None:
    """Write multipliers by elimination over those that the method has not tested, in place."""
    if problem.kind != "dae" or problem.index not in method.untested:
        return
    if all(here.layout.la.stop <= here.layout.la.start for here in segments.problems):
        return
    views = [Interpretation(here.workspace) for here in segments.problems]

    def write(t: Vec, y: Mat) -> None:
        if np.isfinite(np.dot(y.reshape(-1), y.reshape(-1))):  # no copies of what is nearly always so
            eliminated(segments, views, t, y)
            return
        finite = np.isfinite(y).all(axis=1)
        rows = y[finite]
        eliminated(segments, views, t[finite], rows)
        y[finite] = rows

    write(outcome.t, outcome.y)
    if outcome.steps is not None:
        write(outcome.steps.t, outcome.steps.y)
    for t, y in zip(outcome.t_events, outcome.y_events, strict=True):
        write(t, y)


def with_fine_rows(solution: Solution, segments: Segments, projection: Projection | bool | None) -> Solution:
    """The same with ``solution(t)`` at its times, projected if the run is."""
    steps = solution.steps
    if steps is None or not len(steps.t) or not len(solution.t) or not np.isfinite(steps.y).all():
        return solution
    y = solution(solution.t)
    projectors = [bind_projection(problem, projection) for problem in segments.problems]
    for t, row, k in zip(solution.t, y, segments.numbers(solution.t), strict=True):
        projector = projectors[k]
        if projector is not None:
            projector(float(t), row)
    return replace(solution, y=y)


__all__ = ["give_multipliers", "with_fine_rows"]

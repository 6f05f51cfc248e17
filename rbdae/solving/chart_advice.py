"""A word for runs that failed where rotation parameters are near their singular set: solvers say other things there."""

from __future__ import annotations

import numpy as np

from rbdae.adapter import Reason
from rbdae.problem.problem import Problem
from rbdae.problem.switches.charts import DUE
from rbdae.solving.solution import Solution

_OWN_WORDS = (Reason.CHART, Reason.KEYBOARD, Reason.EVENT)


def chart_advice(solution: Solution) -> str:
    """The advice what to do about a chart; empty where it is not the reason."""
    if solution.success or solution.reason in _OWN_WORDS or not len(solution.t):
        return ""
    t, y = float(solution.t[-1]), solution.y[-1]
    problem = solution.problem_at(t)
    if not isinstance(problem, Problem) or not np.isfinite(y).all():
        return ""
    chart = problem.workspace.settings.chart
    distance, body = problem.interpretation.distance_to_singularity(t, y)
    if not chart.centre or distance > (1.0 - DUE) * chart.reach:
        return ""
    return (
        f"; the {chart.name} parameters of body {problem.model.names[body]!r} are {distance:.3g} rad from their "
        "singular set there: use on_singularity='switch' or rotation='quaternion'"
    )


__all__ = ["chart_advice"]

"""A word for runs that failed where rotation parameters are near their singular set, or where friction is near
Painleve's paradox: solvers say other things there."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Reason
from rbdae.problem.friction_margins import has_friction, paradox
from rbdae.problem.problem import Problem
from rbdae.problem.switches.charts import DUE
from rbdae.solving.solution import Solution

_OWN_WORDS = (Reason.CHART, Reason.FRICTION, Reason.KEYBOARD, Reason.EVENT)

_NEAR = 0.2
"""A margin of friction, 1 without it, below which accelerations are several times as large."""


def chart_advice(solution: Solution) -> str:
    """The advice what to do about a chart or friction; empty where they are not the reason."""
    if solution.success or solution.reason in _OWN_WORDS or not len(solution.t):
        return ""
    t, y = float(solution.t[-1]), solution.y[-1]
    problem = solution.problem_at(t)
    if not isinstance(problem, Problem) or not np.isfinite(y).all():
        return ""
    return _of_chart(problem, t, y) + _of_friction(problem, t, y)


def _of_friction(problem: Problem, t: float, y: Vec) -> str:
    view = problem.interpretation
    found = paradox(view, t, y, least=_NEAR) if has_friction(view) else ""
    return f"; dry friction is near Painleve's paradox {found}: give a smaller mu" if found else ""


def _of_chart(problem: Problem, t: float, y: Vec) -> str:
    chart = problem.workspace.settings.chart
    distance, body = problem.interpretation.distance_to_singularity(t, y)
    if not chart.centre or distance > (1.0 - DUE) * chart.reach:
        return ""
    return (
        f"; the {chart.name} parameters of body {problem.model.names[body]!r} are {distance:.3g} rad from their "
        "singular set there: use on_singularity='switch' or rotation='quaternion'"
    )


__all__ = ["chart_advice"]

"""A run in a notebook: a table of how it went, and a small picture of it."""

from __future__ import annotations

import base64
import io
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from rbdae import _html
from rbdae.problem.problem import Problem

_BODIES: Final = 4  # in the picture
_DPI: Final = 55


def solution_html(solution: Any) -> str:
    """The HTML of a `rbdae.Solution`."""
    stats, problem = solution.stats, solution.problem
    facts = [("result", solution.message), ("solver", f"{solution.solver}, rtol = {solution.rtol:g}")]
    if isinstance(problem, Problem):
        facts.insert(1, ("form", f"{problem.formulation}, {problem.rotation}, {problem.velocity}, n = {problem.n}"))
    if len(solution.t):
        facts.append(("times", f"{len(solution.t)} from {solution.t[0]:g} to {solution.t[-1]:g} s"))
    counts = {"steps": stats.steps, "evaluations": stats.evaluations, "Jacobians": stats.jacobians}
    told = [f"{count} {name}" for name, count in counts.items() if count >= 0]
    facts.append(("work", ", ".join([*told, f"{stats.seconds:.3g} s of the processor"])))
    if isinstance(problem, Problem) and len(solution.t):
        drift = solution.drift
        sizes = [float(np.max(each, initial=0.0)) for each in (drift.position, drift.velocity)]
        facts.append(("drift", f"{sizes[0]:.2g} in positions, {sizes[1]:.2g} in velocities"))
    return _html.block("Solution", _html.table(("", ""), facts), _picture(solution))


def _picture(solution: Any) -> str:
    """Paths and orientations of the first bodies; none without matplotlib, or for a run that is not finite."""
    problem = solution.problem
    if not isinstance(problem, Problem) or len(solution.t) < 2 or find_spec("matplotlib") is None:
        return ""
    if not np.isfinite(solution.y).all():
        return ""
    names = [body.name for body in problem.system.bodies[:_BODIES]]
    figure = solution.plot(bodies=names, quantities=["center_of_mass", "orientation"], title="")
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=_DPI, facecolor="white")
    return (
        f'<img alt="the run over time" src="data:image/png;base64,{base64.b64encode(out.getvalue()).decode("ascii")}">'
    )


__all__ = ["solution_html"]

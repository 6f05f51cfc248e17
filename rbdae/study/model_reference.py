"""Reference motions of the shipped models, at 20 times: by two forms and two methods at tolerances of 1e-13."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.initial.formulate import formulate
from rbdae.models import MODELS
from rbdae.problem.problem import Problem
from rbdae.solving import solve
from rbdae.solving.solution import Solution
from rbdae.study.references import FinalState, _exact, errors, final_state

_STARTS, _SIZE = 3, 1e-8
"""How many starts are disturbed, and how much each of their unknowns."""


@final
@dataclass(frozen=True, eq=False, slots=True)
class ModelReference:
    """The motion of a model at 20 times; bodies in the order of addition.

    Attributes
    ----------
    t : (20,), s; the last is the model's end time
    y : (20, n), unknowns of ``index-0`` in quaternions and angular velocities, by rbdae:dop853 with projection
    position, orientation : (20, bodies, 3) centres of mass in space, (20, bodies, 4) unit quaternions, scalar first
    velocity, angular_velocity : (20, bodies, 3), in space and in the body frames
    agreement : (20,), errors beside ``hamiltonian-eliminated`` by rbdae:odex, see `rbdae.study.references.Errors`:
        digits beyond them mean nothing
    growth : (20,), by how much the same errors grow from the start on: the largest of three runs whose unknowns start
        1e-8 away in random directions, projected. A code that errs by e early on cannot be better than growth times e
    """

    name: str
    problem: Problem
    t: Vec
    y: Mat
    position: Mat
    orientation: Mat
    velocity: Mat
    angular_velocity: Mat
    agreement: Vec
    growth: Vec

    def unknowns(self, problem: Problem) -> Mat:
        """The motion in the unknowns of a form in quaternions and angular velocities, with its multipliers, (20, n);
        NaN for integrals of multipliers, which depend on more than the motion."""
        own, its, form = self.problem.layout, problem.layout, problem.workspace.settings.formulation
        out, quasi = np.zeros((len(self.t), problem.n)), form.unknowns == "quasi-velocities"
        out[:, its.q], out[:, its.s] = self.y[:, own.q], self.y[:, own.s]
        for t, y, v in zip(self.t, out, self.y[:, own.v], strict=True):
            if quasi:  # v = T nu + r
                r, T = problem.interpretation.null_space(t, y)
                v = np.linalg.lstsq(T, v - r)[0]
            y[its.v] = v
            y[:] = problem.at(t, y).y0
        if form.unknown_multipliers == "integrals":
            out[:, its.la.start :] = np.nan
        return out


def model_reference(name: str) -> ModelReference:
    """Compute the motion of a model at 20 times, with how far two methods agree and how small errors grow.

    It takes seconds, and is kept for the process. The name is one of `rbdae.models.MODELS`; ValueError for another one.
    """
    _check.one_of("model", name, MODELS)
    return _computed(name)


@cache
def _computed(name: str) -> ModelReference:
    times = np.linspace(0.0, MODELS[name].t_end, 21)
    made: dict[str, Any] = {"rotation": "quaternion", "redundant": "minimum-norm"}
    first = formulate(MODELS[name](), "index-0", **made)
    one = _run(first, "rbdae:dop853", times)
    other = _run(formulate(MODELS[name](), "hamiltonian-eliminated", **made), "rbdae:odex", times)
    sizes = _exact(one).sizes
    exact = [replace(state, sizes=sizes) for state in _states(one)]

    def apart(run: Solution) -> Vec:
        return np.array([errors(a, b).largest for a, b in zip(_states(run), exact, strict=True)])

    rng, growth = np.random.default_rng(1), np.zeros(len(times))
    for _ in range(_STARTS):
        y = first.project(first.t0, first.y0 + _SIZE * rng.standard_normal(first.n))
        away = apart(_run(first.at(first.t0, y), "rbdae:dop853", times))
        growth = np.maximum(growth, away / away[0])
    moving = ("position", "orientation", "velocity", "angular_velocity")
    rows = {what: np.array([getattr(state, what) for state in exact[1:]]) for what in moving}
    return ModelReference(name, first, times[1:], one.y[1:], **rows, agreement=apart(other)[1:], growth=growth[1:])


def _run(problem: Problem, solver: str, times: Vec) -> Solution:
    run = solve(problem, (0.0, times[-1]), solver=solver, rtol=1e-13, atol=1e-13, t_eval=times, projection=True)
    if not run.success:
        raise RuntimeError(f"no reference of {problem.formulation}: {run.message}; shorten the time in rbdae.models")
    return run


def _states(run: Solution) -> list[FinalState]:
    return [final_state(run.problem_at(t), t, y) for t, y in zip(run.t, run.y, strict=True)]

"""Quantities of the steps of a conserving run that belong to no state: multipliers and discrete momenta of [BS09].

They follow from both ends of a step, or from three nodes, by `rbdae.step_equations`. Bodies have no joints and no
forces but the weight, as in the paper: joints would have a share in the multiplier of the norm, by multipliers of the
step, which no run keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from rbdae import step_equations
from rbdae._arrays import Mat, Vec
from rbdae.adapter import Stats, Steps
from rbdae.problem.invariants import has_invariants, quaternions_and_momenta
from rbdae.problem.problem import Problem
from rbdae.rotations import quaternions

_PAPER, _VARIATIONAL = "rbdae:energy-momentum", "rbdae:variational"
_SAME = 1e-9
"""Relative difference of step sizes that is rounding."""


class _Run(Protocol):
    """What made the steps."""

    @property
    def solver(self) -> str: ...

    @property
    def options(self) -> Mapping[str, str]: ...

    @property
    def stats(self) -> Stats: ...


@final
@dataclass(frozen=True, slots=True)
class _Body:
    """A body along the nodes of a run: quaternions (k + 1, 4), J, and the weight on the directors (9,)."""

    q: Mat
    inertia: Mat
    weight: Vec

    @property
    def gradients(self) -> Mat:
        """The gradients of V in the middle of the steps, (k, 4), J."""
        out: Mat = -quaternions.euler_differential(0.5 * (self.q[:-1] + self.q[1:])).swapaxes(-1, -2) @ self.weight
        return out

    def momenta(self, sizes: Vec) -> tuple[Mat, Mat, Mat]:
        """-D1 L_d and D2 L_d of the steps, both (k, 4), and J^- (k, 3), kg m^2/s."""
        start, end, J = (np.empty((len(sizes), n)) for n in (4, 4, 3))
        slopes = self.gradients
        for size in np.unique(sizes):
            k = np.flatnonzero(sizes == size)
            ends = self.q[k], self.q[k + 1]
            given: dict[str, Any] = {"inertia": self.inertia, "step": float(size), "gradient": slopes[k]}
            start[k], end[k] = step_equations.discrete_momenta(*ends, **given)
            J[k] = step_equations.discrete_momentum_map(*ends, **given)
        return start, end, J


def step_multipliers(problem: Problem, steps: Steps, run: _Run) -> dict[str, Vec]:
    """The multipliers of the unit norm by the name of the body, J: see `Solution.step_multipliers`."""
    found = _bodies("step_multipliers", problem, steps, run)
    if run.solver == _PAPER:
        return {name: step_equations.step_multiplier(b.q[:-1], b.q[1:], b.gradients) for name, b in found.items()}
    sizes, out = _sizes(steps, run.options), {}
    between = 0.5 * (sizes[:-1] + sizes[1:])
    for name, body in found.items():
        start, end, _ = body.momenta(sizes)
        out[name] = (body.q[1:-1] * (end[:-1] - start[1:])).sum(-1) / between
    return out


def step_momenta(problem: Problem, steps: Steps, run: _Run) -> dict[str, Mat]:
    """J^- by the name of the body, kg m^2/s: see `Solution.step_momenta`."""
    found = _bodies("step_momenta", problem, steps, run, only=_VARIATIONAL)
    sizes = _sizes(steps, run.options)
    return {name: body.momenta(sizes)[2] for name, body in found.items()}


def _sizes(steps: Steps, options: Mapping[str, str]) -> Vec:
    """The sizes of the steps; all are the one that was asked for, but that of the last one may be smaller."""
    sizes, asked = np.diff(steps.t), float(options["step"])
    return np.where(np.abs(np.abs(sizes) - asked) < _SAME * asked, np.copysign(asked, sizes), sizes)


def _bodies(what: str, problem: Problem, steps: Steps, run: _Run, only: str = "") -> dict[str, _Body]:
    """The bodies of a run of QUAT.EM or QUAT.VI without joints and forces; refuses other runs."""
    scheme, model = run.solver, problem.model
    if scheme == _PAPER and run.options.get("variant") != repr("paper"):
        scheme = f"{scheme} with variant='rodrigues'"
    both = f"{_PAPER} with variant='paper' (QUAT.EM), or {_VARIATIONAL} (QUAT.VI)"
    refused = ""
    if scheme != _VARIATIONAL and (only or scheme != _PAPER):
        refused = f"{scheme} has no such steps; solve with {f'{only} (QUAT.VI)' if only else both}"
    elif not has_invariants(problem):
        refused = "steps in directors have none; formulate with rotation='quaternion'"
    elif run.options.get("order", "2") != "2" or "composition" in run.options:
        refused = "steps of order 4 and 6 are composed of several; solve with order=2"
    elif len(model.primitives) or len(model.bushings) or len(model.forces.elements):
        refused = "[BS09] has them for bodies without joints, and with no force but the weight; leave the others out"
    elif len(steps.t) != run.stats.steps + 1:
        refused = "the run has kept its output times in place of its steps; solve without t_eval or dense_output=False"
    if refused:
        raise ValueError(f"{what}: {refused}")
    qs = quaternions_and_momenta(problem, steps.y)
    return {
        name: _Body(qs[name][0], model.bodies["inertia"][b], model.bodies["weight_d"][b])
        for b, name in enumerate(model.names)
    }


__all__ = ["step_momenta", "step_multipliers"]

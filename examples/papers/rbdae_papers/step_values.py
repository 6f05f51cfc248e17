"""Values of a run in quaternions and momenta: invariants of its states, multipliers and momenta of its steps; [BS09].

Values of steps follow from both ends of a step, or from three nodes, by `rbdae_papers.step_equations`. Bodies have no
joints and no forces but the weight, as in the paper: joints would contribute to the norm's multiplier through
multipliers of the step, which runs do not keep.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from rbdae import Problem, Solution
from rbdae._arrays import Mat, Vec
from rbdae.adapter import Steps
from rbdae.kernels.records import QUATERNION_RATE
from rbdae_papers import step_equations
from rbdae_papers.null_space.euler_map import euler_differential

_PAPER, _VARIATIONAL = "rbdae:energy-momentum", "rbdae:variational"
_SAME: Final = 1e-9
"""Relative difference of step sizes that is rounding."""


def invariants(problem: Problem, y: Vec) -> dict[str, step_equations.Invariants]:
    """pi (..., 4), kg m^2/s, and eta (...) by body name, of states (..., n): [BS09] (46), (47).

    Raises
    ------
    ValueError
        for problems without quaternions and their momenta
    """
    if not _has_momenta(problem):
        raise ValueError(
            f"invariants: {problem!r} has no quaternions with momenta; formulate it as 'hamiltonian' with "
            "rotation='quaternion'"
        )
    return {name: step_equations.invariants(q, p) for name, (q, p) in _quaternions_and_momenta(problem, y).items()}


def step_multipliers(solution: Solution) -> dict[str, Vec]:
    """Multipliers of the unit norm, J, of the k steps of a conserving run by body name.

    They belong to steps, not to states; `Solution.steps` has the steps, or t and y.

    - ``"rbdae:energy-momentum"`` with ``variant="paper"`` (QUAT.EM): la of each step, (k,); [BS09] Remark 4.3.
    - ``"rbdae:variational"`` (QUAT.VI): la_n of each inner node, (k - 1,); (E1).

    Raises
    ------
    ValueError
        for runs of other solvers or of order 4 and 6, without their steps, or with joints or forces other than weight
    """
    steps, bodies = _bodies("step_multipliers", solution)
    if solution.solver == _PAPER:
        return {name: step_equations.step_multiplier(b.q[:-1], b.q[1:], b.gradients) for name, b in bodies.items()}
    sizes, out = _sizes(steps, solution.options), {}
    between = 0.5 * (sizes[:-1] + sizes[1:])
    for name, body in bodies.items():
        start, end, _ = body.momenta(sizes)
        out[name] = (body.q[1:-1] * (end[:-1] - start[1:])).sum(-1) / between
    return out


def step_momenta(solution: Solution) -> dict[str, Mat]:
    """J^- of the k steps of a run of ``"rbdae:variational"``, (k, 3), kg m^2/s, in space, by body name: [BS09],
    end of Appendix E. Raises like `step_multipliers`."""
    steps, bodies = _bodies("step_momenta", solution, only=_VARIATIONAL)
    sizes = _sizes(steps, solution.options)
    return {name: body.momenta(sizes)[2] for name, body in bodies.items()}


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
        out: Mat = -euler_differential(0.5 * (self.q[:-1] + self.q[1:])).swapaxes(-1, -2) @ self.weight
        return out

    def momenta(self, sizes: Vec) -> tuple[Mat, Mat, Mat]:
        """-D1 L_d and D2 L_d of the steps, both (k, 4), and J^- (k, 3), kg m^2/s."""
        start, end, J = (np.empty((len(sizes), n)) for n in (4, 4, 3))
        slopes = self.gradients
        for size in np.unique(sizes):
            k = np.flatnonzero(sizes == size)
            ends = self.q[k], self.q[k + 1]
            arguments: dict[str, Any] = {"inertia": self.inertia, "step": float(size), "gradient": slopes[k]}
            start[k], end[k] = step_equations.discrete_momenta(*ends, **arguments)
            J[k] = step_equations.discrete_momentum_map(*ends, **arguments)
        return start, end, J


def _sizes(steps: Steps, options: Mapping[str, str]) -> Vec:
    """Sizes of the steps: all equal the requested one, except that the last may be smaller."""
    sizes, asked = np.diff(steps.t), float(options["step"])
    return np.where(np.abs(np.abs(sizes) - asked) < _SAME * asked, np.copysign(asked, sizes), sizes)


def _has_momenta(problem: Problem) -> bool:
    """Whether the unknowns of a problem are quaternions and their momenta."""
    settings = problem.workspace.settings
    return bool(settings.momenta and settings.kind.number == QUATERNION_RATE)


def _quaternions_and_momenta(problem: Problem, y: Mat) -> dict[str, tuple[Mat, Mat]]:
    """(q, p) of each body by name, both (..., 4), of states (..., n)."""
    layout, out = problem.layout, {}
    for b, name in enumerate(problem.model.names):
        k, nt = layout.rank[b], int(problem.model.bodies["nt"][b])
        q_at, momenta_at = layout.iq[k] + nt, layout.v.start + layout.iv[k] + nt
        out[name] = y[..., q_at : q_at + 4], y[..., momenta_at : momenta_at + 4]
    return out


def _bodies(what: str, solution: Solution, only: str = "") -> tuple[Steps, dict[str, _Body]]:
    """The steps and bodies of a run of QUAT.EM or QUAT.VI without joints and forces; refuses other runs."""
    problem: Any = solution.problem
    if problem is None:
        raise ValueError(f"{what}: this solution was loaded without its problem: use rbdae.load(path, problem)")
    scheme, model = solution.solver, problem.model
    steps = Steps(solution.t, solution.y) if solution.steps is None else solution.steps
    if scheme == _PAPER and solution.options.get("variant") != repr("paper"):
        scheme = f"{scheme} with variant='rodrigues'"
    both = f"{_PAPER} with variant='paper' (QUAT.EM), or {_VARIATIONAL} (QUAT.VI)"
    refused = ""
    if scheme != _VARIATIONAL and (only or scheme != _PAPER):
        refused = f"{scheme} has no such steps; solve with {f'{only} (QUAT.VI)' if only else both}"
    elif not _has_momenta(problem):
        refused = "steps in directors have none; formulate with rotation='quaternion'"
    elif solution.options.get("order", "2") != "2":
        refused = "steps of order 4 are composed of several; solve with order=2"
    elif len(model.primitives) or len(model.forces.elements):
        refused = "[BS09] has them for bodies without joints, and with no force but the weight; leave the others out"
    elif len(steps.t) != solution.stats.steps + 1:
        refused = "the run has kept its output times in place of its steps; solve without t_eval or dense_output=False"
    if refused:
        raise ValueError(f"{what}: {refused}")
    qs = _quaternions_and_momenta(problem, steps.y)
    bodies = {
        name: _Body(qs[name][0], model.bodies["inertia"][b], model.bodies["weight_d"][b])
        for b, name in enumerate(model.names)
    }
    return steps, bodies

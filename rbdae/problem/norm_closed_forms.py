"""The closed form of the multiplier of the unit norm ([SNS15]), and by how much a state or a run misses it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.kernels.records import INHOMOGENEOUS, MOMENT, QUATERNION_RATE, THIRD_ORDER
from rbdae.problem.quantities import angular_velocities


def has_norm_multipliers(problem: Any) -> bool:
    """Whether the unknowns of a problem are unit quaternions and their rates or momenta."""
    workspace = getattr(problem, "workspace", None)
    return workspace is not None and workspace.settings.kind.number == QUATERNION_RATE


def closed_forms(problem: Any, t: ArrayLike, y: ArrayLike) -> Mat:
    """`rbdae.norm_multipliers` of a problem that has them."""
    settings = problem.workspace.settings
    Z = problem.natural(t, y)
    la: Mat = np.zeros(Z.shape[:-1])
    if settings.formulation.projected:
        return la
    if not settings.momenta:
        la += _kinetic(problem, Z)
    if settings.pull_back != MOMENT:
        F = problem.interpretation.natural_forces(t, y)[..., 3:]
        la += 2.0 * np.einsum("...k,...k->...", Z[..., 3:12], F)
        if settings.pull_back == INHOMOGENEOUS:
            la += 2.0 * (F[..., 0] + F[..., 4] + F[..., 8])
    return la


def norm_defect(problem: Any, t: Vec, y: Mat) -> dict[str, Vec]:
    """The multiplier of the unit norm less its closed form: of the unknowns where it is one of them, else by
    elimination. It is zero in the exact motion; [SNS15], section 3, checks a solution of (23) by it, whose closed form
    is zero. By elimination that of (23) with (59) is zero in every state, and says nothing."""
    if not has_norm_multipliers(problem):
        raise ValueError(
            f"norm_defect: {problem!r} has no multiplier of a unit norm; formulate it with rotation='quaternion', "
            "velocity='coordinate'"
        )
    form = problem.workspace.settings.formulation
    own = form.multipliers == "values" and not form.projected
    la = problem.run_multipliers(t, y) if own else problem.multipliers(t, y)
    defect = la[:, problem.layout.rank[: problem.model.n]] - closed_forms(problem, t, y)
    return {name: defect[:, b] for b, name in enumerate(problem.model.names)}


def _kinetic(problem: Any, Z: Mat) -> Mat:
    """The gyroscopic part and that of the radial inertia."""
    settings, bodies = problem.workspace.settings, problem.model.bodies[: problem.model.n]
    Om = angular_velocities(Z)
    la: Mat = settings.radial * bodies["radial"] * np.einsum("...k,...k->...", Om, Om)
    if settings.gyroscopic == THIRD_ORDER:
        la = la + 2.0 * np.einsum("...bi,bij,...bj->...b", Om, bodies["inertia"], Om)
    return la


__all__ = ["closed_forms", "has_norm_multipliers", "norm_defect"]

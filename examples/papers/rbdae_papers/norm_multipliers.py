"""The multiplier of the quaternions' unit norm in closed form, for each form of the equations in [SNS15], and the
deviation of a state or a run from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae import Problem, _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.natural import place
from rbdae.kernels.entry import entry
from rbdae.kernels.equations import add_forces, set_state
from rbdae.kernels.linear.accelerations import accelerations
from rbdae.kernels.records import QUATERNION_RATE
from rbdae.problem.quantities import angular_velocities


@entry("ityo")
def natural_forces(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[12 b:12 b + 12] = (fx, fd) of every body: weight, applied forces, and joint forces with eliminated
    multipliers."""
    set_state(m, t, y)
    accelerations(m)
    place(m)
    add_forces(m, 0)
    out[:] = np.concatenate([f for s in m.states[:-1] for f in (s.fx, s.fd)])


def norm_multipliers(problem: Problem, t: ArrayLike, y: ArrayLike) -> Mat:
    """The unit norm's multiplier of every body from its angular velocity and forces, shape (..., bodies).

    With p la as the constraint force, p times the equations of motion gives, on the constraints,

        la = gyroscopic + J0 |Omega|^2 + p . Q

    - gyroscopic: 0 for ``"fifth-order"`` ([SNS15] (23), (24)); 2 Omega . J Omega = 4 T for ``"third-order"`` ((30),
      with the energy T of the rotation);
    - J0: 0, or tr(J) / 2, see `radial_inertia` of the formulation;
    - p . Q: 0 for ``"moment"`` ((59)); 2 sum_i d_i . fd_i for ``"homogeneous"``, which is (84), and 2 (R u) . f for a
      force f at the point u; for ``"inhomogeneous"`` 2 tr F more, which is 2 u . f ((69));

    with the natural forces F = [fd_1 fd_2 fd_3] on the directors of R = [d_1 d_2 d_3]: weight, applied forces, and
    joint forces with the multipliers of `Problem.rates`. A pure torque tau, with fd_i = tau x d_i / 2 here, gives 0,
    and -4 p0 e . tau with ``"inhomogeneous"``. Forces that differ by a symmetric sum_i fd_i d_i^T cause the same motion
    but other multipliers.

    The term 2 tr F mixes components in the body and in space: another frame of space or body gives another multiplier
    of the same motion. The gradient of the homogeneous R(p) = |p|^2 R(p / |p|) is invariant.

    Projected forms have 0, which is the multiplier of (23). The Hamiltonian forms have p . Q, homogeneous: their
    kinetic parts, q . dT/dq = p . qdot = 2 T, cancel.

    Parameters
    ----------
    problem : Problem
        Its unknowns are unit quaternions with their rates or momenta.
    t, y : times and unknowns, () and (n,) or (m,) and (m, n)
        On the constraints at the levels of positions and velocities; multipliers are not read.

    Raises
    ------
    TypeError, ValueError
        if there is no such multiplier, and for other shapes
    """
    _check_norm("norm_multipliers", problem)
    settings = problem.workspace.settings
    Z = problem.natural(t, y)
    la: Mat = np.zeros(Z.shape[:-1])
    if settings.formulation.projected:
        return la
    if not settings.momenta:
        la += _kinetic(problem, Z)
    if settings.formulation.choice("pull_back") != "moment":
        F = problem.interpretation.by_body(natural_forces, t, y, 12)[..., 3:]
        la += 2.0 * np.einsum("...k,...k->...", Z[..., 3:12], F)
        if settings.formulation.choice("pull_back") == "inhomogeneous":
            la += 2.0 * (F[..., 0] + F[..., 4] + F[..., 8])
    return la


def norm_defect(problem: Problem, t: ArrayLike, y: ArrayLike) -> dict[str, Vec]:
    """The unit norm's multiplier minus its closed form by body name, (...), J.

    The multiplier is read from y if it is an unknown of the form, otherwise computed by elimination. The defect is zero
    in the exact motion; [SNS15], section 3, uses it to check a solution of (23), with closed form zero. With (59)
    elimination gives zero in every state of (23), which is no check. For a run: ``norm_defect(problem, run.t, run.y)``.

    Raises
    ------
    TypeError, ValueError
        as for `norm_multipliers`
    """
    _check_norm("norm_defect", problem)
    form = problem.workspace.settings.formulation
    own = form.multipliers == "values" and not form.projected
    la = problem.run_multipliers(t, y) if own else problem.multipliers(t, y)
    defect = la[..., problem.layout.rank[: problem.model.n]] - norm_multipliers(problem, t, y)
    return {name: defect[..., b] for b, name in enumerate(problem.model.names)}


def _check_norm(owner: str, problem: Any) -> None:
    """Refuse a problem unless its unknowns are unit quaternions and their rates or momenta."""
    if not isinstance(problem, Problem):
        raise TypeError(
            f"{owner}: problem must be made by rbdae.formulate(system, ...), got {_check.show(problem)}; "
            "formulate the system first"
        )
    if problem.workspace.settings.kind.number != QUATERNION_RATE:
        raise ValueError(
            f"{owner}: {problem!r} has no multiplier of a unit norm; formulate it with rotation='quaternion', "
            "velocity='coordinate'"
        )


def _kinetic(problem: Problem, Z: Mat) -> Mat:
    """The gyroscopic part and the part of the radial inertia."""
    settings, bodies = problem.workspace.settings, problem.model.bodies[: problem.model.n]
    Om = angular_velocities(Z)
    la: Mat = settings.radial * bodies["radial"] * np.einsum("...k,...k->...", Om, Om)
    if settings.formulation.choice("gyroscopic") != "fifth-order":
        la = la + 2.0 * np.einsum("...bi,bij,...bj->...b", Om, bodies["inertia"], Om)
    return la

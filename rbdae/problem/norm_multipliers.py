"""The multiplier of the unit norm of quaternions in closed form, for each form of the equations in [SNS15]."""

from __future__ import annotations

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat
from rbdae.problem.norm_closed_forms import closed_forms, has_norm_multipliers
from rbdae.problem.problem import Problem


def norm_multipliers(problem: Problem, t: ArrayLike, y: ArrayLike) -> Mat:
    """The multiplier of the unit norm of every body from its angular velocity and forces, shape (..., bodies).

    With p la as the constraint's force, p times the equations of motion gives, on the constraints,

        la = gyroscopic + J0 |Omega|^2 + p . Q

    - gyroscopic: 0 for ``"fifth-order"`` ([SNS15] (23), (24)); 2 Omega . J Omega = 4 T for ``"third-order"`` ((30),
      with the energy T of the rotation);
    - J0: 0, or tr(J) / 2, see `radial_inertia` of `rbdae.formulate`;
    - p . Q: 0 for ``"moment"`` ((59)); 2 sum_i d_i . fd_i for ``"homogeneous"``, which is (84) and 2 (R u) . f of a
      force f at the point u; for ``"inhomogeneous"`` 2 tr F more, which is 2 u . f ((69));

    with the natural forces F = [fd_1 fd_2 fd_3] on the directors of R = [d_1 d_2 d_3]: weight, applied forces, and
    those of the joints with the multipliers of `Problem.rates`. A pure torque tau, which has fd_i = tau x d_i / 2 here,
    gives 0, and with ``"inhomogeneous"`` -4 p0 e . tau. Forces that differ by a symmetric sum_i fd_i d_i^T move the
    body alike, and give other multipliers.

    The term 2 tr F multiplies components in the body by components in space: another frame of space or body gives
    another multiplier of the same motion. The gradient of the homogeneous R(p) = |p|^2 R(p / |p|) is invariant.

    Projected forms have 0, which is the multiplier of (23). The Hamiltonian forms have p . Q, homogeneous: their
    kinetic parts, q . dT/dq = p . qdot = 2 T, cancel.

    Parameters
    ----------
    problem : Problem
        In unit quaternions with their rates, or momenta, as unknowns.
    t, y : times and unknowns, () and (n,) or (m,) and (m, n)
        On the constraints at the levels of positions and velocities; multipliers are not read.

    Raises
    ------
    TypeError, ValueError
        where there is no such multiplier, and for other shapes
    """
    if not isinstance(problem, Problem):
        raise TypeError(
            f"norm_multipliers: problem must be made by rbdae.formulate(system, ...), got {_check.show(problem)}; "
            "formulate the system first"
        )
    if not has_norm_multipliers(problem):
        raise ValueError(
            f"norm_multipliers: {problem!r} has no multiplier of a unit norm; formulate it with rotation='quaternion', "
            "velocity='coordinate'"
        )
    return closed_forms(problem, t, y)


__all__ = ["norm_multipliers"]

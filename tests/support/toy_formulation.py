"""A formulation that the library does not have, in one file: joints are stiff dampers, an ODE in (q, v).

    qdot - v                                              = 0    (adot - K(a) Omega)
    M vdot - psi + G^T la = 0  with  la = beta^2 g + 2 alpha gdot

Each constraint pulls with a stiffness beta^2 (N/m) and a damping 2 alpha (N s/m). As both grow the motion tends to that
of the constraints. With angular velocities there are no internal constraints, and M is inverted body by body.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdae.formulations import Explicit, Formulation, parameter
from rbdae.kernels.bodies.dynamics import collect_forces
from rbdae.kernels.bodies.kinematics import kinematics_rate, kinematics_residual
from rbdae.kernels.constraints.primitives import primitive_forces, primitive_residual, primitive_vectors
from rbdae.kernels.entry import entry
from rbdae.kernels.equations import set_state
from rbdae.kernels.forces.applied import applied_forces
from rbdae.kernels.forces.internal_states import collect_state_rates, states_residual
from rbdae.kernels.memory import (
    bodies,
    constraint_values,
    formulation_parameters,
    head,
    multipliers,
    right_hand_side,
    solution,
)


def _pull(m):
    """`multipliers` from g and gdot. Reads the vectors of the primitives with their rates."""
    h = head(m)
    parameters = formulation_parameters(m)
    alpha = parameters[0]
    beta = parameters[1]
    g = constraint_values(m)
    la = multipliers(m)
    primitive_residual(m, g, 0, 0)
    for i in range(h.n_la):
        la[i] = beta * beta * g[i]
    primitive_residual(m, g, 0, 1)
    for i in range(h.n_la):
        la[i] += 2.0 * alpha * g[i]


def _divide_by_mass(m, f, x):
    """x = M^-1 f; x may be f."""
    B = bodies(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        i = o.iv
        if o.nt == 3:
            for k in range(3):
                x[i + k] = f[i + k] / o.mass
            i += 3
        f0 = f[i]
        f1 = f[i + 1]
        f2 = f[i + 2]
        for k in range(3):
            J = o.inertia_inverse
            x[i + k] = J[k, 0] * f0 + J[k, 1] * f1 + J[k, 2] * f2


def accelerations(m):
    """vdot. Reads the placed and moved bodies; writes `multipliers`, `right_hand_side` and `solution`; leaves all
    forces among the natural ones."""
    primitive_vectors(m, 1)
    _pull(m)
    applied_forces(m)
    primitive_forces(m)
    collect_forces(m, right_hand_side(m))
    _divide_by_mass(m, right_hand_side(m), solution(m))


@entry("ityo")
def rhs(m, t, y, out):
    """(qdot, vdot, sdot) to out; the multipliers follow if out has room for them."""
    h = head(m)
    set_state(m, t, y)
    accelerations(m)
    kinematics_rate(m, out)
    vd = solution(m)
    la = multipliers(m)
    for i in range(h.n_v):
        out[h.n_q + i] = vd[i]
    collect_state_rates(m, out)
    if out.shape[0] > h.multipliers_at:
        for i in range(h.n_la):
            out[h.multipliers_at + i] = la[i]


@entry("ityyo")
def residual(m, t, y, yd, out):
    """yd - rhs(t, y) to out."""
    h = head(m)
    set_state(m, t, y)
    accelerations(m)
    kinematics_residual(m, yd, out)
    vd = solution(m)
    for i in range(h.n_v):
        out[h.n_q + i] = yd[h.n_q + i] - vd[i]
    states_residual(m, yd, out)


@dataclass(frozen=True, kw_only=True)
class StiffJoints(Formulation, name="stiff-joints", kind="ode", index=0, velocities=("angular",), damping="alpha"):
    """Joints as stiff dampers, an ODE in (q, v); alpha in N s/m, beta^2 in N/m."""

    source = "[BL96]"
    kernels = Explicit(residual, rhs)
    alpha: float = parameter(10.0, "joints would gain energy")
    beta: float = parameter(10.0, "its square is meant")

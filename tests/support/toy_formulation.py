"""A formulation that the library does not have, in one file: joints are stiff dampers, an ODE in (q, v).

    qdot - v                                              = 0    (adot - K(a) Omega)
    M vdot - psi + G^T la = 0  with  la = beta^2 g + 2 alpha gdot

Each constraint pulls with a stiffness beta^2 (N/m) and a damping 2 alpha (N s/m). As both grow the motion tends to that
of the constraints. With angular velocities there are no internal constraints, and M is inverted body by body.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rbdae.formulations import Explicit, Formulation, parameter
from rbdae.kernels.bodies.dynamics import collect_forces
from rbdae.kernels.bodies.gather import collect_state_rates, moving
from rbdae.kernels.bodies.natural import kinematics_rate
from rbdae.kernels.constraints.primitives import primitive_forces, primitive_residual, primitive_vectors
from rbdae.kernels.entry import entry
from rbdae.kernels.equations import set_state
from rbdae.kernels.forces.elements import applied_forces


@entry("ityo")
def rhs(m, t, y, out):
    """(qdot, vdot, sdot) to out; the multipliers follow if out has room for them."""
    h = m.head
    alpha, beta = m.formulation_parameters
    set_state(m, t, y)
    primitive_vectors(m, 1)
    g, gd = np.zeros((2, h.n_la), dtype=object)
    primitive_residual(m, g, 0, 0)
    primitive_residual(m, gd, 0, 1)
    la = m.multipliers
    la[: h.n_la] = beta * beta * g + 2.0 * alpha * gd
    applied_forces(m)
    primitive_forces(m)
    f = np.zeros(h.n_v, dtype=object)
    collect_forces(m, f)
    for o, _ in moving(m):
        i = o.iv + o.nt
        out[h.n_q + o.iv : h.n_q + i] = f[o.iv : i] / o.mass
        out[h.n_q + i : h.n_q + i + 3] = o.inertia_inverse @ f[i : i + 3]
    kinematics_rate(m, out)
    collect_state_rates(m, out)
    if len(out) > h.multipliers_at:
        out[h.multipliers_at : h.multipliers_at + h.n_la] = la[: h.n_la]


@entry("ityyo")
def residual(m, t, y, yd, out):
    """yd - rhs(t, y) to out."""
    rates = np.zeros(m.head.multipliers_at, dtype=object)
    rhs(m, t, y, rates)
    out[:] = yd - rates


@dataclass(frozen=True, kw_only=True)
class StiffJoints(Formulation, name="stiff-joints", kind="ode", index=0, velocities=("angular",), damping="alpha"):
    """Joints as stiff dampers, an ODE in (q, v); alpha in N s/m, beta^2 in N/m."""

    source = "[BL96]"
    kernels = Explicit(residual, rhs)
    alpha: float = parameter(10.0, "joints would gain energy")
    beta: float = parameter(10.0, "its square is meant")

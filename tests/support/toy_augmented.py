"""A formulation with parameters of its own, in one file: the penalty form of Bayo, Garcia de Jalon and Serna (1988).

    (M + p G^T G) vdot = psi - p G^T (g_II + 2 zeta omega gdot + omega^2 g)

Each constraint is an oscillator of mass p, frequency omega (1/s) and damping ratio zeta; as p grows the motion tends to
that of the constraints, in proportion to 1/p. With la = p (gddot + 2 zeta omega gdot + omega^2 g) it is

    M vdot + G^T la = psi
    G vdot - la / p = -(g_II + 2 zeta omega gdot + omega^2 g)

so that it takes 1/p on the diagonal of the Schur complement, and the solution of index 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdae.compiler.access import address
from rbdae.compiler.jit import entry, jit, stage
from rbdae.formulations import Explicit, Formulation, parameter
from rbdae.kernels.bodies.dynamics import collect_forces
from rbdae.kernels.bodies.gather import clear_accelerations
from rbdae.kernels.bodies.kinematics import kinematics_rate, kinematics_residual
from rbdae.kernels.bodies.natural import accelerate, velocity_basis
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import primitive_residual, primitive_vectors
from rbdae.kernels.constraints.redundant_rows import clear_dropped
from rbdae.kernels.equations import set_state
from rbdae.kernels.forces.applied import applied_forces
from rbdae.kernels.forces.internal_states import collect_state_rates, states_residual
from rbdae.kernels.linear.saddle import reduce_bodies, solve_saddle
from rbdae.kernels.linear.schur import assemble_schur, eliminate_schur
from rbdae.kernels.memory import (
    constraint_side,
    constraint_values,
    factor,
    factor_start,
    formulation_parameters,
    head,
    multipliers,
    right_hand_side,
    solution,
)

PENALTY, OMEGA, ZETA = 0, 1, 2


@jit
def _weight(m, level):
    """What multiplies g, gdot and gddot."""
    p = formulation_parameters(m)
    if level == 0:
        return p[OMEGA] * p[OMEGA]
    return 2.0 * p[ZETA] * p[OMEGA] if level == 1 else 1.0


@stage("i", "joints")
def _factorise(m):
    """The Schur complement with 1/p on its diagonal. Reads the gradients and the reduced bodies."""
    assemble_schur(m, 1)
    L = factor(m)[0]
    start = factor_start(m)
    for i in range(head(m).n_rows):
        L[start[i + 1] - 1] += 1.0 / formulation_parameters(m)[PENALTY]
    eliminate_schur(m)


@stage("i")
def accelerations(m):
    """vdot and la. Reads the placed and moved bodies; writes `solution` and `multipliers`."""
    h = head(m)
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    applied_forces(m)
    velocity_basis(m)
    gradients(m)
    reduce_bodies(m, 0)
    h.singular = 0
    if h.n_rows > 0:
        _factorise(m)
    collect_forces(m, address(right_hand_side(m)))
    s = constraint_side(m)
    g = constraint_values(m)
    for i in range(h.n_la):
        s[i] = 0.0
    for level in range(3):
        primitive_residual(m, address(g), 0, level)
        for i in range(h.n_la):
            s[i] -= _weight(m, level) * g[i]
    clear_dropped(m, address(s), 0)
    solve_saddle(m)


@entry("ityo")
def rhs(m, t, y, out):
    """(qdot, vdot, sdot) to out; the multipliers follow if out has room for them."""
    h = head(m)
    set_state(m, t, y)
    accelerations(m)
    kinematics_rate(m, address(out))
    vd = solution(m)
    la = multipliers(m)
    for i in range(h.n_v):
        out[h.n_q + i] = vd[i]
    collect_state_rates(m, address(out))
    if out.shape[0] > h.multipliers_at:
        for i in range(h.n_la):
            out[h.multipliers_at + i] = la[i]


@entry("ityyo")
def residual(m, t, y, yd, out):
    """yd - rhs(t, y) to out."""
    h = head(m)
    set_state(m, t, y)
    accelerations(m)
    kinematics_residual(m, address(yd), address(out))
    vd = solution(m)
    for i in range(h.n_v):
        out[h.n_q + i] = yd[h.n_q + i] - vd[i]
    states_residual(m, address(yd), address(out))


@dataclass(frozen=True, kw_only=True)
class Augmented(Formulation, name="augmented", kind="ode", index=0, velocities=("angular",), damping="zeta"):
    """Constraints as oscillators of a large mass, an ODE in (q, v).

    Parameters
    ----------
    penalty : float
        The mass p, kg where the constraint is a length; above 0.
    omega, zeta : float
        Frequency, 1/s, and damping ratio of the constraint's violation.
    """

    source = "Bayo, Garcia de Jalon and Serna (1988)"
    kernels = Explicit(residual, rhs)
    penalty: float = parameter(1e6, "1 / penalty is meant", positive=True)
    omega: float = parameter(10.0, "it is a frequency")
    zeta: float = parameter(1.0, "violations would grow")

"""`ggl` and `hiller-anantharaman` keep position and velocity constraints with one more set of multipliers.

    qdot - v + G^T mu                 = 0    (angular: see `rbdae.kernels.constraints.rows.add_corrections`)
    M(q) vdot - psi(q, v, t) + G^T la = 0
    g(q, t)                           = 0
    G v + g_I                         = 0

`hamiltonian-ggl` is the same with momenta: qdot - dH/dp + G^T mu = 0, the dynamics of [BS09] (39), and the constraints
on positions and on momenta, (38) and (40).

`ggl` (Gear, Gupta and Leimkuhler) has la and mu as unknowns and index 2. `hiller-anantharaman` has their integrals as
unknowns, Lambda' = la, Gamma' = mu, which gives the same equations index 1.
"""

from __future__ import annotations

from rbdae.formulations import explicit
from rbdae.formulations.absolute import WithMultipliers
from rbdae.formulations.base import Implicit
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.dynamics import dynamics_residual
from rbdae.kernels.bodies.gather import gather_accelerations, gather_multipliers, states_residual
from rbdae.kernels.bodies.natural import kinematics_residual
from rbdae.kernels.constraints.rows import add_corrections, constraint_rows
from rbdae.kernels.entry import entry
from rbdae.kernels.equations import add_forces, set_state


@entry("ityyo")
def residual(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """F(t, y, yd) to out."""
    h = m.head
    la, mu = h.multipliers_at, h.corrections_at
    given = yd if h.integral == 1 else y
    set_state(m, t, y)
    gather_accelerations(m, yd, h.n_q)
    gather_multipliers(m, given, la)
    add_forces(m, 1)
    kinematics_residual(m, yd, out)
    add_corrections(m, given[mu : mu + h.n_la], out)
    dynamics_residual(m, out, h.n_q)
    states_residual(m, yd, out)
    for level, row in enumerate((la, mu)):
        constraint_rows(m, out, row, level, given[row:])


class GGL(WithMultipliers, name="ggl", index=2, levels=(0, 1), source="[GGL85]"):
    """Position and velocity constraint, qdot = v - G^T mu."""

    kernels = Implicit(residual, explicit.rhs)


class HillerAnantharaman(GGL, name="hiller-anantharaman", index=1, multipliers="integrals", source="[AH91]"):
    """Position and velocity constraint, with multipliers as derivatives of unknowns."""

"""`index-3`, `index-2`, `index-1` and the Hamiltonian DAEs as one residual, in the order of [NS].

[NS] (1), (3), (4), with the velocities of the chosen kind:

    qdot - v                          = 0    (angular: adot - K(a) Omega)
    M(q) vdot - psi(q, v, t) + G^T la = 0
    g, or G v + g_I, or G vdot + g_II = 0    (level 0, 1, 2: index 3, 2, 1)

and sdot - f(q, v, s, t) = 0 before the constraints if forces have internal states s; psi then also depends on s.

With momenta ([BS09] (38), (39); quaternion or directors):

    qdot - dH/dp                      = 0
    pdot + dT/dq - psi + G^T la       = 0
    g, or its first, or its second derivative along the flow, for the unit norm q . p and q . pdot + p . qdot (40)
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdae.formulations import explicit
from rbdae.formulations.base import AbsoluteFormulation, Implicit, Norm
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.dynamics import dynamics_residual
from rbdae.kernels.bodies.gather import gather_accelerations, gather_multipliers, states_residual
from rbdae.kernels.bodies.natural import accelerate, kinematics_residual
from rbdae.kernels.constraints.rows import constraint_rows
from rbdae.kernels.entry import entry
from rbdae.kernels.equations import add_forces, set_state
from rbdae.kernels.linear import unit_quaternions


@entry("ityyo")
def residual(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """F(t, y, yd) to out."""
    h = m.head
    set_state(m, t, y)
    gather_accelerations(m, yd, h.n_q)
    gather_multipliers(m, y, h.multipliers_at)
    if h.level == 2:
        accelerate(m)
    add_forces(m, h.level)
    kinematics_residual(m, yd, out)
    dynamics_residual(m, out, h.n_q)
    states_residual(m, yd, out)
    constraint_rows(m, out, h.multipliers_at, h.level, y[h.multipliers_at :])


KERNELS = Implicit(residual, explicit.rhs)


class WithMultipliers(AbsoluteFormulation, kind="dae", kernels=KERNELS, multipliers="values"):
    """A DAE with the multipliers of its constraints among the unknowns."""


class Index3(WithMultipliers, name="index-3", index=3, levels=(0,), source="[NS] (1)"):
    """Constraint on positions."""


class Index2(WithMultipliers, name="index-2", index=2, levels=(1,), source="[NS] (3)"):
    """Constraint on velocities."""


class Index1(WithMultipliers, name="index-1", index=1, levels=(2,), source="[NS] (4)"):
    """Constraint on accelerations."""


@entry("ityyo")
def unit_residual(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """F(t, y, yd) to out where |p| = 1 is taken for granted; the multipliers of the norms have no part and are 0."""
    h = m.head
    residual(m, t, y, yd, out)
    unit_quaternions.balance(m, out, h.n_q)
    for o in m.bodies[:-1]:
        out[h.n_q + o.iv + o.nt + 3] = y[h.multipliers_at + o.il]


@dataclass(frozen=True, kw_only=True)
class UnitIndex1(Index1):
    """The system that `index-0` solves with ``norm="unit"``; no formulation by itself."""

    kernels = Implicit(unit_residual, explicit.rhs)
    norm: Norm = "unit"

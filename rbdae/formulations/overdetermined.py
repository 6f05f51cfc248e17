"""`overdetermined`: more equations than unknowns, for ODASSL.

    qdot - v = 0,  M vdot - psi + G^T la = 0,  G v + g_I = 0,      then  g = 0                      `overdetermined`
    qdot - v = 0,  M vdot - psi + G^T la = 0,  G vdot + g_II = 0,  then  g = 0,  G v + g_I = 0      `overdetermined-1`

(`ovstab2` and `ovstab1` of Assimulo's Mechanical_System.) ODASSL eliminates the first n equations, with the iteration
matrix A1, and needs a regular A2 A1^-1 A2^T for the others. In the second form A1 contains the row c G vdot, so that
the block of the velocity constraint is zero up to terms of the order of the step: it is for least-squares solvers, and
not offered with ODASSL, which often fails.

For dropped joint equations the further rows repeat that their multipliers are zero: rows of zeros would make this block
singular.
"""

from __future__ import annotations

from rbdae.formulations import absolute, explicit
from rbdae.formulations.absolute import WithMultipliers
from rbdae.formulations.base import Implicit
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.constraints.rows import constraint_rows
from rbdae.kernels.entry import entry


@entry("ityyo")
def residual(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """F(t, y, yd) to out, n + level nla rows."""
    h = m.head
    absolute.residual(m, t, y, yd, out)
    for level in range(h.level):
        constraint_rows(m, out, h.multipliers_at + (level + 1) * h.n_la, level, y[h.multipliers_at :])


class Overdetermined(WithMultipliers, name="overdetermined", kind="overdetermined", index=2, levels=(1, 0)):
    """Index 2 with additional g = 0, for ODASSL."""

    source = "[FL91]"
    kernels = Implicit(residual, explicit.rhs)


class Overdetermined1(Overdetermined, name="overdetermined-1", index=1, levels=(2, 0, 1)):
    """Index 1 with additional g = 0 and gdot = 0."""

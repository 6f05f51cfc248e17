"""`overdetermined`: index 1 with the position and the velocity constraints as further equations, for ODASSL.

    qdot - v = 0,  M vdot - psi + G^T la = 0,  G vdot + g_II = 0,    then  g = 0,  G v + g_I = 0

More equations than unknowns: n + 2 nla of them for n. (`ovstab1` of Assimulo's Mechanical_System; its `ovstab2`, index
2 with g = 0, is `overdetermined-2`.)
"""

from __future__ import annotations

from rbdae.formulations.absolute import fill_jacobian, fill_residual
from rbdae.kernels._jit import address, entry
from rbdae.kernels.block import head
from rbdae.kernels.constraints import constraint_rows, put_constraint_rows
from rbdae.kernels.primitives import clear_dropped, primitive_tangents


@entry("ityyo")
def residual(m, t, y, yd, out):
    """F(t, y, yd) to out, n + level nla rows."""
    h = head(m)
    fill_residual(m, t, y, yd, out)
    row = h.n_q + h.n_v + h.n_la
    for level in range(h.level):
        constraint_rows(m, address(out), row, level)
        clear_dropped(m, address(out), row)
        row += h.n_la


@entry("ityytM")
def jacobian(m, t, y, yd, c, out):
    """dF/dy + c dF/dyd to the sink."""
    h = head(m)
    fill_jacobian(m, t, y, yd, c, out)
    row = h.n_q + h.n_v + h.n_la
    for level in range(h.level):
        primitive_tangents(m, level)
        put_constraint_rows(m, row, level, 0.0)
        row += h.n_la

"""The outputs of joints beside equations, at natural coordinates: their constraint matrix and their forces on the
bodies.

Z holds (x, d, xdot, ddot) of every body in the order of the bodies in memory, 24 numbers each.
"""

from __future__ import annotations

from rbdae._arrays import cross
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import gather_natural
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import moving_sides, twist_gradients
from rbdae.kernels.constraints.primitives import gradient_times, primitive_vectors
from rbdae.kernels.entry import entry
from rbdae.kernels.memory import head, primitives, rows, states


def _set_primitives(m: Memory, t: float, Z: Array) -> None:
    """P and Q of all primitives at (t, Z). Writes the natural coordinates of the bodies."""
    set_time(m, t)
    gather_natural(m, Z)
    primitive_vectors(m, 0)


@entry("ityo")
def joint_matrix(m: Memory, t: float, Z: Array, out: Array) -> None:
    """out[i, b, :] = row i of G with respect to (xdot, Omega) of body b, zero for the x of a body with a pivot. All
    joint equations count, dropped ones as well, in the order of the joints."""
    h = head(m)
    _set_primitives(m, t, Z)
    twist_gradients(m)
    out[:] = 0.0
    G = out.reshape(h.n_rows, h.n_bodies, 6)
    for p, r in zip(primitives(m), rows(m), strict=True):
        mine = slice(p.row - h.n_internal, p.row - h.n_internal + p.n)
        for side, b, o in moving_sides(m, p):
            G[mine, b, : o.nt] = r.Gx[side, : p.n, : o.nt]
            G[mine, b, 3:] = r.Gw[side, : p.n, :3]


@entry("ityyo")
def joint_forces(m: Memory, t: float, Z: Array, la: Array, out: Array) -> None:
    """out[i, side, :] = force of primitive i on its body of that side, and its torque about the reference point of the
    body, spatial components: -G^T la. la are the multipliers of all joint equations, dropped rows included."""
    _set_primitives(m, t, Z)
    for i, (p, r) in enumerate(zip(primitives(m), rows(m), strict=True)):
        first = p.row - head(m).n_internal
        for side, f in enumerate(gradient_times(p, r, -la[first : first + p.n])):
            moment = cross(states(m)[p.body[side]].d.reshape(3, 3), f[3:].reshape(3, 3)).sum(axis=0)
            out[12 * i + 6 * side :][:6] = [*f[:3], *moment]

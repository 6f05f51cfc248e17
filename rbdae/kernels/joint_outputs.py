"""The outputs of joints beside equations, at natural coordinates: their constraint matrix and their forces on the
bodies.

Z holds (x, d, xdot, ddot) of every body in the order of the bodies in memory, 24 numbers each.
"""

from __future__ import annotations

<<<<<<< HEAD
from rbdae._arrays import cross
||||||| b5ec9a29
import numpy as np

=======
>>>>>>> kc
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import gather_natural
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import twist_gradients
from rbdae.kernels.constraints.primitives import add_gradient, primitive_vectors
from rbdae.kernels.entry import entry
<<<<<<< HEAD
from rbdae.kernels.memory import head, primitives, rows, states
||||||| b5ec9a29
from rbdae.kernels.linear.small import cross
from rbdae.kernels.memory import head, primitives, rows, states
=======
from rbdae.kernels.memory import bodies, head, primitives, rows, states
>>>>>>> kc


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
    n = 6 * h.n_bodies
    for k in range(h.n_rows * n):
        out[k] = 0.0
    C = primitives(m)
    R = rows(m)
    B = bodies(m)
    for i in range(h.n_primitives):
        p = C[i]
        r = R[i]
        for side in range(2):
            b = p.body[side]
            o = B[b]
            if o.fixed == 1:
                continue
            for k in range(p.n):
                at = (p.row - h.n_internal + k) * n + 6 * b
                for j in range(3):
                    if o.nt == 3:
                        out[at + j] = r.Gx[side, k, j]
                    out[at + 3 + j] = r.Gw[side, k, j]


@entry("ityyo")
def joint_forces(m: Memory, t: float, Z: Array, la: Array, out: Array) -> None:
    """out[i, side, :] = force of primitive i on its body of that side, and its torque about the reference point of the
    body, spatial components: -G^T la. la are the multipliers of all joint equations, dropped rows included."""
    h = head(m)
    _set_primitives(m, t, Z)
<<<<<<< HEAD
    for i, (p, r) in enumerate(zip(primitives(m), rows(m), strict=True)):
        first = p.row - head(m).n_internal
        for side, f in enumerate(gradient_times(p, r, -la[first : first + p.n])):
            moment = cross(states(m)[p.body[side]].d.reshape(3, 3), f[3:].reshape(3, 3)).sum(axis=0)
            out[12 * i + 6 * side :][:6] = [*f[:3], *moment]
||||||| b5ec9a29
    for i, (p, r) in enumerate(zip(primitives(m), rows(m), strict=True)):
        first = p.row - head(m).n_internal
        for side, f in enumerate(gradient_times(p, r, -la[first : first + p.n])):
            arms = states(m)[p.body[side]].d.reshape(3, 3)
            torques = [cross(arm, force) for arm, force in zip(arms, f[3:].reshape(3, 3), strict=True)]
            out[12 * i + 6 * side :][:6] = np.concatenate([f[:3], sum(torques)])
=======
    C = primitives(m)
    R = rows(m)
    S = states(m)
    for i in range(h.n_primitives):
        p = C[i]
        r = R[i]
        s1 = S[p.body[0]]
        s2 = S[p.body[1]]
        for k in range(3):
            s1.gx[k] = 0.0
            s2.gx[k] = 0.0
        for k in range(9):
            s1.gd[k] = 0.0
            s2.gd[k] = 0.0
        for k in range(p.n):
            r.la[k] = la[p.row - h.n_internal + k]
        add_gradient(p, r, r.la, -1.0, s1.gx, s1.gd, s2.gx, s2.gd)
        for side in range(2):
            s = S[p.body[side]]
            at = 12 * i + 6 * side
            for k in range(3):
                out[at + k] = s.gx[k]
                out[at + 3 + k] = 0.0
            for j in range(0, 9, 3):
                for k in range(3):
                    k1 = (k + 1) % 3
                    k2 = (k + 2) % 3
                    out[at + 3 + k] += s.d[j + k1] * s.gd[j + k2] - s.d[j + k2] * s.gd[j + k1]
>>>>>>> kc

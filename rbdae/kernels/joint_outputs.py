"""The outputs of joints beside equations: their constraint matrix and their forces on the bodies."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import moving_sides, twist_gradients
from rbdae.kernels.constraints.primitives import gradient_times, primitive_vectors
from rbdae.kernels.entry import entry
from rbdae.kernels.memory import head, joints, primitives, rows, states
from rbdae.kernels.outputs import locate


@entry("ityo")
def joint_matrix(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[i, b, :] = row i of G with respect to (xdot, Omega) of body b, zero for the x of a body with a pivot. All
    joint equations count, dropped ones as well, in the order of the joints."""
    h = head(m)
    set_time(m, t)
    locate(m, y)
    primitive_vectors(m, 0)
    twist_gradients(m)
    out[:] = 0.0
    G = out.reshape(h.n_rows, h.n_bodies, 6)
    for p, r in zip(primitives(m), rows(m), strict=True):
        mine = slice(p.row - h.n_internal, p.row - h.n_internal + p.n)
        for side, b, o in moving_sides(m, p):
            G[mine, b, : o.nt] = r.Gx[side, : p.n, : o.nt]
            G[mine, b, 3:] = r.Gw[side, : p.n, :3]


@entry("ityyo")
def joint_loads(m: Memory, t: float, y: Array, la: Array, out: Array) -> None:
    """out = of each joint, 21 numbers: on both bodies the force -G^T la and the torque about the joint's point there,
    then the joint's frame, in space. la are the multipliers of all joint equations, dropped rows included."""
    set_time(m, t)
    locate(m, y)
    primitive_vectors(m, 0)
    for j, joint in enumerate(joints(m)):
        F = np.zeros((2, 12), dtype=object)
        for i in range(joint.first, joint.last):
            p = primitives(m)[i]
            first = p.row - head(m).n_internal
            F = F + np.array(gradient_times(p, rows(m)[i], -la[first : first + p.n]))
        arms = [states(m)[b].d.reshape(3, 3) for b in joint.body]
        for side, (f, point) in enumerate(zip(F, joint.points, strict=True)):
            moment = cross(arms[side], f[3:].reshape(3, 3)).sum(axis=0) - cross(arms[side].T @ point, f[:3])
            out[21 * j + 6 * side :][:6] = np.concatenate([f[:3], moment])
        out[21 * j + 12 : 21 * j + 21] = (arms[0].T @ joint.frame).ravel()

"""The outputs of joints beside equations: their constraint matrix and their forces on the bodies."""

from __future__ import annotations

from rbdae._arrays import cross
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import twist_gradients
from rbdae.kernels.constraints.primitives import add_gradient, primitive_vectors
from rbdae.kernels.entry import entry
from rbdae.kernels.memory import bodies, head, joints, primitives, rows, states
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
def joint_loads(m: Memory, t: float, y: Array, la: Array, out: Array) -> None:
    """out = of each joint, 21 numbers: on both bodies the force -G^T la and the torque about the joint's point there,
    then the joint's frame, in space. la are the multipliers of all joint equations, dropped rows included."""
    set_time(m, t)
    locate(m, y)
    primitive_vectors(m, 0)
    for j, joint in enumerate(joints(m)):
        sides = [states(m)[b] for b in joint.body]
        for s in sides:
            s.gx[:3] = 0.0
            s.gd[:9] = 0.0
        for i in range(joint.first, joint.last):
            p = primitives(m)[i]
            r = rows(m)[i]
            for k in range(p.n):
                r.la[k] = la[p.row - head(m).n_internal + k]
            add_gradient(p, r, r.la, -1.0, sides[0].gx, sides[0].gd, sides[1].gx, sides[1].gd)
        R = [s.d[:9].reshape(3, 3).T for s in sides]
        for side, s in enumerate(sides):
            at = 21 * j + 6 * side
            out[at : at + 3] = s.gx[:3]
            moment = cross(R[side].T, s.gd[:9].reshape(3, 3)).sum(axis=0)
            out[at + 3 : at + 6] = moment - cross(R[side] @ joint.points[side], s.gx[:3])
        out[21 * j + 12 : 21 * j + 21] = (R[0] @ joint.frame).ravel()

"""The joints in a step: g(z1) = 0 and -G(z_mean)^T mu, with mu = h^2 la / 2 as unknowns.

G is linear in the natural coordinates, so G(z_mean) (z1 - z0) = g(z1) - g(z0): the discrete derivative of [BS09] (53).
Reads P, Q at the mean and half of their increments in Pd, Qd (`primitive_vectors` of order 1 after `take`).
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.conserving.bodies import start_directors
from rbdae.kernels.conserving.increments import arms, combination, half_increment, increment, rotation_less_identity
from rbdae.kernels.constraints.gradients import columns_of
from rbdae.kernels.memory import bodies, head, newton_joints, newton_matrix, primitives, rows, states, tangent_memory
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE

PULLED, MOVED = 0, 3
"""First columns of two bases of the directors: forces are pulled back by one, increments move by the other."""


def bases(m: Memory, b: int) -> Any:
    """(9, 6): T with T^T f = E^T L^T f, or (1 + b . b) L^T (L^T f) with directors, in the rows of the rotation, and
    C = d(d1)/db."""
    return states(m)[b].Ud


def set_bases(m: Memory) -> None:
    """T_k = -R0 (L e_k)^ E and C_k = -R0 (dR e_k)^ H. E is the matrix of the frame of the rows, E+ + b b^T with
    directors; H db is the spatial rotation in the frame of R0."""
    c = tangent_memory(m)
    L = c.left
    E = c.right
    R = c.A
    H = c.K
    directors = head(m).kind == DIRECTOR_RATE
    for b in range(head(m).n_bodies):
        v = half_increment(m, b)
        e = increment(m, b)
        a = arms(m, b)
        combination(a[0], a[1], a[2], v, L)
        combination(e[0], e[1], 1.0 if directors else e[5], v, E)
        rotation_less_identity(m, b, R)
        for k in range(3):
            R[k, k] += 1.0
        f = 2.0 / e[4]
        combination(f * e[0] * e[1], f * e[1] * e[1], 2.0 * f * (e[0] * e[3] - e[1] * e[2]), v, H)
        for k in range(3):
            _basis(m, b, k, L, E, PULLED)
            _basis(m, b, k, R, H, MOVED)


def _basis(m: Memory, b: int, k: int, A: Array, E: Array, first: int) -> None:
    """Rows 3 k to 3 k + 2: -R0 (A e_k)^ E."""
    d = start_directors(m, b)
    x = A[0, k]
    y = A[1, k]
    z = A[2, k]
    out = bases(m, b)
    for j in range(3):
        p = z * E[1, j] - y * E[2, j]
        q = x * E[2, j] - z * E[0, j]
        r = y * E[0, j] - x * E[1, j]
        for i in range(3):
            out[3 * k + i, first + j] = d[i] * p + d[3 + i] * q + d[6 + i] * r


def joint_rows(m: Memory) -> None:
    """g(z1) and its tangent, G^T in the rows of the bodies, and the tangent of the joints' forces."""
    C = primitives(m)
    B = bodies(m)
    A = newton_matrix(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        r = rows(m)[i]
        for k in range(3):
            r.Pd[k] += r.P[k]
            r.Qd[k] += r.Q[k]
        for side in range(2):
            b = p.body[side]
            if B[b].fixed == 0:
                columns_of(ANGULAR, p.A, side, bases(m, b), 6, r.Pw[side])
                if p.linear == 0:
                    columns_of(ANGULAR, p.B, side, bases(m, b), 6, r.Qw[side])
        at = newton_joints(m)[i].row
        if p.linear == 1:
            for k in range(3):
                if p.keep[k] == 1:
                    A[at[k]] = p.offset[k] - r.Pd[k]
        elif p.keep[0] == 1:
            A[at[0]] = p.offset[0] - p.scale * (r.Pd[0] * r.Qd[0] + r.Pd[1] * r.Qd[1] + r.Pd[2] * r.Qd[2])
        for side in range(2):
            if B[p.body[side]].fixed == 0:
                if p.linear == 1:
                    _linear_columns(m, i, side)
                else:
                    _bilinear_columns(m, i, side)
                    if p.moving == 1:
                        _add_moving_columns(m, i, side)


def _linear_columns(m: Memory, i: int, side: int) -> None:
    p = primitives(m)[i]
    r = rows(m)[i]
    A = newton_matrix(m)
    to = newton_joints(m)[i]
    nt = bodies(m)[p.body[side]].nt
    x = p.A[4 * side]
    step = to.force_stride[side]
    for k in range(3):
        if p.keep[k] == 0:
            continue
        g = to.gradient[side, k]
        f = to.force[side, k]
        if nt == 3:
            A[g + k] += x
            A[f + k * step] += x
        for j in range(3):
            A[g + nt + j] += r.Pw[side, k, MOVED + j]
            A[f + (nt + j) * step] += r.Pw[side, k, PULLED + j]


def _bilinear_columns(m: Memory, i: int, side: int) -> None:
    """The columns of a bilinear primitive, and the tangent of -mu times its gradient at the mean."""
    p = primitives(m)[i]
    if p.keep[0] == 0:
        return
    r = rows(m)[i]
    A = newton_matrix(m)
    to = newton_joints(m)[i]
    nt = bodies(m)[p.body[side]].nt
    g = to.gradient[side, 0]
    f = to.force[side, 0]
    step = to.force_stride[side]
    if nt == 3:
        for k in range(3):
            A[g + k] += p.scale * (p.A[4 * side] * r.Qd[k] + p.B[4 * side] * r.Pd[k])
            A[f + k * step] += p.scale * (p.A[4 * side] * r.Q[k] + p.B[4 * side] * r.P[k])
    for j in range(3):
        u = 0.0 * r.P[0]
        v = 0.0 * r.P[0]
        for l in range(3):
            u += r.Qd[l] * r.Pw[side, l, MOVED + j] + r.Pd[l] * r.Qw[side, l, MOVED + j]
            v += r.Q[l] * r.Pw[side, l, PULLED + j] + r.P[l] * r.Qw[side, l, PULLED + j]
        A[g + nt + j] += p.scale * u
        A[f + (nt + j) * step] += p.scale * v
    for other in range(2):
        if bodies(m)[p.body[other]].fixed == 0:
            _add_stiffness(m, i, side, other)


def _add_moving_columns(m: Memory, i: int, side: int) -> None:
    """The terms that the direction at the end of the step adds to the gradient of g(z1, t1), see
    `rbdae.kernels.conserving.drives`."""
    p = primitives(m)[i]
    if p.keep[0] == 0:
        return
    r = rows(m)[i]
    A = newton_matrix(m)
    C = r.Gw[side]
    b = p.body[side]
    columns_of(ANGULAR, p.Ad, side, bases(m, b), 6, C)
    at = newton_joints(m)[i].gradient[side, 0] + bodies(m)[b].nt
    for j in range(3):
        for l in range(3):
            A[at + j] += p.scale * r.Qd[l] * C[l, MOVED + j]


def _add_stiffness(m: Memory, i: int, one: int, two: int) -> None:
    """mu / 2 times the constant Hessian of a bilinear primitive in the rows of one body, the columns of another."""
    p = primitives(m)[i]
    r = rows(m)[i]
    A = newton_matrix(m)
    to = newton_joints(m)[i]
    at = to.stiffness[one, two]
    n = to.stiffness_stride[two]
    f = 0.5 * p.scale * r.la[0]
    t1 = bodies(m)[p.body[one]].nt
    t2 = bodies(m)[p.body[two]].nt
    a1 = f * p.A[4 * one]
    b1 = f * p.B[4 * one]
    a2 = f * p.A[4 * two]
    b2 = f * p.B[4 * two]
    if t1 == 3 and t2 == 3:
        for k in range(3):
            A[at + n * k + k] += a1 * p.B[4 * two] + b1 * p.A[4 * two]
    for l in range(3):
        for j in range(3):
            if t1 == 3:
                A[at + n * l + t2 + j] += a1 * r.Qw[two, l, MOVED + j] + b1 * r.Pw[two, l, MOVED + j]
            if t2 == 3:
                A[at + n * (t1 + j) + l] += b2 * r.Pw[one, l, PULLED + j] + a2 * r.Qw[one, l, PULLED + j]
    for i1 in range(3):
        for j in range(3):
            u = 0.0 * f
            for l in range(3):
                u += r.Pw[one, l, PULLED + i1] * r.Qw[two, l, MOVED + j]
                u += r.Qw[one, l, PULLED + i1] * r.Pw[two, l, MOVED + j]
            A[at + n * (t1 + i1) + t2 + j] += f * u

"""The gradients of the primitive constraints with respect to (xdot, w) of their bodies."""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.constraints.redundant_rows import drop_gradient
from rbdae.kernels.memory import bodies, head, primitives, rows, states, tangent_memory
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE
from rbdae.rotations.algebra import director_tangents


def columns_of(kind: int, c: Array, side: int, D: Array, n: int, out: Array) -> None:
    """out[:, :n] = sum_i c_i D[3 i:3 i + 3, :n] over the directors of one side."""
    j = 4 * side
    if kind == DIRECTOR_RATE:
        for k in range(3):
            for i in range(9):
                out[k, i] = 0.0
        for i in range(3):
            for k in range(3):
                out[k, 3 * i + k] = c[j + 1 + i]
    else:
        a = c[j + 1]
        b = c[j + 2]
        e = c[j + 3]
        for k in range(3):
            for i in range(n):
                out[k, i] = a * D[k, i] + b * D[3 + k, i] + e * D[6 + k, i]


def gradients(m: Memory) -> None:
    """G with respect to (xdot, w) of both bodies of each primitive, zero in dropped rows. Reads P, Q and B of the
    bodies; writes Gx and Gw."""
    h = head(m)
    C = primitives(m)
    S = states(m)
    B = bodies(m)
    for i in range(h.n_primitives):
        p = C[i]
        for side in range(2):
            b = p.body[side]
            if B[b].fixed == 1:
                continue
            gradient(m, i, side, h.kind, S[b].B, B[b].nr)
            if p.whole == 0:
                drop_gradient(m, i, side)


def twist_gradients(m: Memory) -> None:
    """G with respect to (xdot, Omega), whatever the velocities of the formulation are, dropped rows included. Reads P,
    Q and the directors; writes as `gradients` does."""
    C = primitives(m)
    S = states(m)
    B = bodies(m)
    basis = tangent_memory(m).basis
    for i in range(head(m).n_primitives):
        for side in range(2):
            b = C[i].body[side]
            if B[b].fixed == 0:
                director_tangents(S[b].d, basis)
                gradient(m, i, side, ANGULAR, basis, 3)


def gradient(m: Memory, i: int, side: int, kind: int, D: Array, n: int) -> None:
    """The gradient of one side of a primitive; D[:, :n] is the tangent of the directors."""
    p = primitives(m)[i]
    r = rows(m)[i]
    rotation_rows(m, i, side, kind, D, n, r.Gw[side])
    for k in range(3):
        if p.linear == 1:
            for j in range(3):
                r.Gx[side, k, j] = p.A[4 * side] if j == k else 0.0
        else:
            r.Gx[side, 0, k] = p.scale * (p.A[4 * side] * r.Q[k] + p.B[4 * side] * r.P[k])


def rotation_rows(m: Memory, i: int, side: int, kind: int, D: Array, n: int, out: Array) -> None:
    """out[:, :n] = the part of the rotation, in rows of nine numbers: dP, or scale (Q^T dP + P^T dQ)."""
    if primitives(m)[i].linear == 1:
        columns_of(kind, primitives(m)[i].A, side, D, n, out)
    else:
        _bilinear_row(m, i, side, kind, D, n, out)


def _bilinear_row(m: Memory, i: int, side: int, kind: int, D: Array, n: int, out: Array) -> None:
    p = primitives(m)[i]
    r = rows(m)[i]
    T = tangent_memory(m).product
    columns_of(kind, p.A, side, D, n, T)
    for j in range(n):
        out[0, j] = p.scale * (r.Q[0] * T[0, j] + r.Q[1] * T[1, j] + r.Q[2] * T[2, j])
    columns_of(kind, p.B, side, D, n, T)
    for j in range(n):
        out[0, j] += p.scale * (r.P[0] * T[0, j] + r.P[1] * T[1, j] + r.P[2] * T[2, j])


def force_directions(m: Memory, i: int, side: int, n: int) -> None:
    """`work[side][:, :n]`: W^T of one side of a primitive in n rows of the rotation, zero in dropped rows.

    W are the directions of the joints' forces in the rows of the dynamics where they are not G^T: with the forms of
    [SNS15] a joint's natural force -G_Z^T la is pulled back by the row basis U of
    `rbdae.kernels.bodies.euler_parameter_forms` in place of d(ddot)/d(pdot), from which the gradient G comes. On the
    constraint manifold the columns of W and G^T differ by multiples of p, that is by the multiplier of the unit norm.
    Reads P, Q and U.
    """
    p = primitives(m)[i]
    W = tangent_memory(m).work[side]
    rotation_rows(m, i, side, head(m).kind, states(m)[p.body[side]].U, n, W)
    for k in range(p.n):
        for j in range(n):
            W[k, j] *= p.keep[k]


def plus_side(t: Array, m: Memory, i: int, side: int, k: int, v: Array) -> Any:
    """t plus row k of one side of a primitive, which is not fixed, times the velocities v of all bodies."""
    o = bodies(m)[primitives(m)[i].body[side]]
    r = rows(m)[i]
    n = o.iv + o.nt
    for j in range(o.nt):
        t += r.Gx[side, k, j] * v[o.iv + j]
    for j in range(o.nr):
        t += r.Gw[side, k, j] * v[n + j]
    return t

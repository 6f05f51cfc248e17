"""Kernels of the primitive constraints.

Over the natural coordinates Z = (x, d1, d2, d3) of two bodies a primitive has the vectors P = sum A_k Z_k and
Q = sum B_k Z_k, and says

* linear (coincidence, 3 equations):  P - s(t) = 0;
* bilinear (dot-1, dot-2, distance):  scale P . Q - c(t) = 0.

Both are at most quadratic in Z, so the Hessian is constant. Rates follow by the product rule ([NS], sections 2 and 5,
(5) for g_I and g_II).
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import head, multipliers, primitives, rows, states


def combine(c: Array, x1: Array, d1: Array, x2: Array, d2: Array, out: Array) -> None:
    """out = sum c_k Z_k."""
    for k in range(3):
        out[k] = (
            c[0] * x1[k]
            + c[1] * d1[k]
            + c[2] * d1[3 + k]
            + c[3] * d1[6 + k]
            + c[4] * x2[k]
            + c[5] * d2[k]
            + c[6] * d2[3 + k]
            + c[7] * d2[6 + k]
        )


def primitive_vectors(m: Memory, order: int) -> None:
    """P and Q of all primitives, with their rates up to the order (0, 1, 2). Reads the natural coordinates up to
    this order."""
    C = primitives(m)
    R = rows(m)
    S = states(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        r = R[i]
        s1 = S[p.body[0]]
        s2 = S[p.body[1]]
        combine(p.A, s1.x, s1.d, s2.x, s2.d, r.P)
        if order > 0:
            combine(p.A, s1.xd, s1.dd, s2.xd, s2.dd, r.Pd)
        if order > 1:
            combine(p.A, s1.xdd, s1.ddd, s2.xdd, s2.ddd, r.Pdd)
        if p.linear == 0:
            combine(p.B, s1.x, s1.d, s2.x, s2.d, r.Q)
            if order > 0:
                combine(p.B, s1.xd, s1.dd, s2.xd, s2.dd, r.Qd)
            if order > 1:
                combine(p.B, s1.xdd, s1.ddd, s2.xdd, s2.ddd, r.Qdd)
            if p.moving == 1 and order > 0:
                _add_moving_rates(m, i, order)


def _add_moving_rates(m: Memory, i: int, order: int) -> None:
    """The rates of the coefficients A(t): Pd += A' Z, Pdd += 2 A' Zd + A'' Z."""
    p = primitives(m)[i]
    r = rows(m)[i]
    s1 = states(m)[p.body[0]]
    s2 = states(m)[p.body[1]]
    combine(p.Ad, s1.x, s1.d, s2.x, s2.d, r.value)
    for k in range(3):
        r.Pd[k] += r.value[k]
    if order > 1:
        combine(p.Ad, s1.xd, s1.dd, s2.xd, s2.dd, r.value)
        for k in range(3):
            r.Pdd[k] += 2.0 * r.value[k]
        combine(p.Add, s1.x, s1.d, s2.x, s2.d, r.value)
        for k in range(3):
            r.Pdd[k] += r.value[k]


def partial_rates(m: Memory, out: Array, row: int, scale: float) -> None:
    """out[row:] += scale times the rate of g at rest, which is g_I of the joints. Reads Q."""
    C = primitives(m)
    R = rows(m)
    S = states(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        r = R[i]
        n = row + p.row
        for k in range(p.n):
            out[n + k] -= scale * p.offset_rate[k]
        if p.moving == 1:
            s1 = S[p.body[0]]
            s2 = S[p.body[1]]
            combine(p.Ad, s1.x, s1.d, s2.x, s2.d, r.value)
            out[n] += scale * p.scale * (r.value[0] * r.Q[0] + r.value[1] * r.Q[1] + r.value[2] * r.Q[2])


def primitive_residual(m: Memory, out: Array, row: int, level: int) -> None:
    """The joint constraints at the level of positions (0), velocities (1) or accelerations (2). Reads P, Q with
    their rates up to the level."""
    C = primitives(m)
    R = rows(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        r = R[i]
        n = row + p.row
        if p.linear == 1:
            if level == 0:
                for k in range(3):
                    out[n + k] = r.P[k] - p.offset[k]
            elif level == 1:
                for k in range(3):
                    out[n + k] = r.Pd[k] - p.offset_rate[k]
            else:
                for k in range(3):
                    out[n + k] = r.Pdd[k] - p.offset_acceleration[k]
        elif level == 0:
            out[n] = p.scale * (r.P[0] * r.Q[0] + r.P[1] * r.Q[1] + r.P[2] * r.Q[2]) - p.offset[0]
        elif level == 1:
            t = -p.offset_rate[0] / p.scale
            u = t + r.P[0] * r.Qd[0] + r.Pd[0] * r.Q[0]
            for k in range(1, 3):
                u += r.P[k] * r.Qd[k] + r.Pd[k] * r.Q[k]
            out[n] = p.scale * u
        else:
            t = -p.offset_acceleration[0] / p.scale
            u = t + r.P[0] * r.Qdd[0] + 2.0 * r.Pd[0] * r.Qd[0] + r.Pdd[0] * r.Q[0]
            for k in range(1, 3):
                u += r.P[k] * r.Qdd[k] + 2.0 * r.Pd[k] * r.Qd[k] + r.Pdd[k] * r.Q[k]
            out[n] = p.scale * u


def add_natural(c: Array, f: Array, scale: float, fx1: Array, fd1: Array, fx2: Array, fd2: Array) -> None:
    """Natural forces of both bodies += scale c_k f."""
    for k in range(3):
        g = scale * f[k]
        fx1[k] += c[0] * g
        fd1[k] += c[1] * g
        fd1[3 + k] += c[2] * g
        fd1[6 + k] += c[3] * g
        fx2[k] += c[4] * g
        fd2[k] += c[5] * g
        fd2[3 + k] += c[6] * g
        fd2[6 + k] += c[7] * g


def primitive_forces(m: Memory) -> None:
    """Add the constraint forces -G^T la of the joints to the natural forces. Reads the multipliers, P and Q; leaves
    the multipliers of each primitive in r.la, 0 in dropped rows."""
    C = primitives(m)
    R = rows(m)
    S = states(m)
    la = multipliers(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        r = R[i]
        s1 = S[p.body[0]]
        s2 = S[p.body[1]]
        for k in range(p.n):
            r.la[k] = la[p.row + k] * p.keep[k]
        add_gradient(p, r, r.la, -1.0, s1.fx, s1.fd, s2.fx, s2.fd)


def add_gradient(p: Array, r: Array, la: Array, scale: float, fx1: Array, fd1: Array, fx2: Array, fd2: Array) -> None:
    """Natural forces of both bodies += scale G^T la of one primitive. Reads P and Q."""
    if p.linear == 1:
        add_natural(p.A, la, scale, fx1, fd1, fx2, fd2)
    else:
        f = scale * p.scale * la[0]
        add_natural(p.A, r.Q, f, fx1, fd1, fx2, fd2)
        add_natural(p.B, r.P, f, fx1, fd1, fx2, fd2)

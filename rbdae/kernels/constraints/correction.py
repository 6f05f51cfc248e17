"""The kinematic correction of the stabilised forms: qdot = v - G^T mu, after [GGL85].

With coordinate velocities G is dg/dq. With the angular ones the correction is a velocity, too, so that it keeps the
rotations on their manifold:

    xdot = v - G_x^T mu,    adot = K(a) (Omega - G_Omega^T mu).
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.internal_constraints import add_internal_forces
from rbdae.kernels.bodies.natural import to_velocities
from rbdae.kernels.constraints.primitives import add_gradient
from rbdae.kernels.memory import bodies, corrections, head, primitives, rows, states
from rbdae.kernels.records import ANGULAR
from rbdae.rotations.chart import rate


def gather_corrections(m: Memory, y: Array, offset: int) -> None:
    """mu from y[offset:offset + nla]."""
    mu = corrections(m)
    for i in range(head(m).n_la):
        mu[i] = y[offset + i]


def place_corrections(m: Memory) -> None:
    """gx, gd = G^T mu of the joints in natural coordinates. Reads mu, P and Q."""
    h = head(m)
    S = states(m)
    mu = corrections(m)
    for b in range(h.n_bodies + 1):
        s = S[b]
        for k in range(3):
            s.gx[k] = 0.0
        for k in range(9):
            s.gd[k] = 0.0
    C = primitives(m)
    R = rows(m)
    for i in range(h.n_primitives):
        p = C[i]
        r = R[i]
        s1 = S[p.body[0]]
        s2 = S[p.body[1]]
        for k in range(p.n):
            r.mu[k] = mu[p.row + k] * p.keep[k]
        add_gradient(p, r, r.mu, 1.0, s1.gx, s1.gd, s2.gx, s2.gd)


def add_corrections(m: Memory, out: Array) -> None:
    """out[:nq] += G^T mu, or K times it. Reads mu, gx and gd."""
    h = head(m)
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        i = o.iq + o.nt
        for k in range(o.nt):
            out[o.iq + k] += s.gx[k]
        to_velocities(m, b, s.gd, s.t)
        if h.kind == ANGULAR:
            rate(h.chart, s.a, s.t, s.ad)
        for k in range(o.na):
            out[i + k] += s.ad[k] if h.kind == ANGULAR else s.t[k]
        if h.kind != ANGULAR:
            add_internal_forces(m, b, corrections(m), out, i)

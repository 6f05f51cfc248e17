"""The constraint rows of a formulation at one level: internal constraints of the bodies, then joints.

At the acceleration level of formulations that are `stabilised` they have Baumgarte's terms, gddot + 2 alpha gdot +
beta^2 g: alpha and beta are the first two of `rbdae.kernels.memory.formulation_parameters`. Joint equations that follow
from others are dropped: their gradients count as zero, and their multipliers are zero.
"""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import moving
from rbdae.kernels.bodies.internal_constraints import gradient, internal_residual
from rbdae.kernels.bodies.velocities import pulled_back
from rbdae.kernels.constraints.primitives import gradient_times, primitive_residual
from rbdae.kernels.records import ANGULAR
from rbdae.rotations.chart import numbered


def constraint_rows(m: Memory, out: Array, row: int, level: int, la: Array | float = 0.0) -> None:
    """out[row:row + nla] = the constraints at one level, at level 2 with Baumgarte's terms; in dropped rows their
    multipliers, of all constraints in la, or 0. Reads the vectors of the primitives up to this level."""
    h = m.head
    internal_residual(m, out, row, level)
    primitive_residual(m, out, row, level)
    if level == 2 and h.stabilised == 1:
        alpha, beta = m.formulation_parameters[:2]
        for lower, factor in ((0, beta * beta), (1, 2.0 * alpha)):
            g = np.zeros(h.n_la, dtype=out.dtype)
            internal_residual(m, g, 0, lower)
            primitive_residual(m, g, 0, lower)
            out[row : row + h.n_la] += g * factor
    dropped_residual(m, out, row, la)


def dropped_residual(m: Memory, out: Array, row: int, la: Array | float = 0.0) -> None:
    """out[row:] = la in the dropped rows, which has the multipliers of all constraints, or 0."""
    for p in m.primitives:
        for i in range(p.row, p.row + p.n):
            if p.keep[i - p.row] == 0:
                out[row + i] = la[i] if isinstance(la, np.ndarray) else la


def add_corrections(m: Memory, mu: Array, out: Array) -> None:
    """out[:nq] += G^T mu, the kinematic correction qdot = v - G^T mu of [GGL85]; mu (n_la,). Reads P and Q.

    With coordinate velocities G is dg/dq. With the angular ones the correction is a velocity, too, so that it keeps the
    rotations on their manifold: xdot = v - G_x^T mu, adot = K(a) (Omega - G_Omega^T mu).
    """
    h = m.head
    f = np.zeros((h.n_bodies + 1, 12), dtype=out.dtype)
    for p, r in zip(m.primitives, m.rows, strict=True):
        of_joint = gradient_times(p, r, mu[p.row : p.row + p.n] * np.array(p.keep[: p.n]))
        for b, share in zip(p.body, of_joint, strict=True):
            f[b] += share
    for (o, s), of_body in zip(moving(m), f[:-1], strict=True):
        turning = pulled_back(h.kind, s, of_body[3:])
        if h.kind == ANGULAR:
            turning = numbered(h.chart).rate(s.a[: o.na], turning)
        else:
            turning = turning + gradient(m, s).T @ mu[o.il : o.il + o.ni]
        out[o.iq : o.iq + o.nt + o.na] += np.concatenate([of_body[: o.nt], turning])

"""The kinematic correction of the stabilised forms: qdot = v - G^T mu, after [GGL85].

With coordinate velocities G is dg/dq. With the angular ones the correction is a velocity, too, so that it keeps the
rotations on their manifold:

    xdot = v - G_x^T mu,    adot = K(a) (Omega - G_Omega^T mu).
"""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.internal_constraints import add_internal_forces
from rbdae.kernels.bodies.velocities import pulled_back
from rbdae.kernels.constraints.primitives import gradient_times
from rbdae.kernels.memory import bodies, head, primitives, rows, states
from rbdae.kernels.records import ANGULAR
from rbdae.rotations.chart import numbered


def add_corrections(m: Memory, mu: Array, out: Array) -> None:
    """out[:nq] += G^T mu, or K times it; mu (n_la,) of the internal constraints body by body, then of the joints. Reads
    P and Q."""
    h = head(m)
    f = np.zeros((h.n_bodies + 1, 12), dtype=out.dtype)
    for p, r in zip(primitives(m), rows(m), strict=True):
        of_joint = gradient_times(p, r, mu[p.row : p.row + p.n] * np.array(p.keep[: p.n]))
        for b, share in zip(p.body, of_joint, strict=True):
            f[b] += share
    for b, (o, s) in enumerate(zip(bodies(m)[:-1], states(m)[:-1], strict=True)):
        i = o.iq + o.nt
        out[o.iq : i] += f[b, : o.nt]
        turning = pulled_back(h.kind, s, f[b, 3:])
        if h.kind == ANGULAR:
            out[i : i + o.na] += numbered(h.chart).rate(s.a[: o.na], turning)
        else:
            out[i : i + o.na] += turning
            add_internal_forces(m, b, mu, out, i)

"""The kinematic rows qdot = v, or adot = K(a) Omega with the angular kind."""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, vector_at
from rbdae.compiler.jit import stage
from rbdae.kernels.memory import bodies, head, states
from rbdae.kernels.records import ANGULAR
from rbdae.rotations.chart import rate


@stage("iii")
def kinematics_residual(m: Memory, yd_at: Address, out_at: Address) -> None:
    """out[:nq] = qdot - v, or adot - K(a) Omega for the rotations of the angular kind. Reads xd and om or w."""
    yd = vector_at(yd_at)
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        i = B[b].iq
        if B[b].nt == 3:
            for k in range(3):
                out[i + k] = yd[i + k] - s.xd[k]
            i += 3
        if h.kind == ANGULAR:
            rate(h.chart, s.a, s.om, s.ad)
            for k in range(B[b].na):
                out[i + k] = yd[i + k] - s.ad[k]
        else:
            for k in range(B[b].na):
                out[i + k] = yd[i + k] - s.w[k]


@stage("ii")
def kinematics_rate(m: Memory, out_at: Address) -> None:
    """out[:nq] = qdot as a function of (q, v). Reads xd and om or w."""
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        i = B[b].iq
        if B[b].nt == 3:
            for k in range(3):
                out[i + k] = s.xd[k]
            i += 3
        if h.kind == ANGULAR:
            rate(h.chart, s.a, s.om, s.ad)
            for k in range(B[b].na):
                out[i + k] = s.ad[k]
        else:
            for k in range(B[b].na):
                out[i + k] = s.w[k]

"""The kinematic rows qdot = v, or adot = K(a) Omega with the angular kind."""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, vector_at
from rbdae.compiler.jit import stage
from rbdae.kernels.bodies.gather import write_body
from rbdae.kernels.memory import bodies, head, states
from rbdae.kernels.records import ANGULAR
from rbdae.rotations.chart import rate


@stage("iii")
def kinematics_residual(m: Memory, yd_at: Address, out_at: Address) -> None:
    """out[:nq] = qdot - v, or adot - K(a) Omega for the rotations of the angular kind. Reads xd and om or w."""
    yd = vector_at(yd_at)
    out = vector_at(out_at)
    kinematics_rate(m, out_at)
    for i in range(head(m).n_q):
        out[i] = yd[i] - out[i]


@stage("ii")
def kinematics_rate(m: Memory, out_at: Address) -> None:
    """out[:nq] = qdot as a function of (q, v). Reads xd and om or w."""
    out = vector_at(out_at)
    h = head(m)
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        w = s.w
        if h.kind == ANGULAR:
            rate(h.chart, s.a, s.om, s.ad)
            w = s.ad
        write_body(m, b, s.xd, w, o.na, out, o.iq)

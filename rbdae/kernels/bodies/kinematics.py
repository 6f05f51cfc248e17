"""The kinematic rows qdot = v, or adot = K(a) Omega with the angular kind."""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import write_body
from rbdae.kernels.memory import bodies, head, states
from rbdae.kernels.records import ANGULAR
from rbdae.rotations.chart import rate


def kinematics_residual(m: Memory, yd: Array, out: Array) -> None:
    """out[:nq] = qdot - v, or adot - K(a) Omega for the rotations of the angular kind. Reads xd and om or w."""
    kinematics_rate(m, out)
    for i in range(head(m).n_q):
        out[i] = yd[i] - out[i]


def kinematics_rate(m: Memory, out: Array) -> None:
    """out[:nq] = qdot as a function of (q, v). Reads xd and om or w."""
    h = head(m)
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        w = s.w
        if h.kind == ANGULAR:
            rate(h.chart, s.a, s.om, s.ad)
            w = s.ad
        write_body(m, b, s.xd, w, o.na, out, o.iq)

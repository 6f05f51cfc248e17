"""The kinematic rows qdot = v, or adot = K(a) Omega with the angular kind."""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import write_body
from rbdae.kernels.memory import bodies, head, states
from rbdae.kernels.records import ANGULAR
from rbdae.rotations.chart import numbered


def kinematics_residual(m: Memory, yd: Array, out: Array) -> None:
    """out[:nq] = qdot - v, or adot - K(a) Omega for the rotations of the angular kind. Reads xd and om or w."""
    n = head(m).n_q
    kinematics_rate(m, out)
    out[:n] = yd[:n] - out[:n]


def kinematics_rate(m: Memory, out: Array) -> None:
    """out[:nq] = qdot as a function of (q, v). Reads xd and om or w."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        write_body(m, b, states(m)[b].xd, parameter_rates(m, b), o.na, out, o.iq)


def parameter_rates(m: Memory, b: int) -> Array:
    """adot of one body. Reads om or w."""
    s, chart = states(m)[b], numbered(head(m).chart)
    return chart.rate(s.a[: chart.n], s.om) if head(m).kind == ANGULAR else s.w[: chart.n]

"""Bodies with the material angular velocity Omega as rotational velocity."""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import bodies, states


def add_gyroscopic(m: Memory, b: int) -> None:
    """t -= Omega x J Omega."""
    s = states(m)[b]
    J = bodies(m)[b].inertia
    w = s.w
    l0 = J[0, 0] * w[0] + J[0, 1] * w[1] + J[0, 2] * w[2]
    l1 = J[1, 0] * w[0] + J[1, 1] * w[1] + J[1, 2] * w[2]
    l2 = J[2, 0] * w[0] + J[2, 1] * w[1] + J[2, 2] * w[2]
    s.t[0] -= w[1] * l2 - w[2] * l1
    s.t[1] -= w[2] * l0 - w[0] * l2
    s.t[2] -= w[0] * l1 - w[1] * l0


def mass(m: Memory, b: int, v: Array, out: Array) -> None:
    """out = J v."""
    J = bodies(m)[b].inertia
    for k in range(3):
        out[k] = J[k, 0] * v[0] + J[k, 1] * v[1] + J[k, 2] * v[2]

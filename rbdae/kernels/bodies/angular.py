"""Bodies with the material angular velocity Omega as rotational velocity."""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, vector_at
from rbdae.compiler.jit import stage
from rbdae.kernels.memory import bodies, states


@stage("ii", "angular")
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


@stage("iiii", "angular")
def mass(m: Memory, b: int, v_at: Address, out_at: Address) -> None:
    """out = J v."""
    v = vector_at(v_at)
    out = vector_at(out_at)
    J = bodies(m)[b].inertia
    for k in range(3):
        out[k] = J[k, 0] * v[0] + J[k, 1] * v[1] + J[k, 2] * v[2]

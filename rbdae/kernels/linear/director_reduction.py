"""A body with director rates: its velocities without the internal constraints, and the way back.

See `rbdae.kernels.linear.saddle`.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, vector_at
from rbdae.compiler.jit import stage
from rbdae.kernels.linear.director_rates import reciprocal_vectors
from rbdae.kernels.linear.small import inverse3
from rbdae.kernels.memory import (
    bodies,
    multipliers,
    states,
    tangent_memory,
    unbalanced,
)


@stage("ii", "director-rate")
def reduce(m: Memory, b: int) -> None:
    """C = D^-T, N and Ji."""
    scratch = tangent_memory(m)
    s = states(m)[b]
    reciprocal_vectors(m, b)
    for i in range(3):
        x = s.C[0, i]
        y = s.C[1, i]
        z = s.C[2, i]
        s.N[3 * i, 0] = 0.0
        s.N[3 * i + 1, 0] = -z
        s.N[3 * i + 2, 0] = y
        s.N[3 * i, 1] = z
        s.N[3 * i + 1, 1] = 0.0
        s.N[3 * i + 2, 1] = -x
        s.N[3 * i, 2] = -y
        s.N[3 * i + 1, 2] = x
        s.N[3 * i + 2, 2] = 0.0
    E = bodies(m)[b].euler
    for i in range(3):
        for j in range(3):
            scratch.product[i, j] = s.C[i, 0] * E[0, j] + s.C[i, 1] * E[1, j] + s.C[i, 2] * E[2, j]
    for i in range(3):
        for j in range(3):
            scratch.block[i, j] = -(
                scratch.product[i, 0] * s.C[j, 0]
                + scratch.product[i, 1] * s.C[j, 1]
                + scratch.product[i, 2] * s.C[j, 2]
            )
    t = -(scratch.block[0, 0] + scratch.block[1, 1] + scratch.block[2, 2])
    for i in range(3):
        scratch.block[i, i] += t
    inverse3(scratch.block, s.Ji)


@stage("iiiii", "director-rate")
def particular(m: Memory, b: int, s_at: Address, il: int, out_at: Address) -> None:
    """out = H D^-T with the symmetric matrix H of six numbers of s."""
    s_int = vector_at(s_at)
    out = vector_at(out_at)
    s = states(m)[b]
    h0 = s_int[il]
    h1 = s_int[il + 1]
    h2 = s_int[il + 2]
    h3 = 0.5 * s_int[il + 3]
    h4 = 0.5 * s_int[il + 4]
    h5 = 0.5 * s_int[il + 5]
    for i in range(3):
        x = s.C[0, i]
        y = s.C[1, i]
        z = s.C[2, i]
        out[3 * i] = h0 * x + h3 * y + h4 * z
        out[3 * i + 1] = h3 * x + h1 * y + h5 * z
        out[3 * i + 2] = h4 * x + h5 * y + h2 * z


@stage("ii", "director-rate")
def internal_multipliers(m: Memory, b: int) -> None:
    """The six multipliers of one body, Lambda = F D^-1. Reads `unbalanced`; writes `multipliers`."""
    scratch = tangent_memory(m)
    o = bodies(m)[b]
    s = states(m)[b]
    la = multipliers(m)
    F = unbalanced(m)
    i = o.iv + o.nt
    for k in range(3):
        for l in range(3):
            scratch.block[k, l] = F[i + k] * s.C[l, 0] + F[i + 3 + k] * s.C[l, 1] + F[i + 6 + k] * s.C[l, 2]
    la[o.il] = scratch.block[0, 0]
    la[o.il + 1] = scratch.block[1, 1]
    la[o.il + 2] = scratch.block[2, 2]
    la[o.il + 3] = 0.5 * (scratch.block[0, 1] + scratch.block[1, 0])
    la[o.il + 4] = 0.5 * (scratch.block[0, 2] + scratch.block[2, 0])
    la[o.il + 5] = 0.5 * (scratch.block[1, 2] + scratch.block[2, 1])

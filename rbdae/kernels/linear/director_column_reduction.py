"""A body with director rates and the constraints of the columns of R: its velocities without them, and the way back.

With c_j the reciprocal vectors, c_j . d_i = delta_ij, the rates that respect d_i . d_j are sum_j A_ij c_j with A
antisymmetric, and H C with H symmetric has the six rates s, whatever the directors are; see `director_reduction` and
`rbdae.kernels.linear.saddle`.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.linear.director_rates import reciprocal_vectors
from rbdae.kernels.linear.small import inverse3
from rbdae.kernels.memory import (
    bodies,
    multipliers,
    states,
    tangent_memory,
    unbalanced,
)


@jit
def _entry(i: int, j: int) -> int:
    """The place of H_ij among six numbers."""
    return i if i == j else 2 + i + j


@stage("ii", "columns")
def reduce(m: Memory, b: int) -> None:
    """C, whose columns are the reciprocal vectors, N and Ji."""
    scratch = tangent_memory(m)
    s = states(m)[b]
    reciprocal_vectors(m, b)
    E = bodies(m)[b].euler
    for l in range(3):
        i = (l + 1) % 3
        j = (l + 2) % 3
        for k in range(3):
            s.N[3 * i + k, l] = s.C[k, j]
            s.N[3 * j + k, l] = -s.C[k, i]
            s.N[3 * l + k, l] = 0.0
    for l in range(3):
        for n in range(3):
            t = 0.0 * s.C[0, 0]
            for i in range(3):
                for j in range(3):
                    for k in range(3):
                        t += E[i, j] * s.N[3 * i + k, l] * s.N[3 * j + k, n]
            scratch.block[l, n] = t
    inverse3(scratch.block, s.Ji)


@stage("iiiii", "columns")
def particular(m: Memory, b: int, s_at: Address, il: int, out_at: Address) -> None:
    """out = H C with the symmetric matrix H of six numbers of s."""
    s_int = vector_at(s_at)
    out = vector_at(out_at)
    C = states(m)[b].C
    for i in range(3):
        for k in range(3):
            t = s_int[il + i] * C[k, i]
            for j in range(3):
                if j != i:
                    t += 0.5 * s_int[il + _entry(i, j)] * C[k, j]
            out[3 * i + k] = t


@stage("ii", "columns")
def internal_multipliers(m: Memory, b: int) -> None:
    """The six multipliers of one body, La_ij = F_i . c_j. Reads `unbalanced`; writes `multipliers`."""
    scratch = tangent_memory(m)
    o = bodies(m)[b]
    C = states(m)[b].C
    la = multipliers(m)
    F = unbalanced(m)
    f = o.iv + o.nt
    for i in range(3):
        for j in range(3):
            n = f + 3 * i
            scratch.block[i, j] = F[n] * C[0, j] + F[n + 1] * C[1, j] + F[n + 2] * C[2, j]
    for i in range(3):
        la[o.il + i] = scratch.block[i, i]
        for j in range(i):
            la[o.il + _entry(i, j)] = 0.5 * (scratch.block[i, j] + scratch.block[j, i])

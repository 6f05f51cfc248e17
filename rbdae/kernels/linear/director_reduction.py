"""A body with director rates: its velocities without the internal constraints, and the way back.

With Y of `rbdae.kernels.bodies.director_rates` and C = Y^-T, the rates A C respect Y Y^T where A is antisymmetric, and
H C with H symmetric has the six rates s of the constraints; both are exact for any directors. See
`rbdae.kernels.linear.saddle`.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.director_rates import place, symmetric
from rbdae.kernels.linear.small import inverse3
from rbdae.kernels.memory import bodies, head, multipliers, states, tangent_memory, unbalanced


def reduce(m: Memory, b: int) -> None:
    """C, N and Ji."""
    scratch = tangent_memory(m)
    s = states(m)[b]
    C = s.C
    for i in range(3):
        for j in range(3):
            scratch.block[i, j] = s.a[place(m, j, i)]
    inverse3(scratch.block, C)
    for l in range(3):
        i = (l + 1) % 3
        j = (l + 2) % 3
        for n in range(3):
            s.N[place(m, l, n), l] = 0.0
            s.N[place(m, i, n), l] = -C[j, n]
            s.N[place(m, j, n), l] = C[i, n]
    if head(m).columns == 1:
        _mass_of_columns(m, b)
    else:
        _mass_of_rows(m, b)
    inverse3(scratch.block, s.Ji)


def _mass_of_rows(m: Memory, b: int) -> None:
    """N^T M N = tr(E') I - E' with E' = C E C^T."""
    scratch = tangent_memory(m)
    C = states(m)[b].C
    E = bodies(m)[b].euler
    for i in range(3):
        for j in range(3):
            scratch.product[i, j] = C[i, 0] * E[0, j] + C[i, 1] * E[1, j] + C[i, 2] * E[2, j]
    for i in range(3):
        for j in range(3):
            scratch.block[i, j] = -(
                scratch.product[i, 0] * C[j, 0] + scratch.product[i, 1] * C[j, 1] + scratch.product[i, 2] * C[j, 2]
            )
    t = -(scratch.block[0, 0] + scratch.block[1, 1] + scratch.block[2, 2])
    for i in range(3):
        scratch.block[i, i] += t


def _mass_of_columns(m: Memory, b: int) -> None:
    """N^T M N."""
    N = states(m)[b].N
    E = bodies(m)[b].euler
    for l in range(3):
        for n in range(3):
            t = 0.0 * N[0, 0]
            for i in range(3):
                for j in range(3):
                    for k in range(3):
                        t += E[i, j] * N[3 * i + k, l] * N[3 * j + k, n]
            tangent_memory(m).block[l, n] = t


def particular(m: Memory, b: int, s: Array, il: int, out: Array) -> None:
    """out = H C with the symmetric matrix H of six numbers of s."""
    C = states(m)[b].C
    H = tangent_memory(m).block
    symmetric(s, il, 0.5, H)
    for n in range(3):
        for k in range(3):
            out[place(m, k, n)] = H[k, 0] * C[0, n] + H[k, 1] * C[1, n] + H[k, 2] * C[2, n]


def internal_multipliers(m: Memory, b: int) -> None:
    """The six multipliers of one body, those of the symmetric part of F Y^-1. Reads `unbalanced` (F); writes
    `multipliers`."""
    La = tangent_memory(m).block
    o = bodies(m)[b]
    C = states(m)[b].C
    la = multipliers(m)
    F = unbalanced(m)
    f = o.iv + o.nt
    for k in range(3):
        for l in range(3):
            t = F[f + place(m, k, 0)] * C[l, 0]
            for n in range(1, 3):
                t += F[f + place(m, k, n)] * C[l, n]
            La[k, l] = t
    for k in range(3):
        la[o.il + k] = La[k, k]
        for l in range(k):
            la[o.il + 2 + k + l] = 0.5 * (La[l, k] + La[k, l])

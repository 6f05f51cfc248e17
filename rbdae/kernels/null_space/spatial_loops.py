"""Loops with nu = S (xdot, omega): the rows S P of the square system turn with the bodies, P = R^-T; see `spatial`."""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, vector_at
from rbdae.compiler.jit import stage
from rbdae.kernels.bodies.spatial import inverse_transposed
from rbdae.kernels.memory import bodies, head, states, velocity_selection


@stage("iii", "spatial dense-loops")
def turned_selection(m: Memory, i: int, out_at: Address) -> None:
    """out[:nv] = row i of S P. Reads C, see `place_selection`."""
    out = vector_at(out_at)
    h = head(m)
    S = velocity_selection(m)
    for j in range(h.n_v):
        out[j] = S[i, j]
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        C = states(m)[b].C
        j = o.iv + o.nt
        x = S[i, j]
        y = S[i, j + 1]
        z = S[i, j + 2]
        for k in range(3):
            out[j + k] = x * C[0, k] + y * C[1, k] + z * C[2, k]


@stage("i", "spatial dense-loops")
def place_selection(m: Memory) -> None:
    """C = R^-T of all bodies."""
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        inverse_transposed(s.d, s.C)

"""The common beginnings of both reductions of a body with director rates: those of the rows and of the columns of R."""

from __future__ import annotations

from rbdae.compiler.access import Memory
from rbdae.compiler.jit import jit
from rbdae.kernels.linear.small import inverse3
from rbdae.kernels.memory import states, tangent_memory


@jit
def reciprocal_vectors(m: Memory, b: int) -> None:
    """C = D^-T: the inverse of the matrix whose rows are the directors; its columns are the reciprocal vectors."""
    scratch = tangent_memory(m)
    s = states(m)[b]
    for i in range(3):
        for j in range(3):
            scratch.block[i, j] = s.a[3 * i + j]
    inverse3(scratch.block, s.C)

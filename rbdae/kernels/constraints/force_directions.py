"""W: the directions of the joints' forces in the rows of the dynamics where they are not G^T.

With the forms of [SNS15] a joint's natural force -G_Z^T la is pulled back by the row basis U of
`rbdae.kernels.bodies.euler_parameter_forms` in place of d(ddot)/d(pdot), from which the gradient G comes. On the
constraint manifold the columns of W and G^T differ by multiples of p, that is by the multiplier of the unit norm.
"""

from __future__ import annotations

from rbdae.compiler.access import Memory
from rbdae.compiler.jit import stage
from rbdae.kernels.bodies.natural import row_basis
from rbdae.kernels.constraints.gradients import (
    add_times,
    columns_of,
    zero,
)
from rbdae.kernels.memory import head, primitives, rows, tangent_memory


@stage("iiii", "joints forms")
def force_directions(m: Memory, i: int, side: int, n: int) -> None:
    """`work[side][:, :n]`: W^T of one side of a primitive in n rows of the rotation, zero in dropped rows.
    Reads P, Q and the row basis."""
    T = tangent_memory(m)
    kind = head(m).kind
    p = primitives(m)[i]
    r = rows(m)[i]
    b = p.body[side]
    U = row_basis(m, b)
    W = T.work[side]
    if p.linear == 1:
        columns_of(kind, p.A, side, U, n, W)
    else:
        zero(W, n, 1)
        columns_of(kind, p.A, side, U, n, T.product)
        add_times(r.Q, T.product, n, p.scale, W)
        columns_of(kind, p.B, side, U, n, T.product)
        add_times(r.P, T.product, n, p.scale, W)
    for k in range(p.n):
        if p.keep[k] == 0:
            for j in range(n):
                W[k, j] = 0.0

"""Hessians of the bilinear primitives in the Jacobian: d(G^T la)/dq."""

from __future__ import annotations

from rbdae.compiler.access import Array, Memory, is_zero
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies.natural import n_row_basis, row_basis
from rbdae.kernels.constraints.gradients import columns_of
from rbdae.kernels.memory import bodies, head, primitives, rows, states, tangent_memory
from rbdae.kernels.scatter import scatter_block, scatter_identity, scatter_transposed


@stage("ii", "bilinear")
def chart_tangents(m: Memory, i: int) -> None:
    """Pa, Qa: tangents of P and Q of a bilinear primitive with respect to a of both bodies. Reads D0."""
    kind = head(m).kind
    p = primitives(m)[i]
    T = tangent_memory(m)
    for side in range(2):
        b = p.body[side]
        o = bodies(m)[b]
        if o.fixed == 0:
            D = states(m)[b].D0
            columns_of(kind, p.A, side, D, o.na, T.Pa[side])
            columns_of(kind, p.B, side, D, o.na, T.Qa[side])


@jit
def scatter_pulled_back(
    m: Memory, row: int, n1: int, column: int, L: Array, Lx: float, K: Array, Kx: float, b1: int, b2: int, scale: float
) -> None:
    """scale L_1^T K_2 from the row `row` of body b1 on and in the columns of q of body b2, where (Lx I, L) and (Kx
    I, K) are 3 x (3 + n) tangents of two vectors; L has n1 columns."""
    scratch = tangent_memory(m)
    B = bodies(m)
    o1 = B[b1]
    o2 = B[b2]
    T = scratch.block
    r = row
    q = column + o2.iq
    # directions have no part in x: Lx, Kx are constants
    if o1.nt == 3:
        if o2.nt == 3 and not is_zero(Lx * Kx):
            scatter_identity(m, r, q, 3, scale * Lx * Kx)
        if not is_zero(Lx):
            scatter_block(m, r, q + o2.nt, K, 3, o2.na, scale * Lx)
        r += 3
    if o2.nt == 3:
        if not is_zero(Kx):
            scatter_transposed(m, r, q, L, n1, 3, scale * Kx)
        q += 3
    for i in range(n1):
        for j in range(o2.na):
            T[i, j] = L[0, i] * K[0, j] + L[1, i] * K[1, j] + L[2, i] * K[2, j]
    scatter_block(m, r, q, T, n1, o2.na, scale)


@jit
def scatter_hessian(m: Memory, i: int, side: int, row: int, n: int, P: Array, Q: Array, f: Array) -> None:
    """f times the Hessian of a bilinear primitive from the row `row` of its body `side` on; P and Q are its tangents
    there, 3 x n. Reads Pa and Qa."""
    p = primitives(m)[i]
    T = tangent_memory(m)
    b1 = p.body[side]
    for other in range(2):
        b2 = p.body[other]
        if bodies(m)[b2].fixed == 0:
            scatter_pulled_back(m, row, n, 0, P, p.A[4 * side], T.Qa[other], p.B[4 * other], b1, b2, f)
            scatter_pulled_back(m, row, n, 0, Q, p.B[4 * side], T.Pa[other], p.A[4 * other], b1, b2, f)


@stage("ii", "bilinear", optional=True)
def scatter_primitive_stiffness(m: Memory, row: int) -> None:
    """d(G^T la)/dq of the bilinear primitives; the part through the charts is with the bodies. Reads r.la, Pw and
    Qw."""
    C = primitives(m)
    R = rows(m)
    B = bodies(m)
    h = head(m)
    for i in range(h.n_primitives):
        p = C[i]
        if p.linear == 1:
            continue
        r = R[i]
        chart_tangents(m, i)
        for side in range(2):
            o = B[p.body[side]]
            if o.fixed == 1:
                continue
            if h.forms == 1:
                _scatter_pulled_hessian(m, i, side, row + o.iv)
            else:
                scatter_hessian(m, i, side, row + o.iv, o.nr, r.Pw[side], r.Qw[side], p.scale * r.la[0])


@stage("iiii", "bilinear forms")
def _scatter_pulled_hessian(m: Memory, i: int, side: int, row: int) -> None:
    """The same with the row basis in place of B."""
    h = head(m)
    p = primitives(m)[i]
    b = p.body[side]
    n = n_row_basis(m, b)
    U = row_basis(m, b)
    work = tangent_memory(m).work
    columns_of(h.kind, p.A, side, U, n, work[0])
    columns_of(h.kind, p.B, side, U, n, work[1])
    scatter_hessian(m, i, side, row, n, work[0], work[1], p.scale * rows(m)[i].la[0])

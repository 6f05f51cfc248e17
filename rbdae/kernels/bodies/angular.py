"""Bodies with the material angular velocity Omega as rotational velocity."""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, matrix_at, vector_at
from rbdae.compiler.jit import stage
from rbdae.kernels.memory import bodies, states, tangent_memory
from rbdae.rotations.algebra import add_spin_columns, spin_transposed, spin_transposed_columns


@stage("ii", "angular")
def forces(m: Memory, b: int) -> None:
    """t = B^T fd - Omega x J Omega. Reads d, fd and w."""
    s = states(m)[b]
    J = bodies(m)[b].inertia
    w = s.w
    l0 = J[0, 0] * w[0] + J[0, 1] * w[1] + J[0, 2] * w[2]
    l1 = J[1, 0] * w[0] + J[1, 1] * w[1] + J[1, 2] * w[2]
    l2 = J[2, 0] * w[0] + J[2, 1] * w[1] + J[2, 2] * w[2]
    spin_transposed(s.d, s.fd, s.t)
    s.t[0] -= w[1] * l2 - w[2] * l1
    s.t[1] -= w[2] * l0 - w[0] * l2
    s.t[2] -= w[0] * l1 - w[1] * l0


@stage("iif", "angular")
def dynamics_tangent(m: Memory, b: int, c: float) -> None:
    """by_q = -d(B^T fd)/da at fixed fd, and by_v = c J + Omega^ J - (J Omega)^. Reads D0, fd and w."""
    scratch = tangent_memory(m)
    o = bodies(m)[b]
    s = states(m)[b]
    spin_transposed_columns(s.D0, s.fd, o.na, scratch.by_q)
    for i in range(3):
        for j in range(o.na):
            scratch.by_q[i, j] = -scratch.by_q[i, j]
    J = o.inertia
    w = s.w
    l0 = J[0, 0] * w[0] + J[0, 1] * w[1] + J[0, 2] * w[2]
    l1 = J[1, 0] * w[0] + J[1, 1] * w[1] + J[1, 2] * w[2]
    l2 = J[2, 0] * w[0] + J[2, 1] * w[1] + J[2, 2] * w[2]
    for j in range(3):
        scratch.by_v[0, j] = c * J[0, j] + w[1] * J[2, j] - w[2] * J[1, j]
        scratch.by_v[1, j] = c * J[1, j] + w[2] * J[0, j] - w[0] * J[2, j]
        scratch.by_v[2, j] = c * J[2, j] + w[0] * J[1, j] - w[1] * J[0, j]
    scratch.by_v[0, 1] += l2
    scratch.by_v[0, 2] -= l1
    scratch.by_v[1, 0] -= l2
    scratch.by_v[1, 2] += l0
    scratch.by_v[2, 0] += l1
    scratch.by_v[2, 1] -= l0


@stage("iiii", "angular")
def add_spin_columns_at(D_at: Address, om_at: Address, n: int, out_at: Address) -> None:
    """out[:, :n] += the spin by om of the columns of D[:, :n]."""
    add_spin_columns(matrix_at(D_at, 9), vector_at(om_at), n, matrix_at(out_at, 9))


@stage("iiii", "angular")
def mass(m: Memory, b: int, v_at: Address, out_at: Address) -> None:
    """out = J v."""
    v = vector_at(v_at)
    out = vector_at(out_at)
    J = bodies(m)[b].inertia
    for k in range(3):
        out[k] = J[k, 0] * v[0] + J[k, 1] * v[1] + J[k, 2] * v[2]

"""Bodies with pdot, the rate of the quaternion, as rotational velocity."""

from __future__ import annotations

from rbdae.compiler.access import Address, Array, Memory, address, matrix_at, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.memory import bodies, head, states, tangent_memory
from rbdae.kernels.scatter import scatter_block
from rbdae.rotations.euler_map import euler_differential, euler_differential_transposed, euler_hessian, euler_map
from rbdae.rotations.quaternion_algebra import (
    add_product,
    add_right,
    add_triple,
    conjugate_product,
    extended,
    left,
    right_conjugate,
)


@stage("iii", "quaternion-rate")
def natural_velocity(p_at: Address, r_at: Address, out_at: Address) -> None:
    """out = Dphi(p) r."""
    p = vector_at(p_at)
    r = vector_at(r_at)
    out = vector_at(out_at)
    a = 2.0 * p[0]
    b = 2.0 * p[1]
    c = 2.0 * p[2]
    e = 2.0 * p[3]
    r0 = r[0]
    r1 = r[1]
    r2 = r[2]
    r3 = r[3]
    out[0] = a * r0 + b * r1 - c * r2 - e * r3
    out[1] = e * r0 + c * r1 + b * r2 + a * r3
    out[2] = -c * r0 + e * r1 - a * r2 + b * r3
    out[3] = -e * r0 + c * r1 + b * r2 - a * r3
    out[4] = a * r0 - b * r1 + c * r2 - e * r3
    out[5] = b * r0 + a * r1 + e * r2 + c * r3
    out[6] = c * r0 + e * r1 + a * r2 + b * r3
    out[7] = -b * r0 - a * r1 + e * r2 + c * r3
    out[8] = a * r0 - b * r1 - c * r2 + e * r3


@stage("ii", "quaternion-rate")
def natural_acceleration(m: Memory, b: int) -> None:
    """dddot = Dphi(p) pddot + 2 phi(pdot)."""
    s = states(m)[b]
    natural_velocity(address(s.a), address(s.wd), address(s.ddd))
    euler_map(s.w, s.t)
    for k in range(9):
        s.ddd[k] += 2.0 * s.t[k]


@stage("ii", "quaternion-rate")
def natural_tangent(p_at: Address, D_at: Address) -> None:
    """D[:, :4] = Dphi(p)."""
    euler_differential(vector_at(p_at), matrix_at(D_at, 9))


@stage("iii", "quaternion-rate")
def pull_back(p_at: Address, f_at: Address, out_at: Address) -> None:
    """out = Dphi(p)^T f."""
    euler_differential_transposed(vector_at(p_at), vector_at(f_at), vector_at(out_at))


@stage("ii", "quaternion-rate")
def forces(m: Memory, b: int) -> None:
    """t += 8 Q(pdot) I Q(pdot)^T p, [NS] (33)."""
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.w, s.a, s.s)
    extended(o.radial, o.inertia, s.s, s.s)
    add_product(s.w, s.s, 8.0, s.t)


@stage("ii", "quaternion-rate")
def inertia(m: Memory, b: int) -> None:
    """ad = 4 p o I (conj(p) o pddot), [NS] (31)."""
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.a, s.wd, s.s)
    extended(o.radial, o.inertia, s.s, s.s)
    for k in range(4):
        s.ad[k] = 0.0
    add_product(s.a, s.s, 4.0, s.ad)


@stage("iiff", "quaternion-rate")
def dynamics_tangent(m: Memory, b: int, c: float, l: float) -> None:
    """by_q and by_v: the tangents of 4 p o I (conj(p) o pddot) - 8 pdot o I (conj(pdot) o p) - Dphi(p)^T fd + la p
    with respect to p and to pdot, the latter plus c M."""
    scratch = tangent_memory(m)
    o = bodies(m)[b]
    s = states(m)[b]
    I0 = o.radial
    J = o.inertia
    euler_hessian(s.fd, scratch.by_q)
    for i in range(4):
        for j in range(4):
            scratch.by_q[i, j] = -scratch.by_q[i, j]
        scratch.by_q[i, i] += l
    clear4(scratch.by_v)
    left(s.a, scratch.left)
    add_triple_at(address(scratch.left), I0, address(J), address(scratch.left), 4.0 * c, True, address(scratch.by_v))
    conjugate_product(s.a, s.wd, s.s)
    extended(I0, J, s.s, s.s)
    add_right(s.s, 4.0, scratch.by_q)
    right_conjugate(s.wd, scratch.right)
    add_triple_at(address(scratch.left), I0, address(J), address(scratch.right), 4.0, False, address(scratch.by_q))
    left(s.w, scratch.left)
    add_triple_at(address(scratch.left), I0, address(J), address(scratch.left), -8.0, True, address(scratch.by_q))
    conjugate_product(s.w, s.a, s.s)
    extended(I0, J, s.s, s.s)
    add_right(s.s, -8.0, scratch.by_v)
    right_conjugate(s.a, scratch.right)
    add_triple_at(address(scratch.left), I0, address(J), address(scratch.right), -8.0, False, address(scratch.by_v))


@stage("iiiiff", "quaternion-rate")
def internal_tangent(m: Memory, b: int, row: int, level: int, c: float, scale: float) -> None:
    """scale times the tangent of the unit norm at the three levels; c is the factor of the rates at level 2."""
    scratch = tangent_memory(m)
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    r = row + o.il
    v = h.n_q + o.iv + o.nt
    T = scratch.block
    for k in range(4):
        if level == 0:
            T[0, k] = s.a[k]
        elif h.momenta == 1:
            if level == 1:
                T[0, k] = s.p[k]
                T[1, k] = s.a[k]
            else:
                T[0, k] = s.pd[k]
                T[1, k] = s.w[k] + c * s.a[k]
                for j in range(4):
                    T[0, k] += s.p[j] * s.U[j, k]
                    T[1, k] += s.p[j] * s.V[j, k]
        elif level == 1:
            T[0, k] = s.w[k]
            T[1, k] = s.a[k]
        else:
            T[0, k] = s.wd[k]
            T[1, k] = 2.0 * s.w[k] + c * s.a[k]
    scatter_block(m, r, o.iq + o.nt, T, 1, 4, scale)
    if level > 0:
        for k in range(4):
            T[0, k] = T[1, k]
        scatter_block(m, r, v, T, 1, 4, scale)


@stage("ifiifii", "quaternion-rate")
def add_triple_at(
    X_at: Address, radial: float, J_at: Address, Y_at: Address, scale: float, transposed: int, out_at: Address
) -> None:
    """out += scale X diag(radial, J) Y, with Y^T in place of Y if `transposed`."""
    X = matrix_at(X_at, 9)
    Y = matrix_at(Y_at, 9)
    add_triple(X, radial, matrix_at(J_at, 3), Y, scale, transposed != 0, matrix_at(out_at, 9))


@jit
def clear4(A: Array) -> None:
    """A[:4, :4] = 0."""
    for i in range(4):
        for j in range(4):
            A[i, j] = 0.0


@stage("iiii", "quaternion-rate")
def mass(m: Memory, b: int, v_at: Address, out_at: Address) -> None:
    """out = 4 p o I (conj(p) o v), divided by |p|^4 with momenta."""
    v = vector_at(v_at)
    out = vector_at(out_at)
    o = bodies(m)[b]
    s = states(m)[b]
    t = 4.0 + 0.0 * s.a[0]
    if head(m).momenta == 1:
        n = s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]
        t = 4.0 / (n * n)
    conjugate_product(s.a, v, s.s)
    extended(o.radial, o.inertia, s.s, s.s)
    for k in range(4):
        out[k] = 0.0
    add_product(s.a, s.s, t, out)
